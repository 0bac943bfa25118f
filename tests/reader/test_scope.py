"""Classes of sentences that are easily misread: polarity, scope, change, hedges, sides, sizes."""

from __future__ import annotations

import pytest

from radgauge.reader import Mention, read_report
from radgauge.text.sections import SPOKEN_AS, split_sections


def states(text: str) -> dict[str, str]:
    said = [each for each in read_report(text).mentions if each.kind != "anatomy" and each.form != "implied"]
    return {each.concept: each.assertion for each in said}


def first(text: str, concept: str) -> Mention:
    return next(each for each in read_report(text).mentions if each.concept == concept)


@pytest.mark.parametrize(
    ("text", "concept", "assertion"),
    [
        ("The trachea is not midline.", "tracheal_deviation", "present"),
        ("The popliteal vein does not compress.", "dvt", "present"),
        ("The popliteal vein compresses fully.", "dvt", "absent"),
        ("The common femoral vein fails to compress.", "dvt", "present"),
        ("The celiac artery does not opacify.", "occlusion", "present"),
        ("The left renal artery is not patent.", "renal_artery_thrombosis", "present"),
        ("The renal artery is no longer patent.", "renal_artery_thrombosis", "present"),
        ("The gallbladder wall is not thin.", "gallbladder_wall_thickening", "present"),
        ("The gallbladder is not free of stones.", "cholelithiasis", "present"),
        ("There is no perfusion of the left lower lobe.", "perfusion_defect", "present"),
        ("The heart is not normal in size.", "cardiomegaly", "present"),
        ("The costophrenic angle is not sharp.", "costophrenic_angle_blunting", "present"),
        ("The pancreas cannot be called normal.", "abnormality", "present"),
        ("The spleen is no longer within normal limits.", "abnormality", "present"),
    ],
)
def test_denied_normality_is_an_abnormality(text: str, concept: str, assertion: str) -> None:
    assert states(text)[concept] == assertion


def test_plain_normality_stays_normality() -> None:
    assert states("The heart is normal. The renal artery is patent.") == {"normal": "present", "patent": "present"}
    assert states("No effusion, and the heart is normal.")["normal"] == "present"


def test_a_denied_normality_without_an_opposite_shows_its_structure() -> None:
    mention = first("The carpal arcs are not maintained.", "abnormality")
    assert (mention.text, mention.form) == ("carpal arcs are not maintained", "clause")
    assert states("The fat planes around the aorta are not preserved.")["loss_of_fat_plane"] == "present"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No lung markings laterally, consistent with pneumothorax.", {"pneumothorax": "present"}),
        ("No flow in the left testis, diagnostic of torsion.", {"testicular_torsion": "present"}),
        ("No bowel gas is seen, suspicious for ileus.", {"ileus": "uncertain"}),
        ("No opacity consistent with pneumonia.", {"pneumonia": "absent"}),
        ("No finding suggestive of pneumonia.", {"pneumonia": "absent"}),
        ("No evidence of consolidation to suggest pneumonia.", {"pneumonia": "absent"}),
    ],
)
def test_a_conclusion_ends_a_denial(text: str, expected: dict[str, str]) -> None:
    found = states(text)
    assert {concept: found[concept] for concept in expected} == expected


@pytest.mark.parametrize(
    ("text", "denied", "stated"),
    [
        ("No fracture other than a healed clavicle fracture.", "fracture", "healed_clavicle_fracture"),
        ("Nil abnormality bar a small hiatal hernia.", "abnormality", "hiatal_hernia"),
        ("No effusion save for trace atelectasis.", "pleural_effusion", "atelectasis"),
        ("No consolidation apart from mild atelectasis.", "consolidation", "atelectasis"),
    ],
)
def test_an_exception_is_there(text: str, denied: str, stated: str) -> None:
    found = states(text)
    assert (found[denied], found[stated]) == ("absent", "present")


@pytest.mark.parametrize(
    ("text", "concept", "assertion", "change"),
    [
        ("No further increase in the left effusion.", "pleural_effusion", "present", "stable"),
        ("No interval resolution of the pneumothorax.", "pneumothorax", "present", "stable"),
        ("There is no evidence that the aneurysm has grown.", "aneurysm", "present", "stable"),
        ("The effusion has shrunk.", "pleural_effusion", "present", "decreased"),
        ("The mass has grown.", "mass", "present", "increased"),
        ("The chest tube was pulled.", "chest_tube", "absent", "resolved"),
        ("The nasogastric tube has been taken out.", "nasogastric_tube", "absent", "resolved"),
        ("The pneumothorax has gone.", "pneumothorax", "absent", "resolved"),
        ("The endotracheal tube was withdrawn by 2 cm.", "endotracheal_tube", "present", ""),
        ("The abscess has gone from 50 to 20 mm.", "abscess", "present", "decreased"),
        ("The nodule measures 9 mm, previously 6 mm.", "nodule", "present", "increased"),
    ],
)
def test_change_and_its_denial(text: str, concept: str, assertion: str, change: str) -> None:
    mention = first(text, concept)
    assert (mention.assertion, mention.attributes.change) == (assertion, change)


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("Pneumonia is unlikely.", "pneumonia"),
        ("Pneumonia is favored over edema.", "pneumonia"),
        ("Metastasis is less likely.", "metastasis"),
        ("Suspected but unproven pneumonia.", "pneumonia"),
        ("Absence of a fracture cannot be assumed.", "fracture"),
        ("Pneumonia cannot be confidently excluded.", "pneumonia"),
    ],
)
def test_hedges_leave_a_finding_open(text: str, concept: str) -> None:
    assert states(text)[concept] == "uncertain"


