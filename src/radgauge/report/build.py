"""From scores to the report: everything is computed here, once; the template only arranges it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from radgauge.analysis.agreement import Alignment, agree
from radgauge.analysis.compare import SystemComparison, compare
from radgauge.analysis.leading import leading_judge, leading_system
from radgauge.analysis.summary import summarise
from radgauge.core.cases import Case
from radgauge.core.choices import RESAMPLES, Correction
from radgauge.core.errors import ImageError, InputError
from radgauge.core.metric import sums
from radgauge.core.progress import working
from radgauge.core.readings import Readings
from radgauge.core.scores import Results, Scores
from radgauge.io.judgments import Judgments
from radgauge.render.metric_names import MetricName, metric_name
from radgauge.render.svg import Plot
from radgauge.render.tables import Table
from radgauge.report import sections as s
from radgauge.report.browser_data import BrowserData, browser_data, script_safe
from radgauge.report.methods import methods_text, not_judged_rows, source_rows
from radgauge.report.paper import PaperStyle, bibliography, paper_table
from radgauge.report.standing import most_disputed
from radgauge.report.verdict import Verdict, build_verdict
from radgauge.stats.resampling import Resampling

if TYPE_CHECKING:
    from radgauge.report.appendix import WorstCase


# The pictures of the case browser: small copies inside the page, as many as there is room for.

MAX_PICTURE_SIZE = 384
"""Pixels of the longer side of a picture in the page."""
ROOM = 6_000_000
"""Bytes for all pictures."""


@dataclass(frozen=True, slots=True)
class PagePictures:
    """Pictures as the page's script reads them."""

    packed: str = "{}"  # JSON: study -> records of its pictures, safe inside a script element
    studies: int = 0  # Studies whose pictures are in the page
    no_room: int = 0  # Studies whose pictures did not fit
    unreadable: int = 0  # Files that could not be shown

    def notes(self) -> list[str]:
        """Sentences about images that are missing."""
        sentences = []
        if self.no_room:
            sentences.append(
                f"Pictures of {self.no_room:,} of {self.no_room + self.studies:,} studies are left out to keep "
                "this file small."
            )
        if self.unreadable:
            sentences.append(f"{self.unreadable:,} pictures could not be read.")
        return sentences


def page_pictures(
    cases: Sequence[Case],
    *,
    shown: Collection[str],
    first: Sequence[str] = (),
    max_pixels: int = MAX_PICTURE_SIZE,
    room: int = ROOM,
) -> PagePictures:
    """Pack the pictures of the studies in the browser.

    Args:
        cases: With their images.
        shown: Studies that the browser holds.
        first: Studies whose pictures come first when there is no room for all.
        max_pixels: Pixels of a picture's longer side at most; 0: no pictures.
        room: Bytes at most.
    """
    from radgauge.images import web_picture  # most reports have no pictures
    from radgauge.render.viewer import picture_record

    images = {case.id: case.images for case in reversed(cases) if case.images and case.id in shown}
    order = [*dict.fromkeys(study for study in (*first, *(case.id for case in cases)) if study in images)]
    packed: dict[str, list[dict[str, Any]]] = {}
    used, no_room, unreadable = 0, 0, 0
    for study in order if max_pixels else ():
        if used >= room:
            no_room += 1
            continue
        records = []
        for path in images[study]:
            try:
                records.append(picture_record(web_picture(path, max_size=max_pixels), name=path.name))
            except ImageError:
                unreadable += 1
        size = sum(len(record["data"]) for record in records)
        if used + size > room:
            no_room += 1
            used = room  # what follows is less telling than what did not fit
        elif records:
            packed[study] = records
            used += size
    return PagePictures(script_safe(json.dumps(packed)), len(packed), no_room, unreadable)


MOST_CASES = 2400
FINE = 60
"""Resamples per pair of metrics: enough for a corrected p value below 2 %."""

