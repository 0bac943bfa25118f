"""Pairs of reports with the verdict of `errors`, and pairs that people or a language model judged."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from radgauge.analysis.perturb import KINDS, perturb
from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.lab.training.pair_files import PairTable
from radgauge.metrics.errors import Errors
from radgauge.text.sentences import split_sentences

SHARES = {"train": 0.8, "val": 0.08, "test": 0.12}
CHANGES, MIXED, RANDOM = 5, 8, 8
"""Pairs per report: with one change, with sentences of another report, with any other report."""
PIECE = 7  # sentences of a long transcription that stand for a report
WHOLE = ("normal_report", "swap_report")  # changes that need a corpus


@dataclass(frozen=True)
class Judged:
    """A pair with its mean rating, 1 to 5."""

    source: str
    candidate: str
    reference: str
    rating: float


def corpora(data: Path) -> list[list[str]]:
    """Chest reports that are in no test split, and pieces of transcriptions of other regions."""
    annotated = json.loads((data / "iu_xray" / "r2gen_annotation.json").read_text(encoding="utf-8"))
    used = {each["id"].split("_")[0].removeprefix("CXR") for each in annotated["test"]}
    used |= {row["uid"] for row in _table(data / "iu_xray_systems" / "mrg_rl_test382_systems.csv")}
    rows = [row for row in _table(data / "iu_xray" / "indiana_reports.csv") if row["uid"] not in used]
    chest = sorted({f"{row['findings']} {row['impression']}".strip() for row in rows if row["findings"]})
    other: dict[str, None] = {}
    for row in _table(data / "mtsamples" / "mtsamples_radiology.csv"):
        lines = [line for line in sentences(row["transcription"]) if len(line) > 12]
        pieces = (lines[at : at + PIECE] for at in range(0, len(lines), PIECE))
        other.update(dict.fromkeys(" ".join(piece) for piece in pieces if len(piece) >= 3))
    return [chest, list(other)]


def sentences(text: str) -> list[str]:
    """Sentences of a text."""
    return [text[start:end] for start, end in split_sentences(text)]


def make_pairs(texts: Sequence[str], rng: np.random.Generator) -> list[tuple[str, str]]:
    """(candidate, reference): copies, small changes, mixes of two reports, and any two reports."""
    pairs = [(text, text) for text in texts[:: max(1, len(texts) // 300)]]
    kinds = [kind for kind in KINDS if kind not in WHOLE]
    for text in texts:
        for kind in rng.permutation(kinds)[:CHANGES]:
            done = perturb(text, str(kind), rng=rng)
            if done is not None:
                pairs.append((done.text, text))
        for at in rng.integers(0, len(texts), MIXED):
            kept = [line for line in sentences(text) if rng.random() < 0.75]
            kept += [line for line in sentences(texts[at]) if rng.random() < 0.25]
            if kept:
                pairs.append((" ".join(kept), text))
        pairs += [(texts[at], text) for at in rng.integers(0, len(texts), RANDOM)]
    return list(dict.fromkeys(pairs))


def split_pairs(data: Path, *, most: int, seed: int = 0) -> dict[str, list[tuple[str, str]]]:
    """Pairs in splits; reports are dealt first, so that none stands in two."""
    rng = np.random.default_rng(seed)
    found: dict[str, list[tuple[str, str]]] = {name: [] for name in SHARES}
    for corpus in corpora(data):
        texts = [corpus[at] for at in rng.permutation(len(corpus))[:most]]
        ends = np.round(np.cumsum(list(SHARES.values())) * len(texts)).astype(int)
        for name, start, end in zip(SHARES, [0, *ends[:-1]], ends, strict=True):
            found[name] += make_pairs(texts[start:end], rng)
    return found


def scored(pairs: Sequence[tuple[str, str]], reading: Readings) -> PairTable:
    """Pairs with `errors_quality`; those that it cannot judge are left out."""
    cases = [Case(str(at), candidate, (reference,)) for at, (candidate, reference) in enumerate(pairs)]
    quality = Errors().measure(cases, reading=reading)[:, 0]
    kept = [(pair, value) for pair, value in zip(pairs, quality, strict=True) if np.isfinite(value)]
    return table([pair for pair, _ in kept], [value for _, value in kept])


def table(pairs: Sequence[tuple[str, str]], target: Sequence[float]) -> PairTable:
    """Pairs and what they are worth."""
    number: dict[str, int] = {}
    places = [tuple(number.setdefault(text, len(number)) for text in pair) for pair in pairs]
    candidate, reference = (np.array(side, dtype=np.intp) for side in zip(*places, strict=True))
    return PairTable(tuple(number), reference, candidate, np.array(target, np.float32), ())


def joined(one: PairTable, pairs: Sequence[tuple[str, str]], target: Sequence[float]) -> PairTable:
    """A table with more pairs."""
    old = [
        (one.texts[candidate], one.texts[reference])
        for candidate, reference in zip(one.candidate, one.reference, strict=True)
    ]
    return table([*old, *pairs], [*one.target, *target])


def judged_pairs(data: Path) -> list[Judged]:
    """RadPref (development half), generators' outputs on IU X-ray, written chest and other regions."""
    found = [
        Judged("radpref", row["candidate"], row["reference"], float(row["mean_rating"]))
        for row in _table(data / "radpref_dev" / "radpref_dev.csv")
    ]
    texts = {row["uid"]: row for row in _table(data / "iu_xray_systems" / "mrg_rl_test382_systems.csv")}
    ratings: dict[tuple[str, str], list[float]] = defaultdict(list)
    for item in _lines(data / "judged" / "iu_pairs.jsonl"):
        ratings[item["id"], item["system"]].append(item["rating"])
    for (study, system), values in ratings.items():
        found.append(Judged("iu", texts[study][system], texts[study]["reference"], float(np.mean(values))))
    for source in ("written_chest", "written_regions"):
        for item in _lines(data / "judged" / f"{source}.jsonl"):
            found.append(Judged(source, item["candidate"], item["reference"], float(item["rating"])))
    return found


def _table(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
