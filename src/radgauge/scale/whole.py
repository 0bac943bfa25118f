"""What a report says of a folder that is too large for it: numbers of the whole, and a sample to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from radgauge.cases import Case, Key
from radgauge.choices import Correction
from radgauge.errors import InputError
from radgauge.io.case_files.read import system_name
from radgauge.io.score_folder import read_score_folder
from radgauge.results import Results
from radgauge.scale.comparisons import compare_parts
from radgauge.scale.statistics import Gathered, summarise_parts
from radgauge.scale.streams import Reading, iter_cases, open_table
from radgauge.stats.resampling import Resampling
from radgauge.studies.compare import Comparisons
from radgauge.studies.summary import Summaries

SAMPLE = 20_000
"""Cases that plots, correlations and the browser are made of, at least; parts are taken whole."""


@dataclass(frozen=True)
class Whole:
    """Values, intervals and tests of all cases, where the rest of a report is made of a sample.

    Attributes:
        lines: Values and intervals.
        gathered: For comparisons.
    """

    lines: Summaries
    gathered: Gathered

    @property
    def cases(self) -> int:
        """How many."""
        return self.gathered.cases

    @property
    def studies(self) -> int:
        """How many."""
        return self.gathered.studies

    @property
    def not_judged(self) -> list[tuple[str, str, str, int]]:
        """(metric, system, reason, how many)."""
        heads = {judge.name: judge.empty.columns[0] for judge in self.gathered.judges}
        return [
            (heads[judge], system, why, count)
            for (judge, system), reasons in self.gathered.reasons.items()
            for why, count in reasons.most_common()
        ]

    def compare(
        self,
        *,
        baseline: str | None,
        systems: Sequence[str] | None = None,
        correction: Correction,
        permutations: int,
        resampling: Resampling,
    ) -> Comparisons:
        """As `radgauge.compare`, of all cases."""
        return compare_parts(
            self.gathered,
            baseline=baseline,
            systems=systems,
            correction=correction,
            permutations=permutations,
            resampling=resampling,
        )

    def note(self, results: Results) -> str:
        """What a reader must know of the sample."""
        return (
            f"values, intervals and tests are of all {self.cases:,} cases; plots, correlations, error counts and "
            f"single cases are of a sample of {len(results.keys_of_cases):,} (whole studies, chosen by a hash of "
            "their id)"
        )


def whole_of(gathered: Gathered, *, resampling: Resampling) -> Whole:
    """The numbers of a folder."""
    return Whole(summarise_parts(gathered, resampling=resampling), gathered)


def sample_of(folder: Path) -> Results:
    """Whole studies of a folder, as many as a report can show and a little more."""
    return read_score_folder(folder, most=SAMPLE)


def texts_of(path: Path, keys: Sequence[Key], how: Reading) -> tuple[Case, ...]:
    """The cases with these keys from a table of any size.

    Raises:
        InputError: The table has none of them.
    """
    wanted = set(keys)
    table = open_table(path, "cases", how, system=system_name(path))
    found = tuple(case for _, _, cases in iter_cases(table) for case in cases if case.key in wanted)
    if not found:
        raise InputError(
            f"{path.name} has none of the cases of the scores; give the file that they were made from"
        )
    return found
