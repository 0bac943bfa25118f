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
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from radgauge.lay.plain_sentences import PlainSentence, write_plain
from radgauge.reader import read_report
from radgauge.reader.lexicon import FINDING_KINDS
from radgauge.text.readability import readability


class Written(NamedTuple):
    """What the writer made of a sample.

    Attributes:
        reports: Reports.
        sentences: Their sentences.
        anew: Sentences written anew.
        masked: Sentences kept because a word of the report is missing.
        abnormal: Sentences that make a finding, without the masked ones.
        abnormal_anew: Of these, sentences written anew.
        grade_before: Flesch-Kincaid grade of the sentences that were written anew, as the reports have them.
        grade_after: The same in plain words.
    """

    reports: int
    sentences: int
    anew: int
    masked: int
    abnormal: int
    abnormal_anew: int
    grade_before: float
    grade_after: float


def written(data: Path, *, sample: int, seed: int) -> Written:
    """The writer on a sample of the abnormal reports."""
    with (data / "iu_xray" / "indiana_reports.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["Problems"].lower() != "normal"]
    texts = [" ".join(filter(None, (row["findings"], row["impression"]))) for row in rows]
    texts = random.Random(seed).sample([text for text in texts if text], sample)
    written_texts = [write_plain(text) for text in texts]
    abnormal = [each for text, found in zip(texts, written_texts, strict=True) for each in _abnormal(text, found)]
    sentences = [each for found in written_texts for each in found]
    anew = [each for each in sentences if not each.kept]
    masked = [each for each in sentences if each.kept and "a word of the report is missing" in each.reasons]
    before, after = (
        readability(" ".join(texts)).flesch_kincaid_grade
        for texts in ([each.source for each in anew], [each.plain for each in anew])
    )
    told = sum(not each.kept for each in abnormal)
    return Written(len(texts), len(sentences), len(anew), len(masked), len(abnormal), told, before, after)


def _abnormal(text: str, sentences: Sequence[PlainSentence]) -> list[PlainSentence]:
    """The sentences in which the reader finds something abnormal, and in which no word is missing."""
    starts = [
        mention.start
        for mention in read_report(text).mentions
        if mention.kind in FINDING_KINDS and mention.assertion != "absent" and mention.form != "implied"
    ]
    return [
        each
        for each in sentences
        if any(each.start <= start < each.end for start in starts)
        and "a word of the report is missing" not in each.reasons
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    began = time.perf_counter()
    found = written(chosen.data, sample=chosen.sample, seed=chosen.seed)
    took = time.perf_counter() - began
    print(f"{found.reports} reports, {found.sentences} sentences in {took:.1f} s")
    print(f"written anew: {found.anew / found.sentences:.1%} of all, ", end="")
    print(f"{found.anew / (found.sentences - found.masked):.1%} of those without a masked word")
    share = found.abnormal_anew / found.abnormal
    print(f"abnormal sentences without a masked word: {share:.1%} of {found.abnormal}")
    print(f"Flesch-Kincaid grade of these: {found.grade_before:.1f} -> {found.grade_after:.1f}")


if __name__ == "__main__":
    main()