def test_only_the_alternatives_of_versus_are_open() -> None:
    found = states("Dense consolidation, atelectasis versus pneumonia.")
    assert found == {"consolidation": "present", "atelectasis": "uncertain", "pneumonia": "uncertain"}


@pytest.mark.parametrize(
    ("text", "concept", "side"),
    [
        ("Left wrist: no fracture; mild soft tissue swelling.", "soft_tissue_swelling", "left"),
        ("Opacity in the lingula.", "lung_opacity", "left"),
        ("Right basilar opacity, consistent with pneumonia.", "pneumonia", "right"),
        ("Right hilar mass, possible carcinoma.", "malignancy", "right"),
        ("Left effusion with compressive atelectasis.", "compressive_atelectasis", "left"),
        ("A mass occupies the right kidney.", "renal_mass", "right"),
        ("Left lower lobe opacity. This may represent aspiration.", "aspiration", "left"),
        ("Right renal cyst. It contains septa.", "septation", "right"),
        ("Left apical mass. There is an effusion on that side.", "pleural_effusion", "left"),
    ],
)
def test_a_side_said_once_holds_for_what_belongs_to_it(text: str, concept: str, side: str) -> None:
    assert first(text, concept).attributes.laterality == side


def test_a_side_is_not_handed_to_what_has_none() -> None:
    assert first("Right effusion with cardiomegaly.", "cardiomegaly").attributes.laterality == ""
    assert first("The left lung is clear; effusion is present.", "pleural_effusion").attributes.laterality == ""


def test_sides_said_apart_are_two_findings() -> None:
    found = [
        (each.attributes.laterality, each.attributes.locations)
        for each in read_report("Nodules in the right upper lobe and left lower lobe.").mentions
        if each.kind == "abnormality"
    ]
    assert found == [("right", ("right_upper_lobe",)), ("left", ("left_lower_lobe",))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The right effusion has decreased while the left has increased.",
            [("right", "present", "decreased"), ("left", "present", "increased")],
        ),
        ("The right effusion is large; the left is not.", [("right", "present", ""), ("left", "absent", "")]),
    ],
)
def test_a_finding_spoken_of_by_its_side(text: str, expected: list[tuple[str, str, str]]) -> None:
    found = [each for each in read_report(text).mentions if each.concept == "pleural_effusion"]
    assert [(e.attributes.laterality, e.assertion, e.attributes.change) for e in found] == expected


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Fracture of the radius, sparing the ulna.", "ulna"),
        ("Erosions in the hands, none in the feet.", "foot"),
        ("Metastases in the liver; the spleen is spared.", "spleen"),
    ],
)
def test_a_spared_place_denies_the_finding_there(text: str, place: str) -> None:
    (denied,) = [each for each in read_report(text).mentions if each.assertion == "absent"]
    assert denied.attributes.locations == (place,)
    assert denied.form == "ellipsis"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Left adrenal nodule of 14 mm, right renal stone of 6 mm.", [(14.0,), (6.0,)]),
        ("A 14 mm nodule and a 3 cm mass.", [(14.0,), (30.0,)]),
        ("Aneurysm of 45 mm, iliac artery 12 mm.", [(45.0,)]),
        ("Mass in the liver measuring 2 x 3 cm.", [(20.0, 30.0)]),
    ],
)
def test_every_size_goes_to_what_it_measures(text: str, expected: list[tuple[float, ...]]) -> None:
    found = [each for each in read_report(text).mentions if each.kind in ("abnormality", "disease")]
    assert [each.attributes.sizes_mm for each in found] == expected


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("The mass pushes the trachea to the right.", "tracheal_deviation"),
        ("The left hemidiaphragm rides high.", "elevated_hemidiaphragm"),
        ("The tumor erodes the fourth rib.", "rib_lesion"),
        ("The feeding tube is coiled in the neck.", "device_malposition"),
        ("Blood in the lateral ventricles.", "intraventricular_hemorrhage"),
        ("Gas in the bowel wall.", "pneumatosis"),
    ],
)
def test_verbs_and_places_make_findings(text: str, concept: str) -> None:
    assert states(text)[concept] == "present"


