"""Table 1 of the VLScore paper: Kendall tau-b of text metrics on ReXVal, total errors of the mean radiologist.

VLScore itself needs the images, the CheXpert labeler is a Java program of its own: both are left out, and said so.
"""

from __future__ import annotations

from side_by_side import Line, Settings, kendall, run

import radgauge as rg

PUBLISHED = {
    "BLEU-1": (0.388, "bleu", "bleu_1"),
    "BLEU-4": (0.345, "bleu", "bleu_4"),
    "METEOR": (0.465, "meteor", "meteor"),
    "ROUGE-L": (0.476, "rouge", "rouge_l"),
    "BERTScore": (0.511, "bertscore", "bertscore_f1"),
    "CheXpert": (0.463, "", ""),
    "CheXbert": (0.499, "chexbert_similarity", "chexbert_"),
    "RadGraph F1": (0.515, "radgraph", "radgraph_yu"),
    "VLScore": (0.718, "", ""),
}
ABSENT = {"CheXpert": "the CheXpert labeler is not part of radgauge", "VLScore": "needs the images"}


def make(settings: Settings) -> list[Line]:
    """Nine numbers, seven of them ours."""
    judgments = rg.read_judgments(settings.place, format="rexval")
    specs = [spec for _, spec, _ in PUBLISHED.values() if spec]
    found, missing = kendall(judgments, specs, settings, columns=True, targets=["total"])
    lines = []
    for name, (value, spec, column) in PUBLISHED.items():
        ours = [tau for (judge, _, _), tau in found.items() if column and judge.startswith(column)]
        note = ABSENT.get(name, missing.get(spec, ""))
        lines.append(Line(name, value, ours[0] if ours else float("nan"), note))
    return lines


if __name__ == "__main__":
    run(make, title="VLScore, table 1", needs="the folder of ReXVal 1.0.0 (PhysioNet)")
