"""Verbs and comparisons that say a finding, words that take their meaning from their sentence, sizes of before."""

from __future__ import annotations

import pytest

from radgauge.reader import read_report


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Stone at the base of the appendix.", {"appendix"}),
        ("Thrombus in the left femoral and popliteal veins.", {"common_femoral_vein", "popliteal_vein"}),
        ("Nodule in the lower pole of the left thyroid lobe.", {"thyroid_gland"}),
        ("Opacity at the right base.", {"lung_base"}),
    ],
)
def test_a_word_that_many_organs_share_takes_its_sense_from_the_sentence(text: str, places: set[str]) -> None:
    found = {
        place
        for m in read_report(text).mentions
        if m.kind in ("abnormality", "disease")
        for place in m.attributes.locations
    }
    assert found == places


@pytest.mark.parametrize(
    ("text", "sizes", "change"),
    [
        ("The abscess has gone from 60 x 42 mm to 25 x 20 mm.", (25.0, 20.0), "decreased"),
        ("Mass of 3 cm (was 5 cm).", (30.0,), "decreased"),
        ("The cyst measures 4.1 cm, formerly 2 cm.", (41.0,), "increased"),
        ("The node is 12 mm compared with 8 mm: a mass of 9 mm against 5 mm.", (9.0,), "increased"),
        ("The lesion has more than doubled.", (), "increased"),
        ("Effusion, up from yesterday.", (), "increased"),
        ("The nodule was not seen on the scan of two years ago.", (), "new"),
        ("A cyst, not seen on the ultrasound of 2017.", (), "new"),
    ],
)
def test_what_was_before_tells_the_change(text: str, sizes: tuple[float, ...], change: str) -> None:
    mention = [m for m in read_report(text).mentions if m.kind == "abnormality"][-1]
    assert (mention.assertion, mention.attributes.sizes_mm, mention.attributes.change) == (
        "present",
        sizes,
        change,
    )


def test_a_heading_inside_a_line_does_not_cover_what_follows_it() -> None:
    found = read_report("Indication: fall. Technique: two views were obtained. Fracture of the left radius.")
    assert [m.attributes.context for m in found.mentions if m.kind == "abnormality"] == ["current"]
    whole = read_report("FINDINGS: Effusion.\nHISTORY: Fall. Fracture in 2019.\n")
    assert next(m.attributes.context for m in whole.mentions if m.kind == "abnormality") == "current"
