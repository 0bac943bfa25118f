"""Which reports to show to radiologists: section 7.2 and appendix A of Calamida et al. (2023).

Reports of one system are cut into three groups at the 0.33 and 0.66 quantiles of RadCliQ; from each, as many are
drawn; reports that are normal by their first term are set apart, and of the others those stay that have a second
term and no phrase of normality in their impression; the study takes some of these and a few normal ones.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from radgauge.analysis import baselines
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.files import write_csv
from radgauge.core.parsing import shipped_toml
from radgauge.core.progress import working
from radgauge.core.readings import Readings
from radgauge.io.case_files import read_cases
from radgauge.io.corpora.studies import Study
from radgauge.lab.training.clusters import usable_terms
from radgauge.lab.training.pair_scores import PairScorer
from radgauge.lab.training.term_reports import NORMAL, read_term_studies

QUANTILES = (0.33, 0.66)
STRATA = ("best", "middle", "worst")
NORMAL_PHRASES: tuple[str, ...] = tuple(shipped_toml(baselines.__file__, "normal.toml")["phrases"])
"""Appendix A; its longer phrases ("... identified", "... seen", "... detected") contain one of these."""
_OPENI_ID = re.compile(r"^CXR0*(\d+)(?:_IM-.*)?$", re.IGNORECASE)


@dataclass(frozen=True)
class Sampled:
    """One case of the study."""

    case: Case
    radcliq: float
    stratum: str
    normal: bool


@dataclass(frozen=True)
class StudySample:
    """The cases drawn, in random order, and how many there were at each stage."""

    cases: tuple[Sampled, ...]
    counts: Mapping[str, int]


@working("drawing the sample")
def sample_study(
    cases: Sequence[Case],
    studies: Sequence[Study],
    *,
    system: str | None = None,
    per_stratum: int = 150,
    abnormal: int = 80,
    normal: int = 20,
    seed: int = 0,
    reading: Readings | None = None,
) -> StudySample:
    """Draw the reports of a reader study.

    Args:
        cases: Candidates with references.
        studies: The corpus behind them: terms and impressions, joined on id; CXR<n>_IM-... is study <n>.
        system: Which system, if the cases are of several.
        per_stratum: Drawn from each of the three groups.
        abnormal: Abnormal reports wanted.
        normal: Normal reports wanted.
        seed: Of the drawing.
        reading: Shared readings.
    """
    systems = list(dict.fromkeys(case.system for case in cases))
    if system is None and len(systems) > 1:
        raise UsageError(f"the cases are of several systems; choose one: {', '.join(systems)}")
    if system is not None and system not in systems:
        raise UsageError(f"there is no system {system!r}; there are: {', '.join(systems)}")
    known = {study.id: study for study in studies}
    chosen = [case for case in cases if system in (None, case.system)]
    absent = [case.id for case in chosen if corpus_id(case.id, known) is None]
    if absent:
        raise InputError(
            f"{len(absent)} of {len(chosen)} cases are not in the corpus with the terms, first: {absent[0]!r}; "
            "ids must agree"
        )
    able = [case for case in chosen if case.candidate.strip() and any(text.strip() for text in case.references)]
    if len(able) < len(STRATA):
        raise InputError(f"three groups need at least three cases with both texts, got {len(able)}")
    values = _radcliq(able, reading or Readings())
    group = np.searchsorted(np.quantile(values, QUANTILES), values, side="left")
    rng = np.random.default_rng(seed)
    drawn: list[Sampled] = []
    for number, stratum in enumerate(STRATA):
        members = rng.permutation(np.flatnonzero(group == number))[:per_stratum]
        for at in members.tolist():
            study = known[str(corpus_id(able[at].id, known))]
            kind = report_kind(study)
            if kind:
                drawn.append(Sampled(able[at], float(values[at]), stratum, kind == NORMAL))
    pools = [[each for each in drawn if each.normal is wanted] for wanted in (False, True)]
    for pool, number, word in zip(pools, (abnormal, normal), ("abnormal", "normal"), strict=True):
        if len(pool) < number:
            raise InputError(
                f"{number} {word} reports are wanted and {len(pool)} were drawn; draw more per stratum, "
                "or ask for fewer"
            )
    picked = [
        pool[at]
        for pool, number in zip(pools, (abnormal, normal), strict=True)
        for at in rng.permutation(len(pool))[:number].tolist()
    ]
    counts = {
        "cases": len(able),
        "not judged (an empty text)": len(chosen) - len(able),
        "drawn": int(sum(min(per_stratum, int((group == number).sum())) for number in range(len(STRATA)))),
        "abnormal after the filters": len(pools[0]),
        "normal": len(pools[1]),
        "sampled": len(picked),
    }
    return StudySample(tuple(picked[at] for at in rng.permutation(len(picked)).tolist()), counts)


def report_kind(study: Study) -> str:
    """ "normal" by the first term; "abnormal" if the filters leave it; "" otherwise.

    The filters are a second term ('mesh-1') and an impression without a phrase of normality.

    >>> report_kind(Study("1", {"impression": "Mild failure."}, labels=("Cardiomegaly/mild", "Edema")))
    'abnormal'
    """
    terms = usable_terms(study.labels)
    if terms[:1] == (NORMAL,):
        return NORMAL
    impression = " ".join(study.sections.get("impression", "").lower().split())
    filtered = len(terms) < 2 or any(phrase in impression for phrase in NORMAL_PHRASES)
    return "" if filtered else "abnormal"


def corpus_id(case_id: str, known: Mapping[str, Study]) -> str | None:
    """The corpus's id of a case: the same, or the number in CXR<n>_IM-...; None if there is none."""
    if case_id in known:
        return case_id
    found = _OPENI_ID.match(case_id)
    names = (found[1], f"CXR{found[1]}") if found else ()
    return next((name for name in names if name in known), None)


def _radcliq(cases: Sequence[Case], reading: Readings) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    scorer = PairScorer.of(
        [text for case in cases for text in (case.references[0], case.candidate)], reading=reading
    )
    places = np.arange(len(cases), dtype=np.intp)
    return scorer.paired(2 * places, 2 * places + 1).radcliq


def write_sample(path: Path | str, sample: StudySample) -> None:
    """Write the cases of a study as CSV."""
    rows = (
        [
            *(*each.case.key, each.case.references[0], each.case.candidate),
            *(each.stratum, f"{each.radcliq:.6f}", int(each.normal)),
        ]
        for each in sample.cases
    )
    write_csv(path, ["id", "system", "reference", "candidate", "stratum", "radcliq", "normal"], rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw, write, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", type=Path, help="reports of one or more systems, as for `radgauge score`")
    parser.add_argument("--terms", type=Path, required=True, help="corpus with terms and impressions")
    parser.add_argument("--output", type=Path, required=True, help="CSV of the sampled cases")
    parser.add_argument("--system", help="which system, if the file has several")
    parser.add_argument("--candidate-columns", nargs="+")
    parser.add_argument("--per-stratum", type=int, default=150)
    parser.add_argument("--abnormal", type=int, default=80)
    parser.add_argument("--normal", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    sample = sample_study(
        read_cases(given.reports, candidate_columns=given.candidate_columns).cases,
        read_term_studies(given.terms),
        system=given.system,
        per_stratum=given.per_stratum,
        abnormal=given.abnormal,
        normal=given.normal,
        seed=given.seed,
    )
    write_sample(given.output, sample)
    for name, value in sample.counts.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
