"""Designs from files: the shipped ones by name, others by path; all that is wrong with one is said at once."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from radgauge.core.error_categories import BY_KEY
from radgauge.core.errors import InputError, UsageError
from radgauge.core.parsing import parse_toml
from radgauge.study.design import (
    LANGUAGES,
    MAX_COUNT,
    Category,
    Design,
    Field,
    Kind,
    Option,
    Per,
    Reason,
    Training,
)

FOLDER = Path(__file__).parent / "designs"


class DesignError(InputError):
    """A design does not follow the schema; the message lists every problem."""


def shipped_designs() -> tuple[str, ...]:
    """Names of the designs that ship with radgauge."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def load_design(name: str | Path) -> Design:
    """A shipped design by its name, or one of your own by the path of its TOML file.

    >>> load_design("rexval").keys[:1]
    ('errors',)
    """
    path = _path_of(name)
    try:
        table = parse_toml(path.read_bytes().decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DesignError(f"{path.name}: not valid TOML: {error}") from None
    return _Reader(path.name).design(table, path.stem)


def design_text(name: str | Path) -> str:
    """The TOML text of a design, to start one of your own from."""
    return _path_of(name).read_text(encoding="utf-8")


def _path_of(name: str | Path) -> Path:
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
    return path


_TOP = {"name", "title", "source", "instructions", "show", "blinded", "assistance", "field", "training"}
_TOP |= {"training_required", "language"}
_FIELD = {"key", "kind", "title", "per", "help", "required", "identical", "category", "significance", "min", "max"}
_FIELD |= {"step", "anchors", "options", "candidates", "reason", "on", "counts_into", "use", "explicit"}
_KINDS: dict[str, set[str]] = {
    "counts": {"category", "significance", "identical", "max", "explicit"},
    "number": {"min", "max", "identical"},
    "rating": {"min", "max", "step", "anchors", "identical"},
    "choice": {"options", "candidates", "reason", "identical"},
    "marks": {"category", "significance", "on", "counts_into"},
    "missing": {"category", "significance", "counts_into"},
}
_COMMON = {"key", "kind", "title", "per", "help", "required", "use"}
_MAX_LENGTH = 20_000


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
        keys = [item.key for item in fields]
        for key in sorted({key for key in keys if keys.count(key) > 1}):
            self.problems.append(f"two fields have the key {key!r}")
        for item in fields:
            target = next((other for other in fields if other.key == item.counts_into), None)
            if item.counts_into and (target is None or target.kind != "counts" or target.per != "candidate"):
                self.problems.append(
                    f"field {item.key!r}: counts_into must name a field of counts per candidate, "
                    f"got {item.counts_into!r}"
                )
            elif target is not None:
                self.shared_categories(item, target)
        for use in ("errors", "rating"):
            if sum(item.use == use for item in fields) > 1:
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
            context=tuple(str(item) for item in context),
            blinded=self.typed(table, "blinded", bool, True, "the design"),
            assistance=self.typed(table, "assistance", bool, False, "the design"),
            training=tuple(
                self.training(row, f"training case {number}", fields) for number, row in enumerate(training, 1)
            ),
            language=self.choice(table, "language", LANGUAGES, "en", "the design"),
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
            self.category(table, f"{where}, category {n}")
            for n, table in enumerate(self.typed(row, "category", list, [], where), start=1)
        )
        if kind in ("counts", "marks") and not categories:
            self.problems.append(f"{where}: {kind} need at least one [[field.category]]")
        options = self.options(row, "options", where)
        candidates = self.typed(row, "candidates", bool, False, where)
        if kind == "choice" and len(options) + 2 * candidates < 2:
            self.problems.append(f"{where}: a choice needs at least two options, or candidates = true")
        if candidates and per != "case":
            self.problems.append(f"{where}: a choice among candidates is asked per case")
        low, high = self.number(row, "min", 0, where), self.number(row, "max", MAX_COUNT, where)
        if low >= high:
            self.problems.append(f"{where}: min must be below max, got {low:g} and {high:g}")
        step = self.number(row, "step", 1, where)
        if step <= 0:
            self.problems.append(f"{where}: step must be above 0, got {step:g}")
        if kind == "rating" and "max" not in row:
            self.problems.append(f"{where}: a rating needs max")
        anchors: list[tuple[float, str]] = []
        for value, label in self.typed(row, "anchors", dict, {}, where).items():
            try:
                anchors.append((float(value), str(label)))
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
            explicit=kind == "counts" and per == "candidate" and self.typed(row, "explicit", bool, True, where),
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
        table = self.typed(row, name, dict, {}, where)
        for key in table:
            if not key.isidentifier():
                self.problems.append(f"{where}: a key of {name} must be a word, got {key!r}")
        return tuple(Option(key, str(title)) for key, title in table.items())

    def training(self, row: Any, where: str, fields: Sequence[Field]) -> Training:
        if not isinstance(row, Mapping):
            self.problems.append(f"{where} must be a table")
            return Training("", ())
        self.unknown(row, {"reference", "candidate", "answers", "feedback"}, where)
        rows = self.typed(row, "candidate", list, [], where)
        texts, answers = [], []
        for number, case in enumerate(rows, start=1):
            here = f"{where}, candidate {number}"
            if not isinstance(case, Mapping):
                self.problems.append(f"{here} must be a table")
                continue
            self.unknown(case, {"text", "answers"}, here)
            texts.append(self.typed(case, "text", str, "", here))
            answers.append(self.typed(case, "answers", dict, {}, here))
            self.answered(answers[-1], fields, here)
        if not texts or not all(text.strip() for text in texts):
            self.problems.append(f"{where} needs at least one [[training.candidate]] with a text")
        of_case = self.typed(row, "answers", dict, {}, where)
        self.answered(of_case, fields, where)
        return Training(
            self.typed(row, "reference", str, "", where),
            tuple(texts),
            tuple(answers),
            of_case,
            self.typed(row, "feedback", str, "", where).strip(),
        )

    def answered(self, answers: Mapping[str, Any], fields: Sequence[Field], where: str) -> None:
        for key in answers:
            if key not in {field.key for field in fields}:
                self.problems.append(f"{where}: answers name the field {key!r}, which the design does not have")

    def shared_categories(self, marks: Field, counts: Field) -> None:
        of_counts = set(counts.parts())
        for category in marks.categories:
            levels = marks.levels(category.key) or (None,)
            for level in levels:
                part = f"{category.key}/{level.key}" if level is not None else category.key
                if part not in of_counts:
                    self.problems.append(f"field {marks.key!r}: {counts.key!r} does not count {part!r}")

    def typed(self, row: Mapping[str, Any], name: str, kind: type, default: Any, where: str) -> Any:
        value = row.get(name, default)
        if not isinstance(value, kind):
            words = {str: "a text", dict: "a table", list: "a list", bool: "true or false"}
            self.problems.append(f"{where}: {name} must be {words[kind]}, got {type(value).__name__}")
            return default
        if isinstance(value, str) and len(value) > _MAX_LENGTH:
            self.problems.append(f"{where}: {name} is longer than {_MAX_LENGTH} characters")
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
            listed = ", ".join(repr(option) for option in among if option)
            self.problems.append(f"{where}: {name} must be one of {listed}; got {value!r}")
            return default
        return str(value)

    def unknown(self, row: Mapping[str, Any], allowed: set[str], where: str) -> None:
        for name in sorted(set(row) - allowed):
            self.problems.append(f"{where}: there is no setting {name!r}; there are {', '.join(sorted(allowed))}")
