"""Actions of raters: each is checked against the design and the texts before it is written."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from radgauge.core.errors import shown
from radgauge.study.design import Design, Field
from radgauge.study.state import KINDS, CaseState, Refused, Shown, Span, problems

LONGEST_TEXT = 4_000
"""Characters of a reason, a note or a missing finding."""
MOST_ENTRIES = 200
LONGEST_SITTING = 24 * 3600


def _is_one_of(value: object, names: Collection[str]) -> bool:
    """True if a value of any type is one of some names; a list, which has no hash, is none."""
    return isinstance(value, str) and value in names


@dataclass(frozen=True, slots=True)
class ActionCheck:
    """Checks one action against the design and the texts; returns the payload as it is stored."""

    design: Design
    reference: str
    reference_sentences: tuple[Span, ...]
    candidates: tuple[Shown, ...]

    def payload(self, kind: str, data: Mapping[str, Any], *, state: CaseState) -> dict[str, Any]:
        """The payload of an action, complete and in its one form; Refused if it cannot be taken."""
        if not _is_one_of(kind, KINDS):
            raise Refused(f"there is no action {shown(kind)}; there are {', '.join(KINDS)}")
        if not isinstance(data, Mapping):
            raise Refused("the content of an action must be an object")
        if kind == "time":
            return {"seconds": self._seconds(data)}
        if kind in ("submit", "reopen", "undo", "ready"):
            if kind == "submit" and state.submitted:
                raise Refused("the case is submitted already")
            if kind == "reopen" and not state.submitted:
                raise Refused("the case is not submitted")
            if kind == "submit" and (left := problems(self.design, self.candidates, state=state)):
                raise Refused("; ".join(problem.message for problem in left[:5]))
            return {}
        if state.submitted:
            raise Refused("the case is submitted; reopen it to change an answer")
        label = data.get("candidate") or ""
        if label and not _is_one_of(label, {candidate.label for candidate in self.candidates}):
            raise Refused(f"the case has no candidate {shown(label)}")
        if kind == "cannot_judge":
            reason = self._text(data, "reason")
            if not reason.strip():
                raise Refused("say why this cannot be judged")
            return {"candidate": label, "reason": reason}
        if kind == "can_judge":
            return {"candidate": label}
        if kind == "copy":
            return {"candidate": label, "source": self._twin(data, label)}
        return self._change(kind, data, label, state)

    def _change(self, kind: str, data: Mapping[str, Any], label: str, state: CaseState) -> dict[str, Any]:
        if not _is_one_of(data.get("field"), self.design.keys):
            raise Refused(f"there is no field {shown(data.get('field'))}")
        question = self.design.field(str(data["field"]))
        if (question.per == "case") is bool(label):
            raise Refused(f"{question.key} is asked per {question.per}")
        listed = question.kind in ("marks", "missing")
        if (kind != "set") is not listed:
            raise Refused(f"{question.key} is a field of {question.kind}: {kind!r} does not fit")
        if not listed:
            return self._set(question, data, label)
        entries = state.answers.get(label, {}).get(question.key, [])
        if kind != "add" and not _is_one_of(data.get("id"), {entry["id"] for entry in entries}):
            raise Refused("this entry is not there any more")
        made: dict[str, Any] = {"candidate": label, "field": question.key}
        if kind != "add":
            made["id"] = data["id"]
        if kind == "add" and len(entries) >= MOST_ENTRIES:
            raise Refused(f"more than {MOST_ENTRIES} entries on one candidate")
        if kind != "remove":
            made["entry"] = self._entry(question, data.get("entry"), label)
        return made

    def _set(self, field: Field, data: Mapping[str, Any], label: str) -> dict[str, Any]:
        made: dict[str, Any] = {"candidate": label, "field": field.key}
        if field.per == "sentence":
            sentences = len(self._candidate(label).sentences)
            made["unit"] = self._whole(data.get("unit"), "the sentence", 0, sentences - 1)
        elif data.get("unit") is not None:
            raise Refused(f"{field.key} is not asked per sentence")
        if field.kind == "counts":
            if not _is_one_of(data.get("part"), field.parts()):
                raise Refused(f"{field.key} does not count {shown(data.get('part'))}")
            made["part"] = data["part"]
        value = data.get("value")
        if value is None:
            return {**made, "value": None}
        return {**made, "value": self._value(field, value)}

    def _value(self, field: Field, value: Any) -> Any:
        if field.kind in ("counts", "number"):
            return self._whole(value, field.title, math.ceil(field.minimum), math.floor(field.maximum))
        if field.kind == "rating":
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise Refused(f"{field.title}: must be a number, got {shown(value)}")
            inside = field.minimum <= value <= field.maximum
            steps = (value - field.minimum) / field.step if inside else 0.0
            if not inside or abs(steps - round(steps)) > 1e-9:
                raise Refused(
                    f"{field.title}: must be {field.minimum:g} to {field.maximum:g} in steps of {field.step:g}, "
                    f"got {shown(value)}"
                )
            return value
        if not isinstance(value, Mapping):
            raise Refused(f"{field.title}: must be an object with a choice")
        options = [option.key for option in field.options]
        if field.candidates:
            options = [*(candidate.label for candidate in self.candidates), *options]
        if not _is_one_of(value.get("choice"), options):
            listed = ", ".join(options)
            raise Refused(f"{field.title}: must be one of {listed}, got {shown(value.get('choice'))}")
        made = {"choice": value["choice"]}
        if field.reason != "none" and (reason := self._text(value, "reason")).strip():
            made["reason"] = reason
        return made

    def _entry(self, field: Field, entry: Any, label: str) -> dict[str, Any]:
        if not isinstance(entry, Mapping):
            raise Refused("an entry must be an object")
        made: dict[str, Any] = {}
        categories = {option.key: option for option in field.categories}
        if categories:
            if not _is_one_of(entry.get("category"), categories):
                raise Refused(f"choose a category: {', '.join(categories)}")
            made["category"] = entry["category"]
        category = categories.get(made.get("category", ""))
        levels = [level.key for level in field.levels(made.get("category", ""))]
        if levels:
            if not _is_one_of(entry.get("significance"), levels):
                raise Refused(f"choose a significance: {', '.join(levels)}")
            made["significance"] = entry["significance"]
        if category is not None and category.attributes:
            attributes = [attribute.key for attribute in category.attributes]
            if not _is_one_of(entry.get("attribute"), attributes):
                raise Refused(f"choose what is wrong: {', '.join(attributes)}")
            made["attribute"] = entry["attribute"]
        if field.kind == "marks":
            candidate = self._candidate(label)
            made |= self._place(entry, candidate.text, candidate.sentences, sentence=field.on == "sentence")
        else:
            text = self._text(entry, "text").strip()
            if entry.get("unit") is not None or entry.get("start") is not None:
                chosen = entry.get("unit") is not None
                made |= self._place(entry, self.reference, self.reference_sentences, sentence=chosen)
            elif not text:
                raise Refused("name the missing finding, or choose it in the reference")
            if text:
                made["text"] = text
        if (note := self._text(entry, "note")).strip():
            made["note"] = note
        return made

    def _place(
        self, entry: Mapping[str, Any], text: str, spans: Sequence[Span], *, sentence: bool
    ) -> dict[str, int]:
        if sentence:
            unit = self._whole(entry.get("unit"), "the sentence", 0, len(spans) - 1)
            return {"unit": unit, "start": spans[unit][0], "end": spans[unit][1]}
        start = self._whole(entry.get("start"), "the start of a passage", 0, len(text) - 1)
        end = self._whole(entry.get("end"), "the end of a passage", start + 1, len(text))
        if not text[start:end].strip():
            raise Refused("the passage is empty")
        return {"start": start, "end": end}

    def _twin(self, data: Mapping[str, Any], label: str) -> str:
        """Label of the candidate with the same text whose answers are copied."""
        source = data.get("source")
        texts = {candidate.label: candidate.text.strip() for candidate in self.candidates}
        if not _is_one_of(source, texts) or source == label or texts[str(source)] != texts.get(label):
            raise Refused("answers are copied between identical candidates only")
        return str(source)

    def _candidate(self, label: str) -> Shown:
        return next(candidate for candidate in self.candidates if candidate.label == label)

    @staticmethod
    def _whole(value: Any, what: str, low: int, high: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise Refused(f"{what}: must be a whole number from {low} to {high}, got {shown(value)}")
        return value

    @staticmethod
    def _seconds(data: Mapping[str, Any]) -> float:
        value = data.get("seconds")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LONGEST_SITTING:
            raise Refused(f"seconds must be a number from 0 to {LONGEST_SITTING}, got {shown(value)}")
        return round(float(value), 3)

    @staticmethod
    def _text(data: Mapping[str, Any], name: str) -> str:
        value = data.get(name)
        if value is None:
            return ""
        if not isinstance(value, str) or len(value) > LONGEST_TEXT:
            raise Refused(f"{name} must be a text of at most {LONGEST_TEXT} characters")
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise Refused(f"{name} holds half a character") from None
        if "\0" in value:
            raise Refused(f"{name} holds a NUL character")
        return value
