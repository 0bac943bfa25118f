"""Table 5 of the VLScore paper: five image-text encoders, Kendall tau-b of VLScore's area on ReXVal.

Each encoder comes from `--encoder NAME=PLACE` (a checkpoint or a folder, see docs/metrics/vlscore.md); LIMITR
also from `--models published`. Correlations are of areas, so no constant is needed; `--encoder NAME=PLACE` with
any other name adds a row of its own. The published numbers are those of table 5 as printed in the
proceedings (NeurIPS 2024).
"""

from __future__ import annotations

import re

from side_by_side import NO_IMAGES, Line, Settings, judged, kendall, run

PUBLISHED = {"ConVIRT": 0.526, "BioViL": 0.580, "MedCLIP": 0.636, "GLoRIA": 0.698, "LIMITR": 0.718}


def make(settings: Settings) -> list[Line]:
    """A coefficient per encoder."""
    places = {**({"LIMITR": "limitr"} if settings.models != "embedded" else {}), "embedded": "embedded"}
    places |= settings.encoders
    lines = []
    judgments = judged(settings) if settings.images is not None else None
    more = [each for each in places if each not in PUBLISHED and judgments is not None]
    for name in (*PUBLISHED, *more):
        value, note = float("nan"), NO_IMAGES
        if judgments is not None and name not in places:
            note = "no such --encoder was given"
        elif judgments is not None:
            alias = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").lower() or "encoder"
            spec = f"vlscore:encoder={places[name]},constant=1 as {alias}"
            found, missing = kendall(judgments, [spec], settings, columns=True, targets=["total"])
            areas = [tau for (column, *_), tau in found.items() if "area" in column]
            value, note = (areas[0], "") if areas else (float("nan"), missing.get(spec, "not judged"))
        lines.append(Line(name, PUBLISHED.get(name, float("nan")), value, note))
    return lines


if __name__ == "__main__":
    run(make, title="VLScore, table 5", needs="the folder of ReXVal 1.0.0 (PhysioNet)")
