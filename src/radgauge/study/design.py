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
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from radgauge.error_categories import BY_KEY
from radgauge.errors import InputError, UsageError
from radgauge.parsing import parse_toml

Kind = Literal["counts", "number", "rating", "choice", "marks", "missing"]
Per = Literal["case", "candidate", "sentence"]
Reason = Literal["none", "optional", "required"]

FOLDER = Path(__file__).parent / "designs"
MOST = 99  # of one error in one report, unless the design says otherwise


class DesignError(InputError):
    """A design does not follow the schema; the message lists every problem."""


@dataclass(frozen=True, slots=True)
class Option:
    """One answer of a choice: its key in files, its title for people."""

    key: str
    title: str


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of error.

    Attributes:
        key: Its name in files; for `align` a key of `error_categories`, such as omission.
        title: Its name for people.
        significance: Levels to choose from, most severe first; empty = what the field says.
        attributes: What exactly is wrong: one of these must be named; empty = not asked.
        counts_as: Which of the eight kinds of error it is for `align`; "" = its key says so.
    """

    key: str
    title: str
    significance: tuple[Option, ...] = ()
    attributes: tuple[Option, ...] = ()
    counts_as: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """One thing that raters are asked.

    Attributes:
        key: Its name in events and files.
        kind: counts, number, rating, choice, marks or missing.
        title: The question.
        per: case, candidate or sentence.
        help: A longer explanation.
        required: Whether a case can be submitted without it. Counts are 0 until set; lists may stay empty.
        identical: Whether identical candidates of a case must get equal answers.
        categories: Of counts, marks and missing findings.
        significance: Levels, most severe first; empty = not asked.
        minimum: Of numbers, ratings and counts.
        maximum: Of numbers, ratings and counts.
        step: Of ratings.
        anchors: Value -> what it means, of ratings.
        options: Of choices.
        candidates: Whether the candidates themselves are options, before `options`.
        reason: Whether a choice asks for a reason.
        on: What is marked: passage or sentence.
        counts_into: A field of counts that is at least the number of these entries.
        use: What `align` takes the answers for: "errors", "rating" or nothing.
    """

    key: str
    kind: Kind
    title: str
    per: Per = "candidate"
    help: str = ""
    required: bool = True
    identical: bool = False
    categories: tuple[Category, ...] = ()
    significance: tuple[Option, ...] = ()
    minimum: float = 0
    maximum: float = MOST
    step: float = 1
    anchors: tuple[tuple[float, str], ...] = ()
    options: tuple[Option, ...] = ()
    candidates: bool = False
    reason: Reason = "none"
    on: Literal["passage", "sentence"] = "passage"
    counts_into: str = ""
    use: Literal["", "errors", "rating"] = ""

    def levels(self, category: str) -> tuple[Option, ...]:
        """Levels of significance of an entry with this category; empty = not asked."""
        found = next((each for each in self.categories if each.key == category), None)
        return found.significance if found is not None and found.significance else self.significance

    def parts(self) -> tuple[str, ...]:
        """Names of the numbers of a field of counts: "omission/significant", or "omission" without levels."""
        return tuple(
            f"{category.key}/{level.key}" if level is not None else category.key
            for category in self.categories
            for level in (self.levels(category.key) or (None,))
        )


@dataclass(frozen=True, slots=True)
class Training:
    """An invented case with the answers that the organiser expects.

    Attributes:
        reference: What the radiologist wrote.
        candidates: The texts under judgment.
        answers: One table per candidate: field -> the expected answer, in the form of `CaseState.answers`; lists
            of marks and missing findings are compared by category and significance only.
        case_answers: The same for fields that are asked per case.
        feedback: What the rater is told after submitting.
    """

    reference: str
    candidates: tuple[str, ...]
    answers: tuple[Mapping[str, Any], ...] = ()
    case_answers: Mapping[str, Any] = None  # type: ignore[assignment]
    feedback: str = ""


@dataclass(frozen=True, slots=True)
class Design:
    """What raters see and are asked.

    Attributes:
        name: Of the design.
        title: Heading of the page.
        instructions: Shown before the first case; paragraphs are separated by blank lines.
        fields: The questions, in order.
        source: The publication that the design follows.
        show_reference: Whether the reference is shown.
        show_images: Whether images are shown.
        context: Columns of the reports that are shown with the case: indication, comparison, ...
        blinded: Whether raters see letters instead of the names of systems.
        assistance: Whether what radgauge's own reader would mark is offered, to whom `study new` says.
        training: Cases to practise on.
        training_required: Whether real cases wait until the training is submitted.
        version: Hash of all of it; every event carries the one that it was made under.
    """

    name: str
    title: str
    instructions: str
    fields: tuple[Field, ...]
    source: str = ""
    show_reference: bool = True
    show_images: bool = True
    context: tuple[str, ...] = ()
    blinded: bool = True
    assistance: bool = False
    training: tuple[Training, ...] = ()
    training_required: bool = True

    @property
    def version(self) -> str:
        """First 12 hex digits of the SHA-256 of the design."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:12]

    def field(self, key: str) -> Field:
        """The field of this key."""
        found = next((each for each in self.fields if each.key == key), None)
        if found is None:
            raise InputError(f"the design {self.name} has no field {key!r}; it has {', '.join(self.keys)}")
        return found

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the fields."""
        return tuple(each.key for each in self.fields)

    def used_as(self, use: str) -> Field | None:
        """The field that `align` takes for errors or for the rating."""
        return next((each for each in self.fields if each.use == use), None)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values that `design_from_dict` reads back."""
        made: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return made


