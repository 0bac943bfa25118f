"""What the lines of the reader's benchmark share: rows, reports, F1."""

from __future__ import annotations

import csv
from pathlib import Path

csv.field_size_limit(1 << 30)
Line = tuple[str, str, str]
"""Label, value, note."""


def rows_of(path: Path, **options: str) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, **options))


def f1(hits: float, predicted: float, wanted: float) -> tuple[float, float, float]:
    precision = hits / predicted if predicted else 0.0
    recall = hits / wanted if wanted else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0


def reports_of(data: Path) -> dict[str, str]:
    """Findings and impression of the IU reports by uid."""
    return {
        row["uid"]: f"{row['findings']}\n\n{row['impression']}".strip()
        for row in rows_of(data / "iu_xray" / "indiana_reports.csv")
    }
