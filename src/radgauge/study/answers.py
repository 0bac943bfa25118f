"""Answers of raters, by study and system: from the blinded answers and the key of the study to numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.cases import Key
from radgauge.core.error_categories import BY_KEY
from radgauge.core.errors import InputError
from radgauge.io.judgments.radpref import ATTRIBUTES, SIGNIFICANT
from radgauge.study.design import Category, Design, Field
from radgauge.study.people import Person
from radgauge.study.state import CaseState, counts_of, labels
from radgauge.study.store import Store

ErrorCount = tuple[int, bool, int]
"""(number of the category, clinically significant, how many)"""


@dataclass(frozen=True, slots=True)
class Judged:
    """One person's submitted answers on one case."""

    person: Person
    case: str  # Key of the case
    study: str
    systems: Mapping[str, str]  # Label -> system
    sentences: Mapping[str, int]  # Label -> number of sentences
    state: CaseState
    assisted: bool  # True if suggestions were offered

    def able(self) -> dict[str, str]:
        """Label -> system of the candidates that the person could judge."""
        cannot = self.state.cannot_judge
        return {} if "" in cannot else {a: b for a, b in self.systems.items() if a not in cannot}


@dataclass(frozen=True, slots=True, eq=False)
class AnswerTable:
    """One question: an answer per candidate (or case) and rater."""

    question: str  # Key of the field, or "errors: total" and "errors: significant"
    nominal: bool  # True if the numbers stand for names
    raters: tuple[str, ...]  # Names of the columns
    keys: tuple[Key, ...]  # (study, system) of each row; system is "" for what is asked per case
    cases: tuple[str, ...]  # Key of the case of each row
    values: NDArray[np.float64]  # (rows, raters); NaN where there is no answer
    names: tuple[str, ...] = ()  # Of the numbers, if they stand for names


def submitted(store: Store, *, roles: Sequence[str] = ("rater",)) -> Iterator[Judged]:
    """Submitted real cases of everyone with one of the roles."""
    everyone = {person.id: person for person in store.people() if person.role in roles}
    with store._reading() as connection:
        rows = connection.execute(
            'SELECT a.person, a."case", c.id, a.systems, a.assisted, s.state FROM assignments a '
            'JOIN cases c ON c.key = a."case" AND c.training IS NULL '
            'JOIN states s ON s.person = a.person AND s."case" = a."case" ORDER BY a.rowid'
        ).fetchall()
        spans = {
            (case, system): len(json.loads(sentences))
            for case, system, sentences in connection.execute('SELECT "case", system, sentences FROM candidates')
        }
    for person, case, study, systems, assisted, state in rows:
        if person not in everyone:
            continue
        case_state = CaseState(**json.loads(state))
        if not case_state.submitted:
            continue
        listed = json.loads(systems)
        named = dict(zip(labels(len(listed)), listed, strict=True))
        sentences = {label: spans[case, system] for label, system in named.items()}
        yield Judged(everyone[person], case, study, named, sentences, case_state, bool(assisted))


def error_counts(design: Design, state: CaseState, label: str) -> list[ErrorCount]:
    """The errors of a candidate in the eight kinds that `agree` knows; empty if the design counts none."""
    field = design.used_as("errors")
    if field is None:
        return []
    answered = state.answers.get(label, {})
    if field.kind == "counts":
        tables = [counts_of(design, state, label=label, field=field)]
        if field.per == "sentence":
            tables = list(answered.get(field.key, {}).values())
        return [_count(field, part, number) for table in tables for part, number in table.items() if number]
    entries = answered.get(field.key, ())
    counted = [
        _entry(field, entry) for entry in (_one_per_finding(entries) if field.on == "sentence" else entries)
    ]
    for other in design.fields:
        if other.kind == "missing" and not other.counts_into:
            counted += [_entry(other, entry) for entry in answered.get(other.key, ())]
    return counted


