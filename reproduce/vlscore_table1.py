"""Table 1 of the VLScore paper: Kendall tau-b on ReXVal, total errors of the mean radiologist.

VLScore itself needs the images of the studies (--images). The CheXpert labeler is a Java program of its own: its
row shows the F1 of our own reader's 14 labels, and says so.
"""

from __future__ import annotations

from side_by_side import NO_IMAGES, Line, Settings, judged, kendall, run

PUBLISHED = {
    "BLEU-1": (0.388, "bleu", "bleu_1"),
    "BLEU-4": (0.345, "bleu", "bleu_4"),
    "METEOR": (0.465, "meteor", "meteor"),
    "ROUGE-L": (0.476, "rouge", "rouge_l"),
    "BERTScore": (0.511, "bertscore", "bertscore_f1"),
    "CheXpert": (0.463, "chexbert:models=embedded", ""),
    "CheXbert": (0.499, "chexbert_similarity", "chexbert_"),
    "RadGraph F1": (0.515, "radgraph", "radgraph_yu"),
    "VLScore": (0.718, "vlscore", "vlscore"),
}
NOTES = {"CheXpert": "our reader's labels, not the CheXpert labeler's"}


def make(settings: Settings) -> list[Line]:
    """Nine numbers."""
    judgments = judged(settings)
    specs = {
        name: spec for name, (_, spec, _) in PUBLISHED.items() if name != "VLScore" or settings.images is not None
    }
    rest = [spec for name, spec in specs.items() if name != "CheXpert"]
    found, missing = kendall(judgments, rest, settings, columns=True, targets=["total"])
    labels, _ = kendall(judgments, [specs["CheXpert"]], settings, targets=["total"])  # its headline
    lines = []
    for name, (value, spec, column) in PUBLISHED.items():
        every = labels if name == "CheXpert" else found
        ours = [tau for (judge, _, _), tau in every.items() if judge.startswith(column)]
        note = NO_IMAGES if name not in specs else NOTES.get(name, missing.get(spec, ""))
        lines.append(Line(name, value, ours[0] if ours and name in specs else float("nan"), note))
    return lines


if __name__ == "__main__":
    run(make, title="VLScore, table 1", needs="the folder of ReXVal 1.0.0 (PhysioNet)")
