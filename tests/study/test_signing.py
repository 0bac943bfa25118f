"""A study with the design lay as signatures on leaflets."""

from __future__ import annotations

from pathlib import Path

import pytest
from study_support import Rater, study_ids

from radgauge.core.errors import InputError
from radgauge.io.case_files import read_cases
from radgauge.lay.leaflets import Decision, EmbeddedWriter, sign_leaflets, write_leaflets
from radgauge.study import Store, new_study
from radgauge.study.signing import study_decisions

REPORTS = {
    "1": "Small left pleural effusion. No pneumothorax.",
    "2": "Cardiomegaly.",
    "3": "Right rib fracture.",
    "4": "Scoliosis.",
}


def answer(rater: Rater, case: str, release: str | None, *, match: str = "yes", reason: str = "") -> None:
    label = rater.label(case, "leaflet")
    view = rater.store.case(rater.id, case)
    [shown] = [each for each in view.candidates if each.label == label]
    for unit in range(len(shown.sentences)):
        rater.act(case, "set", candidate=label, field="sentence_match", unit=unit, value={"choice": match})
    for field in ("right", "complete"):
        rater.act(case, "set", candidate=label, field=field, value={"choice": "yes"})
    rater.act(case, "set", candidate=label, field="understandable", value=4)
    if release:
        rater.act(case, "set", candidate=label, field="release", value={"choice": release, "reason": reason})
    rater.submit(case)


def test_who_signs_what_and_what_is_not_released(tmp_path: Path) -> None:
    folder = tmp_path / "leaflets"
    write_leaflets(REPORTS, folder, writer=EmbeddedWriter())
    made = new_study(
        tmp_path / "sign.sqlite",
        read_cases(folder / "to_sign.jsonl").cases,
        design="lay",
        raters=["Dr Ada Example"],
    )
    with Store(made.path) as store:
        rater = Rater(store, "rater-1")
        rater.train()
        ids = study_ids(store)
        answer(rater, ids["1"], "yes")
        answer(rater, ids["2"], "no", reason="too blunt")
        answer(rater, ids["3"], "yes", match="no")  # contradicts itself
        answer(rater, ids["4"], None)  # judged, not signed
    decisions = {fields["id"]: Decision(**fields) for fields in study_decisions(made.path)}
    assert {study: (each.released, each.why) for study, each in decisions.items()} == {
        "1": (True, ""),
        "2": (False, "too blunt"),
        "3": (False, "signed, but sentence 1 is said not to match the report"),
    }
    assert decisions["1"].report == REPORTS["1"]
    assert decisions["1"].at[:2] == "20"
    found, notes = sign_leaflets(folder, list(decisions.values()))
    assert (found.signed, found.refused, found.written, notes) == (1, 2, 4, [])
    assert "signed by Dr Ada Example on" in (folder / "pages/1.html").read_text("utf-8")
    assert "DRAFT: not yet checked" in (folder / "pages/4.html").read_text("utf-8")


def test_another_design_does_not_sign(tmp_path: Path, make: object) -> None:
    made = make(raters=1, design="preference")  # type: ignore[operator]
    with pytest.raises(InputError, match="does not ask whether a text may go to the patient"):
        study_decisions(made.path)
