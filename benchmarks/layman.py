"""The writer for patients on abnormal Indiana University reports: how much it writes anew, and how hard it reads.

The check (`lay_fidelity`) is no measure of the writer, since the writer is held to it; whether the texts are right
is for readers to say (docs/layman_write.md has what they said).

Run: python benchmarks/layman.py [--data ../shared/data] [--sample 200] [--seed 0]
"""

from __future__ import annotations

import argparse
import csv
import random
import time
from pathlib import Path

from radgauge.plain_language.plain_sentences import write_plain
from radgauge.text.readability import readability


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    with (chosen.data / "iu_xray" / "indiana_reports.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["Problems"].lower() != "normal"]
    texts = [" ".join(filter(None, (row["findings"], row["impression"]))) for row in rows]
    texts = random.Random(chosen.seed).sample([text for text in texts if text], chosen.sample)
    began = time.perf_counter()
    sentences = [each for text in texts for each in write_plain(text)]
    took = time.perf_counter() - began
    anew = [each for each in sentences if not each.kept]
    masked = [each for each in sentences if each.kept and "a word of the report is missing" in each.reasons]
    print(f"{len(texts)} reports, {len(sentences)} sentences in {took:.1f} s")
    print(f"written anew: {len(anew) / len(sentences):.1%} of all, ", end="")
    print(f"{len(anew) / (len(sentences) - len(masked)):.1%} of those without a masked word")
    before = readability(" ".join(each.source for each in anew)).flesch_kincaid_grade
    after = readability(" ".join(each.plain for each in anew)).flesch_kincaid_grade
    print(f"Flesch-Kincaid grade of these: {before:.1f} -> {after:.1f}")


if __name__ == "__main__":
    main()
