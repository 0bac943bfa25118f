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
    said = {label: [f"cannot judge: {reason}"] for label, reason in state.cannot_judge.items()}
    for candidate in candidates:
        lines = said.setdefault(candidate.label, [])
        given = state.answers.get(candidate.label, {})
        for asked in design.fields:
            if asked.kind in ("marks", "missing"):
                text = candidate.text if asked.kind == "marks" else reference
                lines += [_entry(asked, entry, text) for entry in given.get(asked.key, ())]
            elif asked.kind == "counts" and asked.per == "candidate":
                counts = answer_in_words(asked, counts_of(design, state, label=candidate.label, field=asked))
                lines += [f"{asked.title}: {counts}"] if counts != "none" else []
            elif asked.per != "case" and asked.key in given:
                lines.append(f"{asked.title}: {answer_in_words(asked, given[asked.key])}")
    for asked in design.fields:
        if asked.per == "case" and asked.key in state.answers.get("", {}):
            whole = said.setdefault("", [])
            whole.append(f"{asked.title}: {answer_in_words(asked, state.answers[''][asked.key])}")
    return said


def feedback_in_words(design: Design, feedback: Mapping[str, Any]) -> list[str]:
    """What was expected where something else was answered."""
    several = len({line["candidate"] for line in feedback["answers"] if line["candidate"]}) > 1
    say = partial(translated, design.language)
    lines = []
    for line in feedback["answers"]:
        if line["right"]:
            continue
        asked = design.field(line["field"])
        before = say("Candidate {0}", line["candidate"]) + ", " if several and line["candidate"] else ""
        expected, given = (say(answer_in_words(asked, line[which])) for which in ("expected", "given"))
        lines.append(f"{before}{asked.title}: " + say("expected {0}; you answered {1}", expected, given))
    return lines


def answer_in_words(asked: Field, answer: Any) -> str:
    """One answer of a field, with the titles of the design instead of its keys."""
    if answer is None:
        return "nothing"
    if asked.kind in ("marks", "missing"):
        parts = [_part(asked, str(each)) for each in answer]
        return "; ".join(parts) or "none"
    if asked.per == "sentence" and isinstance(answer, Mapping) and all(str(unit).isdecimal() for unit in answer):
        each = sorted(answer.items(), key=lambda pair: int(pair[0]))
        return "; ".join(f"sentence {int(unit) + 1}: {_one(asked, said)}" for unit, said in each) or "nothing"
    return _one(asked, answer)


def _one(asked: Field, answer: Any) -> str:
    if asked.kind == "counts":
        parts = [f"{_part(asked, part)}: {number}" for part, number in answer.items() if number]
        return "; ".join(parts) or "none"
    if asked.kind == "choice":
        chosen = answer["choice"] if isinstance(answer, Mapping) else answer
        title = next((each.title for each in asked.options if each.key == chosen), f"candidate {chosen}")
        reason = answer.get("reason") if isinstance(answer, Mapping) else None
        return f"{title} ({reason})" if reason else title
    return f"{answer:g}"


def _part(asked: Field, part: str) -> str:
    category, _, level = part.partition("/")
    named = next((each.title for each in asked.categories if each.key == category), category)
    graded = _title(asked.levels(category), level)
    return ", ".join(filter(None, (named, graded)))


def _title(options: Sequence[Option], key: str) -> str:
    return next((each.title for each in options if each.key == key), key)


def _entry(asked: Field, entry: Mapping[str, Any], text: str) -> str:
    category = next((each for each in asked.categories if each.key == entry.get("category")), None)
    attribute = _title(category.attributes, entry.get("attribute", "")) if category is not None else ""
    level = _title(asked.levels(entry.get("category", "")), entry.get("significance", ""))
    said = ", ".join(filter(None, (category.title if category is not None else asked.title, attribute, level)))
    quoted = entry.get("text") or (text[entry["start"] : entry["end"]] if "start" in entry else "")
    return f"{said}: “{quoted}”" if quoted else said
