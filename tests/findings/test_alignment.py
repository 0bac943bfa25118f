"""Findings of one report, and two reports side by side."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.findings.aligned import Aligned
from radgauge.findings.claims import findings_of
from radgauge.findings.findings import Findings, knowledge_for
from radgauge.findings.match import align_findings
from radgauge.findings.numbers import DATA
from radgauge.findings.places import BOTH, LEFT, RIGHT
from radgauge.findings.profile import profile_of
from radgauge.findings.rules import TIERS, Context, context_of, years
from radgauge.metrics.errors import Errors
from radgauge.reader import load_lexicon, read_report

KNOWN = knowledge_for(load_lexicon())


def findings(text: str) -> Findings:
    return findings_of(read_report(text), KNOWN)


def aligned(reference: str, candidate: str) -> Aligned:
    return align_findings(findings(reference), findings(candidate), KNOWN)


def summary(found: Aligned) -> tuple[list[str], list[str], list[str]]:
    """Matched, missing and added concepts, contradictions with the latter two."""
    missing = [f.concept for f in found.missing] + [c.finding.concept for c in found.denied]
    added = [f.concept for f in found.added] + [c.finding.concept for c in found.invented]
    return [m.reference.concept for m in found.matched], missing, added


def present(text: str) -> list[str]:
    return [finding.concept for finding in findings(text).present]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Small left effusion. The effusion is new.", ["pleural_effusion"]),
        ("Opacity in the right lower lobe consistent with pneumonia.", ["lung_opacity"]),
        ("Possible atelectasis or pneumonia.", ["atelectasis"]),
        ("Left lower lobe airspace disease/consolidation.", ["airspace_disease"]),
        ("Pacemaker with leads in the right atrium.", ["pacemaker"]),
        ("Cardiomegaly. The heart is enlarged.", ["cardiomegaly"]),
        ("Small effusions cannot be excluded.", []),
        ("Overexposure limits evaluation for subtle infiltrates.", []),
        ("The clinical indication is rib fracture.", []),
        ("History: pneumonia. Findings: Clear lungs.", []),
        ("Artifact from EKG leads.", []),
        ("Prior CABG.", ["cabg"]),
        ("Left basilar atelectasis and/or infiltrate.", ["atelectasis"]),
        ("Opacities, likely edema.", ["lung_opacity"]),
        ("Left opacity. Differential includes infection, aspiration and edema.", ["lung_opacity"]),
        ("Please note that fractures may not be demonstrated.", []),
        ("Upper lobe pneumonia is not entirely excluded.", []),
        ("Dual lead pacemaker.", ["pacemaker"]),
        ("Left effusion and right effusion.", ["pleural_effusion", "pleural_effusion"]),
    ],
)
def test_findings_of_a_report(text: str, expected: list[str]) -> None:
    assert present(text) == expected


@pytest.mark.parametrize(
    ("reference", "candidate", "expected"),
    [
        ("Cardiomegaly.", "Enlarged cardiac silhouette.", (["cardiomegaly"], [], [])),
        ("Infiltrate.", "Consolidation.", (["infiltrate"], [], [])),
        ("PICC.", "Central venous catheter.", (["picc"], [], [])),
        ("Endotracheal tube.", "Nasogastric tube.", ([], ["endotracheal_tube"], ["nasogastric_tube"])),
        ("Bilateral effusions.", "Left effusion and right effusion.", (["pleural_effusion"], [], [])),
        ("Left effusion and right effusion.", "Bilateral effusions.", (["pleural_effusion"], [], [])),
        ("Right lower lobe pneumonia.", "Lungs are clear.", ([], ["pneumonia"], [])),
        ("Interstitial opacities.", "Consolidation.", ([], ["interstitial_opacity"], ["consolidation"])),
    ],
)
def test_alignment(reference: str, candidate: str, expected: tuple[list[str], list[str], list[str]]) -> None:
    assert summary(aligned(reference, candidate)) == expected


def test_bilateral_is_left_and_right() -> None:
    (match,) = aligned("Bilateral effusions.", "Left effusion. Cardiomegaly. Right effusion.").matched
    assert (match.reference.sides, match.candidate.sides) == (BOTH, BOTH)
    assert not match.differences


def test_sides_are_matched_with_their_own() -> None:
    found = aligned("Left effusion. Large right effusion.", "Large right effusion. Left effusion.")
    assert [(m.reference.sides, m.candidate.sides) for m in found.matched] == [(LEFT, LEFT), (RIGHT, RIGHT)]


def test_normal_statements_deny() -> None:
    found = aligned("Cardiomegaly. Pneumonia.", "Heart size is normal. The lungs are clear.")
    assert {each.finding.concept for each in found.denied} == {"cardiomegaly", "pneumonia"}
    assert not found.missing


def test_no_large_effusion_leaves_room_for_a_small_one() -> None:
    assert not aligned("Small left effusion.", "No large effusion.").denied
    assert aligned("Large left effusion.", "No large effusion.").denied


def test_a_structure_that_is_not_normal_is_a_claim() -> None:
    found = aligned("The spleen is not normal.", "The spleen is normal.")
    assert [each.finding.concept for each in found.denied] == ["not_normal:spleen"]
    assert summary(aligned("The spleen is not normal.", "Splenomegaly."))[1:] == ([], [])
    assert present("Heart not enlarged, hila unremarkable.") == []


def test_a_normal_study_denies_everything() -> None:
    assert aligned("Normal study.", "Right lower lobe consolidation.").invented
    assert not aligned("Normal study.", "The lungs are clear.").invented


def test_spans_point_at_the_words() -> None:
    reference, candidate = "There is cardiomegaly.", "Lungs are clear. The heart is enlarged."
    (match,) = aligned(reference, candidate).matched
    (start, end) = match.reference.spans[0]
    assert reference[start:end] == "cardiomegaly"
    assert all(candidate[a:b] for a, b in match.candidate.spans)


def test_age_in_every_form() -> None:
    assert [years(text) for text in ("073Y", "64", "15M", "2 years", "x")] == [73, 64, 1.25, 2, None]
    assert context_of({"PatientAge": "073Y", "Indication": "Fall"}) == Context(73.0, "fall")


def test_context_rules() -> None:
    tier = KNOWN.rules.tier
    assert TIERS[tier("degenerative_spine_change", Context(80.0))] == "benign"
    assert TIERS[tier("picc", Context(None, "picc placement"))] == "actionable"
    assert TIERS[tier("rib_fracture", Context(50.0, "fall from a ladder"))] == "urgent"
    assert TIERS[tier("rib_fracture")] == "actionable"


def test_every_id_of_the_data_files_is_in_the_lexicon() -> None:
    families = tomllib.loads((DATA / "families.toml").read_text())
    rules = tomllib.loads((DATA / "rules.toml").read_text())
    places = tomllib.loads((DATA / "places.toml").read_text())
    named = {c for family in families["family"] for c in family["concepts"]} | set(families["wide"]["concepts"])
    named |= {c for pair in families["apart"] for c in (*pair["these"], *pair["those"])}
    for section in ("ignored", "weak", "parts", "lasting"):
        named |= set(rules[section]["concepts"])
    named |= {c for rule in rules["context"] for c in rule["concepts"]}
    named |= {c for concepts in rules["topics"].values() for c in concepts}
    named |= {c for zone in places["zone"] for c in zone["places"]} | set(places["vague"]["places"])
    assert not named - set(load_lexicon().concepts)


SENTENCES = st.sampled_from(
    [
        *("Left effusion.", "Right effusion.", "Bilateral effusions.", "Cardiomegaly.", "The heart is normal."),
        *("No pneumothorax.", "Small right pneumothorax.", "PICC in the SVC.", "Right lower lobe opacity."),
        *("Possible pneumonia.", "Lungs are clear.", "Rib fractures.", "Endotracheal tube.", "Atelectasis."),
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(SENTENCES, min_size=1, max_size=6), st.lists(SENTENCES, min_size=1, max_size=6))
def test_every_finding_is_accounted_for(theirs: list[str], ours: list[str]) -> None:
    reference, candidate = findings(" ".join(theirs)), findings(" ".join(ours))
    found = align_findings(reference, candidate, KNOWN)
    spans_r = [s for m in found.matched for s in m.reference.spans]
    spans_r += [s for f in found.missing for s in f.spans] + [s for c in found.denied for s in c.finding.spans]
    spans_c = [s for m in found.matched for s in m.candidate.spans]
    spans_c += [s for f in found.added for s in f.spans] + [s for c in found.invented for s in c.finding.spans]
    spans_r += [s for f in found.told_r for s in f.spans]
    spans_c += [s for f in found.told_c for s in f.spans]
    assert sorted(spans_r) == sorted(s for f in reference.present for s in f.spans)
    assert sorted(spans_c) == sorted(s for f in candidate.present for s in f.spans)


@settings(max_examples=40, deadline=None)
@given(st.lists(SENTENCES, min_size=1, max_size=6))
def test_a_report_has_no_errors_against_itself(sentences: list[str]) -> None:
    report = findings(" ".join(sentences))
    profile = profile_of(align_findings(report, report, KNOWN), report, report, KNOWN)
    assert not profile.errors
    assert profile.silent == 0


@pytest.mark.parametrize(
    ("picture", "name"),
    [
        ("Focal hypodensity in the pancreatic head.", "Cyst of the pancreatic head."),
        ("Hyperintensity in the left optic nerve.", "Left optic neuritis."),
        ("Cavity in the right upper lobe.", "Lung abscess on the right."),
    ],
)
def test_what_something_looks_like_matches_a_diagnosis_in_its_place(picture: str, name: str) -> None:
    for reference, candidate in ((picture, name), (name, picture)):
        matched, missing, added = summary(aligned(reference, candidate))
        assert (len(matched), missing, added) == (1, [], [])


@pytest.mark.parametrize(
    ("picture", "name"),
    [
        ("Hyperintensity in the right optic nerve.", "Left optic neuritis."),
        ("Hypodensity in the spleen.", "Liver abscess."),
    ],
)
def test_on_the_other_side_or_in_another_organ_it_does_not(picture: str, name: str) -> None:
    matched, missing, added = summary(aligned(picture, name))
    assert (matched, len(missing), len(added)) == ([], 1, 1)


@pytest.mark.parametrize(
    ("reference", "candidate", "denied"),
    [
        ("Known 10 mm nodule in the right lower lobe.", "No new nodules.", []),
        ("New 10 mm nodule in the right lower lobe.", "No new nodules.", ["lung_nodule"]),
        ("Known 10 mm nodule in the right lower lobe.", "No nodules.", ["lung_nodule"]),
    ],
)
def test_a_denial_of_new_findings_leaves_the_known_ones(reference: str, candidate: str, denied: list[str]) -> None:
    assert [each.finding.concept for each in aligned(reference, candidate).denied] == denied


def test_a_clear_rest_leaves_the_place_of_what_was_named() -> None:
    reference = "Rounded mass in the left lower lobe. The rest of the lungs is clear."
    assert not aligned(reference, "Left lower lobe consolidation.").invented
    found = aligned(reference, "Right upper lobe consolidation.").invented
    assert [each.finding.concept for each in found] == ["consolidation"]


@pytest.mark.parametrize(
    ("reference", "candidate", "denied"),
    [
        (
            "Ground-glass nodule in the lingula.",
            "Right lung nodule. Apart from this, no nodule is detected.",
            [],
        ),
        ("Brain metastasis and brain tumor.", "Brain metastasis. No other intracranial masses.", []),
        ("Plaque in the iliac artery.", "Trunk: Normal.", []),
        ("Effusion.", "No effusion on the right.", []),
        ("Effusion.", "CT: Normal study.", ["pleural_effusion"]),
    ],
)
def test_a_denial_of_the_rest_or_of_one_part_leaves_the_others(
    reference: str, candidate: str, denied: list[str]
) -> None:
    assert [each.finding.concept for each in aligned(reference, candidate).denied] == denied


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Opacities in both lungs, mostly in the upper parts (pneumonia? Fungal infection?).",
            ["lung_opacity"],
        ),
        ("Small lymph nodes in the mediastinum.", []),
    ],
)
def test_what_is_asked_of_a_finding_is_no_finding_of_its_own(text: str, expected: list[str]) -> None:
    assert present(text) == expected


def test_findings_of_one_kind_are_told_apart_by_size_in_any_order() -> None:
    nodes = [
        "A 12 mm cervical node is enlarged.",
        "A 19 mm cervical node is enlarged.",
        "A 26 mm cervical node is enlarged.",
    ]
    found = aligned(" ".join(nodes), " ".join(reversed(nodes)))
    assert not [each for match in found.matched for each in match.differences]


def test_the_order_of_two_statements_on_one_finding_does_not_matter() -> None:
    parts = "New consolidation in the left upper lobe.", "Increased left upper lobe consolidation."
    first, second = (findings(" ".join(order)).present for order in (parts, parts[::-1]))
    assert [(each.change, each.sizes_mm) for each in first] == [(each.change, each.sizes_mm) for each in second]


@pytest.mark.parametrize(
    ("candidate", "total"),
    [
        ("Popliteal artery: Left: Severe stenosis. Right: Severe stenosis.", 0.0),
        ("Popliteal artery: Left: Severe stenosis. Right: Patent.", 1.0),
    ],
)
def test_both_sides_one_by_one_are_both(candidate: str, total: float) -> None:
    case = Case("1", candidate, ("Severe stenosis of both popliteal arteries.",))
    metric = Errors()
    values = metric.case_scores(metric.measure([case], reading=Readings()))[0]
    assert values[metric.columns.index("errors_total")] == total


def test_a_segment_is_in_its_lobe_whichever_side_the_name_carries() -> None:
    found = aligned("Opacity in the superior segment of the left lower lobe.", "Left lower lobe opacity.")
    assert not [each for each in found.matched[0].differences if each.attribute == "location"]


def test_sketches_are_concepts_of_the_lexicon() -> None:
    table = tomllib.loads((DATA / "families.toml").read_text(encoding="utf-8"))
    assert [each for each in table["sketch"]["concepts"] if each not in KNOWN.lexicon.concepts] == []


def test_a_quadrant_is_in_its_half_of_the_abdomen() -> None:
    reference = "Dilated small bowel with a transition point in the right lower quadrant."
    found = aligned(reference, "Dilated small bowel with a transition point in the right lower abdomen.")
    assert not [each for match in found.matched for each in match.differences if each.attribute == "location"]


@pytest.mark.parametrize(
    ("reference", "candidate", "categories"),
    [
        ("The spleen measures 16 cm.", "Splenomegaly.", []),
        ("The spleen measures 11 cm.", "Splenomegaly.", [0]),
        ("Common bile duct 14 mm.", "Dilated common bile duct.", []),
        ("The heart is at the upper limit of normal.", "Mild cardiomegaly.", [0]),
        ("Collapse of the lower lobe.", "The right lung is clear.", [1]),
    ],
)
def test_sizes_of_structures_and_denials_that_leave_room(
    reference: str, candidate: str, categories: list[int]
) -> None:
    found = Errors().profile(Case("1", candidate, (reference,)), reading=Readings())
    assert found is not None
    assert [error.category for error in found[0].errors] == categories
    assert not any(error.spans for error in found[0].errors if "spleen" not in reference)


def test_a_denial_of_any_abnormality_speaks_of_the_structures_of_its_sentence() -> None:
    reference = "Both main bronchi are open and no pathology is detected."
    found = aligned(reference, "Renal cyst.")
    assert [each.concept for each in found.added] == ["renal_cyst"]
    assert found.invented == ()


def test_a_denial_with_a_place_says_nothing_of_other_places() -> None:
    assert aligned("No mass in the liver.", "Mass in the left kidney.").invented == ()
    assert len(aligned("No mass in the liver.", "Mass in the liver.").invented) == 1


def test_a_question_in_brackets_belongs_to_the_description_before_it() -> None:
    assert [each.concepts for each in findings("Lung opacity (pneumonia?).").present] == [
        ("lung_opacity", "pneumonia")
    ]


def test_a_benign_description_weighs_as_the_diagnosis_that_it_suggests() -> None:
    (finding,) = findings("Bulge concerning for aortic aneurysm.").present
    assert finding.concepts == ("disc_bulge", "aortic_aneurysm")
    assert TIERS[KNOWN.rules.tier_of(finding)] == "actionable"


def test_one_clear_lung_is_half_of_clear_lungs() -> None:
    def silent(candidate: str) -> float:
        texts = findings("The lungs are clear."), findings(candidate)
        return profile_of(aligned("The lungs are clear.", candidate), *texts, KNOWN).silent

    assert silent("Both lungs are clear.") == 0.0
    assert silent("Left lung is clear. Right lung is clear.") == 0.0
    assert silent("The left lung is clear.") == pytest.approx(0.5 * silent("The heart is normal."))


def test_what_an_examination_may_miss_and_denied_causes_claim_nothing() -> None:
    assert findings("CT is less sensitive for detecting disc herniation and myelopathy.").present == ()
    found = aligned("Lesion of the liver.", "No lesion to account for the pain. Lesion of the liver.")
    assert summary(found) == (["liver_lesion"], [], [])
