"""Figure 3 of Yu et al. (2022): Kendall tau-b of four metrics with the mean radiologist.

Total and significant errors; below them the values of the journal version (Patterns 2023) that later papers cite.
"""

from __future__ import annotations

from side_by_side import YU, Line, Settings, kendall, run

import radgauge as rg

PREPRINT = {
    "BERTScore": (0.500, 0.496),
    "RadGraph F1": (0.463, 0.459),
    "BLEU": (0.459, 0.445),
    "CheXbert": (0.457, 0.418),
}
JOURNAL = {"BLEU": 0.462, "CheXbert": 0.499, "BERTScore": 0.511, "RadGraph F1": 0.515}


def make(settings: Settings) -> list[Line]:
    """All numbers of the figure."""
    judgments = rg.read_judgments(settings.place, format="rexval")
    found, missing = kendall(judgments, list(YU.values()), settings, targets=["total", "significant"])
    lines = []
    for name, spec in YU.items():
        for target, published in zip(("total", "significant"), PREPRINT[name], strict=True):
            ours = found.get((spec, target, "mean"), float("nan"))
            lines.append(Line(f"{name}, {target} errors (preprint)", published, ours, missing.get(spec, "")))
        ours = found.get((spec, "total", "mean"), float("nan"))
        lines.append(Line(f"{name}, total errors (journal)", JOURNAL[name], ours, missing.get(spec, "")))
    return lines


if __name__ == "__main__":
    run(make, title="Yu et al. 2022, figure 3", needs="the folder of ReXVal 1.0.0 (PhysioNet)")
