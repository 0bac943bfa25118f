"""Designs of reader studies: what raters are asked, as data. Shipped ones lie in `designs/`, others are files.

A design has a name, instructions, what is shown, training cases, and fields. A field asks one thing about the
whole case, about each candidate, or about each sentence of each candidate:

    counts     a whole number per category, and per level of significance if there are levels
    number     one whole number
    rating     a number on a scale with anchors
    choice     one of several options, or one of the candidates; with a reason if that is asked for
    marks      passages or sentences of a candidate, each with a category and what the category asks for
    missing    findings that a candidate lacks, chosen from the reference or written down

Marks and missing findings may `count_into` a field of counts: a count is then at least the number of its marks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from radgauge.core.errors import InputError

Kind = Literal["counts", "number", "rating", "choice", "marks", "missing"]
Per = Literal["case", "candidate", "sentence"]
Reason = Literal["none", "optional", "required"]

LANGUAGES = ("en", "de", "fr", "es")
MAX_COUNT = 99  # of one error in one report, unless the design says otherwise


@dataclass(frozen=True, slots=True)
class Option:
    """One answer of a choice: its key in files, its title for people."""

    key: str
    title: str


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of error."""

    key: str  # Its name in files; for `agree` a key of `error_categories`, such as omission
    title: str  # Its name for people
    significance: tuple[Option, ...] = ()  # Levels to choose from, most severe first; empty = what the field says
    attributes: tuple[Option, ...] = ()  # What exactly is wrong: one of these must be named; empty = not asked
    counts_as: str = ""  # Which of the eight kinds of error it is for `agree`; "" = its key says so


@dataclass(frozen=True, slots=True)
class Field:
    """One thing that raters are asked."""

    key: str  # Its name in events and files
    kind: Kind  # counts, number, rating, choice, marks or missing
    title: str
    per: Per = "candidate"  # case, candidate or sentence
    help: str = ""  # A longer explanation
    required: bool = True  # True if a case can be submitted without it; lists may stay empty
    # True if identical candidates of a case must get equal answers; they are then judged once
    identical: bool = False
    categories: tuple[Category, ...] = ()  # Of counts, marks and missing findings
    significance: tuple[Option, ...] = ()  # Levels, most severe first; empty = not asked
    minimum: float = 0  # Of numbers, ratings and counts
    maximum: float = MAX_COUNT  # Of numbers, ratings and counts
    step: float = 1  # Of ratings
    anchors: tuple[tuple[float, str], ...] = ()  # Value -> what it means, of ratings
    options: tuple[Option, ...] = ()  # Of choices
    candidates: bool = False  # True if the candidates themselves are options, before `options`
    reason: Reason = "none"  # True if a choice asks for a reason
    on: Literal["passage", "sentence"] = "passage"  # What is marked: passage or sentence
    counts_into: str = ""  # A field of counts that is at least the number of these entries
    use: Literal["", "errors", "rating"] = ""  # What `agree` takes the answers for: "errors", "rating" or nothing
    # True if counts must be given, "no errors" too; earlier studies take them for 0 until set
    explicit: bool = False

    def levels(self, category: str) -> tuple[Option, ...]:
        """Levels of significance of an entry with this category; empty = not asked."""
        match = next((candidate for candidate in self.categories if candidate.key == category), None)
        return match.significance if match is not None and match.significance else self.significance

    def parts(self) -> tuple[str, ...]:
        """Names of the numbers of a field of counts: "omission/significant", or "omission" without levels."""
        return tuple(
            f"{category.key}/{level.key}" if level is not None else category.key
            for category in self.categories
            for level in (self.levels(category.key) or (None,))
        )


@dataclass(frozen=True, slots=True)
class Training:
    """An invented case with the answers that the organiser expects."""

    reference: str  # What the radiologist wrote
    candidates: tuple[str, ...]  # The texts under judgment
    # One table per candidate: field -> the expected answer, in the form of `CaseState.answers`; lists of marks and
    # missing findings are compared by category and significance only
    answers: tuple[Mapping[str, Any], ...] = ()
    # The same for fields that are asked per case
    case_answers: Mapping[str, Any] = None  # type: ignore[assignment]
    feedback: str = ""  # What the rater is told after submitting


@dataclass(frozen=True, slots=True)
class Design:
    """Display and questions of a study.

    Attributes:
        version: Hash of all of it; every event carries the one that it was made under.
    """

    name: str
    title: str  # Heading of the page
    instructions: str  # Shown before the first case; paragraphs are separated by blank lines
    fields: tuple[Field, ...]  # The questions, in order
    source: str = ""  # The publication that the design follows
    show_reference: bool = True  # True if the reference is shown
    show_images: bool = True  # True if images are shown
    # Columns of the reports that are shown with the case: indication, comparison, ..
    context: tuple[str, ...] = ()
    blinded: bool = True  # True if raters see letters instead of the names of systems
    assistance: bool = False  # True if what radgauge's own reader would mark is offered, to whom `study new` says
    training: tuple[Training, ...] = ()  # Cases to practise on
    training_required: bool = True  # True if real cases wait until the training is submitted
    language: str = "en"  # Of the page around the design's own words: one of `LANGUAGES`

    @property
    def version(self) -> str:
        """First 12 hex digits of the SHA-256 of the design."""
        values = asdict(self)
        for field in values["fields"]:
            if not field["explicit"]:
                del field["explicit"]  # designs of earlier studies keep their hash
        if self.language == "en":
            del values["language"]
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]

    def field(self, key: str) -> Field:
        """The field of this key."""
        match = next((item for item in self.fields if item.key == key), None)
        if match is None:
            raise InputError(f"the design {self.name} has no field {key!r}; it has {', '.join(self.keys)}")
        return match

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the fields."""
        return tuple(field.key for field in self.fields)

    def used_as(self, use: str) -> Field | None:
        """The field that `agree` takes for errors or for the rating."""
        return next((field for field in self.fields if field.use == use), None)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values that `design_from_dict` reads back."""
        made: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return made


def design_from_dict(values: Mapping[str, Any]) -> Design:
    """A design from what `as_dict` made."""
    return Design(
        **{
            **values,
            "fields": tuple(_field_from(row) for row in values["fields"]),
            "context": tuple(values["context"]),
            "training": tuple(
                Training(
                    **{**row, "candidates": tuple(row["candidates"]), "answers": tuple(row["answers"])},
                )
                for row in values["training"]
            ),
        }
    )


def _field_from(values: Mapping[str, Any]) -> Field:
    def options(of: Sequence[Mapping[str, str]]) -> tuple[Option, ...]:
        return tuple(Option(**row) for row in of)

    categories = tuple(
        Category(
            *(
                category["key"],
                category["title"],
                options(category["significance"]),
                options(category["attributes"]),
            ),
            category["counts_as"],
        )
        for category in values["categories"]
    )
    return Field(
        **{
            **values,
            "categories": categories,
            "significance": options(values["significance"]),
            "options": options(values["options"]),
            "anchors": tuple((float(value), str(label)) for value, label in values["anchors"]),
        }
    )
