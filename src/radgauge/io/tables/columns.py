"""Roles of columns: the names the field uses for id, reference, candidate, system and image.

Names are compared without case, blanks, dots and hyphens. Each role has tiers of names: the first tier with a
match decides, and two matches in one tier are an error that lists the choices; nothing is picked in silence.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal, TypeVar, get_args

from radgauge.core.choices import Section
from radgauge.core.errors import InputError, UsageError
from radgauge.io.tables.column_names import (
    ABOUT,
    FINDINGS,
    IMPRESSION,
    NAMES,
    REPORT,
    looks_like_files,
    looks_like_report,
    plain,
    shown_names,
)

Mode = Literal["cases", "references", "candidates"]
Parts = tuple[str, ...]
"""Columns whose texts together make one report: one column, or findings and impression."""

T = TypeVar("T")
KEEP_ALL = "all"
OWN_PREFIXES = ("edit_", "meta_")
"""Columns that radgauge itself writes next to reports begin with these."""
SECTIONS: tuple[Section, ...] = get_args(Section)


@dataclass(frozen=True)
class Columns:
    """The columns of one table by role."""

    id: str  # Study id; "" if there is none and rows are numbered
    references: tuple[Parts, ...] = ()  # One entry per alternative reference
    candidates: tuple[Parts, ...] = ()  # One entry per system in a wide table, else at most one
    system: str | None = None  # Who wrote the candidate, in a long table
    images: tuple[str, ...] = ()  # Files of the study
    # "reference" or "candidate", if its columns already are the section asked for
    sectioned: frozenset[str] = frozenset()
    wide: bool = False  # The candidates' column names are the names of the systems
    ignored: frozenset[str] = frozenset()  # Columns that the other side of a join supplies
    left_out: frozenset[str] = frozenset()  # Columns that were not asked for and go nowhere

    @cached_property
    def used(self) -> frozenset[str]:
        """Every column with a role or set aside; all others are meta."""
        texts = [name for parts in (*self.references, *self.candidates) for name in parts]
        system = [self.system] if self.system else []
        study = [self.id] if self.id else []
        return frozenset([*study, *texts, *self.images, *system, *self.ignored, *self.left_out])

    def select(self, columns: Sequence[str], *, keep: Sequence[str] = (), drop: Sequence[str] = ()) -> Columns:
        """Leave out the columns that are neither known nor asked for: free text travels nowhere by accident.

        >>> Columns("id").select(["id", "age", "Remarks to the ward"]).left_out
        frozenset({'Remarks to the ward'})
        """
        retained = {name for name in columns if plain(name) in ABOUT or plain(name).startswith(OWN_PREFIXES)}
        retained |= set(columns) if KEEP_ALL in keep else set(keep)
        return replace(self, left_out=frozenset(columns) - self.used - (retained - set(drop)))

    def left_out_note(self, name: str) -> list[str]:
        """A sentence on the columns that were left out."""
        if not self.left_out:
            return []
        names = sorted(self.left_out)
        return [
            f"{name}: {len(names)} columns are left out: {shown_names(names)}; keep those that you need with "
            "keep_columns=NAME"
        ]

    def as_dict(self) -> dict[str, str]:
        """Role -> column names, for people and for file headers."""
        shown = {
            "id": self.id or "(row number)",
            "reference": ", ".join(" + ".join(parts) for parts in self.references),
            "candidate": ", ".join(" + ".join(parts) for parts in self.candidates),
            "system": self.system or "",
            "image": ", ".join(self.images),
        }
        return {role: name for role, name in shown.items() if name}


def parse_columns(text: str) -> dict[str, tuple[str, ...]]:
    """The value of --columns as a mapping; a role may come several times.

    >>> parse_columns("id=uid,reference=gt_1,reference=gt_2")
    {'id': ('uid',), 'reference': ('gt_1', 'gt_2')}
    >>> parse_columns("candidate=KI, Version 2,id=Nr")
    {'candidate': ('KI, Version 2',), 'id': ('Nr',)}
    """
    roles: dict[str, tuple[str, ...]] = {}
    for item in filter(
        None, (part.strip() for part in re.split(rf",(?=\s*(?:{'|'.join(NAMES)})\s*=|\s*$)", text))
    ):
        role, sign, name = item.partition("=")
        if not sign or not name.strip():
            raise UsageError(f"columns must look like id=uid,reference=gt_report, got {item!r}")
        roles[role.strip()] = (*roles.get(role.strip(), ()), name.strip())
    return roles


def check_roles(roles: Mapping[str, str | Sequence[str]] | None) -> dict[str, tuple[str, ...]]:
    """The same mapping with tuples of names, after checking the roles."""
    checked = {}
    for role, names in (roles or {}).items():
        if role not in NAMES:
            near = difflib.get_close_matches(role, NAMES, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UsageError(f"columns knows the roles {', '.join(NAMES)}; got {role!r}{hint}")
        checked[role] = (names,) if isinstance(names, str) else tuple(names)
        if len(checked[role]) > 1 and role in ("id", "system"):
            raise UsageError(f"the role {role!r} takes one column, got {', '.join(checked[role])}")
    return checked


def resolve(
    sample: Mapping[str, Sequence[object]],
    *,
    name: str,
    mode: Mode = "cases",
    user_roles: Mapping[str, tuple[str, ...]] | None = None,
    candidate_columns: Sequence[str] | None = None,
    section: str | None = None,
) -> Columns:
    """Find the role of every column.

    Args:
        sample: The table's columns with a few of their values.
        name: The table's name, for messages.
        mode: Is it a table of cases, or one side of a join?
        user_roles: Roles the user has settled, as from `check_roles`.
        candidate_columns: Columns that hold one system's candidates each.
        section: findings, impression, both, whole, or None = not chosen.
    """
    columns = tuple(sample)
    find = _Finder(columns, name, dict(user_roles or {}))
    problems: list[str] = []
    study = find.tried(problems, lambda: find.one("id"), None)
    images = tuple(c for c in find.several("image") if "image" in find.user_roles or looks_like_files(sample[c]))
    references: tuple[Parts, ...] = ()
    candidates: tuple[Parts, ...] = ()
    nothing: tuple[tuple[Parts, ...], bool] = ((), False)
    ready = False
    if mode != "references":
        before = len(problems)
        candidates, ready = find.tried(
            problems, lambda: find.candidates(mode, candidate_columns, section), nothing
        )
        if not candidates and len(problems) == before:
            own = {plain(c) for c in (study, find.tried([], lambda: find.one("system"), None), *images) if c}
            own |= {plain(c) for c in find.user_roles.get("reference", ())}
            likely = [c for c in columns if plain(c) not in own and looks_like_report(c, sample[c])]
            has_reference = mode == "candidates" or bool(
                find.tried([], lambda: find.references(section, taken=()), nothing)[0]
            )
            problems.append(_no_candidate(columns, likely, reference_known=has_reference))
    if mode != "candidates":
        taken = tuple(column for parts in candidates for column in parts)
        before = len(problems)
        references, settled = find.tried(problems, lambda: find.references(section, taken=taken), nothing)
        ready = ready or settled
        if not references and mode == "references" and len(problems) == before:
            problems.append(
                "no reference column; expected one of reference, ground_truth, report, findings, "
                f"impression, got columns {shown_names(columns)}; name it with columns={{'reference': NAME}}"
            )
    wide = candidate_columns is not None or len(candidates) > 1
    if wide and "system" in find.user_roles:
        raise UsageError("one column per system and a column of systems exclude each other; give one of them")
    written = [c for parts in candidates for c in parts]
    system = None if wide else find.tried(problems, lambda: find.one("system", taken=written), None)
    numbered = mode == "cases" and system is None and bool(candidates and references)
    if study is None and not numbered and not any("could be the id" in problem for problem in problems):
        why = f"; the column {system!r} names systems, so rows need the id of their study" if system else ""
        problems.append(
            f"no id column; expected one of {', '.join(sum(NAMES['id'], ())[:8])}, ... "
            f"got columns {shown_names(columns)}{why}; name it with columns={{'id': NAME}}"
        )
    if problems:
        raise InputError(_faults(name, problems, sample, find, mode))
    sectioned = frozenset(["candidate" if mode == "candidates" else "reference"] if ready else [])
    taken = tuple(column for parts in (*references, *candidates) for column in parts)
    other = {"candidates": NAMES["reference"][0], "references": sum(NAMES["candidate"], ())}.get(mode, ())
    ignored = frozenset(find.matches(other, taken=taken))
    return Columns(study or "", references, candidates, system, images, sectioned, wide, ignored)


@dataclass(frozen=True)
class _Finder:
    columns: tuple[str, ...]
    name: str
    user_roles: dict[str, tuple[str, ...]]

    def tried(self, problems: list[str], find: Callable[[], T], otherwise: T) -> T:
        """Return the result of `find`; a problem is noted, so that all of a file's come in one message."""
        try:
            return find()
        except InputError as error:
            problems.append(str(error).removeprefix(f"{self.name}: "))
            return otherwise

    def candidates(
        self, mode: Mode, wide: Sequence[str] | None, section: str | None
    ) -> tuple[tuple[Parts, ...], bool]:
        """One entry per system, and whether that settles the section."""
        if wide is not None:
            return self.wide(wide), False
        if "candidate" in self.user_roles:
            return tuple((column,) for column in self.named("candidate")), False
        parts = self.texts("candidate", taken=())
        return (parts, False) if parts or mode != "candidates" else self.reports("candidate", section)

    def named(self, role: str) -> tuple[str, ...]:
        """The columns that the user gave for a role."""
        for column in self.user_roles[role]:
            if column not in self.columns:
                raise InputError(self._absent(column))
        return self.user_roles[role]

    def _absent(self, column: str) -> str:
        near = difflib.get_close_matches(column, self.columns, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        return f"{self.name}: no column {column!r}{hint}; its columns: {shown_names(self.columns)}"

    def matches(self, names: Sequence[str], *, taken: Sequence[str] = ()) -> tuple[str, ...]:
        return tuple(c for c in self.columns if plain(c) in names and c not in taken)

    def one(self, role: str, *, taken: Sequence[str] = ()) -> str | None:
        if role in self.user_roles:
            return self.named(role)[0]
        for tier in NAMES[role]:
            matching = self.matches(tier, taken=taken)
            if len(matching) > 1:
                raise InputError(self.ambiguous(role, matching))
            if matching:
                return matching[0]
        return None

    def ambiguous(self, role: str, matching: Sequence[str]) -> str:
        choices = " or ".join(f"columns={{{role!r}: {column!r}}}" for column in matching)
        wide = f", or candidate_columns={list(matching)} for one system each" if role == "candidate" else ""
        return f"{self.name}: {len(matching)} columns could be the {role}; choose {choices}{wide}"

    def several(self, role: str, *, taken: Sequence[str] = ()) -> tuple[str, ...]:
        """One column, or a numbered family: reference_1, reference_2; or reference, reference_2."""
        if role in self.user_roles:
            return self.named(role)
        column = self.one(role, taken=taken)
        stem = plain(column) if column is not None and plain(column) not in REPORT else None
        stems = (stem,) if stem else (*NAMES[role][0], *NAMES[role][1])
        family = re.compile(rf"(?:{'|'.join(stems)})_?(\d+)")
        members = [(int(m[1]), c) for c in self.columns if c not in taken and (m := family.fullmatch(plain(c)))]
        numbered = [c for _, c in sorted(members, key=lambda member: member[0])]
        if stem and column is not None:
            return (column, *numbered)
        return tuple(numbered) or ((column,) if column is not None else ())

    def texts(self, role: str, *, taken: Sequence[str]) -> tuple[Parts, ...]:
        column = self.one(role, taken=taken)
        return ((column,),) if column is not None else ()

    def wide(self, requested: Sequence[str]) -> tuple[Parts, ...]:
        for column in requested:
            if column not in self.columns:
                raise InputError(self._absent(column))
        if not requested or len(set(requested)) < len(requested):
            raise UsageError(f"candidate columns must be named once each, got {', '.join(requested) or 'none'}")
        return tuple((column,) for column in requested)

    def references(self, section: str | None, *, taken: Sequence[str]) -> tuple[tuple[Parts, ...], bool]:
        named = self.several("reference", taken=taken)
        if "reference" in self.user_roles or (named and plain(named[0]) not in REPORT):
            return tuple((column,) for column in named), False
        return self.reports("reference", section, taken=taken)

    def reports(
        self, role: str, section: str | None, *, taken: Sequence[str] = ()
    ) -> tuple[tuple[Parts, ...], bool]:
        """Reports as a whole column or as section columns, and whether that settles the section."""
        report_columns = self.matches(REPORT, taken=taken)
        if len(report_columns) > 1:
            raise InputError(self.ambiguous(role, report_columns))
        findings, impression = self.matches(FINDINGS, taken=taken), self.matches(IMPRESSION, taken=taken)
        for section_columns in (findings, impression):
            if len(section_columns) > 1 and not (report_columns and section in (None, "whole")):
                raise InputError(self.ambiguous(role, section_columns))
        if section == "findings" and findings:
            return (findings,), True
        if section == "impression" and impression:
            return (impression,), True
        if (
            section in ("both", "whole")
            and findings
            and impression
            and not (report_columns and section == "whole")
        ):
            return ((*findings, *impression),), True
        if report_columns:
            return (report_columns,), False
        if section in ("findings", "impression", "both") and (findings or impression):
            raise InputError(
                f"{self.name}: section={section!r} needs another column than {(findings or impression)[0]!r}"
            )
        if findings and impression:
            raise InputError(
                f"{self.name} has {findings[0]!r} and {impression[0]!r} columns; choose with "
                "section='findings', section='impression' or section='both'"
            )
        only = findings or impression
        return ((only,) if only else ()), bool(only)


def _faults(
    name: str, problems: Sequence[str], sample: Mapping[str, Sequence[object]], find: _Finder, mode: Mode
) -> str:
    """One fault as a sentence; several as one line each, and last what to pass if the guess is right."""
    if len(problems) == 1:
        return f"{name}: {problems[0]}"
    listed = shown_names(sample)
    lines = [
        re.split(r"(?:, \.\.\.)?,? got columns |; name it with|; choose ", problem)[0] for problem in problems
    ]
    guess = _guess(sample, find, mode) if "(column " not in listed else {}
    paste = [f"if this is right, pass columns={guess!r}"] if guess else ["name them with columns={'id': NAME}"]
    return "\n".join(
        [
            f"{name}: {len(problems)} things are unclear",
            *(f"  - {line}" for line in lines),
            f"  its columns: {listed}",
            *paste,
        ]
    )


_ID_WORDS = re.compile(r"(?:^|_)(?:id|nr|no|nummer|number|uid|key|accession|fall|case|study|etude|estudio)(?:_|$)")
_MACHINE = re.compile(
    r"(?:^|_)(?:ki|ai|ia|llm|gpt|model\w*|gen\w*|pred\w*|auto\w*|system\w*|entwurf|draft)(?:_|$)"
)


def _guess(sample: Mapping[str, Sequence[object]], find: _Finder, mode: Mode) -> dict[str, str]:
    """Role -> column as a person would read names and cells; nothing where that is not clear."""
    texts = [c for c, values in sample.items() if looks_like_report(c, values)]
    rest = [c for c in sample if c not in texts]
    named = [c for c in rest if _ID_WORDS.search(plain(c))]
    distinct = [c for c in named or rest if len(set(map(str, sample[c]))) > 0.8 * len(sample[c])]
    guess = {role: names[0] for role, names in find.user_roles.items() if names and names[0] in sample}
    for role in ("id", "reference"):
        if (column := find.tried([], partial(find.one, role), None)) is not None:
            guess.setdefault(role, column)
    if distinct:
        guess.setdefault("id", distinct[0])
    machine = [c for c in texts if _MACHINE.search(plain(c))]
    people = [guess["reference"]] if "reference" in guess else [c for c in texts if c not in machine]
    if mode == "cases" and len(machine) == 1 and len(people) == 1:
        guess = {"reference": people[0], "candidate": machine[0], **guess}
    elif mode != "cases" and len(texts) == 1:
        guess = {"reference" if mode == "references" else "candidate": texts[0], **guess}
    else:
        return {}
    return {role: guess[role] for role in NAMES if role in guess}


def _no_candidate(columns: Sequence[str], likely: Sequence[str], *, reference_known: bool) -> str:
    expected = ", ".join([*NAMES["candidate"][0], *NAMES["candidate"][1][:6]])
    text = f"no candidate column; expected one of {expected}, ... got columns {shown_names(columns)}"
    safe = "(column " not in shown_names(likely)  # the first line of a file without a header is data
    if likely and not reference_known:
        return (
            f"{text}; no reference column either: of the texts {shown_names(likely)} "
            "name the radiologist's with columns={'reference': NAME} and the others with candidate_columns=[NAME]"
        )
    if likely:
        names = list(likely) if safe else "[NAME, ...]"
        return f"{text}; if each of these is one system, pass candidate_columns={names}"
    return f"{text}; name it with columns={{'candidate': NAME}}, or give the candidates in their own file"
