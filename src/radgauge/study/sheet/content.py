"""Content of a rater's sheet, and the seal by which a filled one is recognised.

The seal is a keyed hash over study, rater and design. It keeps a sheet from being handed in for another rater
or for another study; the key never leaves the study's file.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

from radgauge.core.errors import InputError
from radgauge.study.people import Person
from radgauge.study.store import Store
from radgauge.study.views import CaseView

FORMAT = "radgauge study answers 1"


def sealed(store: Store, person_id: str) -> dict[str, str]:
    """Whose sheet of which study this is."""
    content = {
        "format": FORMAT,
        "study": str(store.about["id"]),
        "person": person_id,
        "design": store.design.version,
    }
    line = "\n".join(content.values()).encode("utf-8")
    return {**content, "seal": hmac.new(store.secret, line, hashlib.sha256).hexdigest()}


def person_of_sheet(store: Store, head: Mapping[str, Any], *, name: str) -> Person:
    """Whose sheet this is, if it is of this study and was not altered."""
    if head.get("format") != FORMAT:
        raise InputError(f"{name} is no filled sheet of `radgauge study sheet`")
    if head.get("study") != store.about["id"]:
        raise InputError(f"{name} belongs to another study")
    if head.get("design") != store.design.version:
        raise InputError(f"{name} was made for another version of the design")
    by_id = {other.id: other for other in store.people()}
    person = by_id.get(str(head.get("person")))
    if person is None or not hmac.compare_digest(sealed(store, person.id)["seal"], str(head.get("seal"))):
        raise InputError(f"{name}: whose sheet it is was changed; it is not taken")
    return person


def cases_of_sheet(store: Store, person_id: str) -> list[tuple[int, CaseView]]:
    """The real cases of a rater with their numbers."""
    return [
        (assigned.number, store.case(person_id, assigned.key))
        for assigned in store.places(person_id)
        if not assigned.training
    ]


def examples(store: Store) -> list[dict[str, Any]]:
    """The training cases as worked examples: texts, expected answers, explanation."""
    return [
        {
            "reference": example.reference,
            "candidates": [
                {"text": text, "answers": [_line(store, key, value) for key, value in answers.items()]}
                for text, answers in zip(example.candidates, example.answers, strict=True)
            ],
            "feedback": " ".join(example.feedback.split()),
        }
        for example in store.design.training
    ]


def _line(store: Store, key: str, value: Any) -> str:
    field = store.design.field(key)
    titles = {category.key: category.title for category in field.categories}
    if isinstance(value, Mapping):
        listed = ", ".join(
            f"{_named(part, titles)}: {number if not isinstance(number, Mapping) else dict(number)}"
            for part, number in value.items()
        )
    elif isinstance(value, list | tuple):
        listed = ", ".join(_named(str(item), titles) for item in value)
    else:
        listed = str(value)
    return f"{field.title}: {listed}"


def _named(part: str, titles: Mapping[str, str]) -> str:
    key, _, level = part.partition("/")
    words = [titles.get(key, key), level.replace("_", " ")]
    return ", ".join(word for word in words if word)
