"""One section of every case, and what to tell the user about texts where that is not clear."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from radgauge.cases import Case
from radgauge.text.sections import choose_section, has_headings


def take_section(
    cases: Sequence[Case], section: str, *, places: Sequence[str], name: str, settled: Container[str] = ()
) -> tuple[list[Case], list[str]]:
    """Cases cut down to the chosen section, and notes on texts without headings or without that section.

    Args:
        cases: The cases.
        section: findings, impression, both or whole.
        places: Where each case came from.
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
        if found := absent[kind]:
            notes.append(
                f"{name}: {len(found)} of {count} {kind} have headings but no {section}, and count as empty; "
                f"first: id {cases[found[0]].id!r} ({places[found[0]]})"
            )
        if found := plain[kind]:
            first = f"; first: id {cases[found[0]].id!r} ({places[found[0]]})" if len(found) < count else ""
            notes.append(f"{name}: {len(found)} of {count} {kind} have no headings and are used whole{first}")
    return result, notes


def heading_notes(cases: Sequence[Case]) -> list[str]:
    """A warning for texts with headings when no section was chosen."""
    notes = []
    texts = {
        "references": list(dict.fromkeys((case.id, text) for case in cases for text in case.references)),
        "candidates": [(case.id, case.candidate) for case in cases],
    }
    for kind, pairs in texts.items():
        found = [study for study, text in pairs if has_headings(text)]
        if found:
            notes.append(
                f"{len(found)} of {len(pairs)} {kind} contain section headings (first: id {found[0]!r}) "
                "and are used whole; choose with section='findings', 'impression', 'both' or 'whole'"
            )
    return notes
