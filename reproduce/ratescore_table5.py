"""Table 5 of the RaTEScore paper: entity taggers by scheme and start, scored on the test sentences of RaTE-NER.

Input: the test file (all/test_IOB.json or all/test_span.json). Name the taggers that you hold or have trained with
`radgauge train ner`: --tagger "DeBERTa_v3=Angelakeke/RaTE-NER-Deberta" --tagger "BlueBERT=my-span-tagger".
"""

from __future__ import annotations

from side_by_side import Line, Settings, run

from radgauge.core.errors import RadgaugeError
from radgauge.encoders.checkpoints.catalogue import located
from radgauge.lab.training.ner import evaluate_tagger
from radgauge.lab.training.ner_files import read_ner

PUBLISHED = {
    "DeBERTa_v3": (0.567, 0.575, 0.571, 0.754),
    "Medical-NER": (0.559, 0.572, 0.565, 0.759),
    "BiomedBERT": (0.556, 0.676, 0.610, 0.730),
    "SapBERT": (0.560, 0.658, 0.605, 0.731),
    "BlueBERT": (0.554, 0.657, 0.601, 0.726),
    "MedCPT-Q-Enc.": (0.470, 0.682, 0.556, 0.678),
    "BioLORD-2023-C": (0.555, 0.664, 0.605, 0.727),
}
COLUMNS = ("precision", "recall", "F1", "accuracy")
NAN = float("nan")


def make(settings: Settings) -> list[Line]:
    """Four numbers per tagger."""
    lines = []
    for name in dict.fromkeys([*PUBLISHED, *settings.taggers]):
        found, why = evaluated(settings, name)
        published = PUBLISHED.get(name, (NAN,) * 4)
        lines += [Line(f"{name}, {w}", p, v, why) for w, p, v in zip(COLUMNS, published, found, strict=True)]
    return lines


def evaluated(settings: Settings, name: str) -> tuple[tuple[float, ...], str]:
    """Precision, recall, F1 and accuracy of a tagger, or why there are none."""
    if name not in settings.taggers:
        return (NAN,) * 4, "no such --tagger was given"
    try:
        every = evaluate_tagger(located(settings.taggers[name]), read_ner(settings.place))[0]
    except RadgaugeError as error:
        return (NAN,) * 4, str(error)
    return (every.precision, every.recall, every.f1, every.accuracy), ""


if __name__ == "__main__":
    run(make, title="RaTEScore, table 5", needs="a test file of RaTE-NER")
