"""Agreement with radiologists.

Copies must be ties, whatever the seventh digit says, and a judge without knowledge must gain nothing.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from outcome import Outcome

import radgauge as rg
from radgauge.analysis.agreement import Alignment, agree
from radgauge.analysis.failure_modes import failure_modes
from radgauge.analysis.fit_radcliq import fit_radcliq
from radgauge.core.errors import InputError
from radgauge.core.scores import Results, Scores
from radgauge.io.judgments import read_judgments
from radgauge.io.judgments.judgments import Judgments, error_scores
from radgauge.stats.resampling import Resampling

STUDIES = 20
KEYS = tuple((f"study {number // 2}", "ab"[number % 2]) for number in range(2 * STUDIES))
ERRORS = np.where(np.arange(2 * STUDIES) % 2 == 0, 0.0, 1.0 + np.arange(2 * STUDIES) % 7)


def aligned(values: np.ndarray, *, equality: str = "precision") -> Alignment:
    """Agreement of values with error counts of pairs whose first candidate is a copy of the reference."""
    reference = "No pleural effusion."
    cases = tuple(
        rg.Case(*key[:1], reference if key[1] == "a" else "Effusion.", (reference,), key[1]) for key in KEYS
    )
    counts = [(key, "rater", 1, True, float(count)) for key, count in zip(KEYS, ERRORS, strict=True)]
    judgments = Judgments("control", cases, error_scores(counts, keys=KEYS, signature="control"))
    scores = Scores("judge", "judge", KEYS, values[:, None], values[:, None], ("judge",), True)
    return agree(Results({"judge": scores}), judgments, targets=["total"], equality=equality, resamples=50)  # type: ignore[arg-type]


def control_rounding_noise_among_copies() -> Outcome:
    """Values of copies that differ in the seventh digit."""
    noise = 4e-7 * np.random.default_rng(0).uniform(-1, 1, len(KEYS))
    values = 1 - 0.1 * ERRORS + np.where(ERRORS == 0, noise, 0)
    found, exact = aligned(values), aligned(values, equality="exact")
    did = f"{found.lines[0].correlation.value:.3f} (digit by digit {exact.lines[0].correlation.value:.3f})"
    return Outcome(
        "a perfect order, copies apart by 4e-7", "tau-b 1", did, round(found.lines[0].correlation.value, 9) == 1
    )


def control_only_copies_are_recognised() -> Outcome:
    """A judge that knows copies and nothing else."""
    values = np.where(ERRORS == 0, 1.0, 0.1 * ERRORS)
    (line,) = aligned(values).lines
    did = f"with copies {line.correlation.value:.3f}, without {line.without_copies:.3f}"
    ok = line.correlation.value > 0 and line.without_copies is not None and line.without_copies < 0
    return Outcome("copies first, the rest in reverse", "the difference is shown", did, ok)


def control_best_of_n_of_a_constant() -> Outcome:
    """Choosing by a constant is choosing at random."""
    gain = aligned(np.ones(len(KEYS))).best_of["judge"].gain.value
    return Outcome("best of N by a constant judge", "gain 0", f"gain {gain:.3f}", gain == 0)


def control_radcliq_over_ties() -> Outcome:
    """A score that most reports share must not be ordered by which model of the cross-validation it came from."""
    values = np.minimum(ERRORS, 2)
    cases = tuple(rg.Case(*key[:1], "Effusion.", ("No effusion.",), key[1]) for key in KEYS)
    counts = [(key, "rater", 1, True, float(count)) for key, count in zip(KEYS, ERRORS, strict=True)]
    judgments = Judgments("control", cases, error_scores(counts, keys=KEYS, signature="control"))
    scores = Scores(
        "rouge", "rouge", KEYS, values[:, None], values[:, None], ("rouge_l",), True, metric=rg.load("rouge")
    )
    fit = fit_radcliq(Results({"rouge": scores}), judgments, resampling=Resampling(0.95, 50))
    seen, unseen = fit.tau.value, fit.tau_cross_validated.value
    return Outcome(
        "`fit radcliq` on one score with three values",
        "the same tau-b on studies not seen",
        f"{unseen:.3f} (on the same studies {seen:.3f})",
        abs(seen - unseen) < 1e-9,
    )


def control_divided_assignments() -> Outcome:
    """Studies that different raters judged are studies."""
    counts = [
        (key, f"rater {number // 2 % 2}", 2, True, float(1 + (key[1] == "b") + number % 3))
        for number, key in enumerate(KEYS)
    ]
    cases = tuple(rg.Case(*key[:1], "Effusion.", ("No effusion.",), key[1]) for key in KEYS)
    judgments = Judgments("control", cases, error_scores(counts, keys=KEYS, signature="control"))
    (found,) = failure_modes(judgments, targets=["total"])
    return Outcome(
        f"failure modes of {STUDIES} studies divided among two raters",
        "leave out none",
        f"{found.studies} used, {found.not_judged} left out",
        (found.studies, found.not_judged) == (STUDIES, 0),
    )


def control_like_with_like() -> Outcome:
    """A quality held against counts says less of both."""
    counts = [(key, "rater", 1, True, float(count)) for key, count in zip(KEYS, ERRORS, strict=True)]
    texts = ["No pleural effusion.", *(f"Small left effusion. {'Edema. ' * n}" for n in range(1, 8))]
    cases = tuple(
        rg.Case(key[0], texts[int(count)], (texts[0],), key[1]) for key, count in zip(KEYS, ERRORS, strict=True)
    )
    judgments = Judgments("control", cases, error_scores(counts, keys=KEYS, signature="control"))
    found = agree(rg.score(cases, "errors", progress=False), judgments, resamples=50)
    by_target = {
        target: [line.column for line in found.lines if line.target == target]
        for target in ("total", "significant")
    }
    did = "; ".join(f"{target}: {', '.join(columns)}" for target, columns in by_target.items())
    ok = all(f"errors_{target}" in columns for target, columns in by_target.items())
    return Outcome(
        "`errors` against counted errors",
        "hold its counts against them, and say so",
        did,
        ok and any("counts predict counts" in note for note in found.notes),
    )


def control_table_without_zeros() -> Outcome:
    """Cases without errors that have no row must not be left out in silence."""
    tried, must = "a table of counts without a single 0", "refuse, with the remedy"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counts.csv"
        path.write_text("id,rater,category,count\n1,a,omission,2\n2,a,omission,1\n", encoding="utf-8")
        try:
            read_judgments(path)
        except InputError as error:
            return Outcome(tried, must, str(error), "no_row" in str(error))
    return Outcome(tried, must, "read", False)