def _one_per_finding(entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Marked findings, each once as in RadPref: false if any mark says so, else its first wrong attribute."""
    by_unit: dict[int, list[Mapping[str, Any]]] = {}
    for entry in entries:
        by_unit.setdefault(entry["unit"], []).append(entry)
    distinct = []
    for marks in by_unit.values():
        plain = [mark for mark in marks if "attribute" not in mark]
        first = (plain or marks)[0]
        if not plain and (grave := [mark for mark in marks if mark.get("significance") in SIGNIFICANT]):
            first = {**first, "significance": grave[0]["significance"]}
        distinct.append(first)
    return distinct


def rating_of(design: Design, judgment: Judged, label: str) -> float | None:
    """The rating of a candidate for `agree`, larger is better; None if there is none.

    A rating or number is taken as it is. Of a choice the first option is worth 1 and the last 0, in even steps;
    asked per sentence, the mean over sentences. Of a choice among candidates the chosen one gets 1, the others
    0, and 0.5 if none was chosen.
    """
    field = design.used_as("rating")
    if field is None:
        return None
    if field.candidates:
        answer = judgment.state.answers.get("", {}).get(field.key)
        if answer is None:
            return None
        return float(answer["choice"] == label) if answer["choice"] in judgment.systems else 0.5
    answer = judgment.state.answers.get(label, {}).get(field.key)
    if answer is None:
        return None
    if field.per == "sentence":
        values = [_worth(field, value) for value in answer.values()]
        return sum(values) / len(values) if values else None
    return _worth(field, answer)


def answer_tables(store: Store, *, roles: Sequence[str] = ("rater",)) -> list[AnswerTable]:
    """A table per question: errors first, then the fields with numbers or names."""
    judged = list(submitted(store, roles=roles))
    design = store.design
    raters = tuple(dict.fromkeys(judgment.person.name for judgment in judged))
    tables = []
    if design.used_as("errors") is not None:
        levels = any(field.levels(part.partition("/")[0]) for field in design.fields for part in field.parts())
        for name in ("total", "significant") if levels else ("total",):
            cells = {
                (judgment.case, judgment.study, system, judgment.person.name): float(
                    sum(n for _, sig, n in error_counts(design, judgment.state, label) if sig or name == "total")
                )
                for judgment in judged
                for label, system in judgment.able().items()
            }
            tables.append(_table(f"errors: {name}", cells, raters))
    for field in design.fields:
        if field.kind in ("rating", "number"):
            tables.append(_table(field.key, dict(_numbers(field, judged)), raters))
        elif field.kind == "choice":
            tables.append(_named_table(field, judged, raters))
    return [table for table in tables if len(table.keys)]


Cell = tuple[str, str, str, str]
"""(case, study, system, rater)"""


def _numbers(field: Field, judged: Sequence[Judged]) -> Iterator[tuple[Cell, float]]:
    for judgment in judged:
        labels = {"": ""} if field.per == "case" else judgment.able()
        for label, system in labels.items():
            answer = judgment.state.answers.get(label, {}).get(field.key)
            if answer is None or not judgment.able():
                continue
            value = float(np.mean(list(answer.values()))) if field.per == "sentence" else float(answer)
            yield (judgment.case, judgment.study, system, judgment.person.name), value


def _named_table(field: Field, judged: Sequence[Judged], raters: tuple[str, ...]) -> AnswerTable:
    """A choice as names; per sentence as the share of the first option, which is a number."""
    chosen: dict[Cell, str] = {}
    shares: dict[Cell, float] = {}
    for judgment in judged:
        if not judgment.able():
            continue
        for label, system in ({"": ""} if field.per == "case" else judgment.able()).items():
            answer = judgment.state.answers.get(label, {}).get(field.key)
            cell = (judgment.case, judgment.study, system, judgment.person.name)
            if answer is None:
                continue
            if field.per == "sentence":
                values = [_worth(field, one) for one in answer.values()]
                shares[cell] = sum(values) / len(values)
            else:
                chosen[cell] = judgment.systems.get(answer["choice"], answer["choice"])
    if field.per == "sentence":
        return _table(field.key, shares, raters)
    names = tuple(sorted(set(chosen.values())))
    return _table(field.key, {cell: float(names.index(name)) for cell, name in chosen.items()}, raters, names)


def _table(
    question: str, cells: Mapping[Cell, float], raters: tuple[str, ...], names: tuple[str, ...] | None = None
) -> AnswerTable:
    rows = list(dict.fromkeys((case, study, system) for case, study, system, _ in sorted(cells)))
    values = np.full((len(rows), len(raters)), np.nan)
    index = {row: number for number, row in enumerate(rows)}
    column = {rater: number for number, rater in enumerate(raters)}
    for (case, study, system, rater), value in cells.items():
        values[index[case, study, system], column[rater]] = value
    keys = tuple((study, system) for _, study, system in rows)
    return AnswerTable(
        question, names is not None, raters, keys, tuple(row[0] for row in rows), values, names or ()
    )


def _worth(field: Field, answer: Any) -> float:
    if field.kind != "choice":
        return float(answer)
    keys = [option.key for option in field.options]
    return 1 - keys.index(answer["choice"]) / (len(keys) - 1)


def _count(field: Field, part: str, number: int) -> ErrorCount:
    key, _, level = part.partition("/")
    return _number(_category(field, key), key, field), not level or level in SIGNIFICANT, number


def _entry(field: Field, entry: Mapping[str, Any]) -> ErrorCount:
    category = _category(field, entry.get("category", ""))
    significant = entry.get("significance", "significant") in SIGNIFICANT
    if "attribute" in entry and not (category is not None and category.counts_as):
        return ATTRIBUTES.get(entry["attribute"], BY_KEY["severity"].number), significant, 1
    if category is None and field.kind == "missing":
        return BY_KEY["omission"].number, significant, 1
    return _number(category, entry.get("category", ""), field), significant, 1


def _category(field: Field, key: str) -> Category | None:
    return next((category for category in field.categories if category.key == key), None)


def _number(category: Category | None, key: str, field: Field) -> int:
    name = category.counts_as if category is not None and category.counts_as else key
    if name not in BY_KEY:
        raise InputError(
            f"field {field.key!r}: the category {key!r} is none of the eight that `agree` knows "
            f"({', '.join(BY_KEY)}); say which one it is with counts_as"
        )
    return BY_KEY[name].number


def asked_categories(design: Design) -> tuple[int, ...]:
    """Numbers of the categories that raters of this design can count."""
    field = design.used_as("errors")
    if field is None:
        return ()
    fields = [field, *(other for other in design.fields if other.kind == "missing" and field.kind == "marks")]
    numbers: set[int] = set()
    for other in fields:
        for category in other.categories:
            if category.attributes and not category.counts_as:
                numbers |= {
                    ATTRIBUTES.get(option.key, BY_KEY["severity"].number) for option in category.attributes
                }
            else:
                numbers.add(_number(category, category.key, other))
        if not other.categories:
            numbers.add(BY_KEY["omission"].number)
    return tuple(sorted(numbers))
