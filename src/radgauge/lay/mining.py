"""Pairs out of a corpus: the same meaning in other words, another meaning in similar words.

Zhao et al., Layman's RRG (2024), section 3.4 and table 2 (SS&DE, DS&SE). The paper does not say how it chose its
pairs; here two readers that know nothing of one another must agree on what a sentence means.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from radgauge.core.progress import working
from radgauge.findings.findings import Findings
from radgauge.io.judgments.rate_eval import Triple
from radgauge.lay.check.compare import compare_readings
from radgauge.lay.check.reading import EverydayReading, read_everyday
from radgauge.lay.checks import same_statement
from radgauge.lay.dedupe import distinct_sentences
from radgauge.lay.fidelity import compare_lay, lay_findings
from radgauge.lay.lay_reader import LayReader
from radgauge.text.sentences import sentences_of

BLOCK = 2048  # sentences whose overlaps are held at a time
_MASK = re.compile(r"[Xx]{3,}|_{2,}")
TRIED = 8  # nearest sentences in words that are compared in meaning


@working("mining pairs")
def mine_triples(
    reports: Mapping[str, str], *, other_words: float = 0.6, similar_words: float = 0.6
) -> list[Triple]:
    """Sentences with one that says the same in other words and one that says something else in similar words.

    Args:
        reports: Id -> text.
        other_words: Greatest overlap in words (Jaccard) with the first.
        similar_words: Least overlap with the second.

    >>> mined = mine_triples({"1": "No pleural effusion is seen. There is no evidence of mass.",
    ...     "2": "There are no pleural effusions. Pleural effusion is seen."}, other_words=0.5, similar_words=0.6)
    >>> mined[0].original, mined[0].opposite
    ('No pleural effusion is seen.', 'Pleural effusion is seen.')
    """
    placed = {
        f"{study}#{number}": sentence
        for study, text in reports.items()
        for number, sentence in enumerate(sentences_of(text), start=1)
    }
    first = {sentence: name for name, sentence in reversed(placed.items())}
    sentences = [
        candidate
        for candidate in distinct_sentences(placed.values()).values()
        if "XX" not in candidate and "__" not in candidate
    ]
    readings = [read_everyday(sentence) for sentence in sentences]
    findings = [lay_findings(read) for read in LayReader().read(sentences)]
    clear = [
        n
        for n, (everyday, sentence_findings) in enumerate(zip(readings, findings, strict=True))
        if everyday.facts and not everyday.unread and (sentence_findings.present or sentence_findings.denied)
    ]
    sentences = [sentences[n] for n in clear]
    readings = [readings[n] for n in clear]
    findings = [findings[n] for n in clear]
    rewrites = _rewrites(sentences, readings, findings, other_words)
    mined = []
    for index, others in _similar(sentences, similar_words):
        if index not in rewrites:
            continue
        opposite = next((n for n in others if _differ(readings, findings, index, n)), None)
        if opposite is not None:
            name = first.get(sentences[index], f"sentence {index}")
            mined.append(Triple(name, sentences[index], sentences[rewrites[index]], sentences[opposite]))
    return mined


def _rewrites(
    sentences: Sequence[str], readings: Sequence[EverydayReading], findings: Sequence[Findings], greatest: float
) -> dict[int, int]:
    """Index -> the sentence of the same meaning with the fewest words in common."""
    groups: dict[object, list[int]] = defaultdict(list)
    for index, (reading, sentence_findings) in enumerate(zip(readings, findings, strict=True)):
        facts = frozenset(fact._replace(start=0, end=0, sentence=0, values=frozenset()) for fact in reading.facts)
        claims = frozenset(
            (finding.concept, finding.sides, finding.severity, finding.uncertain)
            for finding in sentence_findings.present
        )
        denials = frozenset(
            (denial.concepts, denial.sides, denial.severity) for denial in sentence_findings.denied
        )
        groups[facts, claims, denials].append(index)
    chosen = {}
    for members in groups.values():
        for index in members:
            overlaps = sorted((_jaccard(sentences[index], sentences[n]), n) for n in members if n != index)
            near = (n for overlap, n in overlaps[:TRIED] if overlap <= greatest)
            match = next((n for n in near if same_statement(sentences[index], sentences[n])), None)
            if match is not None:
                chosen[index] = match
    return chosen


def _differ(readings: Sequence[EverydayReading], findings: Sequence[Findings], index: int, other: int) -> bool:
    """True if both readers find another meaning, and not in a degree, a change or one more denial alone."""
    everyday = compare_readings(readings[index], readings[other], strict=True)
    comparison = compare_lay(findings[index], findings[other])
    changed = {difference.attribute for _, _, differences in comparison.changed for difference in differences}
    return bool(everyday.differences) and bool(
        comparison.lost or comparison.added or changed - {"severity", "change"}
    )


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def _jaccard(a: str, b: str) -> float:
    first, second = (_words(text) for text in (a, b))
    return len(first & second) / max(1, len(first | second))


def _similar(sentences: Sequence[str], min_overlap: float) -> Iterator[tuple[int, list[int]]]:
    """For each sentence those with the most words in common, from the most on."""
    tokens = [sorted(_words(sentence)) for sentence in sentences]
    vocabulary: dict[str, int] = {}
    columns = [vocabulary.setdefault(word, len(vocabulary)) for row in tokens for word in row]
    lengths: NDArray[np.int64] = np.array([len(row) for row in tokens], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    ones = np.ones(len(columns), dtype=np.float32)
    table = csr_array((ones, columns, starts), shape=(len(sentences), max(1, len(vocabulary))))
    for start in range(0, len(sentences), BLOCK):
        shared = (table[start : start + BLOCK] @ table.T).toarray()
        for offset, row in enumerate(shared):
            index = start + offset
            overlap = row / np.maximum(1, lengths[index] + lengths - row)
            overlap[index] = -1
            best = np.argsort(-overlap, kind="stable")[:TRIED]
            yield index, [int(n) for n in best if overlap[n] >= min_overlap]
