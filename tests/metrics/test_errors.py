"""The error profile: hand-counted cases, settings, explanations."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import radgauge as rg
from radgauge.core.cases import Case
from radgauge.core.error_categories import BY_KEY
from radgauge.core.errors import InputError, UsageError
from radgauge.core.metric import sums
from radgauge.core.readings import Readings
from radgauge.findings.aligned import Aligned
from radgauge.findings.match import align_findings
from radgauge.findings.weights import PRIOR
from radgauge.metrics.errors import Errors, SoftEvidence


def judge(candidate: str, reference: str, **settings: object) -> dict[str, float]:
    metric = Errors(weights="prior", **settings)  # type: ignore[arg-type]
    results = rg.score([{"id": "1", "candidate": candidate, "reference": reference}], [metric])
    return {name: value for name, value in results.records()[0].items() if name.startswith("errors")}


def counted(row: dict[str, float]) -> dict[str, float]:
    """The categories with errors."""
    return {key: row[f"errors_{key}"] for key in BY_KEY if row[f"errors_{key}"]}


COUNTS = [
    ("Left pleural effusion.", "Left pleural effusion.", {}),
    ("Lungs are clear.", "Left pleural effusion. Lungs are clear.", {"omission": 1}),
    ("No pleural effusion.", "Left pleural effusion.", {"omission": 1}),
    ("Left pleural effusion. Pneumothorax.", "Left pleural effusion.", {"false_finding": 1}),
    ("Right pleural effusion.", "Left pleural effusion.", {"location": 1}),
    ("Right upper lobe consolidation.", "Right lower lobe consolidation.", {"location": 1}),
    ("Trace left effusion.", "Large left effusion.", {"severity": 1}),
    ("There is a 4 mm nodule in the right upper lobe.", "A 12 mm right upper lobe nodule.", {"severity": 1}),
    ("Worsening left effusion.", "Left effusion.", {"false_comparison": 1}),
    ("Left effusion.", "New left effusion.", {"omitted_comparison": 1}),
    ("Possible pneumonia.", "Pneumonia.", {"false_uncertainty": 1}),
    ("Pneumonia.", "Possible pneumonia.", {"omitted_uncertainty": 1}),
]


@pytest.mark.parametrize(("candidate", "reference", "expected"), COUNTS)
def test_each_category_is_counted(candidate: str, reference: str, expected: dict[str, float]) -> None:
    row = judge(candidate, reference)
    assert counted(row) == expected
    assert row["errors_total"] == sum(expected.values())


def test_quality_by_hand() -> None:
    # one actionable finding missed of one: x = 1 * 3 / (1 + 2) = 1, (1 - 1) / (1 + 1) = 0
    assert judge("Lungs are clear.", "Left effusion. Lungs are clear.")["errors_quality"] == pytest.approx(0.0)
    # one of two actionable findings missed, and denied: x = 3 / 4, quality = (1/4) / (7/4)
    half = judge("Left effusion. The heart size is normal.", "Left effusion. Cardiomegaly.")["errors_quality"]
    assert half == pytest.approx(1 / 7)
    assert judge("Left effusion.", "Left effusion.")["errors_quality"] == 1.0


def test_a_misleading_report_is_negative() -> None:
    wrong = "Large right pneumothorax. Lung mass. Rib fractures."
    assert judge(wrong, "Left pleural effusion. No pneumothorax.")["errors_quality"] < -0.3


def test_significance_follows_the_tier() -> None:
    assert judge("Lungs are clear.", "Lungs are clear. Pneumothorax.")["errors_omission_significant"] == 1
    row = judge("Lungs are clear.", "Lungs are clear. Degenerative changes of the spine.")
    assert (row["errors_omission"], row["errors_omission_significant"]) == (1, 0)


def test_context_shifts_significance() -> None:
    case = {"id": "1", "candidate": "Lungs are clear.", "reference": "Lungs are clear. PICC tip in the SVC."}
    plain = rg.score([case], [Errors(weights="prior")])["errors"]
    asked = {**case, "indication": "PICC placement"}
    shifted = rg.score([asked], [Errors(weights="prior")])["errors"]
    ignored = rg.score([asked], [Errors(weights="prior", context=False)])["errors"]
    assert plain.column("errors_significant")[0] == 0
    assert shifted.column("errors_significant")[0] == 1
    assert ignored.headline[0] == plain.headline[0]


def test_the_best_reference_counts() -> None:
    metric = Errors()
    case = rg.Case("1", "Left effusion.", ("Cardiomegaly.", "Left effusion."))
    assert metric.measure([case], reading=Readings())[0, 0] == 1.0
    explained = metric.explain(case, reading=Readings())
    assert explained is not None
    assert all(note.data["reference"] == 1 for note in explained.notes)


def test_nothing_read_is_not_judged() -> None:
    cases = [
        {"id": "1", "candidate": "xyzzy", "reference": "Left effusion."},
        {"id": "2", "candidate": "Left effusion.", "reference": "xyzzy"},
    ]
    scores = rg.score(cases, ["errors"])["errors"]
    assert np.isnan(scores.values).all()
    assert list(scores.reasons.values()) == [
        "no finding and no normal statement was read in the candidate",
        "no finding and no normal statement was read in the reference",
    ]


def test_explanations_say_what_is_wrong_and_where() -> None:
    reference = "Small left pleural effusion. Cardiomegaly. No pneumothorax."
    candidate = "Small right pleural effusion. Heart size is normal. Right pneumothorax."
    explained = Errors().explain(rg.Case("1", candidate, (reference,)), reading=Readings())
    assert explained is not None
    found = {note.kind: note for note in explained.notes}
    assert found["changed"].data["category_key"] == "location"
    assert "side is left in the reference, right in the candidate" in found["changed"].text
    contradicted = [note for note in explained.notes if note.kind == "contradicted"]
    assert {note.data["concept"] for note in contradicted} == {"cardiomegaly", "pneumothorax"}
    for note in explained.notes:
        for start, end in note.reference_spans:
            assert reference[start:end].strip()
    costs = [note.data["cost"] for note in explained.notes if "cost" in note.data]
    assert costs == sorted(costs, reverse=True)


def test_a_file_of_weights(tmp_path: Path) -> None:
    table = json.loads(PRIOR.as_json())
    table["categories"]["omission"] = 0.0
    path = tmp_path / "weights.json"
    path.write_text(json.dumps(table))
    case = {"id": "1", "candidate": "Lungs are clear.", "reference": "Left effusion. Lungs are clear."}
    assert rg.score([case], [Errors(weights=str(path))])["errors"].headline[0] == 1.0
    assert Errors(weights=str(path)).signature() != Errors().signature()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "weights must be JSON"),
        ("[]", "weights must be a JSON object, got list"),
        ("{}", "'tiers' must be an object with the keys urgent"),
    ],
)
def test_faulty_weights(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "weights.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        Errors(weights=str(path))


def test_faulty_numbers_in_weights(tmp_path: Path) -> None:
    for change, message in ((("base", 0), "'base' must be greater than 0"), (("hedged", -1), "from 0 to 1000")):
        table = json.loads(PRIOR.as_json())
        table[change[0]] = change[1]
        path = tmp_path / f"{change[0]}.json"
        path.write_text(json.dumps(table))
        with pytest.raises(InputError, match=message):
            Errors(weights=str(path))


def test_missing_files() -> None:
    with pytest.raises(InputError, match="'default', 'prior' or the path of a JSON"):
        Errors(weights="nowhere.json")
    with pytest.raises(UsageError, match="lexicon must be a TOML file"):
        Errors(lexicon="nowhere.toml")


@pytest.mark.long
def test_a_lexicon_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[[concept]]\nid = "frobnosis"\nkind = "disease"\nname = "frobnosis"\ntier = "urgent"\n'
        'lay = "an invented disease"\nregions = ["chest"]\n'
    )
    row = judge("Lungs are clear.", "Lungs are clear. Frobnosis.", lexicon=str(path))
    assert row["errors_omission_significant"] == 1
    assert not math.isnan(row["errors_quality"])


def test_recall_and_false_alarms_are_of_the_stratum_that_has_them() -> None:
    abnormal = judge("Left pleural effusion.", "Left pleural effusion. Pneumothorax. Cardiomegaly.")
    assert abnormal["errors_recall"] == pytest.approx(1 / 3)
    assert abnormal["errors_precision"] == 1
    assert abnormal["errors_f1"] == pytest.approx(2 / (2 + 0 + 2))
    assert abnormal["errors_false_alarms"] is None
    assert abnormal["errors_quality_abnormal"] == abnormal["errors_quality"]
    assert abnormal["errors_quality_normal"] is None
    normal = judge("Lung mass. Pneumothorax. Scoliosis.", "The lungs are clear. Degenerative change of the spine.")
    assert normal["errors_recall"] is None
    assert (normal["errors_precision"], normal["errors_f1"]) == (0, 0)
    assert normal["errors_false_alarms"] == 2
    assert normal["errors_quality_normal"] == normal["errors_quality"]
    both = judge("The lungs are clear.", "No acute disease.")
    assert (both["errors_f1"], both["errors_precision"], both["errors_recall"]) == (None, None, None)


@pytest.mark.parametrize(
    ("candidate", "reference"),
    [
        ("No pneumothorax. Left lower lobe.", "Large left lower lobe opacity."),
        ("Right pleural effusion.", "Left pleural effusion."),
        ("Right mid lung mass. Heart size is normal.", "Left mid lung mass. Heart size is normal."),
        ("The lungs are clear.", "Large right pneumothorax."),
        ("No pneumothorax.", "Large right pneumothorax."),
    ],
)
def test_only_a_match_with_the_right_side_is_reported(candidate: str, reference: str) -> None:
    row = judge(candidate, reference)
    assert (row["errors_recall"], row["errors_f1"]) == (0, 0)
    assert judge(reference, reference)["errors_recall"] == 1
    assert judge(f"{reference} {candidate}", reference)["errors_recall"] == 1


def test_a_side_that_the_candidate_leaves_out_is_not_the_wrong_one() -> None:
    row = judge("Pleural effusion.", "Left pleural effusion.")
    assert (row["errors_recall"], row["errors_precision"]) == (1, 1)


def test_a_wrong_side_is_a_miss_and_a_false_finding() -> None:
    case = Case("1", "Right pleural effusion.", ("Left pleural effusion.",))
    scores = rg.score([case], ["errors"])["errors"]
    counts = [
        scores.rows[0, scores.columns.index(name)] for name in ("errors_f1", "errors_precision", "errors_recall")
    ]
    assert counts == [0, 1, 1]  # correct, false, missed: the statistics behind the three columns


def test_f1_of_a_set_is_sums_over_sums() -> None:
    reference = "Left pleural effusion. Pneumothorax. Cardiomegaly."
    cases = [
        Case("1", reference, (reference,)),  # 3 correct
        Case("2", "Lung mass.", ("The lungs are clear.",)),  # 1 false
        Case("3", "The heart is normal.", ("Left pleural effusion.",)),  # 1 missed
        Case("4", "The lungs are clear.", ("No acute disease.",)),  # nothing to report
    ]
    scores = rg.score(cases, ["errors"])["errors"]
    values = dict(zip(scores.columns, scores.corpus_scores(*sums(scores.rows)), strict=True))
    assert values["errors_precision"] == pytest.approx(3 / 4)
    assert values["errors_recall"] == pytest.approx(3 / 4)
    assert values["errors_f1"] == pytest.approx(6 / 8)
    assert scores.system_headline == "errors_f1"


@pytest.mark.parametrize(
    "template", ["The lungs are clear. The heart is normal.", "No acute cardiopulmonary disease."]
)
def test_a_constant_normal_report_gets_an_f1_of_zero(template: str) -> None:
    references = ["The lungs are clear."] * 8 + ["Large right pneumothorax. The heart is normal."] * 2
    cases = [Case(str(n), template, (text,), "template") for n, text in enumerate(references)]
    scores = rg.score(cases, ["errors"])["errors"]
    values = dict(zip(scores.columns, scores.corpus_scores(*sums(scores.rows)), strict=True))
    assert (values["errors_f1"], values["errors_recall"], values["errors_false_alarms"]) == (0, 0, 0)
    assert math.isnan(values["errors_precision"])


def test_the_denominator_of_recall_is_the_reference_alone() -> None:
    reference = (
        "Bibasilar opacities. Opacity in the left lower lobe. Left chest tube ends in the soft tissues. Mass."
    )
    candidates = [
        "Left lower lobe pneumonia.",
        "Opacities at both bases. Chest tube in good position.",
        "The lungs are clear.",
        "Pneumonia in the left base, atelectasis in the right base. Fracture of the sixth rib. Lung mass.",
        reference,
    ]
    scores = rg.score([Case(str(n), text, (reference,)) for n, text in enumerate(candidates)], ["errors"])[
        "errors"
    ]
    correct, missed = (scores.rows[:, scores.columns.index(name)] for name in ("errors_f1", "errors_recall"))
    assert len(set((correct + missed).tolist())) == 1
    assert (correct >= 0).all()


def test_expected_findings_in_a_normal_report_cost_little() -> None:
    normal = "The lungs are clear. Heart size is normal. No pleural effusion."
    quality = judge(f"{normal} Mild degenerative changes of the spine. Atherosclerotic aorta.", normal)
    assert 0.3 < quality["errors_quality"] < 0.9
    assert quality["errors_significant"] == 0
    assert judge(f"{normal} Lung mass.", normal)["errors_quality"] < 0.1


def test_what_was_not_understood_is_shown_and_costs() -> None:
    reference = "Left pleural effusion. Blorptic quandary vexes the frobnitz."
    row = judge("Left pleural effusion.", reference)
    assert row["errors_coverage"] < 0.9
    assert row["errors_low_confidence"] == 1
    assert row["errors_quality"] < 1
    assert judge(reference, reference)["errors_quality"] == 1
    case = Case("1", "Left pleural effusion.", (reference,))
    explained = Errors().explain(case, reading=Readings())
    assert explained is not None
    assert any("low confidence" in note.text for note in explained.notes)
    skipped = rg.score([case], [Errors(low_confidence="skip")])["errors"]
    assert math.isnan(skipped.headline[0])
    assert skipped.reasons[case.key] == "too little of the texts was understood"


def test_explaining_aligns_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted_alignment(*given: Any) -> Aligned:
        calls.append(given)
        return align_findings(*given)

    monkeypatch.setattr("radgauge.metrics.errors.align_findings", counted_alignment)
    Errors().explain(Case("1", "Left effusion.", ("Right effusion.",)), reading=Readings())
    assert len(calls) == 1


def test_better_for_worse_is_a_significant_error() -> None:
    row = judge("The left effusion has decreased.", "The left effusion has increased.")
    assert row["errors_false_comparison_significant"] == 1
    assert judge("Stable left effusion.", "Left effusion.")["errors_total"] == 0


def test_a_report_that_denies_its_own_finding_leaves_it_open() -> None:
    reference = "Right pneumothorax. Cardiomegaly."
    row = judge(f"{reference} No pneumothorax.", reference)
    assert row["errors_false_uncertainty_significant"] == 1


def test_an_invented_finding_where_one_is_missed_costs_less_than_one_elsewhere() -> None:
    reference = "Stone in the left kidney."
    same = judge("Infarct of the left kidney.", reference)["errors_quality"]
    elsewhere = judge("Infarct of the spleen.", reference)["errors_quality"]
    assert same > elsewhere


def test_a_step_of_severity_is_an_error_in_a_significant_finding_only() -> None:
    row = judge("Moderate left effusion.", "Mild left effusion.")
    assert (row["errors_severity"], row["errors_severity_significant"]) == (1, 0)
    assert judge("Moderate scoliosis.", "Mild scoliosis.")["errors_total"] == 0


FREE = "There is some fluid at the right base, and a big heart."
REFERENCE = "Cardiomegaly. Small left pleural effusion. No pneumothorax."


def test_soft_evidence_moves_the_quality_of_free_wordings_by_the_parts_in_the_explanation() -> None:
    soft = Errors().explain(Case("1", FREE, (REFERENCE,)), reading=Readings())
    alone = Errors(soft="off").explain(Case("1", FREE, (REFERENCE,)), reading=Readings())
    assert soft is not None
    assert alone is not None
    (note,) = (note for note in soft.notes if "gate" in note.data)
    assert (note.kind, note.data["gate"], note.data["errors_alone"]) == (
        "info",
        1.0,
        alone.values["errors_quality"],
    )
    evidence = 0.6 * (note.data["entities"] - 0.55) + 0.2 * (note.data["labels"] - 0.6)
    quality = alone.values["errors_quality"]
    assert 0.01 < abs(evidence) < 0.5
    assert soft.values["errors_quality"] == pytest.approx(quality + evidence * (1 - quality**2))
    assert f"soft evidence moves it by {note.data['moved']:+.2f} (entities agree" in note.text
    assert not [note for note in alone.notes if "gate" in note.data]
    counts = [name for name in soft.values if name != "errors_quality" and "quality" not in name]
    np.testing.assert_equal([soft.values[name] for name in counts], [alone.values[name] for name in counts])


@pytest.mark.parametrize(
    ("candidate", "gate"),
    [
        (REFERENCE, 0.0),
        (REFERENCE.replace("left", "right"), 0.0),
        (" ".join(reversed(REFERENCE.split(". "))).lower(), 0.0),
        (FREE, 1.0),
        ("Heart enlarged. Left effusion.", (0.4 - 4 / 15) / 0.25),  # 2 of 6 words and pairs, and of 9, are common
    ],
)
def test_soft_evidence_counts_nothing_between_near_copies(candidate: str, gate: float) -> None:
    explained = Errors().explain(Case("1", candidate, (REFERENCE,)), reading=Readings())
    assert explained is not None
    (note,) = (note for note in explained.notes if "gate" in note.data)
    assert note.data["gate"] == pytest.approx(gate, abs=0.01)


def test_soft_evidence_that_is_missing_moves_nothing() -> None:
    no_entities = SoftEvidence(1.0, math.nan, 1.0)
    assert no_entities.parts == {"entities": 0.0, "labels": pytest.approx(0.08)}
    assert no_entities.applied_to(0.5) == pytest.approx(0.5 + 0.08 * 0.75)
    assert "no entities, labels agree 1.00, +0.08" in no_entities.note(0.5).text
    assert SoftEvidence(0.0).applied_to(0.9) == 0.9


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_soft_evidence_keeps_the_ends_and_the_order(
    a: float, b: float, gate: float, entities: float, labels: float
) -> None:
    evidence = SoftEvidence(gate, entities, labels)
    low, high = (evidence.applied_to(quality) for quality in sorted((a, b)))
    assert -1 <= low <= high <= 1
    assert (evidence.applied_to(1.0), evidence.applied_to(-1.0)) == (1.0, -1.0)
