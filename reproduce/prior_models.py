"""Supplementary tables 4 and 5 of Yu et al. (2022): average metric scores of report generators on MIMIC-CXR.

Input: the test impressions with every generator's output, as `radgauge score` reads them: columns id, reference
and candidate with a column system (random, m2trans, r2gen, cxr-repair, wcl, cvt2distilgpt2), or one column per
system. The paper's intervals are those of a resampled mean and so much too narrow; the notes show ours made the
same way (the method `yu2022`, from five times --resamples: 5,000 as in the paper) beside percentile intervals.
`--reports train.csv`, the training impressions, adds the first row of table 4: for each test report the one that
the metric itself scores highest.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence

from oracle_system import ORACLE, score_with_oracles
from side_by_side import YU, Line, Settings, run, score_cases

import radgauge as rg
from radgauge.analysis.summary import Summary
from radgauge.core.errors import InputError
from radgauge.io.case_files import read_references

PUBLISHED = {
    "metric-oracle": (0.566, 0.729, 0.956, 0.677, float("nan")),
    "random": (0.048, 0.214, 0.280, 0.049, 3.266),
    "m2trans": (0.087, 0.227, 0.268, 0.110, 3.088),
    "r2gen": (0.059, 0.186, 0.204, 0.057, 3.233),
    "cxr-repair": (0.055, 0.191, 0.379, 0.091, 3.181),
    "wcl": (0.064, 0.188, 0.218, 0.068, 3.205),
    "cvt2distilgpt2": (0.066, 0.192, 0.264, 0.073, 3.191),
}
METRIC_ORACLE = {"BLEU": 0.566, "BERTScore": 0.729, "CheXbert": 0.956, "RadGraph F1": 0.677}
METRICS = {
    "BLEU": YU["BLEU"],
    "BERTScore": YU["BERTScore"],
    "CheXbert": YU["CheXbert"],
    "RadGraph F1": YU["RadGraph F1"],
    "RadCliQ (predicted errors)": "radcliq:version=preprint",
}


def make(settings: Settings) -> list[Line]:
    """Five numbers per generator that the file has."""
    with settings.place.open(encoding="utf-8-sig", newline="") as file:
        header = next(csv.reader(file), [])
    wide = [name for name in header if name in PUBLISHED]
    cases = rg.read_cases(settings.place, candidate_columns=wide or None).cases
    there = [system for system in PUBLISHED if any(case.system == system for case in cases)]
    if not there:
        known = ", ".join(PUBLISHED)
        raise InputError(
            f"{settings.place.name} has none of the systems {known}, as columns or in a column system"
        )
    results, missing = score_cases(cases, list(METRICS.values()), settings)
    lines = []
    honest = rg.summarise(results, resamples=settings.resamples, seed=settings.seed, method="percentile")
    narrow = rg.summarise(results, resamples=5 * settings.resamples, seed=settings.seed, method="yu2022")
    values = {
        (line.system, line.judge, line.column): (line.value, f"{_bounds(thin)} as in the paper; {_bounds(line)}")
        for line, thin in zip(honest, narrow, strict=True)
    }
    headlines = {spec: (scores.judge, scores.columns[0]) for spec, scores in results.judges.items()}
    for system in there:
        for (name, spec), published in zip(METRICS.items(), PUBLISHED[system], strict=True):
            ours, bounds = values.get((system, *headlines.get(spec, ("", ""))), (float("nan"), ""))
            lines.append(Line(f"{system}, {name}", published, ours, missing.get(spec, bounds)))
    return [*_metric_oracles(cases, missing, settings), *lines]


def _metric_oracles(cases: Sequence[rg.Case], missing: Mapping[str, str], settings: Settings) -> list[Line]:
    corpus = read_references(settings.reports).cases if settings.reports is not None else ()
    studies = list({case.id: case for case in cases}.values())
    lines = []
    for name, published in METRIC_ORACLE.items():
        note = missing.get(METRICS[name], "" if corpus else "needs --reports: the training impressions")
        ours = float("nan")
        if not note:
            scores = score_with_oracles(studies, [METRICS[name]], corpus=corpus, models=settings.models)
            lines_of = rg.summarise(scores, resamples=settings.resamples, seed=settings.seed)
            ours = next(line.value for line in lines_of if line.system == ORACLE)
        lines.append(Line(f"metric-oracle model, {name}", published, ours, note))
    return lines


def _bounds(line: Summary) -> str:
    return f"[{line.low:.4f}, {line.high:.4f}]"


if __name__ == "__main__":
    run(make, title="Yu et al. 2022, supplementary tables 4 and 5", needs="a CSV of MIMIC-CXR test impressions")
