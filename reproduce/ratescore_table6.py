"""Table 6 of the RaTEScore paper: does a tagger need both sources, Radiopaedia (R.) and MIMIC-IV (M.)?

Input: the test file of RaTE-NER. Train taggers (`radgauge train ner`) on Radiopaedia/, MIMIC_IV/ and all/, and
name them: --tagger "R.=FOLDER" --tagger "M.=FOLDER" --tagger "R.+M.=FOLDER". The text gives the gain of the two
together over the better one (0.030 F1, 0.010 accuracy); the values of both together are those of table 5.
"""

from __future__ import annotations

from ratescore_table5 import COLUMNS, PUBLISHED, evaluated
from side_by_side import Line, Settings, run

NAN = float("nan")
BOTH, SINGLE = "R.+M.", ("R.", "M.")
GAIN = {"F1": 0.030, "accuracy": 0.010}


def make(settings: Settings) -> list[Line]:
    """Four numbers per tagger, and the gain of both sources."""
    found = {name: evaluated(settings, name) for name in (*SINGLE, BOTH)}
    lines = []
    for name, (values, why) in found.items():
        published = PUBLISHED["DeBERTa_v3"] if name == BOTH else (NAN,) * 4
        lines += [
            Line(f"{name}, {what}", theirs, ours, why)
            for what, theirs, ours in zip(COLUMNS, published, values, strict=True)
            if theirs == theirs or ours == ours
        ]
    for what, theirs in GAIN.items():
        at = COLUMNS.index(what)
        known = [found[name][0][at] for name in SINGLE if found[name][0][at] == found[name][0][at]]
        gain = found[BOTH][0][at] - max(known) if known else NAN
        why = "" if gain == gain else "needs the tagger R.+M. and one of R. and M."
        lines.append(Line(f"gain of both sources, {what}", theirs, gain, why))
    return lines


if __name__ == "__main__":
    run(make, title="RaTEScore, table 6", needs="a test file of RaTE-NER")
