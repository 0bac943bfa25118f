"""Feedback on training cases: what was expected beside what the rater answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from radgauge.study.design import Design, Field
from radgauge.study.state import CaseState, counts_of, labels, part_of


def feedback_on(
    design: Design, training: Mapping[str, Any], *, systems: Sequence[str], state: CaseState
) -> dict[str, Any]:
    """What a rater is told after a training case.

    Args:
        design: Of the study.
        training: What the case expects: {"answers": {system: {field: answer}}, "feedback": text}; the system
            "" holds the fields that are asked per case.
        systems: Systems in the rater's order of labels.
        state: What the rater submitted.

    Returns:
        {"text": the explanation, "right": how many expected answers were given, "of": how many are expected,
        "answers": [{"candidate": label, "field", "expected", "given", "right"}, ...]}.
    """
    names = {"": "", **dict(zip(labels(len(systems)), systems, strict=True))}
    label_of = {system: label for label, system in names.items()}
    lines = []
    for label, system in names.items():
        for key, expected in training["answers"].get(system, {}).items():
            asked = design.field(key)
            given = _given(design, asked, state, label)
            wanted = _wanted(asked, expected, label_of)
            lines.append(
                {"candidate": label, "field": key, "expected": wanted, "given": given, "right": wanted == given}
            )
    right = sum(bool(line["right"]) for line in lines)
    return {"text": training.get("feedback", ""), "right": right, "of": len(lines), "answers": lines}


def _given(design: Design, asked: Field, state: CaseState, label: str) -> Any:
    answer = state.answers.get(label, {}).get(asked.key)
    if asked.kind == "counts" and asked.per == "candidate":
        counts = counts_of(design, state, label=label, field=asked)
        return {part: number for part, number in counts.items() if number}
    if asked.kind in ("marks", "missing"):
        return sorted(part_of(entry) for entry in answer or ())
    if asked.per == "sentence":
        return {unit: _plain(asked, each) for unit, each in (answer or {}).items()}
    return _plain(asked, answer)


def _wanted(asked: Field, expected: Any, label_of: Mapping[str, str]) -> Any:
    """The expected answer in the same form; a candidate is named by its number in the design."""
    if asked.kind == "counts" and asked.per == "candidate":
        return {part: number for part, number in expected.items() if number}
    if asked.kind in ("marks", "missing"):
        return sorted(str(each) for each in expected)
    if asked.kind == "choice" and asked.candidates:
        return label_of.get(str(expected), expected)
    return expected


def _plain(asked: Field, answer: Any) -> Any:
    if asked.kind == "choice":
        return None if answer is None else answer["choice"]
    if asked.kind == "counts":
        return {part: number for part, number in (answer or {}).items() if number}
    return answer
