"""Rounds of translation and checks, on translators that a test controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from radgauge.core.errors import UsageError
from radgauge.lay.checks import is_copied, unfaithful
from radgauge.lay.encoder import FindingEncoder
from radgauge.lay.refine import Refinement, Round, Verdict, add_rounds, refine
from radgauge.lay.translators import EmbeddedTranslator, misplaced
from radgauge.llm.numbered import Outcome

ENCODER = FindingEncoder()


class Notes:
    """A translator and checker that reads its answers from tables."""

    has_more = True
    chunk = 2
    signature = "notes"

    def __init__(
        self,
        first: Mapping[str, str],
        later: Mapping[str, list[str]] | None = None,
        checks: Mapping[str, str] | None = None,
    ) -> None:
        self.first, self.later, self.corrections = first, later or {}, checks or {}
        self.revised: list[tuple[str, str, str]] = []
        self.checked: list[tuple[str, str]] = []

    def translate(self, sentences: Sequence[str]) -> list[Outcome]:
        return [_outcome(self.first.get(sentence, "")) for sentence in sentences]

    def revise(self, items: Sequence[tuple[str, str, str]]) -> list[Outcome]:
        self.revised += items
        return [_outcome(self.later[item[0]].pop(0) if self.later.get(item[0]) else "") for item in items]

    def check(self, pairs: Sequence[tuple[str, str]]) -> list[Outcome]:
        self.checked += pairs
        return [_outcome(self.corrections.get(text, text)) for _, text in pairs]


def _outcome(text: str) -> Outcome:
    return Outcome(text) if text else Outcome("", "nothing came")


def _run(sentences: Sequence[str], how: Refinement) -> tuple[list[Verdict], list[Round]]:
    verdicts: list[Verdict] = []
    parts: list[Sequence[Round]] = []

    def done(found: Sequence[Verdict], rounds: Sequence[Round]) -> None:
        verdicts.extend(found)
        parts.append(rounds)

    refine(sentences, how, done=done)
    assert [verdict.sentence for verdict in verdicts] == list(sentences)
    return verdicts, add_rounds(parts)


EFFUSION, HEART, AIR = "Left pleural effusion.", "Cardiomegaly.", "No pneumothorax."
GOOD = {
    EFFUSION: "There is fluid around the lung on the left.",
    HEART: "The heart is too big.",
    AIR: "There is no air leak around the lung.",
}


def test_everything_right_at_once() -> None:
    notes = Notes(GOOD)
    verdicts, rounds = _run(
        list(GOOD), Refinement(notes, ("similarity", "llm"), ENCODER, theta=0.8, checker=notes)
    )
    assert [(verdict.lay, verdict.accepted, verdict.round) for verdict in verdicts] == [
        (text, True, 1) for text in GOOD.values()
    ]
    assert rounds == [Round(1, 3, 3, 3, 3)]
    assert notes.revised == []


def test_only_what_fails_is_written_again_and_the_curve_shows_it() -> None:
    wrong = "The bones look fine."
    notes = Notes({**GOOD, EFFUSION: wrong}, {EFFUSION: ["The liver is big.", GOOD[EFFUSION]]})
    verdicts, rounds = _run(list(GOOD), Refinement(notes, ("similarity",), ENCODER, theta=0.8))
    assert [(verdict.accepted, verdict.round) for verdict in verdicts] == [(True, 3), (True, 1), (True, 1)]
    assert rounds == [
        Round(1, 3, 2, 2, 3, similarity=1),
        Round(2, 1, 0, 2, 3, similarity=1),
        Round(3, 1, 1, 3, 3),
    ]
    assert [round(each.accepted_share, 3) for each in rounds] == [0.667, 0.667, 1.0]
    assert [round(each.changed_share, 3) for each in rounds] == [0.333, 0.333, 0.0]
    assert [item[:2] for item in notes.revised] == [(EFFUSION, wrong), (EFFUSION, "The liver is big.")]
    assert "too far from the sentence" in notes.revised[0][2]


def test_a_correction_of_the_language_model_is_the_next_text() -> None:
    poor = "There is fluid around the left lung, probably nothing to worry about."
    notes = Notes({**GOOD, EFFUSION: poor}, checks={poor: GOOD[EFFUSION]})
    how = Refinement(notes, ("similarity", "llm"), ENCODER, theta=-1, checker=notes)
    verdicts, rounds = _run(list(GOOD), how)
    assert verdicts[0].lay == GOOD[EFFUSION]
    assert (verdicts[0].round, rounds[0].llm, rounds[0].accepted) == (2, 1, 2)
    assert notes.revised == []
    assert notes.checked.count((EFFUSION, GOOD[EFFUSION])) == 1


def test_the_paid_check_sees_only_what_passed_the_others() -> None:
    notes = Notes({**GOOD, EFFUSION: "The bones look fine."})
    _run(list(GOOD), Refinement(notes, ("llm", "similarity"), ENCODER, theta=0.8, rounds=1, checker=notes))
    assert notes.checked == [(HEART, GOOD[HEART]), (AIR, GOOD[AIR])]


def test_what_never_passes_is_marked_with_the_reason() -> None:
    notes = Notes({**GOOD, EFFUSION: "The bones look fine."}, {EFFUSION: ["The liver is big."] * 9})
    verdicts, rounds = _run(list(GOOD), Refinement(notes, ("similarity",), ENCODER, theta=0.8, rounds=2))
    assert not verdicts[0].accepted
    assert verdicts[0].lay == "The liver is big."
    assert "too far" in verdicts[0].why
    assert len(rounds) == 2
    assert rounds[-1].accepted_in_all == 2


def test_no_answer_is_marked_too() -> None:
    notes = Notes({**GOOD, EFFUSION: "", HEART: "The bones look fine."})
    verdicts, rounds = _run(list(GOOD), Refinement(notes, ("similarity",), ENCODER, theta=0.8))
    assert [verdict.why for verdict in verdicts][::2] == ["nothing came", ""]
    assert verdicts[1].why.endswith("then no other text: nothing came")
    assert [each.no_answer for each in rounds] == [1, 1]


def test_a_check_without_an_answer_is_not_passed() -> None:
    notes = Notes(GOOD, checks={GOOD[AIR]: ""})
    verdicts, _ = _run([AIR], Refinement(notes, ("llm",), ENCODER, rounds=1, checker=notes))
    assert "could not check it (nothing came)" in verdicts[0].why


def test_a_copy_is_no_translation_whatever_the_checks_say() -> None:
    notes = Notes({AIR: "no pneumothorax"})
    verdicts, rounds = _run(
        [AIR], Refinement(notes, ("similarity", "llm"), ENCODER, theta=0.8, rounds=1, checker=notes)
    )
    assert not verdicts[0].accepted
    assert rounds[0].copied == 1
    assert not is_copied("The heart is normal in size.", "The heart is normal in size.")  # plain already


def test_fidelity_catches_a_changed_amount_that_the_cosine_lets_pass() -> None:
    text = "There is a large amount of fluid around the lung on the left."
    sentence = "Small left pleural effusion."
    loose = Refinement(Notes({sentence: text}), ("similarity",), ENCODER, theta=0.4, rounds=1)
    assert _run([sentence], loose)[0][0].accepted
    strict = Refinement(Notes({sentence: text}), ("similarity", "fidelity"), ENCODER, theta=0.4, rounds=1)
    assert _run([sentence], strict)[0][0].why == "degree told otherwise (low | high)"
    assert unfaithful("No pneumothorax.", "There is an air leak around the lung.")
    assert unfaithful("The left lung is clear.", "Your lungs are clear.").startswith("side told otherwise")
    assert unfaithful("Your lungs are clear.", "The left lung is clear.").startswith("side told otherwise")


def test_the_embedded_writer_has_one_text() -> None:
    verdicts, rounds = _run(
        list(GOOD), Refinement(EmbeddedTranslator(), ("similarity", "fidelity"), ENCODER, theta=0.999)
    )
    assert len(rounds) == 1
    assert not any(verdict.accepted for verdict in verdicts)


def test_settings_are_checked() -> None:
    with pytest.raises(UsageError, match=r"checks must be among .*got 'spelling'"):
        Refinement(EmbeddedTranslator(), ("spelling",), ENCODER)
    with pytest.raises(UsageError, match="needs a language model"):
        Refinement(EmbeddedTranslator(), ("llm",), ENCODER)
    with pytest.raises(UsageError, match="rounds must be 1 or more"):
        Refinement(EmbeddedTranslator(), (), ENCODER, rounds=0)


def test_rounds_of_chunks_add_up() -> None:
    total = add_rounds([[Round(1, 2, 2, 2, 2)], [Round(1, 2, 1, 1, 2, similarity=1), Round(2, 1, 1, 2, 2)], []])
    assert total == [Round(1, 4, 3, 3, 4, similarity=1), Round(2, 1, 1, 4, 4)]
    assert add_rounds([]) == []


def test_texts_of_other_sentences_are_noticed() -> None:
    sentences = list(GOOD)
    right = dict(enumerate(GOOD.values()))
    assert misplaced(sentences, right, encoder=ENCODER) == {}
    shifted = {0: right[1], 1: right[2]}  # one was left out and the numbers closed up
    assert sorted(misplaced(sentences, shifted, encoder=ENCODER)) == [0, 1]
    swapped = {0: right[0], 1: right[2], 2: right[1]}
    assert sorted(misplaced(sentences, swapped, encoder=ENCODER)) == [1, 2]
    assert misplaced(sentences, {}, encoder=ENCODER) == {}


def test_a_text_that_says_less_is_not_taken_for_one_of_another_sentence() -> None:
    sentences = ["Small left pleural effusion.", "Pleural effusion."]
    texts = {0: "There is fluid around the lung.", 1: "There is fluid around the lung."}
    assert misplaced(sentences, texts, encoder=ENCODER) == {}


@pytest.mark.parametrize(
    ("sentence", "text", "count"),
    [
        (
            "There is a small pleural effusion.",
            "Hay un poco de líquido en la parte de abajo del pulmón.",
            "language",
        ),
        ("No pneumothorax.", "Non c'è aria nella cavità della pleura.", "language"),
        (
            "There is a large left pleural effusion and a nodule in the right upper lobe.",
            "There is much fluid around the right lung and a small spot in the upper part of the left lung.",
            "sides",
        ),
        ("Left pneumothorax.", "The lung on the right has collapsed.", "sides"),
    ],
)
def test_another_language_and_swapped_sides_are_sent_back_always(sentence: str, text: str, count: str) -> None:
    notes = Notes({sentence: text})
    verdicts, rounds = _run([sentence], Refinement(notes, ("similarity",), ENCODER, theta=-1.0, rounds=1))
    assert not verdicts[0].accepted
    assert getattr(rounds[0], count) == 1


def test_right_texts_pass_the_checks_that_are_always_on() -> None:
    sentence = "There is a left pleural effusion. No right effusion."
    text = "There is fluid around the left lung. There is none on the right."
    verdicts, rounds = _run(
        [sentence], Refinement(Notes({sentence: text}), ("similarity",), ENCODER, theta=-1.0, rounds=1)
    )
    assert verdicts[0].accepted
    assert (rounds[0].language, rounds[0].sides) == (0, 0)
