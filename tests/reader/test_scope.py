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


def test_plain_normality_stays_normality() -> None:
    assert states("The heart is normal. The renal artery is patent.") == {"normal": "present", "patent": "present"}
    assert states("No effusion, and the heart is normal.")["normal"] == "present"


def test_a_denied_normality_without_an_opposite_shows_its_structure() -> None:
    mention = first("The carpal arcs are not maintained.", "abnormality")
    assert (mention.text, mention.form) == ("carpal arcs are not maintained", "clause")
    assert states("The fat planes around the aorta are not preserved.")["loss_of_fat_plane"] == "present"


def test_only_the_alternatives_of_versus_are_open() -> None:
    found = states("Dense consolidation, atelectasis versus pneumonia.")
    assert found == {"consolidation": "present", "atelectasis": "uncertain", "pneumonia": "uncertain"}


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


def test_headings_mean_the_same_everywhere() -> None:
    for heading, section in (("INTERPRETATION", "impression"), ("OBSERVATIONS", "findings")):
        text = f"{heading}: Small effusion."
        assert [part.name for part in split_sections(text)] == [section]
        assert [sentence.section for sentence in read_report(text).sentences] == [section]
        assert SPOKEN_AS[heading.lower()] == section


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


def test_what_runs_on_gives_its_side_to_nothing_before() -> None:
    text = "No pneumothorax the left lung is clear."
    assert first(text, "pneumothorax").attributes.laterality == ""
    assert first(text, "clear").attributes.laterality == "left"
