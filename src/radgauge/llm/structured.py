"""Questions whose answer is a JSON object that must pass checks: asked, checked, repaired once, or given up.

An answer that fails its checks is sent back once, with what exactly is wrong. If it still fails, the question
has no answer and a reason: nothing is guessed, filled in or left out. What passes is in the journal before it
is used, sealed by the reports it is about; what fails is not kept, so that a later run asks
again. The first, faulty answer is kept until the repair came, since it is paid for.
"""

from __future__ import annotations

import json
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from radgauge.core.packing import seal, unseal
from radgauge.core.wording import visible
from radgauge.llm.account import BudgetReached, in_parallel
from radgauge.llm.answers import parse_object
from radgauge.llm.client import Answer, NoAnswer, TooLong, Wish
from radgauge.llm.journal import Record, key_of
from radgauge.llm.sessions import Session

DOWN = 3
"""Questions in a row without any answer from the server after which it is taken to be down."""
_SHOWN = 12  # complaints in a repair
_REFUSED = "the model refused to answer"


@dataclass(frozen=True)
class StructuredQuestion:
    """One question."""

    task: str  # Its kind, for people
    system: str  # What the model is to do
    user: str
    schema: Mapping[str, Any] | None  # JSON schema of the answer; None = free text, which is not sent back
    # Object -> what is wrong with it, for the model and for people, without words of the reports
    check: Callable[[Mapping[str, Any]], Sequence[str]]
    texts: str  # The reports in it, whose words the journal does not hold
    # Answer -> object, or what is wrong with it
    read: Callable[[str], tuple[Mapping[str, Any] | None, str]] = parse_object
    max_tokens: int = 4096  # Longest answer
    temperature: float = 0.0
    seed: int = 0

    def key(self, model: str) -> str:
        """Key in the journal: model, prompt, schema, texts and sampling."""
        sampling = f"{self.temperature:g} {self.seed} {self.max_tokens}"
        return key_of("structured", model, self.system, self.user, repr(self.schema), sampling)


@dataclass(frozen=True)
class Verdict:
    """Result of a question."""

    value: Mapping[str, Any] | None  # The checked answer; None if there is none
    why: str = ""  # Why there is none
    repaired: bool = False  # True if it had to be sent back once
    reused: bool = False  # True if it was in the journal


@dataclass(frozen=True)
class Tally:
    """Counts of the results of questions."""

    questions: int = 0
    judged: int = 0  # Answered and checked
    reused: int = 0  # Of these, answered in an earlier run
    repaired: int = 0  # Of these, right only after they were sent back
    failed: int = 0  # Without an answer that passes
    not_asked: int = 0  # For want of budget
    retried: int = 0  # Requests that had to be put again to a busy or silent server
    requests: int = 0  # Requests that were answered
    tokens_in: int = 0  # Tokens of the questions
    tokens_out: int = 0  # Tokens of the answers
    cost: float = 0.0  # What these cost
    unsure: float = 0.0  # The most that requests without a count may have cost on top
    # Model and fingerprint as the server names them, with the number of answers
    models: Mapping[str, int] = field(default_factory=dict)
    # How answers were held to their form, with their number
    forms: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)  # Why questions failed, with their number
    ignored: tuple[str, ...] = ()  # Settings that the server does not take