def shipped_designs() -> tuple[str, ...]:
    """Names of the designs that ship with radgauge."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def load_design(name: str | Path) -> Design:
    """A shipped design by its name, or one of your own by the path of its TOML file.

    >>> load_design("rexval").keys[:1]
    ('errors',)
    """
    text = str(name)
    path = FOLDER / f"{text}.toml"
    if text not in shipped_designs():
        path = Path(text)
        if path.suffix != ".toml":
            raise UsageError(
                f"there is no design {text!r}; shipped are {', '.join(shipped_designs())}; "
                "your own is the path of a TOML file"
            )
        if not path.is_file():
            raise InputError(f"no such file: {path}")
    try:
        table = parse_toml(path.read_bytes().decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DesignError(f"{path.name}: not valid TOML: {error}") from None
    return _Reader(path.name).design(table, path.stem)


def design_from_dict(values: Mapping[str, Any]) -> Design:
    """A design from what `as_dict` made."""
    return Design(
        **{
            **values,
            "fields": tuple(_field_from(each) for each in values["fields"]),
            "context": tuple(values["context"]),
            "training": tuple(
                Training(
                    **{**each, "candidates": tuple(each["candidates"]), "answers": tuple(each["answers"])},
                )
                for each in values["training"]
            ),
        }
    )


def _field_from(values: Mapping[str, Any]) -> Field:
    def options(of: Sequence[Mapping[str, str]]) -> tuple[Option, ...]:
        return tuple(Option(**each) for each in of)

    categories = tuple(
        Category(
            *(each["key"], each["title"], options(each["significance"]), options(each["attributes"])),
            each["counts_as"],
        )
        for each in values["categories"]
    )
    return Field(
        **{
            **values,
            "categories": categories,
            "significance": options(values["significance"]),
            "options": options(values["options"]),
            "anchors": tuple((float(value), str(said)) for value, said in values["anchors"]),
        }
    )


_TOP = {"name", "title", "source", "instructions", "show", "blinded", "assistance", "field", "training"}
_TOP |= {"training_required"}
_FIELD = {"key", "kind", "title", "per", "help", "required", "identical", "category", "significance", "min", "max"}
_FIELD |= {"step", "anchors", "options", "candidates", "reason", "on", "counts_into", "use"}
_KINDS: dict[str, set[str]] = {
    "counts": {"category", "significance", "identical", "max"},
    "number": {"min", "max", "identical"},
    "rating": {"min", "max", "step", "anchors", "identical"},
    "choice": {"options", "candidates", "reason", "identical"},
    "marks": {"category", "significance", "on", "counts_into"},
    "missing": {"category", "significance", "counts_into"},
}
_COMMON = {"key", "kind", "title", "per", "help", "required", "use"}
_LONGEST = 20_000


class _Reader:
    """Reads a table and collects everything that is wrong with it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[str] = []

    def design(self, table: Mapping[str, Any], stem: str) -> Design:
        self.unknown(table, _TOP, "the design")
        show = self.typed(table, "show", dict, {}, "the design")
        self.unknown(show, {"reference", "images", "context"}, "show")
        rows = self.typed(table, "field", list, [], "the design")
        fields = tuple(self.field(row, number) for number, row in enumerate(rows, start=1))
        if not fields:
            self.problems.append("a design must have at least one [[field]]")
        keys = [each.key for each in fields]
        for key in sorted({key for key in keys if keys.count(key) > 1}):
            self.problems.append(f"two fields have the key {key!r}")
        for each in fields:
            target = next((other for other in fields if other.key == each.counts_into), None)
            if each.counts_into and (target is None or target.kind != "counts" or target.per != "candidate"):
                self.problems.append(
                    f"field {each.key!r}: counts_into must name a field of counts per candidate, "
                    f"got {each.counts_into!r}"
                )
            elif target is not None:
                self.shared_categories(each, target)
        for use in ("errors", "rating"):
            if sum(each.use == use for each in fields) > 1:
                self.problems.append(f"only one field can have use = {use!r}")
        context = self.typed(show, "context", list, [], "show")
        training = self.typed(table, "training", list, [], "the design")
        made = Design(
            name=self.typed(table, "name", str, stem, "the design"),
            title=self.typed(table, "title", str, stem, "the design"),
            instructions=self.typed(table, "instructions", str, "", "the design").strip(),
            fields=fields,
            source=self.typed(table, "source", str, "", "the design"),
            show_reference=self.typed(show, "reference", bool, True, "show"),
            show_images=self.typed(show, "images", bool, True, "show"),
            context=tuple(str(each) for each in context),
            blinded=self.typed(table, "blinded", bool, True, "the design"),
            assistance=self.typed(table, "assistance", bool, False, "the design"),
            training=tuple(
                self.training(row, f"training case {number}", fields) for number, row in enumerate(training, 1)
            ),
            training_required=self.typed(table, "training_required", bool, True, "the design"),
        )
        if not made.instructions:
            self.problems.append("a design must have instructions")
        if self.problems:
            listed = "\n  ".join(self.problems[:20])
            raise DesignError(f"{self.name} has {len(self.problems)} problem(s):\n  {listed}")
        return made

    def field(self, row: Any, number: int) -> Field:
        where = f"field {number}"
        if not isinstance(row, Mapping):
            self.problems.append(f"{where} must be a table")
            return Field("", "number", "")
        key = self.typed(row, "key", str, "", where)
        where = f"field {key!r}" if key else where
        if not key.isidentifier() or key != key.lower():
            self.problems.append(f"{where}: key must be a word of small letters, digits and _, got {key!r}")
        kind = self.choice(row, "kind", get_args(Kind), "", where)
        if kind:
            self.unknown(row, _FIELD, where)
            for name in sorted(set(row) & _FIELD - _COMMON - _KINDS[kind]):
                self.problems.append(f"{where}: {name!r} has no meaning for the kind {kind}")
        title = self.typed(row, "title", str, "", where)
        if not title.strip():
            self.problems.append(f"{where}: title is missing")
        per: Any = self.choice(row, "per", get_args(Per), "candidate", where)
        if kind in ("marks", "missing") and per != "candidate":
            self.problems.append(f"{where}: {kind} are asked per candidate")
        categories = tuple(
            self.category(each, f"{where}, category {n}")
            for n, each in enumerate(self.typed(row, "category", list, [], where), start=1)
        )
        if kind in ("counts", "marks") and not categories:
            self.problems.append(f"{where}: {kind} need at least one [[field.category]]")
        options = self.options(row, "options", where)
        candidates = self.typed(row, "candidates", bool, False, where)
        if kind == "choice" and len(options) + 2 * candidates < 2:
            self.problems.append(f"{where}: a choice needs at least two options, or candidates = true")
        if candidates and per != "case":
            self.problems.append(f"{where}: a choice among candidates is asked per case")
        low, high = self.number(row, "min", 0, where), self.number(row, "max", MOST, where)
        if low >= high:
            self.problems.append(f"{where}: min must be below max, got {low:g} and {high:g}")
        step = self.number(row, "step", 1, where)
        if step <= 0:
            self.problems.append(f"{where}: step must be above 0, got {step:g}")
        if kind == "rating" and "max" not in row:
            self.problems.append(f"{where}: a rating needs max")
        anchors: list[tuple[float, str]] = []
        for value, said in self.typed(row, "anchors", dict, {}, where).items():
            try:
                anchors.append((float(value), str(said)))
            except ValueError:
                self.problems.append(f"{where}: anchors must be numbers, got {value!r}")
        for value, _ in anchors:
            if not low <= value <= high:
                self.problems.append(f"{where}: the anchor {value:g} lies outside {low:g} to {high:g}")
        use: Any = self.choice(row, "use", ("", "errors", "rating"), "", where)
        if use == "errors" and kind not in ("counts", "marks"):
            self.problems.append(f"{where}: use = 'errors' needs counts or marks")
        if use == "rating" and kind not in ("rating", "number", "choice"):
            self.problems.append(f"{where}: use = 'rating' needs a rating, a number or a choice")
        reason: Any = self.choice(row, "reason", get_args(Reason), "none", where)
        on: Any = self.choice(row, "on", ("passage", "sentence"), "passage", where)
        return Field(
            key=key,
            kind=kind or "number",  # type: ignore[arg-type]
            title=title,
            per=per,
            help=self.typed(row, "help", str, "", where).strip(),
            required=self.typed(row, "required", bool, kind not in ("marks", "missing"), where),
            identical=self.typed(row, "identical", bool, False, where),
            categories=categories,
            significance=self.options(row, "significance", where),
            minimum=low,
            maximum=high,
            step=step,
            anchors=tuple(sorted(anchors)),
            options=options,
            candidates=candidates,
            reason=reason,
            on=on,
            counts_into=self.typed(row, "counts_into", str, "", where),
            use=use,
        )

    def category(self, row: Any, where: str) -> Category:
        if not isinstance(row, Mapping):
            self.problems.append(f"{where} must be a table")
            return Category("", "")
        self.unknown(row, {"key", "title", "significance", "attributes", "counts_as"}, where)
        key = self.typed(row, "key", str, "", where)
        if not key.isidentifier():
            self.problems.append(f"{where}: key must be a word, got {key!r}")
        levels, attributes = self.options(row, "significance", where), self.options(row, "attributes", where)
        counts_as = self.choice(row, "counts_as", ("", *BY_KEY), "", where)
        return Category(key, self.typed(row, "title", str, key, where), levels, attributes, counts_as)

    def options(self, row: Mapping[str, Any], name: str, where: str) -> tuple[Option, ...]:
        """Options as {key = "title", ...}."""
        given = self.typed(row, name, dict, {}, where)
        for key in given:
            if not key.isidentifier():
                self.problems.append(f"{where}: a key of {name} must be a word, got {key!r}")
        return tuple(Option(key, str(title)) for key, title in given.items())

    def training(self, row: Any, where: str, fields: Sequence[Field]) -> Training:
        if not isinstance(row, Mapping):
            self.problems.append(f"{where} must be a table")
            return Training("", ())
        self.unknown(row, {"reference", "candidate", "answers", "feedback"}, where)
        rows = self.typed(row, "candidate", list, [], where)
        texts, answers = [], []
        for number, each in enumerate(rows, start=1):
            here = f"{where}, candidate {number}"
            if not isinstance(each, Mapping):
                self.problems.append(f"{here} must be a table")
                continue
            self.unknown(each, {"text", "answers"}, here)
            texts.append(self.typed(each, "text", str, "", here))
            answers.append(self.typed(each, "answers", dict, {}, here))
            self.answered(answers[-1], fields, here)
        if not texts or not all(text.strip() for text in texts):
            self.problems.append(f"{where} needs at least one [[training.candidate]] with a text")
        whole = self.typed(row, "answers", dict, {}, where)
        self.answered(whole, fields, where)
        return Training(
            self.typed(row, "reference", str, "", where),
            tuple(texts),
            tuple(answers),
            whole,
            self.typed(row, "feedback", str, "", where).strip(),
        )

    def answered(self, answers: Mapping[str, Any], fields: Sequence[Field], where: str) -> None:
        for key in answers:
            if key not in {each.key for each in fields}:
                self.problems.append(f"{where}: answers name the field {key!r}, which the design does not have")

    def shared_categories(self, marks: Field, counts: Field) -> None:
        known = set(counts.parts())
        for category in marks.categories:
            levels = marks.levels(category.key) or (None,)
            for level in levels:
                part = f"{category.key}/{level.key}" if level is not None else category.key
                if part not in known:
                    self.problems.append(f"field {marks.key!r}: {counts.key!r} does not count {part!r}")

    def typed(self, row: Mapping[str, Any], name: str, kind: type, default: Any, where: str) -> Any:
        value = row.get(name, default)
        if not isinstance(value, kind):
            words = {str: "a text", dict: "a table", list: "a list", bool: "true or false"}
            self.problems.append(f"{where}: {name} must be {words[kind]}, got {type(value).__name__}")
            return default
        if isinstance(value, str) and len(value) > _LONGEST:
            self.problems.append(f"{where}: {name} is longer than {_LONGEST} characters")
        return value

    def number(self, row: Mapping[str, Any], name: str, default: float, where: str) -> float:
        value = row.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e6:
            self.problems.append(f"{where}: {name} must be a number, got {type(value).__name__}")
            return default
        return float(value)

    def choice(self, row: Mapping[str, Any], name: str, among: Sequence[str], default: str, where: str) -> str:
        value = row.get(name, default)
        if value not in among:
            listed = ", ".join(repr(each) for each in among if each)
            self.problems.append(f"{where}: {name} must be one of {listed}; got {value!r}")
            return default
        return str(value)

    def unknown(self, row: Mapping[str, Any], known: set[str], where: str) -> None:
        for name in sorted(set(row) - known):
            self.problems.append(f"{where}: there is no setting {name!r}; there are {', '.join(sorted(known))}")
