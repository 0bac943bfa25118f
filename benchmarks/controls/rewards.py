"""Rewards for training.

Whatever a reward pays for is what a trainer gets; the reports are the bundled ones of the system "careful".
"""

from __future__ import annotations

import pickle
import re
from functools import cache

import numpy as np
from outcome import Outcome

import radgauge as rg
from radgauge.analysis.baselines import NORMAL_TEMPLATE
from radgauge.analysis.rewards import Audit
from radgauge.analysis.rewards.audit import audit
from radgauge.analysis.rewards.reward import reward
from radgauge.samples import sample_reports_path

STEPS = 200
REWARDS = ("errors", "errors_f1", "errors_recall", "bleu")


@cache
def cases() -> list[rg.Case]:
    """Reports of one system."""
    return [case for case in rg.read_cases(sample_reports_path()).cases if case.system == "careful"]


@cache
def references() -> list[str]:
    """Every reference, as those of a training set."""
    return [text for case in cases() for text in case.references]


@cache
def audited() -> Audit:
    """Attacks on each reward."""
    return audit(cases(), [reward(name, references=references(), name=name) for name in REWARDS])


def _attack(kind: str) -> Outcome:
    lines = {line.reward: line for line in audited() if line.kind == kind}
    lows = {line.reward: line.low for line in audited() if line.kind == "the system's report"}
    did = ", ".join(f"{name} {lines[name].mean:.2f} (reports from {lows[name]:.2f})" for name in REWARDS)
    return Outcome(
        kind,
        "earn at most the 10th percentile of the system's reports",
        did,
        not any(lines[name].gamed for name in REWARDS),
    )


def control_two_words() -> Outcome:
    """One denial and nothing else."""
    return _attack("two words")


def control_salad() -> Outcome:
    """Words of the references in no order, with many denials."""
    return _attack("salad of words and denials")


def control_shuffled_words() -> Outcome:
    """Right words, no sentence."""
    return _attack("words of the reference, shuffled")


def control_instruction() -> Outcome:
    """Words to whoever judges."""
    return _attack("instruction to the judge")


def control_invented_prior() -> Outcome:
    """A comparison with an examination that no reference knows."""
    return _attack("report with an invented prior")


def control_invented_call() -> Outcome:
    """A conversation that never was."""
    return _attack("report with an invented call")


def control_all_negations() -> Outcome:
    """Fluent denials of everything."""
    return _attack("all negations")


def control_contradictions() -> Outcome:
    """Each sentence and its opposite."""
    return _attack("contradictions")


def control_repetition() -> Outcome:
    """A sentence over and over."""
    return _attack("one sentence over and over")


def control_templates_detect_nothing() -> Outcome:
    """One report for all pays where F1 is paid."""
    lines = {line.kind: line for line in audited() if line.reward == "errors_recall"}
    value = lines["normal template"].mean
    return Outcome("the normal template, paid by `errors_recall`", "0", f"{value:.2f}", value == 0)


def control_real_reports() -> Outcome:
    """Reports of people, each beside itself, pass."""
    judge = reward("errors", references=references()[::2])
    unseen = references()[1::2]
    hits = [verdict.reason for verdict in judge.judge(unseen, unseen) if verdict.reason]
    return Outcome(
        "references that the limits were not measured on",
        "at most 1 % get the floor",
        f"{len(hits)} of {len(unseen)}",
        len(hits) <= 0.01 * len(unseen),
    )


def control_reasoning() -> Outcome:
    """Thoughts are no report."""
    judge = reward("errors")
    text = "Small left pleural effusion. No pneumothorax."
    thought = judge([f"<think>Large right pneumothorax? No.</think>{text}", f"<think>{text}"], [text, text])
    return Outcome(
        "a report behind reasoning, and a report inside it",
        "1 and the floor",
        f"{thought[0]:g} and {thought[1]:g}",
        thought == [1.0, judge.floor],
    )


def control_missing_reference() -> Outcome:
    """A row without a reference ends no training."""
    values = reward("errors")(["No effusion."] * 3, [None, "", [None]])
    return Outcome(
        "references None, empty and [None]", "the floor", ", ".join(map(str, values)), set(values) == {-1.0}
    )


def control_images() -> Outcome:
    """A reward that could only give the floor is refused when it is made."""
    try:
        reward("vlscore")
    except rg.UsageError as error:
        return Outcome("`reward('vlscore')`", "refuse", str(error), True)
    return Outcome("`reward('vlscore')`", "refuse", "was made", False)


def control_pickle() -> Outcome:
    """A copy in another process judges alike."""
    judge = reward("errors", references=references())
    texts = [case.candidate for case in cases()[:12]]
    copy = pickle.loads(pickle.dumps(judge))  # noqa: S301 - our own bytes
    own, copied = judge(texts, references()[:12]), copy(texts, references()[:12])
    return Outcome("a pickled reward", "the same values", "the same" if own == copied else "others", own == copied)


def control_balance() -> Outcome:
    """Weights give both kinds of study the same share."""
    normal, abnormal = "The lungs are clear. The heart is normal.", "Large right pneumothorax."
    weights = reward("errors").sampling_weights([normal] * 9 + [abnormal])
    return Outcome(
        "nine normal studies and one pneumothorax, drawn with `sampling_weights`",
        "half of the draws each",
        f"normal {sum(weights[:9]):.2f}, abnormal {weights[9]:.2f}",
        abs(weights[9] - 0.5) < 1e-9,
    )


def control_searched_text() -> Outcome:
    """What a trainer does in small: change words of one text for all studies as long as it earns more."""
    studies = references()[:24]
    judge = reward("errors", references=references())
    vocabulary = sorted({word for text in studies for word in re.findall(r"[a-z]{2,}", text.lower())})
    rng = np.random.default_rng(0)

    def mean(words: list[str]) -> float:
        return float(np.mean(judge([" ".join(words)] * len(studies), studies)))

    words = NORMAL_TEMPLATE.split()
    best = mean(words)
    for _ in range(STEPS):
        changed = list(words)
        at = int(rng.integers(len(changed)))
        word = str(rng.choice(vocabulary))
        changed[at : at + int(rng.integers(2))] = [word] if rng.random() < 2 / 3 else []
        if changed and (earned := mean(changed)) >= best:
            best, words = earned, changed
    low = next(line.low for line in audited() if (line.reward, line.kind) == ("errors", "the system's report"))
    return Outcome(
        f"one text for all studies, from the normal template by {STEPS} changes that earn more",
        "earn at most the 10th percentile of the system's reports",
        f"{best:.2f} (reports from {low:.2f})",
        best <= low,
    )
