"""Structures that lie side by side are places of their own: what is in one is not in its neighbour."""

from __future__ import annotations

import pytest

from radgauge.findings.concepts import ConceptSimilarity
from radgauge.findings.places import Places
from radgauge.reader import load_lexicon, read_report

PAIRS = [
    ("Fracture of the lesser tuberosity.", "Fracture of the greater tuberosity.", "lesser_tuberosity"),
    ("Marrow edema of the capitellum.", "Marrow edema of the medial epicondyle.", "capitellum"),
    ("Cyst in the trapezium.", "Cyst in the capitate.", "trapezium"),
    ("Sclerosis of the third metacarpal.", "Sclerosis of the fifth metacarpal.", "third_metacarpal"),
    ("Swelling of the ring finger.", "Swelling of the index finger.", "ring_finger"),
    ("Erosion of the 2nd MCP joint.", "Erosion of the 5th MCP joint.", "second_mcp_joint"),
    ("Edema around the median nerve.", "Edema around the ulnar nerve.", "median_nerve"),
    ("Edema in the semimembranosus.", "Edema in the biceps femoris.", "semimembranosus"),
    ("Cartilage defect of the medial femoral condyle.", "Cartilage defect of the femoral trochlea.", ""),
    ("Edema in the soleus.", "Edema in the gastrocnemius.", "soleus"),
    ("Lucency in the medial cuneiform.", "Lucency in the cuboid.", "medial_cuneiform"),
    ("Erosion of the great toe.", "Erosion of the fourth toe.", "great_toe"),
    ("Cyst in liver segment VII.", "Cyst in liver segment IV.", "hepatic_segment_7"),
    ("Thrombus in the peroneal vein.", "Thrombus in the posterior tibial vein.", "peroneal_vein"),
    ("Reflux in the small saphenous vein.", "Reflux in the great saphenous vein.", "small_saphenous_vein"),
    ("Thrombus in the basilic vein.", "Thrombus in the cephalic vein.", "basilic_vein"),
    ("Occlusion of the anterior tibial artery.", "Occlusion of the peroneal artery.", "anterior_tibial_artery"),
    ("Thrombus in the left portal vein.", "Thrombus in the right portal vein.", "left_portal_vein"),
    ("Mass of the trigeminal nerve.", "Mass of the facial nerve.", "trigeminal_nerve"),
    ("Enlargement of the medial rectus.", "Enlargement of the inferior rectus.", "medial_rectus"),
    ("Erosion of the incus.", "Erosion of the stapes.", "incus"),
    ("Stone in the distal ureter.", "Stone in the proximal ureter.", "distal_ureter"),
    ("Mass at the bladder dome.", "Mass at the bladder neck.", "bladder_dome"),
    ("Cyst in the upper outer quadrant.", "Cyst in the lower inner quadrant.", "upper_outer_quadrant"),
]


def _places(text: str) -> frozenset[str]:
    return frozenset(place for mention in read_report(text).mentions for place in mention.attributes.locations)


@pytest.mark.parametrize(("one", "other", "place"), PAIRS)
def test_neighbours_are_two_places(one: str, other: str, place: str) -> None:
    places = Places(ConceptSimilarity(load_lexicon()))
    assert not places.agree(_places(one), _places(other))
    assert not place or place in _places(one)


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        ("Fracture of the fifth metatarsal.", "Fracture of a metatarsal."),
        ("Cyst in segment 6 of the liver.", "Cyst in the liver."),
        ("Thrombus in the soleal vein.", "Thrombus in a calf vein."),
        ("Tear of the posterior horn of the medial meniscus.", "Tear of the medial meniscus."),
    ],
)
def test_a_part_agrees_with_its_whole(part: str, whole: str) -> None:
    places = Places(ConceptSimilarity(load_lexicon()))
    assert places.agree(_places(part), _places(whole))


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("The traversing left S1 nerve root is compressed.", "s1_nerve_root"),
        ("Disc material abuts the exiting L4 root.", "l4_nerve_root"),
        ("Compression of the right C7 nerve root.", "c7_nerve_root"),
    ],
)
def test_a_nerve_root_keeps_its_level(text: str, root: str) -> None:
    found = [m for m in read_report(text).mentions if m.concept == "nerve_root_compression"]
    assert [m.assertion for m in found] == ["present"]
    assert root in found[0].attributes.locations