MOST_PAIRED = 12
"""Metrics up to which every two are compared against the radiologists."""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that the page shows."""

    title: str  # Heading
    systems: tuple[str, ...]  # In the order of their colours
    metrics: tuple[str, ...]  # Headline columns
    studies: int
    cases: int
    tables: Mapping[str, Table]  # By key
    plots: Mapping[str, Plot]  # By key; what `--plots` writes
    shown: Mapping[str, tuple[str, ...]]  # Section -> keys of its plots in the page
    browser: BrowserData
    methods: tuple[str, ...]
    signatures: tuple[tuple[str, str], ...]  # (judge, signature)
    sources: tuple[tuple[str, str, str], ...]  # (file, sha256, rows)
    not_judged: tuple[tuple[str, str, str, int], ...]  # (metric, system, reason, how many)
    notes: tuple[str, ...]  # What a reader should know before believing the numbers
    agreements: tuple[str, ...]  # What radiologists' agreement among themselves is, in words
    verdict: Verdict  # The first screen in words
    appendix: tuple[WorstCase, ...] = ()  # The worst cases, for print
    columns: tuple[MetricName, ...] = ()  # Names of the headline columns for people
    bibliography: str = ""  # BibTeX of what stands behind the metrics
    about: Mapping[str, str] = field(default_factory=dict)  # Version, seed and so on, by name
    pictures: PagePictures = field(default_factory=PagePictures)  # Of the studies in the browser


@working("building the report")
def build_report(
    results: Results,
    *,
    cases: Sequence[Case] = (),
    judgments: Judgments | None = None,
    header: Mapping[str, Any] | None = None,
    title: str = "Radiology report evaluation",
    baseline: str | None = None,
    reading: Readings | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    permutations: int = 10_000,
    correction: Correction = "holm",
    most_cases: int = MOST_CASES,
    picture_size: int = MAX_PICTURE_SIZE,
    appendix: int = 0,
    before: Results | None = None,
    paper: PaperStyle | None = None,
    seed: int = 0,
    resampling: Resampling | None = None,
) -> Report:
    """Compute the report.

    Args:
        results: What `score` or `read_scores` returned.
        cases: The scored cases with their texts, joined by (id, system); without them there are no texts.
        judgments: What radiologists said about the same cases.
        header: Header of the scores file: software, input hashes, seed.
        title: Heading of the page.
        baseline: The system that others are compared with; by default the one that leads.
        reading: Shared readings for the explanations.
        level: Coverage of the intervals.
        resamples: Bootstrap resamples.
        permutations: Rearrangements of the paired tests.
        correction: holm, bh or none.
        most_cases: Cases in the browser at most; a larger set is sampled by study, and the page says so.
        picture_size: Pixels of the longer side of the cases' pictures in the browser; 0 leaves them out.
        appendix: How many of the worst cases are added for print.
        before: Older scores of the same systems: what got better, what got worse, which cases flipped.
        paper: How the table for a paper looks.
        seed: Seed of all resampling and sampling.
        resampling: Level, resamples and seed as one record, instead of them.
    """
    how = resampling or Resampling(level, resamples, seed=seed)
    keys = results.keys_of_cases
    if not keys:
        raise InputError("there are no scores to report: no metric, or no case")
    head = header or {}
    systems = tuple(dict.fromkeys(system for _, system in keys))
    texts = _named_as(results, cases) or (list(judgments.cases) if judgments is not None else [])
    shared = reading if reading is not None else Readings()
    notes: tuple[str, ...] = _missing_texts(results, texts)
    collapsed = _alike(texts, shared)
    metrics = tuple(scores.columns[0] for scores in results.judges.values())
    lines = summarise(results, resampling=how)
    tables: dict[str, Table] = {}
    plots: dict[str, Plot] = {}
    shown: dict[str, tuple[str, ...]] = {}

    def add(section: str, *drawn: Plot) -> None:
        plots.update({plot.key: plot for plot in drawn})
        shown[section] = (*shown.get(section, ()), *(plot.key for plot in drawn))

    interval_name = f"{100 * how.level:.3g} % intervals"
    limits = {
        scores.columns[0]: scores.metric.range for scores in results.judges.values() if scores.metric is not None
    }
    tables["summary"] = s.summary_table(
        lines, key="summary", title=f"Corpus values with {interval_name}", columns=metrics, limits=limits
    )
    columns = [column for scores in results.judges.values() for column in scores.columns]
    if len(columns) > len(metrics):
        title_all = f"Every output with {interval_name}"
        tables["outputs"] = s.summary_table(lines, key="outputs", title=title_all, columns=columns, limits=limits)
    plots.update({plot.key: plot for plot in s.summary_plots(lines, metrics)})
    system_comparisons: Sequence[SystemComparison] = []
    if len(systems) > 1:
        try:
            system_comparisons = compare(
                results,
                baseline=baseline if baseline is not None else leading_system(results),
                correction=correction,
                permutations=permutations,
                resampling=how.at_least(1),
            )
        except InputError as error:  # systems on different studies: the rest of the report stands
            notes = (*notes, f"systems are not compared: {error}")
        else:
            tables["comparison"] = s.comparison_table(system_comparisons, note=_corpus_note(results))
    every = {
        c: r for scores in results.judges.values() for c, r in zip(scores.columns, scores.ranges, strict=True)
    }
    chosen = (paper or PaperStyle()).chosen(columns, metrics)
    tables["paper"] = paper_table(
        lines,
        columns=chosen,
        limits=every,
        comparisons=system_comparisons,
        style=paper,
        permutations=permutations,
        correction=correction,
    )
    disputed = most_disputed(results)
    worst: tuple[WorstCase, ...] = ()
    if appendix:
        from radgauge.report.appendix import worst_cases

        worst = worst_cases(results, leading_judge(results), cases=texts, max_cases=appendix, reading=shared)
    first = [*(case.study for case in worst), *(case.key[0] for case in disputed)]
    browser = browser_data(
        results,
        cases=texts,
        judgments=judgments,
        first=first,
        reading=shared,
        most_cases=most_cases,
        seed=how.seed,
    )
    pictures = page_pictures(
        texts,
        shown={study for study, _ in browser.case_numbers},
        first=first,
        max_pixels=picture_size,
    )
    changed = None
    if before is not None:
        from radgauge.analysis.releases import compare_releases

        changed = compare_releases(
            results, before, correction=correction, permutations=permutations, resampling=how.at_least(1)
        )
        notes = (*notes, *changed.notes)
        tables["changes"] = s.comparison_table(
            changed.comparisons, key="changes", title="Each system now against itself before, on the same studies"
        )
        if changed.column:
            tables["flips"] = s.flip_table(changed, browser.case_numbers)
    if disputed:
        tables["disagreement"] = s.disagreement_table(disputed, browser.case_numbers)
    alignment, draws = None, 0
    if judgments is not None:
        from radgauge.report import radiologists as people

        rivals = len(metrics) * (len(metrics) - 1) // 2
        draws = max(how.resamples, FINE * rivals, 1)
        alignment = agree(
            results,
            judgments,
            resampling=how.at_least(draws),
            correction=correction,
            pairs=len(metrics) <= MOST_PAIRED,
        )
        tables["radiologists"] = people.radiologist_table(alignment)
        if (pairs := people.pairs_table(alignment)) is not None:
            tables["pairs"] = pairs
        if judgments.errors and len({case.system for case in judgments.cases}) > 1:
            from radgauge.analysis.failure_modes import failure_modes

            try:
                tables["failure_modes"] = people.failure_table(failure_modes(judgments))
            except InputError as error:  # groups on different studies: the rest of the report stands
                notes = (*notes, f"no failure modes: {error}")
        add("radiologists", *people.scatter_plots(results, judgments, alignment, browser.case_numbers))
    if (agreeing := s.correlation_section(results)) is not None:
        tables["correlations"] = agreeing[0]
        add("correlations", agreeing[1])
    for name, scores in results.judges.items():
        if (
            errors := s.error_section(scores, key=f"errors-{name}", who=f"found by the metric {name}")
        ) is not None:
            tables[errors[0].key] = errors[0]
            add("errors", errors[1])
    if judgments is not None and judgments.errors:
        human = s.error_section(judgments.mean_errors(), key="errors-radiologists", who="counted by radiologists")
        if human is not None:
            tables[human[0].key] = human[0]
            add("errors", human[1])
    add("distributions", *s.distributions(results))
    verdict = build_verdict(
        results,
        cases=texts,
        alignment=alignment,
        case_numbers=browser.case_numbers,
        reading=shared,
        comparisons=system_comparisons,
        changed=changed,
        collapsed=collapsed,
    )
    return Report(
        title=title,
        systems=systems,
        metrics=metrics,
        studies=len({study for study, _ in keys}),
        cases=len(keys),
        tables=tables,
        plots=plots,
        shown=shown,
        browser=browser,
        methods=tuple(
            methods_text(
                results,
                lines=lines,
                comparisons=system_comparisons,
                alignment=alignment,
                judgments=judgments.name if judgments is not None else "",
                draws=draws,
                header=head,
                resamples=how.resamples,
                permutations=permutations,
                interval="percentile",
                correction=correction,
                seed=how.seed,
            )
        ),
        signatures=tuple((name, scores.signature) for name, scores in results.judges.items()),
        sources=tuple(source_rows(head)),
        not_judged=tuple(not_judged_rows(results)),
        notes=(*notes, *(head.get("input") or {}).get("warnings", ())),
        agreements=_agreements(alignment),
        verdict=verdict,
        appendix=worst,
        columns=tuple(metric_name(column) for column in metrics),
        bibliography=bibliography([judge_name(scores) for scores in results.judges.values()]),
        about={"seed": str(how.seed), "level": f"{100 * how.level:.3g} %", "correction": correction},
        pictures=pictures,
    )


def _alike(cases: Sequence[Case], reading: Readings) -> list[str]:
    """Systems that may have collapsed; the baselines are meant to."""
    from radgauge.analysis.baselines import FREQUENT, TEMPLATE
    from radgauge.analysis.collapse import collapse_notes  # loads the reader, which many reports do without

    real = [case for case in cases if case.system not in (TEMPLATE, FREQUENT)]
    return collapse_notes(real, reading=reading)


def judge_name(scores: Scores) -> str:
    """The metric's own name, whatever it is called in this run."""
    return scores.judge if scores.metric is None else scores.metric.name


