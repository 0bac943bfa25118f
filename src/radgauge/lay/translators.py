"""Writers of lay sentences: the embedded writer, or a language model on a server that the user names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Protocol

import numpy as np

from radgauge.core.readings import Progress
from radgauge.core.signature import component
from radgauge.encoders.text.encoders import Encoder
from radgauge.lay.language_words import words_hash
from radgauge.lay.plain_sentences import write_plain
from radgauge.lay.prompts import lay_prompts, prompts_hash
from radgauge.lay.sets import is_heading
from radgauge.llm.client import LanguageModel
from radgauge.llm.journal import Journal
from radgauge.llm.numbered import Outcome, Question, ask_all
from radgauge.llm.prompts import Prompt
from radgauge.reader import ReportReader

Item = tuple[str, ...]


class Translator(Protocol):
    """Writes lay sentences."""

    has_more: ClassVar[bool]
    """Whether it can write another text when the first was not good enough."""

    is_free: ClassVar[bool]
    """Whether every near-copy can be translated itself at no cost."""

    @property
    def chunk(self) -> int:
        """Sentences that go through all rounds together."""

    @property
    def signature(self) -> str:
        """Names the writer, its version and its prompts."""

    def translate(self, sentences: Sequence[str]) -> list[Outcome]:
        """A first lay text of each sentence."""

    def revise(self, items: Sequence[tuple[str, str, str]]) -> list[Outcome]:
        """Another lay text, given (sentence, earlier text, what is wrong with it)."""


class Checker(Protocol):
    """Judges lay sentences as the paper's language model does."""

    @property
    def signature(self) -> str:
        """Names the model and its prompt."""

    def check(self, pairs: Sequence[tuple[str, str]]) -> list[Outcome]:
        """For each (sentence, lay text) the lay text as it should be: unchanged if it is right."""


@dataclass(frozen=True)
class EmbeddedTranslator:
    """The embedded plain-language writer; it has one text for a sentence and no second.

    A sentence that it keeps as it is has no lay text, and a report with such a sentence has none either.
    """

    has_more: ClassVar[bool] = False
    is_free: ClassVar[bool] = True

    @property
    def chunk(self) -> int:
        """Many: nothing is lost if it is interrupted."""
        return 2000

    @property
    def signature(self) -> str:
        """Version of the writer, which counts up when a text of the probes moves, the lexicon, and the words."""
        return f"{component('writer')}|{ReportReader().signature}|words:en-{words_hash('en')}"

    def translate(self, sentences: Sequence[str]) -> list[Outcome]:
        """The writer's text of each sentence or report, or why there is none."""
        return [_written(sentence) for sentence in sentences]

    def revise(self, items: Sequence[tuple[str, str, str]]) -> list[Outcome]:
        """Nothing: the writer has no second text."""
        return [Outcome("", "the embedded writer has no other text") for _ in items]


def _written(text: str) -> Outcome:
    written = write_plain(text)
    body = [sentence for sentence in written if not is_heading(sentence.source)]
    untranslated = [sentence for sentence in body if sentence.kept]
    if not body:
        return Outcome("", "the writer found nothing to say")
    if untranslated:
        why = untranslated[0].reasons[0]
        if len(body) == 1:
            return Outcome("", f"the writer keeps the sentence ({why})")
        return Outcome("", f"the writer keeps a sentence ({len(untranslated)} of {len(body)}, first: {why})")
    return Outcome(
        " ".join(sentence.source if is_heading(sentence.source) else sentence.plain for sentence in written)
    )


