"""Learn RaTEScore's type weights W and penalty p from human judgments with TPE, as in the paper (section 2.5).

The paper names the method (Bergstra et al. 2011), not its budget or objective; both are settings here. What is
learned is judged on studies that the search has not seen, next to the released matrices.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.choices import Kind
from radgauge.core.errors import InputError, UsageError, require
from radgauge.core.files import make_folder
from radgauge.core.progress import working
from radgauge.core.readings import Progress, Readings
from radgauge.io.judgments import Judgments
from radgauge.metrics.ratescore import RateScore
from radgauge.metrics.ratescore.pairing import TypeSums
from radgauge.metrics.ratescore.weights import TYPES, Affinity
from radgauge.stats.coefficients import association
from radgauge.stats.correlate import pair_replicates
from radgauge.stats.independence import independence_p
from radgauge.stats.resample import percentile_bounds
from radgauge.stats.resampling import USUAL, Resampling

Array = NDArray[np.float64]
OBJECTIVES = ("pearson", "kendall_b")


@dataclass(frozen=True, slots=True)
class FitLine:
    """Agreement of one matrix with the raters: on the studies searched on, and on those kept apart."""

    name: str  # long, short or learned
    train: float  # Coefficient on the training studies; for the learned matrix flattering
    test: float  # Coefficient on the test studies
    low: float  # Lower bound of the test value
    high: float
    p: float  # Two-sided p of no association on the test studies, reports taken for independent, as papers do
    gain: float  # Test value of the learned matrix less this one
    gain_low: float  # Lower bound of the gain
    gain_high: float


@dataclass(frozen=True, slots=True, eq=False)
class RateFit:
    """Result of `fit_ratescore`."""

    affinity: Affinity  # The learned weights and penalty
    lines: tuple[FitLine, ...]  # The released matrices and the learned one
    objective: str  # The coefficient that was maximised
    target: str  # What the raters said: rating, total or significant
    trials: int  # Trials of the study, those of earlier runs included
    train_cases: int  # Judged reports searched on
    test_cases: int  # Judged reports kept apart
    level: float  # Coverage of the intervals
    signature: str  # The metric's signature before learning


@working("fitting")
def fit_ratescore(
    judgments: Judgments,
    *,
    metric: RateScore | None = None,
    target: str | None = None,
    objective: Kind = "kendall_b",
    trials: int = 500,
    test_share: float = 0.2,
    storage: Path | None = None,
    resampling: Resampling = USUAL,
    reading: Readings | None = None,
    progress: Progress | None = None,
) -> RateFit:
    """Search weights and penalty that agree best with the mean rater.

    Args:
        judgments: What `read_judgments` returned, with texts.
        metric: Entities, encoder and penalty rule to learn for; its own weights do not matter.
        target: rating, total or significant; None = rating where there are ratings, else significant errors.
        objective: pearson or kendall_b.
        trials: How many matrices are tried in all; a study that was stopped goes on from where it was.
        test_share: Share of the studies kept apart.
        storage: SQLite file that keeps the search, so that it can be resumed.
        resampling: Coverage and resamples of the intervals, which draw test studies; its seed is also that of the
            split and the search.
        reading: Shared readings.
        progress: Told after every trial.
    """
    if objective not in OBJECTIVES:
        raise UsageError(f"objective must be one of {', '.join(OBJECTIVES)}, got {objective!r}")
    if not 0 < test_share < 1 or trials < 1:
        raise UsageError(f"test_share must be between 0 and 1 and trials 1 or more, got {test_share}, {trials}")
    metric = RateScore() if metric is None else metric
    seed, level = resampling.seed, resampling.level
    goal, name = _goal(judgments, target)
    usable = [i for i, case in enumerate(judgments.cases) if case.references and not np.isnan(goal[i])]
    texts = [judgments.cases[i] for i in usable]
    sums, both = metric.sums(
        [case.candidate for case in texts],
        [case.references[0] for case in texts],
        reading=Readings() if reading is None else reading,
    )
    ratings = goal[usable][both]
    studies = [case.id for case, usable_text in zip(texts, both, strict=True) if usable_text]
    test = _held_out(studies, test_share, seed, judgments.name)
    inside = _take(sums, ~test)

    def value(chosen: Affinity, part: TypeSums, aim: Array) -> float:
        return association(part.f1(chosen.weights, chosen.factors(metric.penalty)), aim, kind=objective)

    key = hashlib.sha256(
        json.dumps([metric.signature(), name, objective, seed, test_share, studies, ratings.tolist()]).encode()
    ).hexdigest()[:16]
    released = {each: replace(metric, weights=each).affinity for each in ("long", "short")}
    learned, done = _search(
        lambda chosen: value(chosen, inside, ratings[~test]),
        trials=trials,
        seed=seed,
        starts=released.values(),
        storage=storage,
        name=f"ratescore-{key}",
        progress=progress,
    )
    matrices = {**released, "learned": learned}
    outside = _take(sums, test)
    scored = {each: outside.f1(m.weights, m.factors(metric.penalty)) for each, m in matrices.items()}
    replicates = pair_replicates(
        [(values, ratings[test]) for values in scored.values()],
        rng=resampling.rng(),
        kind=objective,
        studies=[study for study, usable_text in zip(studies, test, strict=True) if usable_text],
        resamples=resampling.resamples,
    )
    bounds = percentile_bounds(replicates, level=level)
    gains = percentile_bounds(replicates[:, -1:] - replicates, level=level)
    best = value(learned, outside, ratings[test])
    lines = tuple(
        FitLine(
            each,
            value(m, inside, ratings[~test]),
            value(m, outside, ratings[test]),
            float(bounds[0, i]),
            float(bounds[1, i]),
            independence_p(scored[each], ratings[test], kind=objective),
            best - value(m, outside, ratings[test]),
            float(gains[0, i]),
            float(gains[1, i]),
        )
        for i, (each, m) in enumerate(matrices.items())
    )
    return RateFit(
        learned,
        lines,
        objective,
        name,
        done,
        int((~test).sum()),
        int(test.sum()),
        level,
        metric.signature(),
    )


def _goal(judgments: Judgments, target: str | None) -> tuple[Array, str]:
    name = target or ("rating" if judgments.ratings else "significant")
    if name == "rating" and judgments.ratings:
        return judgments.mean_ratings().headline, name
    if name in ("total", "significant") and judgments.errors:
        return -judgments.mean_errors().column(f"errors_{name}"), name
    if name not in ("rating", "total", "significant"):
        raise UsageError(f"target must be rating, total or significant, got {name!r}")
    raise InputError(f"{judgments.name} has nothing for the target {name!r}")


def _held_out(studies: Sequence[str], share: float, seed: int, source: str) -> NDArray[np.bool_]:
    """Mask of the cases of held-out studies; all cases of a study go together."""
    distinct = list(dict.fromkeys(studies))
    count = round(share * len(distinct))
    if count < 2 or len(distinct) - count < 3:
        raise InputError(
            f"{source}: fitting needs judged reports of 3 studies or more and 2 kept apart; "
            f"{len(distinct)} studies can be used"
        )
    order = np.random.default_rng(seed).permutation(len(distinct))
    apart = {distinct[i] for i in order[:count]}
    return np.array([study in apart for study in studies])


def _take(sums: TypeSums, mask: NDArray[np.bool_]) -> TypeSums:
    return TypeSums(sums.counts[:, mask], sums.cosines[:, mask])


def _search(
    value: Callable[[Affinity], float],
    *,
    trials: int,
    seed: int,
    starts: Iterable[Affinity],
    storage: Path | None,
    name: str,
    progress: Progress | None,
) -> tuple[Affinity, int]:
    """The best of so many trials, and how many there are with those kept in `storage`.

    The search runs in memory and every finished trial is written to the file at once: optuna's own writing of each
    number takes longer than the trial, and an interruption in the midst of it ends in an error of optuna.
    """
    optuna = require("optuna", extra="fit")
    spoke = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        stored = None if storage is None else _stored(optuna, storage, name)
        before = [] if stored is None else [trial for trial in stored.trials if trial.state.is_finished()]
        # A resumed search draws on with another stream: the old one would repeat what was tried.
        sampler = optuna.samplers.TPESampler(seed=seed + len(before), n_startup_trials=50)
        search = optuna.create_study(direction="maximize", sampler=sampler)
        search.add_trials(before)
        for start in list(starts)[len(before) :]:
            search.enqueue_trial(json.loads(start.to_json()))
        for number in range(len(before), trials):
            trial = search.ask()
            weights = np.array(
                [[trial.suggest_float(_key(row, column), 0.0, 1.0) for column in TYPES] for row in TYPES]
            )
            tau = value(Affinity("learned", weights, trial.suggest_float("neg_weight", 0.0, 1.0)))
            finished = search.tell(trial, tau if np.isfinite(tau) else -1.0)
            if stored is not None:
                stored.add_trial(finished)
            if progress is not None:
                progress("search", number + 1 - len(before), trials - len(before))
        best = search.best_params
    finally:
        optuna.logging.set_verbosity(spoke)
    weights = np.array([[best[_key(row, column)] for column in TYPES] for row in TYPES])
    return Affinity("learned", weights, best["neg_weight"]), max(trials, len(before))


def _stored(optuna: Any, storage: Path, name: str) -> Any:
    """The search that an SQLite file keeps, a new one if it has none of this name."""
    make_folder(storage.parent)
    if storage.exists() and storage.read_bytes()[:16] not in (b"", b"SQLite format 3\0"):
        raise UsageError(f"{storage}: must be the SQLite file of a search, or a new name")
    return optuna.create_study(
        study_name=name, storage=f"sqlite:///{storage}", direction="maximize", load_if_exists=True
    )


def _key(row: str, column: str) -> str:
    return f"{row.lower()}_{column.lower()}"
