"""Translate, check, and translate again what fails: algorithm 1 of Layman's RRG (Zhao et al., 2024), bounded.

A round takes the lay texts at hand through the checks. What passes all of them is accepted. What the language
model corrected goes into the next round as corrected; what failed otherwise is written anew, with the reason. The
check that costs money comes last and sees only what passed the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from radgauge.core.errors import UsageError
from radgauge.encoders.text.encoders import Encoder
from radgauge.lay.checks import (
    CHECKS,
    COPIED,
    FIDELITY,
    LANGUAGE,
    LLM,
    SIDES,
    SIMILARITY,
    in_another_language,
    in_step,
    is_copied,
    sides_differ,
    similarities,
    unfaithful,
)
from radgauge.lay.dedupe import normal_sentence
from radgauge.lay.translators import Checker, Translator

NO_ANSWER = "no_answer"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome for a sentence."""

    sentence: str  # The professional sentence
    lay: str  # The accepted lay text, or the last one that was tried ("" if there was none)
    accepted: bool  # True if it passed every check
    round: int  # The round that decided, from 1
    similarity: float | None  # Cosine of sentence and text; None if there is no text
    why: str  # What was wrong with the last text; "" if accepted


@dataclass(frozen=True, slots=True)
class Step:
    """One text in one round: a line of the paper's table 6."""

    item: str  # The professional sentence or report
    round: int
    text: str  # The lay text that was checked; "" if none came
    similarity: float | None  # Cosine of both; None if there is no text
    # Cosine of each sentence with the one that stands in its place; empty if their numbers differ
    sentences: tuple[float, ...]
    accepted: bool  # True if it passed every check
    why: str  # What was wrong with it; "" if accepted


@dataclass(frozen=True, slots=True)
class Round:
    """One round in numbers; the paper's figure 3 shows `accepted_share` and `changed_share`."""

    round: int
    texts: int  # Lay texts that were checked, and sentences for which none came
    accepted: int  # Of these, how many passed every check
    accepted_in_all: int  # Accepted in this round or before
    sentences: int
    no_answer: int = 0  # Sentences for which no usable text came
    copied: int = 0  # Texts that repeat the sentence
    language: int = 0  # Texts in another language
    sides: int = 0  # Texts with other sides, or sides in another order
    similarity: int = 0  # Texts that were not close enough
    fidelity: int = 0  # Texts with other facts, or facts that could not be read
    llm: int = 0  # Texts that the language model changed

    @property
    def accepted_share(self) -> float:
        """Share of all sentences that are accepted by now."""
        return self.accepted_in_all / self.sentences if self.sentences else float("nan")

    @property
    def changed_share(self) -> float:
        """Share of all sentences whose text this round sent back."""
        return (self.texts - self.accepted) / self.sentences if self.sentences else float("nan")


@dataclass(frozen=True)
class Refinement:
    """Methods of making and judging lay texts."""

    translator: Translator  # Writes them
    checks: tuple[str, ...]  # Names out of `CHECKS`; a text must pass all
    encoder: Encoder  # For the similarity
    # Of the check "similarity" (`calibrate_theta`). The paper does not print its value; its examples accept 0.71.
    theta: float | None = None
    rounds: int = 3  # At most so many
    checker: Checker | None = None  # The language model of the check "llm"

    def __post_init__(self) -> None:
        for name in self.checks:
            if name not in CHECKS:
                raise UsageError(f"checks must be among {', '.join(CHECKS)}, got {name!r}")
        if LLM in self.checks and self.checker is None:
            raise UsageError("the check llm needs a language model")
        if SIMILARITY in self.checks and self.theta is None:
            raise UsageError("the check similarity needs theta, a threshold for its encoder (`calibrate_theta`)")
        if self.rounds < 1 or not -1 <= (self.theta or 0) < 1:
            raise UsageError(
                f"rounds must be 1 or more and theta from -1 to below 1, got {self.rounds}, {self.theta}"
            )

    @property
    def signature(self) -> str:
        """Translator, checks and their settings."""
        parts = [f"translator:{self.translator.signature}", f"checks:{'+'.join(self.checks) or 'none'}"]
        if SIMILARITY in self.checks:
            parts.append(f"theta:{self.theta:g}|vectors:{self.encoder.signature}")
        return "|".join([*parts, f"rounds:{self.rounds}"])


def refine(
    sentences: Sequence[str],
    how: Refinement,
    *,
    done: Callable[[Sequence[Verdict], Sequence[Round]], None],
    trace: Callable[[Sequence[Step]], None] | None = None,
) -> None:
    """Take sentences through the rounds, a chunk at a time.

    Args:
        sentences: Distinct sentences.
        how: Translator and checks.
        done: Told of every finished chunk: its verdicts in order, and its rounds. What it was told stands, even if
            a later chunk ends in an exception.
        trace: Told of every text of a finished chunk, round by round.
    """
    for start in range(0, len(sentences), how.translator.chunk):
        verdicts, rounds, steps = _chunk(sentences[start : start + how.translator.chunk], how)
        done(verdicts, rounds)
        if trace is not None:
            trace(steps)


def add_rounds(parts: Sequence[Sequence[Round]]) -> list[Round]:
    """The rounds of several chunks as one table; a chunk that was done early stays as it was."""
    n_rounds = max((len(part) for part in parts), default=0)
    total = []
    for number in range(n_rounds):
        current = [part[number] for part in parts if number < len(part)]
        before = [part[-1] for part in parts if number >= len(part) and part]
        counts = {
            name: sum(getattr(stats, name) for stats in current) for name in ("texts", "accepted", *_COUNTED)
        }
        accepted = sum(stats.accepted_in_all for stats in (*current, *before))
        sentences = sum(stats.sentences for stats in (*current, *before))
        total.append(Round(number + 1, accepted_in_all=accepted, sentences=sentences, **counts))
    return total