@dataclass(frozen=True)
class LlmTranslator:
    """A language model as translator and as checker; every answer is in the journal before it is used."""

    has_more: ClassVar[bool] = True
    is_free: ClassVar[bool] = False

    model: LanguageModel
    journal: Journal  # What was asked before
    encoder: Encoder  # Tells when an answer belongs to another sentence of its batch
    # The words of the tasks translate, revise and check; for sentences, as shipped, unless given
    prompts: Mapping[str, Prompt] = field(default_factory=lay_prompts)
    batch: int = 50  # Sentences per request; 50 in the paper
    parallel: int = 4  # Requests at the same time
    attempts: int = 3  # Times that a sentence is asked before it is given up
    retry_failed: bool = False  # Ask again for what earlier runs gave up
    progress: Progress | None = field(default=None, compare=False)  # Told (task, done, total) after every request

    @property
    def chunk(self) -> int:
        """Enough for all requests at once, few enough that a stopped run has finished most of its sentences."""
        return self.batch * self.parallel

    @property
    def signature(self) -> str:
        """The model and the words that it is asked in."""
        return f"llm:{self.model.server.signature}|prompts:{prompts_hash(self.prompts)}"

    def translate(self, sentences: Sequence[str]) -> list[Outcome]:
        """The model's text of each sentence."""
        return self._ask("translate", [(sentence,) for sentence in sentences], lambda item: item[0])

    def revise(self, items: Sequence[tuple[str, str, str]]) -> list[Outcome]:
        """The model's next text of each sentence."""
        names = ("sentence", "first version", "fault")
        return self._ask("revise", items, lambda item: dict(zip(names, item, strict=True)))

    def check(self, pairs: Sequence[tuple[str, str]]) -> list[Outcome]:
        """Return the model's result for each pair."""
        return self._ask("check", pairs, lambda item: {"report": item[0], "plain": item[1]})

    def _ask(self, task: str, items: Sequence[Item], shown: Callable[[Item], object]) -> list[Outcome]:
        prompt = self.prompts[task]

        def render(part: Sequence[Item]) -> str:
            return prompt.fill([shown(item) for item in part])

        question = Question(task, prompt.system, render, self._misplaced, _answer_room)
        return ask_all(
            question,
            items,
            model=self.model,
            journal=self.journal,
            batch=self.batch,
            attempts=self.attempts,
            parallel=self.parallel,
            retry_failed=self.retry_failed,
            progress=None if self.progress is None else partial(self.progress, task),
        )

    def _misplaced(self, items: Sequence[Item], texts: Mapping[int, str]) -> Mapping[int, str]:
        return misplaced([item[0] for item in items], texts, encoder=self.encoder)


def misplaced(sentences: Sequence[str], texts: Mapping[int, str], *, encoder: Encoder) -> dict[int, str]:
    """Texts that belong to another sentence of the same batch: models lose count.

    A text is misplaced if it is closer to another sentence than to its own, and closer to that one than the text
    which was given for it. A text that merely says less than its sentence is not.

    >>> from radgauge.lay.encoder import FindingEncoder
    >>> swapped = {0: "The heart is too big.", 1: "There is fluid around the lung."}
    >>> sorted(misplaced(["Pleural effusion.", "Cardiomegaly."], swapped, encoder=FindingEncoder()))
    [0, 1]
    """
    numbers = sorted(texts)
    if len(sentences) < 2 or not numbers:
        return {}
    rows = encoder.encode([*sentences, *(texts[number] for number in numbers)]).astype(np.float64)
    cosines = rows[len(sentences) :] @ rows[: len(sentences)].T  # text x sentence
    own = dict(zip(numbers, cosines[np.arange(len(numbers)), numbers].tolist(), strict=True))
    wrong = {}
    for number, row in zip(numbers, cosines, strict=True):
        other = int(row.argmax())
        if row[other] > own[number] + _MARGIN and row[other] > own.get(other, -1.0) + _MARGIN:
            wrong[number] = "it seems to belong to another sentence"
    return wrong


_MARGIN = 0.02


def _answer_room(items: Sequence[Item]) -> int:
    """Room for lay texts three times as long as their sentences."""
    return 64 + sum(48 + len(item[0].encode()) for item in items)
