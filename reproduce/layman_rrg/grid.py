"""Models, prompts and corpora side by side: how right, how near and how easy lay versions are (tables 10 and 11).

Zhao et al., Layman's RRG (2024), appendix A.12. A lay version is the candidate, its original the reference. The
paper does not say which BLEU it prints, what its accuracy of CheXbert labels counts, nor whether its semantics
replace sentences first; here they are BLEU-4, the five conditions that must all agree, and sentences as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from layman_rrg.reading_ease import Ease, compare_ease
from radgauge.analysis.summary import summarise
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.readings import Readings
from radgauge.lay.metrics.layman import Layman
from radgauge.lay.translators import Translator
from radgauge.llm.numbered import Outcome
from radgauge.run.score import score
from radgauge.stats import Interval
from radgauge.stats.resampling import USUAL, Resampling
from radgauge.text.words import has_words

RIGHT = ("chexbert_5_exact", "chexbert_14_micro_f1", "chexbert_14_macro_f1")
GRAPH = ("radgraph_simple", "radgraph_partial", "radgraph_complete")
NEAR = ("bleu_4", "meteor", "rouge_l", "layman_raw_semantics")
OUTPUTS = (*RIGHT, *GRAPH, *NEAR)
"""Columns of table 10 without the ending of embedded models."""


@dataclass(frozen=True, slots=True)
class GridLine:
    """One line of both tables: the lay versions of one writer on one corpus.

    Attributes:
        corpus: Name of the corpus.
        writer: Model and prompt.
        reports: Reports of the corpus.
        without: Reports without a lay version; they are in no value.
        compared: Reports of which every writer of the corpus has a lay version: all values are of these.
        values: Output -> corpus value with its interval, as table 10, in the order of `OUTPUTS`.
        ease: Readability of originals and lay versions, as table 11; None if there is no lay version.
    """

    corpus: str
    writer: str
    reports: int
    without: int
    compared: int
    values: Mapping[str, Interval]
    ease: Ease | None


@dataclass(frozen=True, slots=True)
class LayGrid:
    """Tables 10 and 11.

    Attributes:
        lines: One per corpus and writer.
        signatures: What the numbers rest on.
    """

    lines: tuple[GridLine, ...]
    signatures: tuple[str, ...]


def lay_versions(reports: Mapping[str, str], translator: Translator) -> dict[str, Outcome]:
    """The first lay version of each report, unchecked: what a model and its prompt are worth by themselves.

    Args:
        reports: Id -> text.
        translator: Of whole reports.
    """
    texts = {study: " ".join(text.split()) for study, text in reports.items()}
    asked = [text for text in dict.fromkeys(texts.values()) if has_words(text)]
    found: dict[str, Outcome] = {}
    for start in range(0, len(asked), translator.chunk):
        part = asked[start : start + translator.chunk]
        found |= zip(part, translator.translate(part), strict=True)
    return {study: found.get(text, Outcome("", "the report is empty")) for study, text in texts.items()}


def lay_grid(
    corpora: Mapping[str, Sequence[Case]],
    *,
    layman: Layman | None = None,
    models: str = "embedded",
    meteor: bool = False,
    reading: Readings | None = None,
    resampling: Resampling = USUAL,
) -> LayGrid:
    """Tables 10 and 11 for any lay versions.

    Args:
        corpora: Name -> cases: candidate the lay version ("" if there is none), reference the original, system the
            model and prompt.
        layman: Settings of the semantics: its encoder and threshold.
        models: Model profile of CheXbert and RadGraph.
        meteor: Whether METEOR is measured too.
        reading: Shared readings.
        resampling: Coverage, resamples and seed of the intervals; studies are drawn.
    """
    if not corpora:
        raise UsageError("a table needs a corpus")
    shared = reading if reading is not None else Readings()
    names: list[str | Layman] = ["chexbert", "radgraph", "bleu", "rouge", layman or Layman()]
    if meteor:
        names.insert(3, "meteor")
    lines: list[GridLine] = []
    signatures: dict[str, None] = {}
    for corpus, cases in corpora.items():
        bare = [case.key for case in cases if not case.references or not has_words(case.references[0])]
        if bare:
            raise InputError(
                f"{corpus}: {len(bare)} of {len(cases)} lay versions have no original, first: {bare[0]}"
            )
        writers: dict[str, set[str]] = {}
        for case in cases:
            if has_words(case.candidate):
                writers.setdefault(case.system, set()).add(case.id)
        common = set.intersection(*writers.values()) if writers else set()
        if writers and not common:
            raise InputError(f"{corpus}: no report has a lay version of each of {', '.join(writers)}")
        for system in dict.fromkeys(case.system for case in cases):
            mine = [case for case in cases if case.system == system]
            without = sum(not has_words(case.candidate) for case in mine)
            there = [case for case in mine if has_words(case.candidate) and case.id in common]
            values: dict[str, Interval] = {}
            ease = None
            if there:
                results = score(there, names, reading=shared, models=models)
                signatures |= dict.fromkeys(each.signature for each in results.judges.values())
                for each in summarise(results, resampling=resampling):
                    if each.column.removesuffix("_embedded") in OUTPUTS:
                        values[each.column] = Interval(
                            *(each.value, each.low, each.high, resampling.level, each.method, each.judged),
                            each.not_judged,
                        )
                originals = {case.key: case.references[0] for case in there}
                ease = compare_ease(
                    [replace(case, references=()) for case in there],
                    originals,
                    reading=shared,
                    resampling=resampling,
                )
            ordered = dict(sorted(values.items(), key=lambda each: _rank(each[0])))
            lines.append(GridLine(corpus, system, len(mine), without, len(there), ordered, ease))
    return LayGrid(tuple(lines), tuple(signatures))


def _rank(column: str) -> int:
    """Place of a column in table 10."""
    return OUTPUTS.index(column.removesuffix("_embedded"))
