"""Table 3 of the RaTEScore paper: Kendall tau-b on ReXVal, total errors of the mean radiologist."""

from __future__ import annotations

from side_by_side import PRESET, PRESET_NOTE, YU, Line, Settings, kendall, run

import radgauge as rg

PUBLISHED = {"RadGraph F1": 0.515, "BERTScore": 0.511, "CheXbert": 0.499, "BLEU": 0.462, "RaTEScore": 0.527}
SPECS = {**YU, "RaTEScore": f"ratescore:weights=long,{PRESET}"}


def make(settings: Settings) -> list[Line]:
    """Five numbers."""
    judgments = rg.read_judgments(settings.place, format="rexval")
    found, missing = kendall(judgments, [SPECS[name] for name in PUBLISHED], settings, targets=["total"])
    return [
        Line(
            name,
            value,
            found.get((SPECS[name], "total", "mean"), float("nan")),
            missing.get(SPECS[name], PRESET_NOTE if name == "RaTEScore" else ""),
        )
        for name, value in PUBLISHED.items()
    ]


if __name__ == "__main__":
    run(make, title="RaTEScore, table 3", needs="the folder of ReXVal 1.0.0 (PhysioNet)")
