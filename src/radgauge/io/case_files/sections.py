"""One section of every case, and what to tell the user about texts where that is not clear."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from radgauge.core.cases import Case
from radgauge.io.records import Counted
from radgauge.text.sections import choose_section, has_headings


def take_section(
    cases: Sequence[Case], section: str, *, locations: Sequence[str], name: str, settled: Container[str] = ()
) -> tuple[list[Case], list[str]]:
    """Cases cut down to the chosen section, and notes on texts without headings or without that section.

    Of texts that all lack headings none is the first; see `cut_to_section` for the arguments.
    """
    result, counted = cut_to_section(cases, section, locations=locations, name=name, settled=settled)
    return result, section_notes(counted)


def section_notes(counted: Sequence[Counted]) -> list[str]:
    """Notes on sections as sentences."""
    return [
        str(note if note.count < note.total or "no headings" not in note.what else replace(note, after=""))
        for note in counted
        if note.count
    ]


def cut_to_section(
    cases: Sequence[Case], section: str, *, locations: Sequence[str], name: str, settled: Container[str] = ()
) -> tuple[list[Case], list[Counted]]:
    """Cases cut down to the chosen section, and counts of texts without headings or without that section.

    Args:
        cases: The cases.
        section: findings, impression, both or whole.
        locations: Where each case came from.
        name: The file, for the notes.
        settled: "reference" or "candidate", if the columns of these already are the section.
    """
    plain: dict[str, list[int]] = {"references": [], "candidates": []}
    absent: dict[str, list[int]] = {"references": [], "candidates": []}
    seen = {"references": 0, "candidates": 0}

    def cut(text: str, kind: str, index: int) -> str:
        if not text.strip() or kind[:-1] in settled:
            return text
        seen[kind] += 1
        chosen = choose_section(text, section)
        if chosen is None:
            plain[kind].append(index)
            return text
        if not chosen:
            absent[kind].append(index)
        return chosen

    result = [
        replace(
            case,
            candidate=cut(case.candidate, "candidates", index),
            references=tuple(cut(text, "references", index) for text in case.references),
        )
        for index, case in enumerate(cases)
    ]
    notes = []
    for kind, count in seen.items():
        for rows, what in (
            (absent[kind], f"{kind} have headings but no {section}, and count as empty"),
            (plain[kind], f"{kind} have no headings and are used whole"),
        ):
            first = f"; first: id {cases[rows[0]].id!r} ({locations[rows[0]]})" if rows else ""
            at = rows[0] if rows else 0
            notes.append(Counted(len(rows), count, what, first, before=f"{name}: ", first=at))
    return result, notes


def heading_notes(cases: Sequence[Case]) -> list[str]:
    """A warning for texts with headings when no section was chosen."""
    return [str(note) for note in headed_texts(cases) if note.count]


def headed_texts(cases: Sequence[Case]) -> list[Counted]:
    """The same as counts: of the references and of the candidates."""
    notes = []
    texts = {
        "references": list(dict.fromkeys((case.id, text) for case in cases for text in case.references)),
        "candidates": [(case.id, case.candidate) for case in cases],
    }
    for kind, pairs in texts.items():
        headed = [study for study, text in pairs if has_headings(text)]
        first = f" contain section headings (first: id {headed[0]!r})" if headed else ""
        advice = " and are used whole; choose with section='findings', 'impression', 'both' or 'whole'"
        at = next((index for index, case in enumerate(cases) if headed and case.id == headed[0]), 0)
        notes.append(Counted(len(headed), len(pairs), kind, first + advice, first=at))
    return notes