_COUNTED = (NO_ANSWER, COPIED, LANGUAGE, SIDES, SIMILARITY, FIDELITY, LLM)


def _chunk(sentences: Sequence[str], how: Refinement) -> tuple[list[Verdict], list[Round], list[Step]]:
    final: dict[int, Verdict] = {}
    rounds: list[Round] = []
    steps: list[Step] = []
    last: dict[int, Verdict] = {}  # what the round before sent back
    proposals: dict[int, str] = {}  # what the language model would have in its place
    for number in range(1, how.rounds + 1):
        texts, missing = _texts(sentences, last, proposals, how)
        for index, why in missing.items():
            final[index] = _given_up(sentences[index], last.get(index), number, why)
            steps.append(Step(sentences[index], number, "", None, (), False, why))
        pairs = [(sentences[index], text) for index, text in texts.items()]
        verdicts, corrected, counts = _judge(pairs, how, number)
        steps += [_step(verdict, how.encoder) for verdict in verdicts]
        accepted = sum(verdict.accepted for verdict in verdicts)
        before = rounds[-1].accepted_in_all if rounds else 0
        texts_in_all = len(texts) + len(missing)
        rounds.append(
            Round(
                number,
                texts_in_all,
                accepted,
                before + accepted,
                len(sentences),
                **{**counts, NO_ANSWER: len(missing)},
            )
        )
        last, proposals = {}, {}
        for index, verdict, proposal in zip(texts, verdicts, corrected, strict=True):
            if verdict.accepted or number == how.rounds or not (proposal or how.translator.has_more):
                final[index] = verdict
            else:
                last[index] = verdict
                if proposal:
                    proposals[index] = proposal
        if not last:
            break
    return [final[index] for index in range(len(sentences))], rounds, steps


def _step(verdict: Verdict, encoder: Encoder) -> Step:
    """A line of the trace; of a whole report also the cosine of each sentence."""
    parts = in_step(verdict.sentence, verdict.lay)
    cosines = similarities(*zip(*parts, strict=True), encoder=encoder) if len(parts) > 1 else []
    return Step(
        *(verdict.sentence, verdict.round, verdict.lay, verdict.similarity, tuple(cosines)),
        *(verdict.accepted, verdict.why),
    )


def _texts(
    sentences: Sequence[str], last: Mapping[int, Verdict], proposals: Mapping[int, str], how: Refinement
) -> tuple[dict[int, str], dict[int, str]]:
    """Place -> the text to check next, and place -> why there is none."""
    if last:
        indices = [index for index in last if index not in proposals]
        items = [(sentences[index], last[index].lay, last[index].why) for index in indices]
        outcomes = how.translator.revise(items) if items else []
    else:
        indices, outcomes = list(range(len(sentences))), how.translator.translate(sentences)
    answers = dict(zip(indices, outcomes, strict=True))
    texts = {index: outcome.value for index, outcome in answers.items() if outcome.value} | dict(proposals)
    return dict(sorted(texts.items())), {
        index: answer.why for index, answer in answers.items() if not answer.value
    }


def _given_up(sentence: str, last: Verdict | None, number: int, why: str) -> Verdict:
    if last is None:
        return Verdict(sentence, "", False, number, None, why)
    return Verdict(sentence, last.lay, False, number, last.similarity, f"{last.why}; then no other text: {why}")


def _judge(
    pairs: Sequence[tuple[str, str]], how: Refinement, number: int
) -> tuple[list[Verdict], list[str], dict[str, int]]:
    """Verdict of each pair, the text that the language model would have, and how many each check sent back."""
    cosines = similarities(*zip(*pairs, strict=True), encoder=how.encoder) if pairs else []
    faults: list[list[str]] = [[] for _ in pairs]
    counts = dict.fromkeys(_COUNTED, 0)

    def blame(index: int, check: str, why: str) -> None:
        counts[check] += 1
        faults[index].append(why)

    for index, (pair, cosine) in enumerate(zip(pairs, cosines, strict=True)):
        if is_copied(*pair):
            blame(index, COPIED, "it repeats the sentence and its medical terms")
        if in_another_language(*pair):
            blame(index, LANGUAGE, "it is in another language than the sentence")
        if any(sides_differ(*aligned) for aligned in in_step(*pair)):
            blame(index, SIDES, "it names other sides, or in another order")
        if how.theta is not None and SIMILARITY in how.checks and not cosine > how.theta:
            blame(
                index,
                SIMILARITY,
                f"its meaning is too far from the sentence ({cosine:.2f}, not above {how.theta:g})",
            )
        if FIDELITY in how.checks and (fault := unfaithful(*pair)):
            blame(index, FIDELITY, fault)
    proposals = [""] * len(pairs)
    if LLM in how.checks and how.checker is not None:
        faultless = [index for index, reasons in enumerate(faults) if not reasons]
        for index, outcome in zip(
            faultless, how.checker.check([pairs[index] for index in faultless]), strict=True
        ):
            if not outcome.value:
                blame(index, LLM, f"the language model could not check it ({outcome.why})")
            elif normal_sentence(outcome.value) != normal_sentence(pairs[index][1]):
                blame(index, LLM, "the language model changed it")
                proposals[index] = outcome.value
    verdicts = [
        Verdict(sentence, text, not reasons, number, cosine, "; ".join(reasons))
        for (sentence, text), cosine, reasons in zip(pairs, cosines, faults, strict=True)
    ]
    return verdicts, proposals, counts
