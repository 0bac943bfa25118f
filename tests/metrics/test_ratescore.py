"""RaTEScore: arithmetic by hand, the released matrices, and what it must notice."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from radgauge.core.cache import Cache
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.readings import Readings
from radgauge.core.registry import DEFAULTS, load
from radgauge.metrics.ratescore import EmbeddedEntities, RateScore
from radgauge.metrics.ratescore.pairing import EntityTable, closest, type_sums
from radgauge.metrics.ratescore.weights import TYPE_INDEX, TYPES, Affinity, affinity, read_affinity
from radgauge.run.score import score

ANATOMY, ABNORMALITY, DENIED = (TYPE_INDEX[name] for name in ("ANATOMY", "ABNORMALITY", "NON-ABNORMALITY"))


def table_of(*texts: list[tuple[list[float], int]]) -> EntityTable:
    """Texts given as (vector, type) per entity."""
    vectors = np.array([vector for text in texts for vector, _ in text], dtype=np.float32)
    ends = np.cumsum([len(text) for text in texts])
    names = [np.arange(end - len(text), end) for end, text in zip(ends, texts, strict=True)]
    return EntityTable(vectors, names, [np.array([kind for _, kind in text], dtype=np.intp) for text in texts])


def unit(cosine: float) -> list[float]:
    return [0.0, cosine, math.sqrt(1 - cosine**2)]


def value(candidate: str, reference: str, **settings: object) -> float:
    metric = load("ratescore", **settings)
    return float(score([Case("1", candidate, (reference,))], metric)["ratescore"].headline[0])


def test_worked_example_of_the_paper() -> None:
    """Appendix A.1. Its last line says 0.676; the harmonic mean of its own 0.644 and 0.666 is 0.654."""
    reference = [([1.0, 0.0, 0.0], ANATOMY), ([0.0, 1.0, 0.0], DENIED)]  # Foley catheter; in situ
    candidate = [([1.0, 0.0, 0.0], ANATOMY), (unit(0.83), ABNORMALITY)]  # Foley catheter; not in place
    weights = np.zeros((5, 5))
    weights[ANATOMY, ANATOMY], weights[DENIED, ABNORMALITY], weights[ABNORMALITY, DENIED] = 0.91, 0.94, 0.83
    learned = Affinity("example", weights, 0.36)
    sums = type_sums(table_of(reference, candidate), np.array([0]), np.array([1]))
    forward, backward = sums.scores(weights, learned.factors("code"))[:, 0]
    assert forward == pytest.approx(0.644, abs=5e-4)
    assert backward == pytest.approx(0.666, abs=5e-4)
    found = float(sums.f1(weights, learned.factors("code"))[0])
    assert found == pytest.approx(0.6544, abs=5e-5)
    assert found != pytest.approx(0.676, abs=5e-3)


def test_many_may_choose_one_partner_and_types_do_not_matter_for_the_choice() -> None:
    anchors = [([1.0, 0.0, 0.0], ANATOMY), ([0.8, 0.6, 0.0], ABNORMALITY)]
    targets = [([0.0, 0.0, 1.0], ANATOMY), ([1.0, 0.0, 0.0], DENIED)]
    partner, cosine = closest(table_of(anchors, targets), 0, 1)
    assert partner.tolist() == [1, 1]
    assert cosine == pytest.approx([1.0, 0.8])


def test_equally_close_entities_prefer_the_own_type_then_the_first() -> None:
    same = [1.0, 0.0, 0.0]
    two = [(same, ABNORMALITY), (same, DENIED), (same, DENIED)]
    partner, _ = closest(table_of(two, two), 0, 1)
    assert partner.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("anchor", "match", "code", "paper"),
    [
        ("ABNORMALITY", "NON-ABNORMALITY", 0.5, 0.5),
        ("NON-DISEASE", "ABNORMALITY", 0.5, 0.5),
        ("ABNORMALITY", "DISEASE", 1.0, 0.5),
        ("ANATOMY", "NON-DISEASE", 1.0, 0.5),
        ("NON-ABNORMALITY", "NON-DISEASE", 1.0, 0.5),
        ("ANATOMY", "ANATOMY", 1.0, 1.0),
    ],
)
def test_penalty_rules(anchor: str, match: str, code: float, paper: float) -> None:
    learned = affinity("long", penalty=0.5)
    place = TYPE_INDEX[anchor], TYPE_INDEX[match]
    assert learned.factors("code")[place] == code
    assert learned.factors("paper")[place] == paper


def test_padding_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    texts = []
    for size in rng.integers(1, 9, 40):
        vectors = rng.standard_normal((size, 3))
        texts.append(
            [(list(v / np.linalg.norm(v)), int(t)) for v, t in zip(vectors, rng.integers(0, 5, size), strict=True)]
        )
    table = table_of(*texts)
    left, right = rng.integers(0, 40, 300), rng.integers(0, 40, 300)
    whole = type_sums(table, left, right)
    monkeypatch.setattr("radgauge.metrics.ratescore.pairing._NUMBERS_AT_ONCE", 100)
    parts = type_sums(table, left, right)
    assert np.allclose(whole.cosines, parts.cosines, atol=1e-6)
    assert np.array_equal(whole.counts, parts.counts)
    learned = affinity("short")
    for pair in range(0, 300, 7):
        a, b = left[pair], right[pair]
        partner, cosine = closest(table, a, b)
        kinds = table.types[a], table.types[b][partner]
        weight = learned.weights[kinds]
        expected = (weight * learned.factors("code")[kinds] * cosine).sum() / weight.sum()
        assert whole.scores(learned.weights, learned.factors("code"))[0, pair] == pytest.approx(expected, abs=1e-6)


def test_presets_are_the_releases() -> None:
    assert affinity("long", preset="2024").penalty == affinity("short", preset="2024").penalty == 0.3612
    assert affinity("short").penalty == 0.3611577852354489
    assert np.array_equal(affinity("long").weights, affinity("long", preset="2024").weights)
    assert not np.array_equal(affinity("short").weights, affinity("short", preset="2024").weights)


def test_weights_file_in_the_authors_form(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(affinity("short").to_json())
    found = read_affinity(path)
    assert np.array_equal(found.weights, affinity("short").weights)
    assert found.penalty == affinity("short").penalty
    assert found.name.startswith("mine@")
    pair = ("Mild edema. No effusion.", "Severe edema. Small effusion.")
    assert value(*pair, weights=str(path), preset="2025") == value(*pair, weights="short", preset="2025")
    assert load("ratescore", weights=str(path)).signature() != load("ratescore", weights="short").signature()


def test_a_weights_file_that_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    with pytest.raises(UsageError, match=r"JSON file; there is no .*w.json"):
        affinity(str(path))
    path.write_text("nonsense")
    with pytest.raises(InputError, match="not a JSON file"):
        affinity(str(path))
    path.write_text("[1]")
    with pytest.raises(InputError, match="weights must be a JSON object, got list"):
        affinity(str(path))
    table = json.loads(affinity("long").to_json())
    del table["neg_weight"]
    path.write_text(json.dumps(table))
    with pytest.raises(InputError, match="'neg_weight' must be a number of 0"):
        affinity(str(path))
    path.write_text(json.dumps({**table, "neg_weight": 1, "anatomy_disease": -1}))
    with pytest.raises(InputError, match="'anatomy_disease' must be a number of 0"):
        affinity(str(path))


@pytest.mark.parametrize("setting", ["preset", "penalty", "no_entities", "splitter"])
def test_bad_settings(setting: str) -> None:
    with pytest.raises(UsageError, match=f"ratescore: {setting} must be one of .*, got 'x'"):
        load("ratescore", **{setting: "x"})
    with pytest.raises(UsageError, match="p must be from 0 to 1, got 2"):
        RateScore(p=2.0)


def test_it_is_among_the_defaults_and_named_embedded() -> None:
    assert "ratescore" in DEFAULTS
    assert load("ratescore").columns == ("ratescore_embedded",)
    assert load("ratescore", models="published").columns == ("ratescore",)
    assert load("ratescore", models="published", encoder="embedded").columns == ("ratescore_embedded",)


def test_the_preset_follows_the_models() -> None:
    assert load("ratescore").affinity.penalty == 0.3612
    assert load("ratescore", models="published").affinity.penalty == 0.8716553966489615
    assert load("ratescore", preset="2025").affinity.penalty == 0.8716553966489615
    assert "preset:2024" in load("ratescore").signature()


def test_published_models_are_pinned_or_fetched_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from radgauge.encoders.checkpoints import catalogue
    from radgauge.metrics import ratescore

    monkeypatch.setattr(catalogue, "find", lambda wanted: None)
    assert catalogue.located(ratescore.NER).startswith("Angelakeke/RaTE-NER-Deberta@")
    monkeypatch.setattr(catalogue, "find", lambda wanted: tmp_path / wanted.name)
    assert catalogue.located(ratescore.ENCODER) == str(tmp_path / "biolord")
    assert catalogue.located("my/model") == "my/model"


def test_a_copy_scores_one_even_with_clashing_duplicates() -> None:
    text = "Left effusion. No right effusion. There is no left effusion. The heart is normal."
    assert value(text, text) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("There is a small left pleural effusion.", "There is no pleural effusion."),
        ("Small left pleural fluid.", "Small left pneumothorax."),
        ("Left pleural effusion is small.", "There is a small left rib fracture."),
    ],
)
def test_what_it_must_notice(better: str, worse: str) -> None:
    reference = "There is a small left pleural effusion."
    assert value(better, reference, weights="short") > value(worse, reference, weights="short")


def test_a_report_without_entities() -> None:
    cases = [Case("1", "As discussed by phone.", ("Small effusion.",)), Case("2", "Effusion.", ("As discussed.",))]
    found = score(cases, "ratescore")["ratescore"]
    assert np.isnan(found.headline).all()
    assert found.reasons == {
        ("1", "system"): "no entities in the candidate",
        ("2", "system"): "no entities in the reference",
    }
    published = score([*cases, Case("3", "", ("Effusion.",))], "ratescore:no_entities=published")["ratescore"]
    assert published.headline.tolist() == [0.5, 0.5, 0.5]


def test_of_several_references_the_best_counts() -> None:
    case = Case("1", "Small effusion.", ("Rib fracture.", "Small effusion.", "As discussed."))
    assert score([case], "ratescore")["ratescore"].headline[0] == pytest.approx(1.0, abs=1e-6)


def test_explanation() -> None:
    reference, candidate = "Small left pleural effusion. Rib fracture.", "No pleural effusion."
    case = Case("1", candidate, (reference,))
    found = load("ratescore").explain(case, reading=Readings())
    assert found is not None
    clash = next(note for note in found.notes if note.kind == "contradicted")
    assert clash.data["penalty"] == pytest.approx(0.3612)
    assert "times 0.36 since one is denied, the other is not" in clash.text
    assert "effusion" in reference[slice(*clash.reference_spans[0])]
    assert "effusion" in candidate[slice(*clash.candidate_spans[0])]
    lost = next(note for note in found.notes if note.kind == "missing")
    assert lost.data["entity"] == "Rib"
    assert lost.candidate_spans == ()


def test_explanation_of_what_cannot_be_judged() -> None:
    for case in (Case("1", "As discussed.", ("Small effusion.",)), Case("2", "effusion", ())):
        found = load("ratescore").explain(case, reading=Readings())
        assert found is not None
        assert found.notes == ()
        assert math.isnan(found.values["ratescore_embedded"])


def test_entities_come_back_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["No large effusion; clear lungs.", "Fracture of the left rib", ""]
    first = Readings(cache=Cache(tmp_path))
    read = first.of(EmbeddedEntities(first), texts)
    assert {entity.type for entity in read[0]} <= set(TYPES)
    again = Readings(cache=Cache(tmp_path))
    monkeypatch.setattr("radgauge.metrics.ratescore.rate_entities", None)
    assert again.of(EmbeddedEntities(again), texts) == read


def test_agreement_with_radiologists(shared_data: Path) -> None:
    """Clearly above ROUGE-L on the development part of RadPref."""
    from scipy.stats import kendalltau

    from radgauge.io.judgments import read_judgments

    judged = read_judgments(shared_data / "radpref_dev" / "radpref_dev.json")
    results = score(judged.cases, ["rouge", "ratescore:no_entities=published"])
    rating = judged.mean_ratings().headline
    rouge, rate = (kendalltau(results[name].headline, rating).statistic for name in ("rouge", "ratescore"))
    assert rate > rouge + 0.05