def ask_structured(
    questions: Sequence[StructuredQuestion], *, session: Session, task: str
) -> tuple[list[Verdict], Tally]:
    """Ask every question that the journal does not answer; never more than `session.parallel` at a time.

    A budget that is reached leaves the rest unasked, with that reason.

    Args:
        questions: Equal ones are asked once.
        session: Whom to ask, within which budget.
        task: For the progress.

    Raises:
        LlmError: The server refuses, or is down; what was answered before is in the journal.
    """
    keys = [question.key(session.model.server.signature) for question in questions]
    by_key = dict(zip(keys, questions, strict=True))
    run = _Run(session, task, len(by_key))
    before = session.model.usage
    run.all(by_key)
    used = session.model.usage
    distinct = list(run.verdicts.values())
    failed = [verdict for verdict in distinct if verdict.value is None]
    reasons = _counted(verdict.why for verdict in failed)
    unasked = sum(n for why, n in reasons.items() if why == NOT_ASKED)
    return [run.verdicts[key] for key in keys], Tally(
        questions=len(distinct),
        judged=len(distinct) - len(failed),
        reused=sum(verdict.reused for verdict in distinct),
        repaired=sum(verdict.repaired for verdict in distinct),
        failed=len(failed) - unasked,
        not_asked=unasked,
        retried=used.retries - before.retries,
        requests=used.requests - before.requests,
        tokens_in=used.tokens_in - before.tokens_in,
        tokens_out=used.tokens_out - before.tokens_out,
        cost=used.cost - before.cost,
        unsure=used.unsure - before.unsure,
        models=_counted(run.models),
        forms=_counted(run.forms),
        reasons={why: n for why, n in reasons.items() if why != NOT_ASKED},
        ignored=tuple(sorted(session.model.refuses)),
    )


NOT_ASKED = "not asked: the greatest cost is reached"


def recall(questions: Sequence[StructuredQuestion], *, session: Session) -> list[Verdict | None]:
    """Look up answers in the journal, without any request; None where it has none."""
    run = _Run(session, "", len(questions))
    return [run.cached(question.key(session.model.server.signature), question) for question in questions]


class _Run:
    """Questions under way, and what came of them."""

    def __init__(self, session: Session, task: str, total: int) -> None:
        self._session, self._task, self._total = session, task, total
        self.verdicts: dict[str, Verdict] = {}
        self.models: list[str] = []
        self.forms: list[str] = []
        self._lock = threading.Lock()
        self._silent = 0  # questions in a row without an answer

    def all(self, questions: Mapping[str, StructuredQuestion]) -> None:
        """Answer them from the journal or ask, a bounded number at a time, in their order."""
        exceeded = False

        def open_questions() -> Iterator[tuple[str, StructuredQuestion]]:
            for key, question in questions.items():
                if (verdict := self.cached(key, question)) is not None:
                    self._finish(key, verdict)
                elif exceeded:
                    self._finish(key, Verdict(None, NOT_ASKED))
                else:
                    self._session.say_where_texts_go()
                    yield key, question

        def done(job: tuple[str, StructuredQuestion], result: Verdict | BudgetReached) -> None:
            nonlocal exceeded
            exceeded = exceeded or isinstance(result, BudgetReached)
            self._finish(job[0], Verdict(None, NOT_ASKED) if isinstance(result, BudgetReached) else result)

        in_parallel(
            open_questions(),
            lambda job: self._judge(*job),
            done=done,
            stop=self._session.model.stop,
            parallel=self._session.parallel,
        )

    def _finish(self, key: str, verdict: Verdict) -> None:
        self.verdicts[key] = verdict
        if self._session.progress is not None:
            self._session.progress(self._session.model, self._task, len(self.verdicts), self._total)

    def cached(self, key: str, question: StructuredQuestion) -> Verdict | None:
        """Verdict in the journal, if it passes the checks of today."""
        record = self._session.journal.get(key)
        if record is None or "packed" not in record:
            return None
        value = _unpacked(record["packed"], question)
        if not isinstance(value, dict) or question.check(value):
            return None
        self._note(str(record.get("model", "")), str(record.get("form", "")))
        return Verdict(value, repaired=bool(record.get("repaired")), reused=True)

    def _note(self, model: str, form: str) -> None:
        with self._lock:
            self.models.append(model)
            self.forms.append(form)

    def _judge(self, key: str, question: StructuredQuestion) -> Verdict:
        """Ask, check, send back once."""
        try:
            verdict = self._put(key, question)
        except TooLong:
            return Verdict(None, "too long for the model")
        except NoAnswer as error:
            with self._lock:
                self._silent += 1
                if self._silent >= DOWN:
                    raise
            return Verdict(None, f"the server gave no answer ({error.why})")
        with self._lock:
            self._silent = 0
        return verdict

    def _put(self, key: str, question: StructuredQuestion) -> Verdict:
        journal = self._session.journal
        draft = self._draft(key, question)
        if draft is None:
            answer = self._ask(question)
            value, faults = _checked(question, answer)
            if not faults:
                return self._keep(key, question, value, answer, repaired=False)
            if question.schema is None:
                journal.add({}, costs=[answer.cost])
                return Verdict(None, faults[0])
            draft = answer.text
            journal.add({key: {"draft": _packed(draft, question)}}, costs=[answer.cost])
        else:
            faults = _faults(question, draft)[1]
        answer = self._ask(question, turns=_repair(draft, faults))
        value, faults = _checked(question, answer)
        if not faults:
            return self._keep(key, question, value, answer, repaired=True)
        journal.add({key: {}}, costs=[answer.cost])  # a later run begins anew
        return Verdict(None, f"after a repair: {faults[0]}", repaired=False)

    def _draft(self, key: str, question: StructuredQuestion) -> str | None:
        """A faulty answer of a run that was killed before the repair."""
        record = self._session.journal.get(key)
        if record is None or "draft" not in record:
            return None
        draft = _unpacked(record["draft"], question)
        return draft if isinstance(draft, str) and _faults(question, draft)[1] else None

    def _ask(self, question: StructuredQuestion, turns: Sequence[tuple[str, str]] = ()) -> Answer:
        wish = Wish(question.schema, question.temperature, question.seed)
        return self._session.model.ask(
            question.system, question.user, max_tokens=question.max_tokens, wish=wish, turns=turns
        )

    def _keep(
        self, key: str, question: StructuredQuestion, value: Mapping[str, Any], answer: Answer, *, repaired: bool
    ) -> Verdict:
        model = " ".join(part for part in answer.source if part)
        record: Record = {"packed": _packed(value, question), "repaired": repaired, "model": model}
        self._session.journal.add({key: {**record, "form": answer.form}}, costs=[answer.cost])
        self._note(model, answer.form)
        return Verdict(value, repaired=repaired)


