"""The three views of a reading: RaTE entities, RadGraph graph, CheXpert labels."""

from __future__ import annotations

import pytest

from radgauge.reader import chexpert_labels, load_lexicon, radgraph_graph, rate_entities, read_report

A, ANAT, DIS, NA, ND = "Abnormality", "Anatomy", "Disease", "Non-Abnormality", "Non-Disease"


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("Opacity in the right lower lobe.", [("Opacity", A), ("right lower lobe", ANAT)]),
        ("Right lower lobe opacity.", [("Right lower lobe", ANAT), ("opacity", A)]),
        ("Small right pleural effusion.", [("Small right pleural effusion", A)]),
        ("Stable calcified granuloma.", [("calcified granuloma", A)]),
        ("No large pleural effusion.", [("large pleural effusion", NA)]),
        ("No acute cardiopulmonary disease.", [("acute cardiopulmonary disease", ND)]),
        ("The lungs are clear.", [("lungs", ANAT), ("clear", NA)]),
        ("Heart size is within normal limits.", [("Heart", ANAT), ("within normal limits", NA)]),
        ("The heart is normal in size.", [("heart", ANAT), ("normal", NA)]),
        ("Enlarged heart.", [("Enlarged", A), ("heart", ANAT)]),
        ("Elevated right hemidiaphragm.", [("Elevated", A), ("right hemidiaphragm", ANAT)]),
        ("Patchy and streaky bibasilar atelectasis.", [("Patchy and streaky bibasilar atelectasis", A)]),
        ("Calcified right lower lobe granuloma.", [("Calcified right lower lobe granuloma", A)]),
        ("Nodule in the posterior segment of the left lower lobe.",
         [("Nodule", A), ("posterior segment of the left lower lobe", ANAT)]),
        ("Fibrosis at the bases of the lungs.", [("Fibrosis", DIS), ("bases of the lungs", ANAT)]),
        ("Both lungs are clear and expanded.", [("Both lungs", ANAT), ("clear", NA), ("expanded", NA)]),
        ("Left PICC line catheter tip in the right atrium.",
         [("Left PICC line catheter", A), ("right atrium", ANAT)]),
        ("Multiple old rib fractures.", [("old rib fractures", A)]),
        ("Increased opacity at the left base.", [("Increased opacity", A), ("left base", ANAT)]),
        ("A 5 mm granuloma.", [("granuloma", A)]),
        ("No comparison studies.", []),
    ],
)  # fmt: skip
def test_rate_entities(text: str, entities: list[tuple[str, str]]) -> None:
    found = rate_entities(read_report(text))
    assert [(entity.name, entity.type) for entity in found] == entities
    assert all(text[entity.start : entity.end] == entity.name for entity in found)


def test_rate_assertions() -> None:
    found = rate_entities(read_report("Opacity may represent pneumonia. No effusion."))
    assert [entity.assertion for entity in found] == ["present", "uncertain", "absent"]


def _graph(text: str) -> dict[str, tuple[str, list[tuple[str, str]]]]:
    entities = radgraph_graph(read_report(text))["entities"]
    return {
        entity["tokens"]: (
            entity["label"],
            [(kind, entities[target]["tokens"]) for kind, target in entity["relations"]],
        )
        for entity in entities.values()
    }


def test_radgraph_of_a_negated_finding() -> None:
    assert _graph("No focal consolidation or pleural effusion.") == {
        "focal": ("OBS-DA", [("modify", "consolidation")]),
        "consolidation": ("OBS-DA", []),
        "pleural": ("ANAT-DP", []),
        "effusion": ("OBS-DA", [("located_at", "pleural")]),
    }


def test_radgraph_of_normality() -> None:
    assert _graph("Heart size is within normal limits.") == {
        "Heart": ("ANAT-DP", []),
        "size": ("ANAT-DP", [("modify", "Heart")]),
        "within": ("OBS-DP", []),
        "normal": ("OBS-DP", [("located_at", "Heart")]),
        "limits": ("OBS-DP", []),
    }


def test_radgraph_of_a_suggestion() -> None:
    graph = _graph("Patchy opacity in the left lower lobe, possible pneumonia, may represent pneumonia.")
    assert graph["Patchy"] == ("OBS-DP", [("modify", "opacity")])
    assert ("located_at", "lobe") in graph["opacity"][1]
    assert graph["lower"] == ("ANAT-DP", [("modify", "lobe")])
    assert _graph("Opacity may represent pneumonia.")["Opacity"][1] == [("suggestive_of", "pneumonia")]
    assert _graph("Opacity may represent pneumonia.")["pneumonia"][0] == "OBS-U"


def test_radgraph_tokens_follow_the_published_rule() -> None:
    graph = radgraph_graph(read_report("No pneumothorax.Heart size (normal), 2.5-cm nodule/mass: stable!"))
    assert graph["text"] == "No pneumothorax . Heart size ( normal ) , 2 . 5-cm nodule / mass : stable !"
    words = graph["text"].split(" ")
    for entity in graph["entities"].values():
        assert words[entity["start_ix"]] == entity["tokens"]
        assert entity["start_ix"] == entity["end_ix"]
    assert list(graph["entities"]) == [str(number + 1) for number in range(len(graph["entities"]))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mild cardiomegaly.", {"Cardiomegaly": "positive", "No Finding": ""}),
        ("The heart is not enlarged.", {"Cardiomegaly": "negative", "No Finding": "positive"}),
        ("Heart size is normal.", {"Cardiomegaly": "negative"}),
        ("Possible pneumonia.", {"Pneumonia": "uncertain", "No Finding": ""}),
        ("No effusion. Small left effusion.", {"Pleural Effusion": "positive"}),
        ("Possible effusion. No effusion.", {"Pleural Effusion": "uncertain"}),
        ("Right PICC in place. Lungs are clear.", {"Support Devices": "positive", "No Finding": "positive"}),
        ("Bibasilar atelectasis.", {"Atelectasis": "positive"}),
        ("Acute displaced left rib fracture.", {"Fracture": "positive"}),
        ("A right upper lobe lung lesion is identified.", {"Lung Lesion": "positive"}),
        ("Patchy air space opacity.", {"Lung Opacity": "positive"}),
        ("Pleural thickening.", {"Pleural Other": "positive"}),
        ("History of pneumonia.", {"Pneumonia": "", "No Finding": "positive"}),
        ("", dict.fromkeys(["Pneumonia", "No Finding"], "")),
    ],
)
def test_chexpert_labels(text: str, expected: dict[str, str]) -> None:
    labels = chexpert_labels(read_report(text))
    assert {name: labels[name] for name in expected} == expected
    assert len(labels) == 14


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.nightly), 20])
def test_every_term_of_the_lexicon_has_its_views(step: int) -> None:
    """No term, alone or denied, breaks a view; each is read as its concept or as one composed from its words."""
    for concept in [*load_lexicon()][::step]:
        text = ". ".join(term for term in (*concept.terms, *concept.abbreviations)) + f". No {concept.name}."
        reading = read_report(text)
        assert reading.mentions, concept.id
        for entity in rate_entities(reading):
            assert text[entity.start : entity.end] == entity.name
            assert entity.name == entity.name.strip() != ""
        radgraph_graph(reading)
        chexpert_labels(reading)
