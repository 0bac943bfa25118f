"""Answers in words: for feedback on training cases, for adjudicators and for the organiser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from radgauge.study.design import Design, Field, Option
from radgauge.study.state import CaseState, Shown, counts_of
from radgauge.study.web.pages import translated


def answers_in_words(
    design: Design, state: CaseState, *, candidates: Sequence[Shown], reference: str = ""
) -> dict[str, list[str]]:
    """Label -> one line per answer, in the order of the design; "" holds what was said of the case as a whole."""
    in_words = {label: [f"cannot judge: {reason}"] for label, reason in state.cannot_judge.items()}
    for candidate in candidates:
        lines = in_words.setdefault(candidate.label, [])
        answered = state.answers.get(candidate.label, {})
        for question in design.fields:
            if question.kind in ("marks", "missing"):
                text = candidate.text if question.kind == "marks" else reference
                lines += [_entry(question, entry, text) for entry in answered.get(question.key, ())]
            elif question.kind == "counts" and question.per == "candidate":
                counts = answer_in_words(question, counts_of(design, state, label=candidate.label, field=question))
                lines += [f"{question.title}: {counts}"] if counts != "none" else []
            elif question.per != "case" and question.key in answered:
                lines.append(f"{question.title}: {answer_in_words(question, answered[question.key])}")
    for question in design.fields:
        if question.per == "case" and question.key in state.answers.get("", {}):
            of_case = in_words.setdefault("", [])
            of_case.append(f"{question.title}: {answer_in_words(question, state.answers[''][question.key])}")
    return in_words


def feedback_in_words(design: Design, feedback: Mapping[str, Any]) -> list[str]:
    """List the expected answers where others were chosen."""
    several = len({line["candidate"] for line in feedback["answers"] if line["candidate"]}) > 1
    say = partial(translated, design.language)
    lines = []
    for line in feedback["answers"]:
        if line["right"]:
            continue
        question = design.field(line["field"])
        before = say("Candidate {0}", line["candidate"]) + ", " if several and line["candidate"] else ""
        expected, answered = (say(answer_in_words(question, line[which])) for which in ("expected", "given"))
        lines.append(f"{before}{question.title}: " + say("expected {0}; you answered {1}", expected, answered))
    return lines


def answer_in_words(field: Field, answer: Any) -> str:
    """One answer of a field, with the titles of the design instead of its keys."""
    if answer is None:
        return "nothing"
    if field.kind in ("marks", "missing"):
        parts = [_part(field, str(item)) for item in answer]
        return "; ".join(parts) or "none"
    if field.per == "sentence" and isinstance(answer, Mapping) and all(str(unit).isdecimal() for unit in answer):
        item = sorted(answer.items(), key=lambda pair: int(pair[0]))
        return "; ".join(f"sentence {int(unit) + 1}: {_one(field, value)}" for unit, value in item) or "nothing"
    return _one(field, answer)


def _one(field: Field, answer: Any) -> str:
    if field.kind == "counts":
        parts = [f"{_part(field, part)}: {number}" for part, number in answer.items() if number]
        return "; ".join(parts) or "none"
    if field.kind == "choice":
        chosen = answer["choice"] if isinstance(answer, Mapping) else answer
        title = next((option.title for option in field.options if option.key == chosen), f"candidate {chosen}")
        reason = answer.get("reason") if isinstance(answer, Mapping) else None
        return f"{title} ({reason})" if reason else title
    return f"{answer:g}"


def _part(field: Field, part: str) -> str:
    category, _, level = part.partition("/")
    named = next((item.title for item in field.categories if item.key == category), category)
    graded = _title(field.levels(category), level)
    return ", ".join(filter(None, (named, graded)))


def _title(options: Sequence[Option], key: str) -> str:
    return next((option.title for option in options if option.key == key), key)


def _entry(field: Field, entry: Mapping[str, Any], text: str) -> str:
    category = next((item for item in field.categories if item.key == entry.get("category")), None)
    attribute = _title(category.attributes, entry.get("attribute", "")) if category is not None else ""
    level = _title(field.levels(entry.get("category", "")), entry.get("significance", ""))
    details = ", ".join(filter(None, (category.title if category is not None else field.title, attribute, level)))
    quoted = entry.get("text") or (text[entry["start"] : entry["end"]] if "start" in entry else "")
    return f"{details}: “{quoted}”" if quoted else details
