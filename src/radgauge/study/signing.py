"""Signatures of plain texts: the answers of a study with the design `lay` as decisions on leaflets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from radgauge.core.errors import InputError
from radgauge.study.answers import Judged, submitted
from radgauge.study.check import require_proof
from radgauge.study.judgments import study_cases
from radgauge.study.store import Store

RELEASE, MATCH, RIGHT = "release", "sentence_match", "right"


def study_decisions(path: Path | str) -> list[dict[str, Any]]:
    """Return radiologists' decisions about the plain texts of a study.

    The events are replayed first. Only submitted cases count, and only candidates for which the question whether
    the text may go to the patient was answered. A text that is called right with a sentence that does not match is
    not released: one of the two answers is a slip.

    Args:
        path: The file of the study.

    Returns:
        The fields of a `radgauge.lay.leaflets.Decision` for each text.
    """
    require_proof(path)
    with Store(path, readonly=True) as store:
        if RELEASE not in {field.key for field in store.design.fields}:
            raise InputError(
                f"{Path(path).name}: the design {store.design.name} does not ask whether a text may go to the "
                "patient; make the study with the design lay"
            )
        texts = {case.key: case for case in study_cases(store)}
        decisions = []
        for judgment in submitted(store, roles=("rater", "adjudicator")):
            for label, system in judgment.able().items():
                answered = judgment.state.answers.get(label, {})
                choice = answered.get(RELEASE, {}).get("choice")
                if choice is None:
                    continue
                case = texts[judgment.study, system]
                why = _objection(answered) if choice == "yes" else _reason(answered)
                decisions.append(
                    {
                        "id": judgment.study,
                        "by": judgment.person.name,
                        "at": _when(store, judgment),
                        "report": case.references[0],
                        "plain": case.candidate,
                        "released": not why,
                        "why": why,
                    }
                )
    return decisions


def _reason(answers: Mapping[str, Any]) -> str:
    return str(answers[RELEASE].get("reason") or "").strip() or "the radiologist did not release it"


def _objection(answers: Mapping[str, Any]) -> str:
    """Reason against a signature in the signer's own answers."""
    wrong = [int(unit) + 1 for unit, answer in answers.get(MATCH, {}).items() if answer.get("choice") == "no"]
    if wrong:
        return f"signed, but sentence {min(wrong)} is said not to match the report"
    if answers.get(RIGHT, {}).get("choice", "yes") != "yes":
        return "signed, but not everything is said to be right"
    return ""


def _when(store: Store, judged: Judged) -> str:
    """Time of the last submission."""
    events = store.events(person_id=judged.person.id, case=judged.case)
    return max(event.time for event in events if event.kind == "submit")
