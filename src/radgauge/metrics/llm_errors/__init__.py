"""A language model as judge: it lists, matches and names, and code checks, computes and counts.

Any OpenAI-compatible server that the user names (docs/llm.md). What an answer is worth is computed by the
arithmetic of the metric `errors`. An answer that does not close is sent back once; what still does not close is
NaN with the reason.
"""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.metric import Explanation, Metric, Note, Rows, mean
from radgauge.core.readings import Readings
from radgauge.findings.profile import Arithmetic, Profile
from radgauge.findings.rules import NO_CONTEXT, context_of
from radgauge.findings.weights import load_weights
from radgauge.llm.sessions import named_server, open_session
from radgauge.llm.structured import NOT_ASKED, StructuredQuestion, Verdict, ask_structured, recall
from radgauge.metrics.errors import COLUMNS, DIRECTIONS, Errors, row_of, with_detection
from radgauge.metrics.llm_errors.accounts import Ledger
from radgauge.metrics.llm_errors.cascade import doubts, most_doubtful
from radgauge.metrics.llm_errors.fences import speaks_to_judge
from radgauge.metrics.llm_errors.findings import (
    SCHEMA,
    Judgment,
    descriptor_counts,
    judged_profile,
    judgment_faults,
    judgment_notes,
    read_judgment,
)
from radgauge.metrics.llm_errors.pairs import Item, Pair, Text
from radgauge.metrics.llm_errors.preferences import both_orders, first_wins, preference_rows, system_pairs
from radgauge.metrics.llm_errors.prompts import judge_prompt
from radgauge.metrics.llm_errors.short_forms import (
    ENTAILMENT,
    PREFERENCE,
    RATING,
    entailment_faults,
    entailment_notes,
    entailment_row,
    explained_faults,
    self_agreement,
)

log = logging.getLogger(__name__)

SUFFIX, MIXED = "_llm", "_cascade"
MIN_CONSTANT = 10
"""Pairs of different reports from which on one and the same value for all is suspect."""
LONGEST_REPEATS = 25

_OUTPUTS: dict[str, tuple[tuple[str, ...], tuple[bool, ...], tuple[float, float]]] = {
    "findings": (
        (*COLUMNS, "errors_descriptor", "errors_descriptor_significant"),
        (*DIRECTIONS, False, False),
        (-1.0, 1.0),
    ),
    "green": (("green", "green_errors", "green_significant"), (True, False, False), (0.0, 1.0)),
    "crimson": (("crimson",), (True,), (-1.0, 1.0)),
    "rating": (("rating",), (True,), (1.0, 5.0)),
    "preference": (("preference", "preference_by_position"), (True, False), (0.0, 1.0)),
    "entailment": (
        ("entailment_f1", "entailment_precision", "entailment_recall", "entailment_contradicted"),
        (True, True, True, False),
        (0.0, 1.0),
    ),
}
"""Variant -> columns without their suffix, directions, range of the headline."""


