"""Scores that look at images.

What a score makes of the wrong images bounds what the right ones can have contributed.
"""

from __future__ import annotations

import json
from pathlib import Path

from outcome import Outcome

from radgauge.metrics.vlscore import DEMO, VLScore
from radgauge.run.score import judges_of

ABLATION = Path(__file__).parents[1] / "image_ablation.json"
"""Written by `python benchmarks/image_ablation.py --write`, which needs the development data."""


def control_embedded_encoder_with_images_at_random() -> Outcome:
    """An encoder with which wrong images do as well as right ones is not offered as image-aware."""
    found = json.loads(ABLATION.read_text(encoding="utf-8"))
    row = found["agreement"]
    column = VLScore().columns[0]
    did = (
        f"tau-b {row['right']:.3f} with right images, {row['dealt']:.3f} with images at random, difference "
        f"{row['difference']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}] ({row['n']} judged pairs): `{column}`"
    )
    must = "end in `_demo` unless right images are above images at random"
    return Outcome(
        "the embedded encoder of `vlscore`, images dealt at random", must, did, ok=_named_for(row, column)
    )


def _named_for(row: dict[str, float], column: str) -> bool:
    return column.endswith(DEMO) is (row["low"] <= 0)


def control_own_reports_with_images_at_random() -> Outcome:
    """Dealt images know nothing of the report: anything above one half would be a leak of the measurement."""
    return _at_chance("own_nearer", "own report nearer than another study's")


def control_sides_with_images_at_random() -> Outcome:
    """The same for left and right."""
    return _at_chance("side", "report nearer than the same with left and right exchanged")


def _at_chance(key: str, what: str) -> Outcome:
    row = json.loads(ABLATION.read_text(encoding="utf-8"))[key]
    did = (
        f"{row['dealt']:.3f} [{row['dealt_low']:.3f}, {row['dealt_high']:.3f}] (right images {row['right']:.3f}, "
        f"one mean image {row['mean_image']:.3f}; {row['n']} studies)"
    )
    return Outcome(f"{what}, images dealt at random", "0.5", did, ok=row["dealt_low"] <= 0.5 <= row["dealt_high"])


def control_changed_reports_with_images_at_random() -> Outcome:
    """The order of the kinds comes from the texts if it stays with wrong images."""
    rows = json.loads(ABLATION.read_text(encoding="utf-8"))["changes"].values()
    right, dealt = (sorted(rows, key=lambda row: row[name]) for name in ("right", "dealt"))
    did = ", ".join(f"{row['name']} {row['right']:.2f} / {row['dealt']:.2f}" for row in right)
    same = [row["name"] for row in right[:2]] == [row["name"] for row in dealt[:2]]
    must = "`_demo`, since the two most costly changes are the same with wrong images"
    column = VLScore().columns[0]
    return Outcome(
        "mean score of changed reports, right images / at random", must, did, ok=column.endswith(DEMO) is same
    )


def control_not_among_the_defaults() -> Outcome:
    """A demonstration is nobody's default."""
    columns = [column for metric in judges_of(None) for column in metric.columns]
    found = [column for column in columns if column.endswith(DEMO)]
    return Outcome(
        "the default metrics", "no demonstration among them", f"{len(found)} of {len(columns)}", not found
    )
