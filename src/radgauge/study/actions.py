"""What a rater may do: every action checked against the design and the texts before it is written."""

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

    def payload(self, kind: str, said: Mapping[str, Any], *, state: CaseState) -> dict[str, Any]:
        """The payload of an action, complete and in its one form; Refused if it cannot be taken."""
        if not _is_one_of(kind, KINDS):
            raise Refused(f"there is no action {shown(kind)}; there are {', '.join(KINDS)}")
        if not isinstance(said, Mapping):
            raise Refused("the content of an action must be an object")
        if kind == "time":
            return {"seconds": self._seconds(said)}
        if kind in ("submit", "reopen", "undo", "ready"):
            if kind == "submit" and state.submitted:
                raise Refused("the case is submitted already")
            if kind == "reopen" and not state.submitted:
                raise Refused("the case is not submitted")
            if kind == "submit" and (left := problems(self.design, self.candidates, state=state)):
                raise Refused("; ".join(each.message for each in left[:5]))
            return {}
        if state.submitted:
            raise Refused("the case is submitted; reopen it to change an answer")
        label = said.get("candidate") or ""
        if label and not _is_one_of(label, {each.label for each in self.candidates}):
            raise Refused(f"the case has no candidate {shown(label)}")
        if kind == "cannot_judge":
            reason = self._text(said, "reason")
            if not reason.strip():
                raise Refused("say why this cannot be judged")
            return {"candidate": label, "reason": reason}
        if kind == "can_judge":
            return {"candidate": label}
        if kind == "copy":
            return {"candidate": label, "source": self._twin(said, label)}
        return self._change(kind, said, label, state)

    def _change(self, kind: str, said: Mapping[str, Any], label: str, state: CaseState) -> dict[str, Any]:
        if not _is_one_of(said.get("field"), self.design.keys):
            raise Refused(f"there is no field {shown(said.get('field'))}")
        asked = self.design.field(str(said["field"]))
        if (asked.per == "case") is bool(label):
            raise Refused(f"{asked.key} is asked per {asked.per}")
        listed = asked.kind in ("marks", "missing")
        if (kind != "set") is not listed:
            raise Refused(f"{asked.key} is a field of {asked.kind}: {kind!r} does not fit")
        if not listed:
            return self._set(asked, said, label)
        entries = state.answers.get(label, {}).get(asked.key, [])
        if kind != "add" and not _is_one_of(said.get("id"), {each["id"] for each in entries}):
            raise Refused("this entry is not there any more")
        made: dict[str, Any] = {"candidate": label, "field": asked.key}
        if kind != "add":
            made["id"] = said["id"]
        if kind == "add" and len(entries) >= MOST_ENTRIES:
            raise Refused(f"more than {MOST_ENTRIES} entries on one candidate")
        if kind != "remove":
            made["entry"] = self._entry(asked, said.get("entry"), label)
        return made

    def _set(self, asked: Field, said: Mapping[str, Any], label: str) -> dict[str, Any]:
        made: dict[str, Any] = {"candidate": label, "field": asked.key}
        if asked.per == "sentence":
            sentences = len(self._candidate(label).sentences)
            made["unit"] = self._whole(said.get("unit"), "the sentence", 0, sentences - 1)
        elif said.get("unit") is not None:
            raise Refused(f"{asked.key} is not asked per sentence")
        if asked.kind == "counts":
            if not _is_one_of(said.get("part"), asked.parts()):
                raise Refused(f"{asked.key} does not count {shown(said.get('part'))}")
            made["part"] = said["part"]
        value = said.get("value")
        if value is None:
            return {**made, "value": None}
        return {**made, "value": self._value(asked, value)}

    def _value(self, asked: Field, value: Any) -> Any:
        if asked.kind in ("counts", "number"):
            return self._whole(value, asked.title, math.ceil(asked.minimum), math.floor(asked.maximum))
        if asked.kind == "rating":
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise Refused(f"{asked.title}: must be a number, got {shown(value)}")
            inside = asked.minimum <= value <= asked.maximum
            steps = (value - asked.minimum) / asked.step if inside else 0.0
            if not inside or abs(steps - round(steps)) > 1e-9:
                raise Refused(
                    f"{asked.title}: must be {asked.minimum:g} to {asked.maximum:g} in steps of {asked.step:g}, "
                    f"got {shown(value)}"
                )
            return value
        if not isinstance(value, Mapping):
            raise Refused(f"{asked.title}: must be an object with a choice")
        options = [each.key for each in asked.options]
        if asked.candidates:
            options = [*(each.label for each in self.candidates), *options]
        if not _is_one_of(value.get("choice"), options):
            listed = ", ".join(options)
            raise Refused(f"{asked.title}: must be one of {listed}, got {shown(value.get('choice'))}")
        made = {"choice": value["choice"]}
        if asked.reason != "none" and (reason := self._text(value, "reason")).strip():
            made["reason"] = reason
        return made

    def _entry(self, asked: Field, entry: Any, label: str) -> dict[str, Any]:
        if not isinstance(entry, Mapping):
            raise Refused("an entry must be an object")
        made: dict[str, Any] = {}
        categories = {each.key: each for each in asked.categories}
        if categories:
            if not _is_one_of(entry.get("category"), categories):
                raise Refused(f"choose a category: {', '.join(categories)}")
            made["category"] = entry["category"]
        category = categories.get(made.get("category", ""))
        levels = [each.key for each in asked.levels(made.get("category", ""))]
        if levels:
            if not _is_one_of(entry.get("significance"), levels):
                raise Refused(f"choose a significance: {', '.join(levels)}")
            made["significance"] = entry["significance"]
        if category is not None and category.attributes:
            attributes = [each.key for each in category.attributes]
            if not _is_one_of(entry.get("attribute"), attributes):
                raise Refused(f"choose what is wrong: {', '.join(attributes)}")
            made["attribute"] = entry["attribute"]
        if asked.kind == "marks":
            candidate = self._candidate(label)
            made |= self._place(entry, candidate.text, candidate.sentences, sentence=asked.on == "sentence")
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

    def _twin(self, said: Mapping[str, Any], label: str) -> str:
        """Label of the candidate with the same text whose answers are copied."""
        source = said.get("source")
        texts = {each.label: each.text.strip() for each in self.candidates}
        if not _is_one_of(source, texts) or source == label or texts[str(source)] != texts.get(label):
            raise Refused("answers are copied between identical candidates only")
        return str(source)

    def _candidate(self, label: str) -> Shown:
        return next(each for each in self.candidates if each.label == label)

    @staticmethod
    def _whole(value: Any, what: str, low: int, high: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise Refused(f"{what}: must be a whole number from {low} to {high}, got {shown(value)}")
        return value

    @staticmethod
    def _seconds(said: Mapping[str, Any]) -> float:
        value = said.get("seconds")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LONGEST_SITTING:
            raise Refused(f"seconds must be a number from 0 to {LONGEST_SITTING}, got {shown(value)}")
        return round(float(value), 3)

    @staticmethod
    def _text(said: Mapping[str, Any], name: str) -> str:
        value = said.get(name)
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
