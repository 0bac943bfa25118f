"""Supplementary table 1 of Yu et al. (2022): Kendall tau-b of four metrics with each of six radiologists."""

from __future__ import annotations

from side_by_side import YU, Line, Settings, kendall, run

import radgauge as rg

PUBLISHED = {
    ("BERTScore", "total"): (0.439, 0.461, 0.482, 0.446, 0.469, 0.476),
    ("BERTScore", "significant"): (0.370, 0.346, 0.495, 0.468, 0.414, 0.458),
    ("RadGraph F1", "total"): (0.423, 0.443, 0.476, 0.440, 0.462, 0.413),
    ("RadGraph F1", "significant"): (0.406, 0.319, 0.479, 0.448, 0.432, 0.375),
    ("BLEU", "total"): (0.409, 0.425, 0.461, 0.402, 0.427, 0.435),
    ("BLEU", "significant"): (0.352, 0.271, 0.447, 0.433, 0.375, 0.409),
    ("CheXbert", "total"): (0.407, 0.363, 0.459, 0.446, 0.424, 0.430),
    ("CheXbert", "significant"): (0.367, 0.231, 0.438, 0.376, 0.374, 0.376),
}


def make(settings: Settings) -> list[Line]:
    """48 numbers; radiologist 1 is rater 0 of the file."""
    judgments = rg.read_judgments(settings.place, format="rexval")
    targets = ["total", "significant"]
    found, missing = kendall(judgments, list(YU.values()), settings, targets=targets, per_rater=True)
    return [
        Line(
            f"{name}, {target} errors, radiologist {rater + 1}",
            value,
            found.get((YU[name], target, str(rater)), float("nan")),
            missing.get(YU[name], ""),
        )
        for (name, target), values in PUBLISHED.items()
        for rater, value in enumerate(values)
    ]


if __name__ == "__main__":
    run(make, title="Yu et al. 2022, supplementary table 1", needs="the folder of ReXVal 1.0.0 (PhysioNet)")