def _corpus_note(results: Results) -> str:
    """Names the metrics whose value of a set is not the mean of its cases: two kinds of numbers meet in a row."""
    names = []
    for scores in results.judges.values():
        own = scores.of_system(scores.systems[0])
        value, present = float(own.corpus_scores(*sums(own.rows))[0]), own.headline[~np.isnan(own.headline)]
        if len(present) and abs(value - float(present.mean())) > 1e-9:
            names.append(metric_name(scores.columns[0]).name)
    if not names:
        return ""
    return (
        f"{', '.join(names)}: values and differences are of all reports together, d and better / equal / worse of "
        "single reports, so the two can point different ways."
    )


def _named_as(results: Results, cases: Sequence[Case]) -> list[Case]:
    """The cases, under the name of the scores if both are of one system: it may be called after another file."""
    scored = {system for _, system in results.keys_of_cases}
    if len(scored) == 1 and len({case.system for case in cases}) == 1:
        return [replace(case, system=next(iter(scored))) for case in cases]
    return list(cases)


def _missing_texts(results: Results, cases: Sequence[Case]) -> tuple[str, ...]:
    keys_with_text = {case.key for case in cases}
    absent = [key for key in results.keys_of_cases if key not in keys_with_text]
    if not cases or not absent:
        return ()
    if len(absent) == len(results.keys_of_cases):
        raise InputError(
            f"reports and scores share no (id, system): scores have {absent[0]}, reports {cases[0].key}; "
            "give the file that the scores were made from"
        )
    return (f"{len(absent)} of {len(results.keys_of_cases)} scored cases have no text, first {absent[0]}",)


def _agreements(alignment: Alignment | None) -> tuple[str, ...]:
    if alignment is None:
        return ()
    from radgauge.core.wording import interval, number
    from radgauge.report import radiologists as people

    return tuple(
        f"{people.TARGETS.get(ceiling.target, ceiling.target)}: "
        + ", ".join(
            f"{agreement.name} {number(agreement.interval.value)} "
            f"{interval(agreement.interval.low, agreement.interval.high)}"
            for agreement in ceiling.agreements
        )
        for ceiling in alignment.ceilings
    )
