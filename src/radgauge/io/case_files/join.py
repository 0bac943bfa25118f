"""Joining candidates with references on the study id: complete or explained, in the references' order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from radgauge.core.cases import MISSING, UNANSWERED, Case
from radgauge.core.choices import Missing
from radgauge.core.errors import InputError
from radgauge.io.records import check_unique
from radgauge.io.tables import InputTable
from radgauge.io.tables.columns import Columns


@dataclass(frozen=True)
class Side:
    """One file understood: its cases (references without candidate, or candidates) and their locations."""

    table: InputTable
    roles: Columns
    cases: tuple[Case, ...]
    locations: tuple[str, ...] = field(repr=False)


def join(
    reference_side: Side, candidate_sides: Sequence[Side], *, missing: Missing
) -> tuple[list[Case], list[str]]:
    """Candidates with their references, system by system in the order of the references."""
    check_unique(reference_side.cases, locations=reference_side.locations)
    if missing == "subset":
        reference_side = _reported(reference_side, candidate_sides)
    studies = {case.id: case for case in reference_side.cases}
    cases: list[Case] = []
    locations: list[str] = []
    for side in candidate_sides:
        check_unique(side.cases, locations=side.locations)
        by_system: dict[str, dict[str, tuple[Case, str]]] = {}
        for case, location in zip(side.cases, side.locations, strict=True):
            by_system.setdefault(case.system, {})[case.id] = (case, location)
        for system, reports in by_system.items():
            if missing != "nan":
                _check_complete(studies, reports, system, side, reference_side)
            for study, location in zip(reference_side.cases, reference_side.locations, strict=True):
                report = reports.get(study.id)
                cases.append(_merged(study, report[0]) if report else _without_candidate(study, system))
                locations.append(report[1] if report else location)
            for identifier, (case, location) in reports.items():
                if identifier not in studies:
                    cases.append(case)
                    locations.append(location)
    return cases, locations


def _reported(reference_side: Side, candidate_sides: Sequence[Side]) -> Side:
    """The references that any system has reported."""
    ids = {case.id for side in candidate_sides for case in side.cases}
    rows = [i for i, case in enumerate(reference_side.cases) if case.id in ids]
    return replace(
        reference_side,
        cases=tuple(reference_side.cases[i] for i in rows),
        locations=tuple(reference_side.locations[i] for i in rows),
    )


def _merged(study: Case, case: Case) -> Case:
    return replace(
        case,
        references=study.references,
        images=case.images or study.images,
        meta=MappingProxyType({**study.meta, **{k: v for k, v in case.meta.items() if v or k not in study.meta}}),
    )


def _without_candidate(study: Case, system: str) -> Case:
    return replace(study, system=system, meta=MappingProxyType({**study.meta, MISSING: UNANSWERED[0]}))


def _check_complete(
    studies: Mapping[str, Case],
    reports: Mapping[str, tuple[Case, str]],
    system: str,
    side: Side,
    reference_side: Side,
) -> None:
    absent = [study for study in studies if study not in reports]
    extra = [study for study in reports if study not in studies]
    if not absent and not extra:
        return
    here, there = side.table.source.name, reference_side.table.source.name
    parts = []
    if absent:
        location = reference_side.locations[list(studies).index(absent[0])]
        parts.append(
            f"{len(absent)} of {len(studies)} studies have no candidate in {here}, "
            f"first: {absent[0]!r} ({location})"
        )
    if extra:
        parts.append(
            f"{len(extra)} of {len(reports)} candidates have no study in {there}, "
            f"first: {extra[0]!r} ({reports[extra[0]][1]})"
        )
    raise InputError(f"system {system!r}: {'; '.join(parts)}. {_remedy(absent, extra, studies)}")


def _remedy(absent: Sequence[str], extra: Sequence[str], studies: Mapping[str, Case]) -> str:
    alike = {loose_id(study): study for study in absent}
    pair = next(((alike[loose_id(study)], study) for study in extra if loose_id(study) in alike), None)
    if pair:
        return (
            f"The ids {pair[0]!r} and {pair[1]!r} differ only in their writing (zeros, '.0', case): "
            "write them alike in both files"
        )
    splits = {studies[study].meta.get("split", "") for study in absent}
    others = {case.meta.get("split", "") for study, case in studies.items() if study not in set(absent)} - splits
    if absent and not extra and len(others) == 1 and "" not in others:
        return f"All of them are of split {', '.join(sorted(splits))}: pass split={others.pop()!r}"
    return (
        "Complete the files, keep such studies as cases that cannot be judged (missing='nan'), "
        "or leave out studies that no system has reported (missing='subset')"
    )


def loose_id(study: str) -> str:
    """An id without what spreadsheets and folders change: zeros in front, ".0", case, blanks, MIMIC's "s".

    >>> loose_id("007.0"), loose_id("CXR 7"), loose_id("s50414267")
    ('7', 'cxr7', '50414267')
    """
    text = "".join(study.lower().split())
    integer, dot, fraction = text.partition(".")
    if dot and integer.isdigit() and set(fraction) <= {"0"}:
        text = integer
    return re.sub(r"^s(?=\d{8}$)", "", text).lstrip("0") or text


def uneven_systems(cases: Sequence[Case]) -> list[str]:
    """A warning for systems that did not report every study."""
    studies: dict[str, set[str]] = {}
    for case in cases:
        studies.setdefault(case.system, set()).add(case.id)
    every = set().union(*studies.values())
    return [
        f"system {system!r} has {len(ids)} of {len(every)} studies; first without: {min(every - ids)!r}"
        for system, ids in studies.items()
        if ids != every
    ]
