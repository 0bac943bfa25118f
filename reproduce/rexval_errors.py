"""Supplementary table 2 of Yu et al. (2022): mean errors per report by category and metric oracle."""

from __future__ import annotations

from side_by_side import ORACLES, Line, Settings, run

import radgauge as rg
from radgauge.core.error_categories import CATEGORIES

TOTAL = {
    "BLEU": (0.807, 0.550, 0.113, 0.133, 0.140, 0.097, 1.840),
    "CheXbert": (0.597, 0.443, 0.227, 0.197, 0.150, 0.093, 1.707),
    "BERTScore": (0.477, 0.523, 0.183, 0.153, 0.077, 0.113, 1.527),
    "RadGraph": (0.427, 0.573, 0.147, 0.160, 0.077, 0.110, 1.493),
}
SIGNIFICANT = {
    "BLEU": (0.607, 0.353, 0.087, 0.093, 0.107, 0.077, 1.323),
    "CheXbert": (0.430, 0.263, 0.193, 0.176, 0.107, 0.077, 1.247),
    "BERTScore": (0.363, 0.310, 0.147, 0.117, 0.053, 0.083, 1.073),
    "RadGraph": (0.300, 0.343, 0.133, 0.143, 0.053, 0.070, 1.043),
}


def make(settings: Settings) -> list[Line]:
    """Means over six radiologists and 50 studies."""
    mean = rg.read_judgments(settings.place, format="rexval").mean_errors()
    lines = []
    for what, table, suffix, whole in (
        ("all", TOTAL, "", "total"),
        ("significant", SIGNIFICANT, "_significant", "significant"),
    ):
        for name, values in table.items():
            own = mean.of_system(ORACLES[name])
            columns = [f"errors_{category.key}{suffix}" for category in CATEGORIES[:6]] + [f"errors_{whole}"]
            for place, (column, value) in enumerate(zip(columns, values, strict=True), start=1):
                label = f"error {place}" if place < 7 else "total"
                lines.append(
                    Line(f"{name} oracle, {what} errors, {label}", value, float(own.column(column).mean()))
                )
    return lines


if __name__ == "__main__":
    run(make, title="Yu et al. 2022, supplementary table 2", needs="the folder of ReXVal 1.0.0 (PhysioNet)")
