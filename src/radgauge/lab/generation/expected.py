"""Choose the report with the greatest expected gain for a study's pictures: a ridge regression per report.

The pool: the training reports that gain most on average, and the best of them with one more sentence, each a
usual sentence with a word that pictures tell. Where the gain is a share of the candidate's own sentences (layman),
the usual sentences that gain most are reports of their own. All are compared with the reports of all training
studies; the regression learns from the words that the pictures tell (`report_words`, each training study left
out) how much more or less than usual each report of the pool gains. Without pictures the greatest mean wins: among
whole training reports that is the strongest constant report, which a generator that looks at pictures has to beat.
A report is no witness for itself.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import InputError
from radgauge.core.readings import Progress
from radgauge.encoders.array_file import DAMAGED, load_arrays, save_arrays
from radgauge.encoders.image.report_words import ReportWords
from radgauge.encoders.text.report_tokens import report_tokens, without_masked
from radgauge.lab.generation.consensus import Consensus
from radgauge.lab.training.generator_files import Generator
from radgauge.text.sentences import sentences_of

Matrix = NDArray[np.float64]

SCREENS = ((30, 100), (120, 10))
"""So many training reports that candidates are compared with, and so many of the best that go on: for each measure
of the gain and for their sum. Those that are left are compared with all."""
BASES = 2
"""Of these so many get one more sentence, again for each measure and for the sum."""
SENTENCES, USUAL, MIN_SENTENCES = 20, 0.25, 3
"""Sentences that are added; a word that more than this share of reports has is no reason; times that it stands."""
SINGLE, SINGLES = ("layman",), 30
"""Gains for which a single sentence may be a report, and how many sentences."""
RIDGE, RIDGE_SINGLE = 3.0, 10.0
"""Multiples of the mean eigenvalue, the second where single sentences are reports; chosen by cross-validation of
the training studies, where 1 to 30 do alike."""
_AT_ONCE = 10  # reports of the pool that are compared between two words of progress


@dataclass(frozen=True, eq=False)
class Expected:
    """Gain of every report of the pool."""

    reports: tuple[str, ...]  # The pool; the strongest constant report, which is a whole training report, first
    means: Matrix  # Mean gain over the training studies
    centre: Matrix  # (words): mean of the weighted predictions
    matrix: Matrix  # (words, reports): from weighted predictions without the centre to gain beyond the mean

    @property
    def constant(self) -> str:
        """The training report that gains most when no picture is looked at."""
        return self.reports[0]

    @property
    def fixed(self) -> str:
        """The text of the pool, added and single sentences included, that gains most without any picture."""
        return self.reports[int(self.means.argmax())]

    def gains(self, rows: Matrix) -> Matrix:
        """(studies, reports): expected gains.

        Args:
            rows: Of the studies, from `features`.
        """
        predicted: Matrix = (rows - self.centre) @ self.matrix + self.means
        return predicted

    def choose(self, rows: Matrix) -> list[str]:
        """The report with the greatest expected gain for each study."""
        return [self.reports[at] for at in self.gains(rows).argmax(axis=1)] if len(rows) else []


def features(words: ReportWords, predicted: NDArray[np.float32]) -> Matrix:
    """Predictions, each word weighted by how well pictures tell it."""
    scaled: Matrix = predicted.astype(np.float64) * words.strength
    return scaled


def expected_of(
    generator: Generator, consensus: Consensus, *, seed: int = 0, progress: Progress | None = None
) -> Expected:
    """The expected gains of a generator's reports; kept in its folder, and fitted anew when anything has changed.

    Args:
        generator: From `load_generator`.
        consensus: Measures gains.
        seed: Draws the reports that candidates are screened on.
        progress: Told while reports are compared.
    """
    sizes = (SCREENS, BASES, SENTENCES, USUAL, MIN_SENTENCES, SINGLE, SINGLES, RIDGE, RIDGE_SINGLE, seed)
    key = f"{generator.signature}|{consensus.signature}|{sizes}"
    fingerprint = hashlib.sha256(key.encode()).hexdigest()[:16]
    file = generator.folder / f"expected-{consensus.gain}.npz"
    stored = _stored(file, fingerprint)
    if stored is not None:
        return stored
    fitted = fit_expected(generator.words, generator.reports, consensus=consensus, seed=seed, progress=progress)
    facts = {"fingerprint": fingerprint, "reports": fitted.reports}
    save_arrays(file, facts, means=fitted.means, centre=fitted.centre, matrix=fitted.matrix)
    return fitted


def fit_expected(
    words: ReportWords,
    references: Sequence[str],
    *,
    consensus: Consensus,
    seed: int = 0,
    progress: Progress | None = None,
) -> Expected:
    """Compare a pool of reports with all of them, and learn what pictures tell of the gains.

    Args:
        words: The regression from pictures to words; its training studies are those of `references`.
        references: The training reports.
        consensus: Measures gains.
        seed: Draws the reports that candidates are screened on.
        progress: Told while reports are compared.

    Raises:
        InputError: No report can be judged.
    """
    order = np.random.default_rng((seed, 2)).permutation(len(references))
    pool = shown_reports(references)
    for number, best in SCREENS:
        screen = [references[at] for at in np.sort(order[:number])]
        pool = [pool[at] for at in _best(_tables(pool, screen, consensus, progress, "screening"), best)]
        if not pool:
            raise InputError(f"no training report can be judged by {consensus.gain}; choose another gain")
    tables = _tables(pool, references, consensus, progress, "gains")
    ranks = np.argsort(-_means(_summed(tables)).round(9), kind="stable")
    pool, tables = [pool[at] for at in ranks], [table[ranks] for table in tables]
    more = added_sentences(words, references)
    edited = [f"{pool[at]} {sentence}" for at in _best(tables, BASES) for sentence in more]
    if consensus.gain in SINGLE:
        screen = [references[at] for at in np.sort(order[: SCREENS[-1][0]])]
        if usual := usual_sentences(references):
            gain_tables = _tables(usual, screen, consensus, progress, "screening sentences")
            edited += [usual[at] for at in _best(gain_tables, SINGLES)]
    edited = [text for text in dict.fromkeys(edited) if text not in pool]
    if edited:
        beside = _tables(edited, references, consensus, progress, "gains of added sentences")
        pool, tables = [*pool, *edited], [np.vstack(pair) for pair in zip(tables, beside, strict=True)]
    table = _summed(tables)
    means = _means(table)
    beyond = np.where(np.isnan(table), 0, table - means[:, None]).T
    rows = features(words, words.training)
    centre = rows.mean(axis=0)
    values = rows - centre
    products = values.T @ values
    ridge = (RIDGE_SINGLE if consensus.gain in SINGLE else RIDGE) * max(
        float(np.trace(products)) / len(products), 1e-12
    )
    matrix = np.linalg.solve(products + ridge * np.eye(len(products)), values.T @ beyond)
    return Expected(tuple(pool), means, centre, matrix)


def added_sentences(words: ReportWords, references: Sequence[str]) -> list[str]:
    """For each word that pictures tell and few reports have, best first, the most frequent sentence with it.

    Args:
        words: The regression.
        references: The training reports.
    """
    reports = Counter(word for text in references for word in set(report_tokens(text)))
    usual = [(sentence, set(report_tokens(sentence))) for sentence in usual_sentences(references)]
    added: dict[str, None] = {}
    for at in np.argsort(-words.strength, kind="stable"):
        word = words.words[at]
        if words.strength[at] > 0 and reports[word] <= USUAL * len(references):
            added.update(dict.fromkeys([next((text for text, has in usual if word in has), "")]))
            added.pop("", None)
        if len(added) == SENTENCES:
            break
    return list(added)


def usual_sentences(references: Sequence[str]) -> list[str]:
    """Sentences that stand in the training reports several times, most frequent first."""
    counts = Counter(part for text in references for part in sentences_of(without_masked(text)))
    return [sentence for sentence, n in counts.most_common() if n >= MIN_SENTENCES]


def shown_reports(references: Sequence[str]) -> list[str]:
    """The distinct reports, without sentences that have a masked word."""
    return list(dict.fromkeys(text for reference in references if (text := without_masked(reference)).strip()))


def _tables(
    candidates: Sequence[str],
    references: Sequence[str],
    consensus: Consensus,
    progress: Progress | None,
    what: str,
) -> list[Matrix]:
    """(candidates, references) for each measure of the gain; NaN where a pair cannot be judged.

    A report that only its own study has is not compared with itself.
    """
    distinct = list(dict.fromkeys(references))
    index = {text: at for at, text in enumerate(distinct)}
    columns = [index[text] for text in references]
    owners: dict[str, list[int]] = {}
    for at, text in enumerate(references):
        owners.setdefault(without_masked(text), []).append(at)
    parts = []
    for start in range(0, len(candidates), _AT_ONCE):
        part = candidates[start : start + _AT_ONCE]
        parts.append([table[:, columns] for table in consensus.tables(part, distinct)])
        if progress is not None:
            progress(what, start + len(part), len(candidates))
    stacked = [np.vstack(blocks) for blocks in zip(*parts, strict=True)]
    for at, text in enumerate(candidates):
        if len(own := owners.get(text, [])) == 1:
            for table in stacked:
                table[at, own] = np.nan
    return stacked


def _summed(tables: Sequence[Matrix]) -> Matrix:
    total: Matrix = np.sum(tables, axis=0)
    return total


def _means(table: Matrix) -> Matrix:
    """Mean over what is known of each row; -inf where nothing is."""
    defined = ~np.isnan(table)
    sums = np.where(defined, table, 0).sum(axis=1)
    means: Matrix = np.where(defined.any(axis=1), sums / defined.sum(axis=1).clip(1), -np.inf)
    return means


def _best(tables: Sequence[Matrix], number: int) -> list[int]:
    """Rows with the greatest means, by each table and by their sum."""
    chosen: dict[int, None] = {}
    for table in [*tables, _summed(tables)]:
        means = _means(table)
        order = np.argsort(-means.round(9), kind="stable")[:number]
        chosen.update(dict.fromkeys(at for at in order.tolist() if np.isfinite(means[at])))
    return list(chosen)


def _stored(file: Path, fingerprint: str) -> Expected | None:
    """Load an earlier run's result; None if it is not there, damaged, or of something else."""
    try:
        facts, arrays = load_arrays(file)
        if facts["fingerprint"] == fingerprint:
            return Expected(tuple(facts["reports"]), **arrays)
    except DAMAGED:
        pass  # fitted anew
    return None