def test_headings_mean_the_same_everywhere() -> None:
    for heading, section in (("INTERPRETATION", "impression"), ("OBSERVATIONS", "findings")):
        text = f"{heading}: Small effusion."
        assert [part.name for part in split_sections(text)] == [section]
        assert [sentence.section for sentence in read_report(text).sentences] == [section]
        assert SPOKEN_AS[heading.lower()] == section


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("The heart has enlarged since the prior study.", "cardiomegaly"),
        ("The cardiac silhouette has enlarged.", "enlarged_cardiac_silhouette"),
    ],
)
def test_a_structure_that_has_grown_is_enlarged(text: str, concept: str) -> None:
    mention = first(text, concept)
    assert (mention.assertion, mention.attributes.change) == ("present", "increased")


def test_a_word_that_makes_a_finding_with_its_organ_was_read() -> None:
    reading = read_report("Fluid in the left pleural space.")
    assert (reading.coverage, reading.unread) == (1.0, ())


def test_what_a_hedge_names_with_the_is_there() -> None:
    found = states("Suspicious for compression of the cord by the epidural mass.")
    assert (found["cord_compression"], found["spinal_epidural_tumor"]) == ("uncertain", "present")


def test_spared_places_with_findings_of_their_own_are_told_apart() -> None:
    found = states("Blood is confined to the subdural space, with none in the ventricles or basal cisterns.")
    assert found == {
        "subdural_hematoma": "present",
        "intraventricular_hemorrhage": "absent",
        "subarachnoid_hemorrhage": "absent",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("No perforation: uncomplicated diverticulitis.", ("diverticulitis", "present")),
        ("No evidence of: pneumothorax, effusion.", ("pleural_effusion", "absent")),
        ("Pneumothorax: none.", ("pneumothorax", "absent")),
        ("No effusion the lungs are hyperinflated.", ("hyperinflation", "present")),
        ("No effusion or pneumothorax heart is enlarged.", ("cardiomegaly", "present")),
        ("No nodule in the lungs is seen.", ("lung_nodule", "absent")),
    ],
)
def test_a_denial_ends_at_a_colon_and_at_a_sentence_without_a_mark(text: str, said: tuple[str, str]) -> None:
    concept, assertion = said
    assert states(text)[concept] == assertion


def test_what_runs_on_gives_its_side_to_nothing_before() -> None:
    text = "No pneumothorax the left lung is clear."
    assert first(text, "pneumothorax").attributes.laterality == ""
    assert first(text, "clear").attributes.laterality == "left"


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("The effusion has almost completely cleared.", "decreased"),
        ("The effusion has all but disappeared.", "decreased"),
        ("The effusion is virtually gone.", "decreased"),
        ("Almost complete resolution of the effusion.", "decreased"),
        ("The effusion has not completely cleared.", "decreased"),
        ("The effusion has mostly cleared.", "decreased"),
        ("The effusion has not cleared.", "stable"),
        ("The effusion has completely cleared.", "resolved"),
        ("The effusion is heavier on the right.", ""),
    ],
)
def test_what_has_almost_gone_is_there(text: str, change: str) -> None:
    effusion = first(text, "pleural_effusion")
    assert (effusion.assertion, effusion.attributes.change) == (
        "absent" if change == "resolved" else "present",
        change,
    )


@pytest.mark.parametrize(
    ("text", "concept", "assertion", "side"),
    [
        ("No effusion except for a sliver on the left.", "pleural_effusion", "present", "left"),
        ("No fracture apart from the right ankle.", "fracture", "present", "right"),
        ("No effusion save for a trace on the right.", "pleural_effusion", "present", "right"),
        ("No effusion except as described above.", "pleural_effusion", "absent", ""),
        ("No effusion other than mild edema.", "pleural_effusion", "absent", ""),
    ],
)
def test_what_is_denied_but_for_a_place_is_there(text: str, concept: str, assertion: str, side: str) -> None:
    found = first(text, concept)
    assert (found.assertion, found.attributes.laterality) == (assertion, side)


@pytest.mark.parametrize(
    ("text", "concept", "side"),
    [
        ("The right hemidiaphragm is lost behind the heart.", "silhouette_sign", "right"),
        ("The right heart border has vanished.", "silhouette_sign", ""),
        ("Gray-white differentiation is lost.", "loss_of_gray_white_differentiation", ""),
        ("The heart exceeds the upper limit of normal.", "cardiomegaly", ""),
        ("The femoral head lies behind the acetabulum.", "hip_dislocation", ""),
        ("The humeral head lies below the glenoid.", "shoulder_dislocation", ""),
        ("The placenta crosses the internal os.", "placenta_previa", ""),
        ("Dense left MCA.", "dense_mca_sign", "left"),
        ("Mediastinal shift away from the left.", "mediastinal_shift", ""),
        ("The lung has re-expanded.", "re_expansion", ""),
    ],
)
def test_findings_told_by_what_a_structure_does(text: str, concept: str, side: str) -> None:
    found = first(text, concept)
    assert (found.assertion, found.attributes.laterality) == ("present", side)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("The nodule is twice the size it was.", "increased"),
        ("The nodule is half its former size.", "decreased"),
    ],
)
def test_sizes_told_by_what_they_were(text: str, change: str) -> None:
    assert first(text, "nodule").attributes.change == change
