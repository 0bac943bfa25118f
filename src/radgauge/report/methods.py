"""Answers for a reviewer: data, software, settings, seeds, tests, what could not be judged; in words to copy."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import radgauge
from radgauge.analysis.agreement import Alignment
from radgauge.analysis.compare import SystemComparison
from radgauge.analysis.summary import Summary
from radgauge.core.scores import Results

INTERVALS = {"percentile": "percentile bootstrap", "bca": "BCa bootstrap"}
CORRECTIONS = {"holm": "corrected by Holm's method", "bh": "corrected by Benjamini and Hochberg's method"}


def methods_text(
    results: Results,
    *,
    lines: Sequence[Summary],
    comparisons: Sequence[SystemComparison],
    alignment: Alignment | None,
    judgments: str,
    draws: int,
    header: Mapping[str, Any],
    resamples: int,
    permutations: int,
    interval: str,
    correction: str,
    seed: int,
) -> list[str]:
    """Paragraphs of plain text."""
    keys = results.keys_of_cases
    systems = list(dict.fromkeys(system for _, system in keys))
    cases, studies = len(keys), len({study for study, _ in keys})
    version = str(header.get("radgauge", radgauge.__version__))
    software = (
        f"radgauge {version} (Python {header.get('python', platform.python_version())}, "
        f"numpy {header.get('numpy', np.__version__)})"
    )
    written = ""
    if version != radgauge.__version__:
        written = f" The report was made with radgauge {radgauge.__version__}."
    level = f"{100 * lines[0].level:.3g} %" if lines else "95 %"
    text = [
        f"Data. {cases} candidate reports of {len(systems)} {_s(systems, 'system')} ({', '.join(systems)}) on "
        f"{studies} {_s(range(studies), 'study', 'studies')} were scored with {software}.{written}",
        _texts(header.get("input") or {}),
        f"Metrics. {', '.join(scores.columns[0] for scores in results.judges.values())}; the settings, models and "
        f"versions behind each are in its signature below.",
        "Averaging. A value is the mean over the cases that could be judged, unless the metric defines a corpus "
        "value: BLEU pools n-gram counts; F1, precision and recall of findings are micro averages over all cases. "
        f"Cases that could not be judged are counted and left out. Intervals are {level} "
        f"{INTERVALS.get(interval, interval)} intervals from {resamples} resamples of studies, seed {seed}.",
    ]
    if comparisons:
        how = CORRECTIONS.get(correction, "not corrected")
        exact = all(line.result.exact for line in comparisons)
        how_many = "all rearrangements" if exact else f"{permutations:,} random rearrangements"
        text.append(
            f"Comparison. Every system was compared with {comparisons[0].baseline} on the studies that both have, "
            f"by {len(comparisons)} two-sided paired permutation tests with {how_many}; p values are {how} over "
            f"all of them. d is the mean paired difference over its standard deviation."
        )
    if alignment is not None:
        text.append(
            f"Radiologists. Agreement with the radiologists of {judgments} is Kendall's tau-b over "
            f"{alignment.cases} cases, turned so that positive means agreement, with intervals from {draws} "
            f"resamples of studies. 'Preferred' is the share of pairs of reports on one study that the metric "
            f"orders like the mean radiologist, ties counted half. Metrics of one cluster "
            f"cannot be told apart at 5 % after correction."
        )
        text += [f"Note. {note[0].upper()}{note[1:]}." for note in alignment.notes]
    text.append(
        "Percentiles. A case's percentile is the share of all judged cases that the metric scores lower, ties "
        "counted half."
    )
    if any(column.endswith("_embedded") for scores in results.judges.values() for column in scores.columns):
        text.append(
            "Models. Columns that end in _embedded run on radgauge's own offline reader and are not comparable "
            "with published numbers."
        )
    return text


def _texts(source: Mapping[str, Any]) -> str:
    """Describe which texts were judged and how they were prepared."""
    section, split = source.get("section"), source.get("split")
    which = {
        "findings": "the findings section of each report",
        "impression": "the impression section of each report",
        "both": "the findings and impression sections of each report",
    }.get(str(section), "the complete reports, no section was chosen")
    files = ", ".join(
        f"{entry.get('name')} ({entry.get('rows')} rows)"
        for entry in source.get("sources") or ()
        if entry.get("name")
    )
    rows = f"of the split {split}" if split else "of all rows, without a choice of split"
    return (
        f"Texts. Judged were {which}, {rows}{f'; input: {files}' if files else ''}. Markup, entities and "
        "invisible characters were removed and nothing else was changed; each metric tokenizes as its signature "
        "says. References and candidates were joined by study id."
    )


def not_judged_rows(results: Results) -> list[tuple[str, str, str, int]]:
    """(metric, system, reason, how many), for everything that is missing from a value."""
    rows: dict[tuple[str, str, str], int] = {}
    for scores in results.judges.values():
        for (_, system), why in scores.reasons.items():
            rows[scores.columns[0], system, why] = rows.get((scores.columns[0], system, why), 0) + 1
    return [(*key, count) for key, count in rows.items()]


def source_rows(header: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """(file, sha256, rows) of the inputs: reports behind the scores, and judgments."""
    input_header = header.get("input") or {}
    return [
        (str(source.get("name", "")), str(source.get("sha256", "")), str(source.get("rows", "")))
        for source in (*input_header.get("sources", []), *header.get("judgments", []))
    ]


def _s(items: Any, word: str, plural: str = "") -> str:
    return word if len(items) == 1 else plural or f"{word}s"