def _checked(question: StructuredQuestion, answer: Answer) -> tuple[Mapping[str, Any], Sequence[str]]:
    if answer.refusal:
        return {}, [_REFUSED]
    value, faults = _faults(question, answer.text)
    if faults and answer.cut == "length":
        return {}, [f"the answer was cut off at {question.max_tokens} tokens"]
    if faults and answer.cut:
        return {}, [f"the server ended the answer ({visible(answer.cut)[:40]})"]
    return value, faults


def _faults(question: StructuredQuestion, text: str) -> tuple[Mapping[str, Any], Sequence[str]]:
    """The object in an answer, and what is wrong with it."""
    value, fault = question.read(text)
    if value is None:
        return {}, [fault]
    return value, question.check(value)


def _repair(draft: str, faults: Sequence[str]) -> tuple[tuple[str, str], ...]:
    more = [f"and {len(faults) - _SHOWN} more of this kind"] if len(faults) > _SHOWN else []
    listed = "\n".join(f"- {fault}" for fault in [*faults[:_SHOWN], *more])
    return (
        ("assistant", draft or "(no answer)"),
        (
            "user",
            f"Your answer cannot be used:\n{listed}\n\n"
            "Answer again, completely, with one corrected JSON object and nothing else.",
        ),
    )


def _packed(value: Any, question: StructuredQuestion) -> str:
    return b64encode(seal(json.dumps(value).encode(), key=question.texts)).decode("ascii")


def _unpacked(packed: Any, question: StructuredQuestion) -> Any:
    """Reverse `_packed`; None if it is something else."""
    try:
        return json.loads(unseal(b64decode(str(packed)), key=question.texts))
    except (ValueError, RecursionError):
        return None


def _counted(names: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return counts
