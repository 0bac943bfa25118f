"""A study to try: the bundled reports, whose errors are known, judged by two raters and an adjudicator."""

from __future__ import annotations

from pathlib import Path

from radgauge.io.case_files import read_cases
from radgauge.samples import sample_reports_path
from radgauge.study.create import NewStudy, new_study

STUDIES = 6


def demo_study(path: Path, *, design: str = "errors", seed: int = 0) -> NewStudy:
    """Make a small study of the bundled reports: six studies, the reports of four invented systems."""
    cases = read_cases(sample_reports_path())
    written = [case for case in cases.cases if case.candidate.strip()]
    return new_study(
        path,
        written,
        design=design,
        raters=2,
        adjudicators=["Adjudicator"],
        number=STUDIES,
        seed=seed,
        title="A demo study of invented reports",
        provenance=cases.provenance.as_dict(),
    )