@dataclass(frozen=True)
class LlmErrors(Metric):
    """Error counts, a rating, a preference or entailment by a language model that the user names.

    The variant `findings` has the columns of `errors` with the suffix `_llm`, and descriptor errors: the model
    lists the findings of both reports and what is wrong, and code computes the values. `errors_coverage_llm` is
    the share of the sentences of both reports that the model accounted for. Of several references the one that
    gives the best headline counts. With `repeats` above 1 values are means of repeated judgments, and
    `..._self_agreement_llm` says how well these agree.

    Attributes:
        variant: "findings", "rating" (1 to 5, with anchors), "preference" (share of the other systems' reports
        on the
            study that this one is preferred to, each pair shown in both orders), or "entailment" (sentence by
            sentence, precision and recall).
        context: Whether the model is told age and indication in a case's meta.
        repeats: Judgments of each case; each has a seed of its own.
        temperature: Of the sampling.
        seed: Of the sampling.
        weights: As for `errors`: "default", "prior", or a JSON file of `radgauge fit errors --metric llm_errors`.
        prompt: A file with a prompt of your own; "" = the one that ships.
        ask: "every" case, or "cascade" (findings, rating): `errors` judges first, and the model is asked about
            the cases in doubt.
        share: Share of the cases that a cascade asks about at most.
        max_tokens: Longest answer.
    """

    name: ClassVar[str] = "llm_errors"
    higher_is_better: ClassVar[bool] = True
    extra: ClassVar[str] = "llm"
    summary: ClassVar[str] = (
        "a language model's judgment, checked and computed: errors, rating, preference, entailment"
    )

    variant: Literal["findings", "rating", "preference", "entailment"] = "findings"
    context: bool = True
    repeats: int = 1
    temperature: float = 0.0
    seed: int = 0
    weights: str = "default"
    prompt: str = ""
    ask: Literal["every", "cascade"] = "every"
    share: float = 1.0
    max_tokens: int = 4096

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.repeats <= LONGEST_REPEATS:
            raise UsageError(f"llm_errors: repeats must be from 1 to {LONGEST_REPEATS}, got {self.repeats}")
        if not 0 <= self.temperature <= 2:
            raise UsageError(f"llm_errors: temperature must be from 0 to 2, got {self.temperature:g}")
        if not 0 < self.share <= 1:
            raise UsageError(f"llm_errors: share must be above 0 and at most 1, got {self.share:g}")
        if self.max_tokens < 1:
            raise UsageError(f"llm_errors: max_tokens must be at least 1, got {self.max_tokens}")
        if self.ask == "cascade" and self.variant not in ("findings", "rating"):
            raise UsageError(
                "llm_errors: a cascade needs the variant findings or rating, which errors can stand in for"
            )
        load_weights(self.weights)
        judge_prompt(self.variant, self._checked_prompt())

    def _checked_prompt(self) -> str:
        """The user's prompt for our own form of the answer."""
        return self.prompt

    def _prompt_version(self) -> str:
        return judge_prompt(self.variant, self.prompt).version

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]  # a fact about the variant
        """Of the headline."""
        return _OUTPUTS[self.variant][2]

    @property
    def independent(self) -> bool:  # type: ignore[override]
        """Preferences and cascades look at the other systems' reports on a study."""
        return self.variant != "preference" and self.ask == "every"

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of the variant, who judged for a cascade, and how well repeats agree."""
        suffix = SUFFIX if self.ask == "every" else MIXED
        names = list(_OUTPUTS[self.variant][0])
        if self.ask == "cascade":
            names.append(f"{names[0].split('_')[0]}_by_llm")
        if self.repeats > 1:
            names.append(f"{names[0].split('_')[0]}_self_agreement")
        return tuple(f"{name}{suffix}" for name in names)

    @property
    def system_headline(self) -> str:
        """F1 of significant findings, where findings are judged."""
        return self.columns[COLUMNS.index("errors_f1")] if self.variant == "findings" else self.columns[0]

    @property
    def directions(self) -> tuple[bool, ...]:
        """Those of the variant; agreement and a model's judgment are better than none."""
        own = _OUTPUTS[self.variant][1]
        return (*own, *[True] * (len(self.columns) - len(own)))

    def parts(self) -> Mapping[str, str]:
        """The model and its host, and the words that it is asked with."""
        try:
            model = named_server().signature
        except UsageError:
            model = "none"
        settings = {
            "model": model.replace("|", "/"),
            "prompt_version": self._prompt_version(),
        }
        if self.variant == "findings":
            settings["weights_hash"] = Errors(weights=self.weights).parts()["weights_hash"]
        if self.ask == "cascade":
            errors = Errors(weights=self.weights, context=self.context)
            settings["errors"] = "(" + errors.signature().replace("|", ";") + ")"
        return {**settings, "references": "all" if self.variant == "preference" else "best"}

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Ask, check, compute."""
        if self.variant == "preference":
            return self._preferences(cases, reading)
        if self.ask == "cascade":
            return self._cascade(cases, reading)
        return self._judged(cases, reading)

    def case_scores(self, rows: Rows) -> Rows:
        """As `errors`: F1, precision and recall from the counts of findings."""
        return with_detection(rows, rows) if self.variant == "findings" else rows

    def corpus_scores(self, totals: Rows, counts: Rows) -> Rows:
        """Means of the cases; F1, precision and recall are sums over sums."""
        means = mean(totals, counts)
        return with_detection(means, totals) if self.variant == "findings" else means

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """Show what the model saw, matched and found wrong; its own words follow each verdict of the code."""
        if self.variant == "preference":
            return None
        ledger = self._ledger(reading)
        judged = self._asked_references(case, ledger) or self._recalled(case, reading)
        if not judged:
            if self.ask == "every":
                return None  # to explain is not to ask
            explanation = Errors(weights=self.weights, context=self.context).explain(case, reading=reading)
            if explanation is None:
                return None
            row = self._embedded(np.array([[explanation.values[name] for name in COLUMNS]]))[0]
            return Explanation(self.name, dict(zip(self.columns, map(float, row), strict=True)), explanation.notes)
        alone = dataclasses.replace(case, references=judged)
        row = self.case_scores(self._judged([alone], reading))[0]
        values = dict(zip(self.columns, map(float, row), strict=True))
        if math.isnan(row[0]):
            return Explanation(self.name, values)
        return Explanation(self.name, values, self._notes(case, alone, reading))

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """The first reason that an answer could not be used."""
        ledger = self._ledger(reading)
        if self.variant == "preference":
            return ledger.why.get(case.key, "no other system has a report on this study that could be compared")
        reasons = [
            verdict.why
            for item in self._items(case)
            if (verdict := ledger.verdicts.get(item)) is not None and verdict.value is None
        ]
        if not reasons:
            answered = any(item in ledger.verdicts for item in self._items(case))
            return "nothing to match, and no error" if answered else "no answer"
        return next((why for why in reasons if why != NOT_ASKED), reasons[0])

    def account(self, *, reading: Readings) -> Mapping[str, Any]:
        """Account of the judgments: counts, tokens, cost, model and fingerprint, sampling, self-agreement."""
        ledger = self._ledger(reading)
        repeated: dict[Item, list[float]] = {}
        for item, verdict in ledger.verdicts.items():
            if self.repeats > 1:
                repeated.setdefault(item._replace(repeat=0), []).append(self._headline(item, verdict))
        settings = {"temperature": self.temperature, "seed": self.seed, "repeats": self.repeats}
        account = ledger.account(settings, list(repeated.values()), self.range[1] - self.range[0])
        # Copies of the reference may all deserve one answer; reports that differ do not.
        differing = {
            item: self._headline(item, verdict)
            for item, verdict in ledger.verdicts.items()
            if verdict.value is not None and item.repeat == 0 and item.reference not in item.candidates
        }
        if len(differing) >= MIN_CONSTANT and len(set(differing.values())) == 1:
            account["constant"] = next(iter(differing.values()))
            log.warning(
                "%s: %d pairs of different reports all got %g; the judge may have read nothing",
                *(self.name, len(differing), account["constant"]),
            )
        return account

    def profiles(self, cases: Sequence[Case], *, reading: Readings) -> list[Profile | None]:
        """The errors of each case against its best reference, for `fit errors`; None if it cannot be judged."""
        if self.variant != "findings" or self.ask != "every":
            raise UsageError("llm_errors: weights are learned from the variant findings, asked about every case")
        self._ask([item for case in cases for item in self._items(case)], reading)
        judged: list[Profile | None] = []
        for case in cases:
            best = self._best(case, reading)
            judgments = [] if best is None else self._judgments(best[0])
            judged.append(judged_profile(judgments[0]) if judgments else None)
        return judged

    def questions(self, case: Case) -> list[StructuredQuestion]:
        """Questions to the model about a case, word for word: one per reference and repeat."""
        if self.variant == "preference":
            raise UsageError("llm_errors: a preference is asked of two cases")
        return [self._question(item) for item in self._items(case)]

    # --- asking

    def _ledger(self, reading: Readings) -> Ledger:
        """Ledger of the questions of this run under these settings."""
        ledger: Ledger = reading.once(("llm_errors", self.signature()), Ledger, shared=True)
        return ledger

    def _items(self, case: Case) -> Iterator[Item]:
        for reference in case.references:
            for repeat in range(self.repeats):
                yield Item(reference, (case.candidate,), self._context(case), repeat)

    def _context(self, case: Case) -> str:
        clinical = context_of(case.meta) if self.context and case.meta else NO_CONTEXT
        parts = [f"age {clinical.age:g} years"] if clinical.age is not None else []
        parts += [f"indication: {' '.join(clinical.indication.split())}"] if clinical.indication else []
        return f"The patient: {'; '.join(parts)}\n\n" if parts else ""

    def _ask(self, items: Sequence[Item], reading: Readings) -> None:
        """Answers to these questions in the ledger; those that are there already are not asked again."""
        ledger = self._ledger(reading)
        pending = [item for item in dict.fromkeys(items) if item not in ledger.verdicts]
        if not pending:
            return
        with open_session() as session:
            verdicts, tally = ask_structured(
                [self._question(item) for item in pending], session=session, task=self.name
            )
            server = session.model.server
        who = {"host": server.host, "model": server.model}
        ledger.add(dict(zip(pending, verdicts, strict=True)), tally, who)
        ledger.addressed.update(text for item in pending for text in item.candidates if speaks_to_judge(text))

    def _question(self, item: Item) -> StructuredQuestion:
        template = judge_prompt(self.variant, self.prompt)
        form = "findings" if self.variant in ("green", "crimson") else self.variant
        reference, candidates = Text(item.reference), [Text(text) for text in item.candidates]
        names = ("candidate",) if len(candidates) == 1 else ("first", "second")
        shown = {name: text.numbered for name, text in zip(names, candidates, strict=True)}
        pair = Pair(reference, candidates[0])
        quoted = {"reference": reference, **dict(zip(names, candidates, strict=True))}
        schema, check = {
            "findings": (SCHEMA, partial(judgment_faults, pair=pair)),
            "rating": (RATING, partial(explained_faults, schema=RATING, texts=quoted)),
            "preference": (PREFERENCE, partial(explained_faults, schema=PREFERENCE, texts=quoted)),
            "entailment": (ENTAILMENT, partial(entailment_faults, pair=pair)),
        }[form]
        return StructuredQuestion(
            task=form,
            system=template.system,
            user=template.fill({"reference": reference.numbered, "context": item.context, **shown}),
            schema=schema,
            check=check,
            texts="\n".join([item.reference, *item.candidates, item.context]),
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            seed=self.seed + item.repeat,
        )

    # --- values

    def _judged(self, cases: Sequence[Case], reading: Readings) -> Rows:
        self._ask([item for case in cases for item in self._items(case)], reading)
        rows = np.full((len(cases), len(self.columns)), np.nan)
        for at, case in enumerate(cases):
            if (best := self._best(case, reading)) is not None:
                rows[at] = best[1]
        return rows

    def _best(self, case: Case, reading: Readings) -> tuple[list[tuple[Pair, Verdict]], list[float]] | None:
        """Judgments against the reference that gives the best headline, and the row made of them."""
        ledger = self._ledger(reading)
        best: tuple[list[tuple[Pair, Verdict]], list[float]] | None = None
        for reference in case.references:
            items = [item for item in self._items(case) if item.reference == reference]
            pair = Pair(Text(reference), Text(case.candidate))
            judged = [(pair, verdict) for item in items if (verdict := ledger.verdicts.get(item)) is not None]
            usable = [answered for answered in judged if answered[1].value is not None]
            if not usable:
                continue
            row = self._row(usable)
            if best is None or _rank(row) > _rank(best[1]):
                best = (usable, row)
        return best

    def _row(self, usable: Sequence[tuple[Pair, Verdict]]) -> list[float]:
        """Means over the repeats, and how well they agree."""
        rows = np.array([self._values(pair, verdict) for pair, verdict in usable])
        defined = ~np.isnan(rows)
        count = defined.sum(axis=0)
        total = np.where(defined, rows, 0.0).sum(axis=0)
        row = [float(t / n) if n else math.nan for t, n in zip(total, count, strict=True)]
        if self.ask == "cascade":
            row.append(1.0)
        if self.repeats > 1:
            row.append(self_agreement(rows[:, 0].tolist(), self.range[1] - self.range[0]))
        return row

    def _values(self, pair: Pair, verdict: Verdict) -> list[float]:
        value: Mapping[str, Any] = verdict.value or {}
        if self.variant == "rating":
            return [float(value["rating"])]
        if self.variant == "entailment":
            return entailment_row(value)
        judgment = read_judgment(value, pair)
        profile = judged_profile(judgment)
        return [*row_of(profile, self._arithmetic().quality(profile)), *descriptor_counts(judgment)]

    def _headline(self, item: Item, verdict: Verdict) -> float:
        if verdict.value is None:
            return math.nan
        if self.variant == "preference":
            return first_wins(verdict) or 0.0
        return self._values(Pair(Text(item.reference), Text(item.candidates[0])), verdict)[0]

    def _arithmetic(self) -> Arithmetic:
        return Arithmetic(load_weights(self.weights))

    def _judgments(self, usable: Sequence[tuple[Pair, Verdict]]) -> list[Judgment]:
        return [read_judgment(verdict.value or {}, pair) for pair, verdict in usable]

    def _asked_references(self, case: Case, ledger: Ledger) -> tuple[str, ...]:
        """The references of a case that the model was asked about in this run, if it was asked about any."""
        judged = {item.reference for item in self._items(case) if item in ledger.verdicts}
        return tuple(text for text in case.references if text in judged)

    def _recalled(self, case: Case, reading: Readings) -> tuple[str, ...]:
        """The references that the journal knows a judgment of, which is in the ledger then."""
        ledger, items = self._ledger(reading), list(self._items(case))
        try:
            with open_session() as session:
                recalled = recall([self._question(item) for item in items], session=session)
        except (UsageError, InputError):  # no server is named, or another run has the journal
            return ()
        ledger.verdicts.update(
            {item: verdict for item, verdict in zip(items, recalled, strict=True) if verdict is not None}
        )
        return self._asked_references(case, ledger)

    def _notes(self, case: Case, alone: Case, reading: Readings) -> tuple[Note, ...]:
        best = self._best(alone, reading)
        if best is None:
            return ()
        pair, verdict = best[0][0]
        which = case.references.index(pair.reference.text)
        notes = self._answer_notes(pair, verdict, which)
        if self.repeats > 1:
            more = f"Values are means of {len(best[0])} judgments; the reasons are those of the first."
            notes = (*notes, Note("info", more))
        return notes

    def _answer_notes(self, pair: Pair, verdict: Verdict, which: int) -> tuple[Note, ...]:
        if self.variant == "entailment":
            return entailment_notes(verdict.value or {}, pair, which=which)
        if self.variant == "rating":
            return (Note("info", str((verdict.value or {})["explanation"]).strip(), data={"reference": which}),)
        return judgment_notes(read_judgment(verdict.value or {}, pair), self._arithmetic(), which=which)

    # --- several systems

    def _cascade(self, cases: Sequence[Case], reading: Readings) -> Rows:
        """The embedded judge's values, and the model's where it was asked and answered."""
        first = Errors(weights=self.weights, context=self.context).measure(cases, reading=reading)[
            :, : len(COLUMNS)
        ]
        rows = self._embedded(first)
        coverage = first[:, COLUMNS.index("errors_coverage")]
        doubt = doubts(first[:, 0], coverage, [case.id for case in cases])
        chosen = most_doubtful(doubt, self.share)
        self._ask([item for at in chosen for item in self._items(cases[at])], reading)
        requested = {item for at in chosen for item in self._items(cases[at])}
        for at, case in enumerate(cases):  # equal reports get equal values, whichever was chosen
            if requested.issuperset(self._items(case)) and (best := self._best(case, reading)) is not None:
                rows[at] = best[1]
        return rows

    def _embedded(self, first: Rows) -> Rows:
        """The embedded judge's rows as this metric's: a rating is its quality, stretched over the scale."""
        rows: Rows = np.full((len(first), len(self.columns)), np.nan)
        if self.variant == "rating":
            low, high = self.range
            rows[:, 0] = low + (first[:, 0] + 1.0) / 2.0 * (high - low)
        else:
            rows[:, : len(COLUMNS)] = first
        by_llm = len(_OUTPUTS[self.variant][0])
        rows[~np.isnan(first[:, 0]), by_llm] = 0.0
        return rows

    def _preferences(self, cases: Sequence[Case], reading: Readings) -> Rows:
        requested = {
            pair: both_orders(cases[pair[0]], cases[pair[1]], self._context(cases[pair[0]]), self.repeats)
            for pair in system_pairs(cases)
        }
        self._ask([item for both in requested.values() for order in both for item in order], reading)
        return preference_rows(cases, requested, self._ledger(reading), repeated=self.repeats > 1)


def _rank(row: Sequence[float]) -> tuple[float, ...]:
    """Best headline first; the other values settle ties, so that the order of references does not matter."""
    return (row[0], *(-value if not math.isnan(value) else 0.0 for value in row[1:]))
