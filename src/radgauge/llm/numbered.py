"""Questions about many texts at once, answered as a JSON object keyed by number.

Models answer carelessly: broken or cut JSON, numbers of their own, some texts left out, two answers for one
number, a list where a text should be, an apology. What an answer says clearly is taken; what it does not is asked
again, in smaller batches, and in the end marked with the reason. Nothing is guessed.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import NamedTuple

from radgauge.llm.account import BudgetReached, in_parallel
from radgauge.llm.answers import parse_numbered
from radgauge.llm.client import Answer, LanguageModel, LlmError, TooLong
from radgauge.llm.journal import Journal, Record, key_of


class Outcome(NamedTuple):
    """One text: its answer, or why there is none."""

    value: str
    why: str = ""


@dataclass(frozen=True)
class Question:
    """Question about texts."""

    name: str  # Of the task, part of the keys
    system: str  # What the model is to do
    render: Callable[[Sequence[tuple[str, ...]]], str]  # Items -> the user's message; of no items, its frame
    # Items and values -> what is wrong with each value that must not be taken; the others are taken
    accept: Callable[[Sequence[tuple[str, ...]], Mapping[int, str]], Mapping[int, str]]
    max_tokens: Callable[[Sequence[tuple[str, ...]]], int]  # Most tokens of an answer to these items

    def key(self, item: tuple[str, ...], model: str) -> str:
        """Key of an item in the journal: the question, the model and the item."""
        return key_of(self.name, self.system, self.render([]), model, *item)


def ask_all(
    question: Question,
    items: Sequence[tuple[str, ...]],
    *,
    model: LanguageModel,
    journal: Journal,
    batch: int = 50,
    attempts: int = 3,
    parallel: int = 1,
    retry_failed: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> list[Outcome]:
    """Ask about every item that the journal does not know yet; what is answered is on disk at once.

    Args:
        question: What to ask.
        items: Texts of each item; equal items are asked once.
        model: Whom to ask.
        journal: What was asked before; takes what is asked now.
        batch: Items per request.
        attempts: Times that an item is asked; each time in batches half as large.
        parallel: Requests at the same time.
        retry_failed: Ask again for items that the journal gave up.
        progress: Told (items done, of how many) after each request.

    Returns:
        One outcome per item.

    Raises:
        LlmError, BudgetReached: The run cannot go on; everything answered so far is in the journal.
    """
    keys = {item: question.key(item, model.server.signature) for item in dict.fromkeys(items)}
    open_items = [
        item
        for item, key in keys.items()
        if (record := journal.get(key)) is None or (retry_failed and "why" in record)
    ]
    done = len(keys) - len(open_items)
    lock = threading.Lock()

    def tell(more: int) -> None:
        nonlocal done
        with lock:
            done += more
            if progress is not None:
                progress(done, len(keys))

    def accept(part: Sequence[tuple[str, ...]], values: Mapping[int, str]) -> Mapping[int, str]:
        with judging:  # readers and encoders are not made for several threads
            return question.accept(part, values)

    judging = threading.Lock()
    safe = replace(question, accept=accept)

    def run(part: Sequence[tuple[str, ...]]) -> None:
        _ask_batch(safe, part, keys=keys, model=model, journal=journal, attempts=attempts, tell=tell)

    exceeded: list[BudgetReached] = []

    def done_with(_: Sequence[tuple[str, ...]], result: BudgetReached | None) -> None:
        if result is not None:
            exceeded.append(result)

    batches = (open_items[at : at + batch] for at in range(0, len(open_items), batch))
    affordable = takewhile(lambda _: not exceeded, batches)
    in_parallel(affordable, run, done=done_with, stop=model.stop, parallel=parallel)
    if exceeded:
        raise exceeded[0]
    outcomes = []
    for item in items:
        record = journal.get(keys[item])
        if record is None:  # cannot be: every batch ends in a record or in an exception
            raise LlmError("an item has neither an answer nor a reason")
        outcomes.append(Outcome(str(record.get("value", "")), str(record.get("why", ""))))
    return outcomes


def _ask_batch(
    question: Question,
    items: Sequence[tuple[str, ...]],
    *,
    keys: Mapping[tuple[str, ...], str],
    model: LanguageModel,
    journal: Journal,
    attempts: int,
    tell: Callable[[int], None],
) -> None:
    """Ask until every item is answered or was asked `attempts` times."""
    left, size = list(items), len(items)
    for attempt in range(1, attempts + 1):
        parts = deque(left[at : at + size] for at in range(0, len(left), size))
        left = []
        while parts:
            part = parts.popleft()
            try:
                answer = model.ask(question.system, question.render(part), max_tokens=question.max_tokens(part))
            except TooLong as error:
                if len(part) > 1:
                    half = (len(part) + 1) // 2
                    parts.extendleft((part[half:], part[:half]))
                else:
                    journal.add({keys[part[0]]: {"why": str(error)}})
                    tell(1)
                continue
            values, reasons = _judge(question, part, answer)
            records: dict[str, Record] = {keys[part[number]]: {"value": text} for number, text in values.items()}
            for number, item in enumerate(part):
                if number in values:
                    continue
                if attempt == attempts:
                    records[keys[item]] = {"why": f"asked {attempts} times: {reasons[number]}"}
                else:
                    left.append(item)
            journal.add(records, costs=[answer.cost])
            tell(len(records))
        size = max(1, size // 2)


def _judge(
    question: Question, part: Sequence[tuple[str, ...]], answer: Answer
) -> tuple[dict[int, str], dict[int, str]]:
    """Values that may be taken, and for the other numbers why not."""
    parsed = parse_numbered(answer.text, len(part))
    general = parsed.fault or "it is left out"
    if answer.cut and parsed.fault:
        general = f"{general} (the server ended the answer: {answer.cut})"
    reasons = dict.fromkeys(range(len(part)), general) | parsed.faults
    texts: dict[int, str] = {}
    for number, value in parsed.values.items():
        if not isinstance(value, str):
            reasons[number] = "the answer is no text"
        elif not value.strip():
            reasons[number] = "the answer is empty"
        elif any("\ud800" <= character <= "\udfff" for character in value):
            reasons[number] = "the answer is no valid text"
        else:
            texts[number] = " ".join(value.split())
    wrong = question.accept(part, texts)
    reasons |= wrong
    return {number: text for number, text in texts.items() if number not in wrong}, reasons


def as_numbered(texts: Sequence[str]) -> str:
    """Texts as the JSON object that answers must be like."""
    return json.dumps({str(number): text for number, text in enumerate(texts)}, ensure_ascii=False, indent=0)
