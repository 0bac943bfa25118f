"""Perturbations: hand-made cases for every kind, and what must hold for all sample reports."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from radgauge.analysis.perturb import KINDS, Corpus, Laboratory, make_triples, perturb, perturb_reports
from radgauge.analysis.perturb.fitting import fit, shrink
from radgauge.analysis.perturb.knowledge import knowledge
from radgauge.core.errors import UsageError
from radgauge.reader import load_lexicon, read_report
from radgauge.samples import sample_reports_path


def results(text: str, kind: str, corpus: Corpus | None = None) -> set[str]:
    """What a few seeds make of the text."""
    made = (perturb(text, kind, rng=np.random.default_rng(seed), corpus=corpus) for seed in range(12))
    return {each.text for each in made if each is not None}


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (
            "remove_pathology",
            "Heart size is normal. There is a left pneumothorax. No effusion.",
            {"Heart size is normal. No effusion."},
        ),
        (
            "remove_pathology",
            "FINDINGS: The lungs are clear.\nIMPRESSION: Acute rib fracture.",
            {"FINDINGS: The lungs are clear."},
        ),
        (
            "remove_pathology",
            "IMPRESSION:\n1. Large pneumothorax.\n2. No effusion.",
            {"IMPRESSION:\n2. No effusion."},
        ),
        (
            "remove_insignificant",
            "PA and lateral views of the chest were obtained. No effusion.",
            {"No effusion."},
        ),
        (
            "remove_insignificant",
            "Large pneumothorax. Findings were discussed with Dr. Smith by telephone.",
            {"Large pneumothorax."},
        ),
        (
            "change_location",
            "Right lower lobe consolidation.",
            {"Left lower lobe consolidation.", "Right upper lobe consolidation."},
        ),
        (
            "change_severity",
            "There is a small left pleural effusion.",
            {"There is a large left pleural effusion.", "There is a moderate left pleural effusion."},
        ),
        ("unknown_word", "The lungs are clear.", {"[UNK] lungs are clear.", "The lungs [UNK] clear."}),
        ("remove_normal", "Large pneumothorax. The heart is normal.", {"Large pneumothorax."}),
        ("flip_negation", "There is no effusion.", {"There is an effusion."}),
        ("flip_negation", "No pneumothorax.", {"There is a pneumothorax."}),
        ("flip_negation", "There is a large pneumothorax.", {"There is no pneumothorax."}),
        ("flip_negation", "The heart is enlarged.", {"The heart is not enlarged."}),
        ("flip_negation", "There is no pulmonary edema.", {"There is pulmonary edema."}),
        (
            "flip_negation",
            "No pleural effusion or pneumothorax is seen.",
            {"Pleural effusion and pneumothorax are seen."},
        ),
        (
            "change_measurement",
            "There is a 6 mm nodule.",
            {f"There is a{a} mm nodule." for a in (" 2", " 3", " 12", " 15", "n 18")},
        ),
        (
            "drop_comparison",
            "A small effusion has increased since the prior study.",
            {"A small effusion is present."},
        ),
        ("drop_comparison", "Mild cardiomegaly is unchanged.", {"Mild cardiomegaly is present."}),
        ("hedge", "There is a left pneumothorax.", {"There may be a left pneumothorax."}),
        ("hedge", "Small left pleural effusion.", {"Possible small left pleural effusion."}),
        ("assert", "These opacities may represent pneumonia.", {"These opacities represent pneumonia."}),
        ("flip_negation", "No pleural effusions or nodules.", {"There are pleural effusions and nodules."}),
        ("flip_negation", "no pleural effusion .", {"there is a pleural effusion ."}),
        ("flip_negation", "THERE IS NO PNEUMOTHORAX.", {"THERE IS A PNEUMOTHORAX."}),
        ("change_location", "LARGE LEFT EFFUSION.", {"LARGE RIGHT EFFUSION."}),
        ("drop_comparison", "the effusion is unchanged .", {"the effusion is present ."}),
        ("paraphrase", "Clear, and there is no zzz.", {"Clear, and there is no evidence of zzz."}),
        ("assert", "Possible left lower lobe pneumonia.", {"Left lower lobe pneumonia."}),
        ("flip_negation", "Mild cardiomegaly.", {"No cardiomegaly."}),
        ("flip_negation", "No focal areas of consolidation.", {"There are focal areas of consolidation."}),
        (
            "flip_negation",
            "No effusion or pneumothorax is appreciated.",
            {"Effusion and pneumothorax are appreciated."},
        ),
        ("flip_negation", "The heart is mildly enlarged.", {"The heart is not enlarged."}),
        ("flip_negation", "T-spine osteophytes.", {"No T-spine osteophytes."}),
        (
            "hedge",
            "Opacities are most consistent with pneumonia.",
            {"Opacities may be most consistent with pneumonia."},
        ),
        ("hedge", "Mildly hyperexpanded lungs.", {"Possibly mildly hyperexpanded lungs."}),
        ("assert", "This may represent pneumonia.", {"This represents pneumonia."}),
        (
            "assert",
            "Opacity in the lung bases may reflect pneumonia.",
            {"Opacity in the lung bases reflects pneumonia."},
        ),
        (
            "assert",
            "There are opacities, which may be atelectasis.",
            {"There are opacities, which are atelectasis."},
        ),
        ("assert", "The presence of an aneurysm cannot be excluded.", {"An aneurysm is present."}),
        (
            "drop_comparison",
            "Calcified granulomas are again identified.",
            {"Calcified granulomas are identified."},
        ),
        ("drop_comparison", "Interval increased left effusion.", {"Left effusion."}),
        ("change_severity", "There is a small calcified granuloma.", {"There is a large calcified granuloma."}),
        (
            "remove_pathology",
            "1. Low lung volumes 2. Large pneumothorax 3. Lungs are clear",
            {"1. Low lung volumes 3. Lungs are clear", "2. Large pneumothorax 3. Lungs are clear"},
        ),
        (
            "reorder",
            "The lungs are clear. Heart size is normal.",
            {"Heart size is normal. The lungs are clear."},
        ),
    ],
)
def test_hand_made_cases(kind: str, text: str, expected: set[str]) -> None:
    found = results(text, kind)
    assert found
    assert found <= expected


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("remove_pathology", "Large pneumothorax."),  # nothing would be left
        ("remove_pathology", "The lungs are clear. No effusion."),
        ("remove_insignificant", "The lungs are clear. No effusion."),
        ("change_location", "Pacemaker lead in the right ventricle."),
        ("change_location", "The thoracic aorta is tortuous."),
        ("change_location", "Right middle lobe pneumonia."),  # there is no left one
        ("change_location", "Opacity on the lateral radiograph."),
        ("change_location", "Scoliosis of the thoracic and lumbar spine."),
        ("change_severity", "There is no large effusion."),
        ("remove_pathology", "The lungs are clear. If pneumonia is suspected, a lateral view may help."),
        (
            "remove_insignificant",
            "Frontal and lateral views of the chest show an unchanged silhouette. No effusion.",
        ),
        ("add_comparison", "If pneumonia is suspected, a lateral view may help."),
        ("hedge", "Overall, smaller effusion."),
        ("flip_negation", "These findings are pneumonia."),
        ("drop_comparison", "Increased interstitial markings."),  # how they look, not how they were
        ("drop_comparison", "Stable effusion compared to the film of May."),  # a comparison would be left
        ("reorder", "The lungs are clear. 1. No effusion."),
        ("unknown_word", "No effusion."),
        ("change_measurement", "Large effusion on 3/12."),
        ("assert", "Large effusion."),
        ("hedge", "No effusion."),
        ("drop_comparison", "Large effusion."),
        ("reorder", "There is a mass. This is suspicious."),
        ("swap_report", "Large effusion."),  # no corpus
        ("normal_report", "The lungs are clear."),
        ("add_finding", ""),
        ("paraphrase", "xyz"),
    ],
)
def test_none_possible(kind: str, text: str) -> None:
    assert results(text, kind) == set()


def test_kinds_and_knowledge_are_complete() -> None:
    assert sum(kind.paper for kind in KINDS.values()) == 6
    lexicon = load_lexicon()
    for finding in knowledge().findings:
        for sentence in finding.sentences:
            said = {each.concept: each.assertion for each in read_report(sentence).mentions}
            assert all(name in lexicon for name in (finding.concept, *finding.also))
            assert said.get(finding.concept) == "present", sentence


def test_standard_normal_report_and_swap() -> None:
    normal = [
        "The lungs are clear. No pleural effusion. Heart size is normal.",
        "The lungs are clear. No pleural effusion. The mediastinum is unremarkable.",
    ]
    sick = "There is a large left pneumothorax. No pleural effusion. The right lung is clear."
    corpus = Corpus.of([*normal, sick])
    standard = corpus.normal["chest"]
    assert standard.startswith("The lungs are clear. No pleural effusion.")
    made = perturb("Lungs clear. Normal heart.", "normal_report", rng=np.random.default_rng(0), corpus=corpus)
    assert made is not None
    assert made.text == standard
    assert not made.significant
    assert results(sick, "normal_report", corpus) == set()
    assert results(sick, "swap_report", corpus) == set(normal)


def test_added_findings_do_not_contradict() -> None:
    text = "The heart is normal in size. No pleural effusion or pneumothorax. The lungs are clear."
    for changed in results(text, "add_finding"):
        added = changed.replace("The heart is normal in size.", "").lower()
        assert "heart" not in added
        assert "cardiomegaly" not in added
        assert changed.count("effusion") == 1


def test_a_finding_denied_in_wider_words_is_not_added() -> None:
    added = results("CT of the head. No acute infarct. The calvarium is intact.", "add_finding")
    assert any("hydrocephalus" in changed for changed in added)
    assert not any("frontal lobe" in changed for changed in added)
    assert any(
        "frontal lobe" in changed
        for changed in results("CT of the head. No skull fracture. The calvarium is intact.", "add_finding")
    )


def test_fit_mends_article_capital_and_space() -> None:
    assert fit("A small effusion.", 2, 7, after="extensive", opening=False) == (0, 7, "An extensive")
    assert fit("Small effusion.", 0, 5, after="large", opening=True) == (0, 5, "Large")
    assert fit("Stable effusion.", 0, 6, after="", opening=True) == (0, 8, "E")
    assert shrink("no effusion", "effusion") == (0, 3, "")


def test_unknown_kind() -> None:
    with pytest.raises(UsageError, match=r"kind must be one of .*got 'typo'"):
        perturb("No effusion.", "typo", rng=np.random.default_rng(0))
    with pytest.raises(UsageError, match="got 'typo'"):
        perturb_reports({"1": "No effusion."}, ["typo"])


@pytest.fixture(scope="module")
def reports() -> dict[str, str]:
    with sample_reports_path().open(encoding="utf-8", newline="") as file:
        return {row["id"]: row["reference"] for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def laboratory(reports: dict[str, str]) -> Laboratory:
    return perturb_reports(reports, seed=7)


def test_edits_are_where_they_say(reports: dict[str, str], laboratory: Laboratory) -> None:
    for (study, kind), done in laboratory.perturbed.items():
        original = reports[study]
        assert done.text != original
        assert done.edits
        rebuilt, at = "", 0
        for edit in done.edits:
            assert edit.kind == kind
            assert original[slice(*edit.span)] == edit.before
            assert done.text[slice(*edit.result_span)] == edit.after
            rebuilt += original[at : edit.span[0]] + edit.after
            at = edit.span[1]
        assert rebuilt + original[at:] == done.text


def test_results_are_tidy(laboratory: Laboratory) -> None:
    for done in laboratory.perturbed.values():
        text = done.text
        assert not any(bad in text for bad in ("  ", " .", " ,", "..", "\n\n\n", " a a ", " the the ")), text
        assert text == text.strip()
        assert text[0].isupper() or text[0] == "["


def test_every_report_counts_once_per_kind(reports: dict[str, str], laboratory: Laboratory) -> None:
    for kind in KINDS:
        made = sum(name == kind for _, name in laboratory.perturbed)
        assert made + laboratory.none_possible[kind] == len(reports)


def claims(text: str) -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for each in read_report(text).mentions:
        if each.kind in ("abnormality", "disease", "device"):
            said = each.attributes
            found.setdefault("assertion", []).append((each.concept, each.assertion))
            found.setdefault("place", []).append(
                (each.concept, said.laterality, *said.locations, *said.descriptors)
            )
            found.setdefault("severity", []).append((each.concept, said.severity))
            found.setdefault("change", []).append((each.concept, said.change))
    return found


SEEN = {
    "flip_negation": "assertion",
    "hedge": "assertion",
    "assert": "assertion",
    "change_location": "place",
    "change_severity": "severity",
    "add_comparison": "change",
    "drop_comparison": "change",
}


def test_the_reader_sees_the_change_and_only_that(laboratory: Laboratory) -> None:
    for (_, kind), done in laboratory.perturbed.items():
        before, after = claims(done.original), claims(done.text)
        if aspect := SEEN.get(kind):
            assert before[aspect] != after[aspect], done
        if kind in ("unknown_word", "reorder", "paraphrase"):
            assert all(sorted(before[aspect]) == sorted(after[aspect]) for aspect in before), done


def test_same_seed_same_edits_whatever_else_is_asked(reports: dict[str, str], laboratory: Laboratory) -> None:
    some = dict(list(reports.items())[:20])
    again = perturb_reports(some, ["hedge", "change_location"], seed=7).perturbed
    assert again == {key: done for key, done in laboratory.perturbed.items() if key in again}
    assert again != perturb_reports(some, ["hedge", "change_location"], seed=8).perturbed


def test_triples(reports: dict[str, str]) -> None:
    made = make_triples(reports)
    triples = made.triples
    assert len(triples) > 60
    assert max(made.no_rewrite, made.no_opposite) <= len(reports) - len(triples)
    assert all(len({each.original, each.rewrite, each.opposite}) == 3 for each in triples)


def proposed(kind: str, text: str) -> set[str]:
    """Everything that may come out, whatever the seed."""
    found = (perturb(text, kind, rng=np.random.default_rng(seed)) for seed in range(40))
    return {each.text for each in found if each is not None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("There is a subarachnoid hemorrhage.", {"There is a subarachnoid bleed."}),
        ("Infraspinatus tear.", set()),  # the subscapularis is another muscle
        ("The liver demonstrates fatty infiltration.", set()),  # no noun is exchanged for an adjective
        ("Hepatic steatosis.", {"Liver steatosis.", "Fatty liver."}),
        ("Mild degenerative disc disease at L4-L5.", {"Mild degenerative disk disease at L4-L5."}),
    ],
)
def test_synonyms_outside_the_chest_keep_region_and_specificity(text: str, expected: set[str]) -> None:
    assert proposed("paraphrase", text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "He was given vitamin K.",
        "Aorta is atherosclerotic.",
        "Status post cholecystectomy.",
        "Patient was treated for pulmonary embolism.",
    ],
)
def test_what_has_no_sensible_opposite_is_skipped_and_counted(text: str) -> None:
    assert proposed("flip_negation", text) == set()
    assert make_triples({"1": text}).no_opposite == 1


@pytest.mark.parametrize(
    "text",
    [
        "Liver is normal. Status post cholecystectomy.",
        "Liver is normal. Surgical clips are seen in the right upper quadrant.",
        "Findings: Liver is normal.\nIndication: Appendicitis.",
        "Liver is normal. Gravid uterus.",
    ],
)
def test_only_pathologies_are_removed_as_such(text: str) -> None:
    assert proposed("remove_pathology", text) == set()


def test_a_report_without_an_insignificant_sentence_is_given_one_to_remove() -> None:
    reports = {
        "a": "Small left pleural effusion.",
        "b": "CLEAR LUNGS.",
        "c": "Chest radiograph was obtained. No edema.",
    }
    plain = perturb_reports(reports, ["remove_insignificant"], seed=0)
    assert plain.none_possible == {"remove_insignificant": 2}
    found = perturb_reports(reports, ["remove_insignificant"], seed=0, general=True)
    assert found.none_possible == {"remove_insignificant": 0}
    assert found.perturbed["c", "remove_insignificant"] == plain.perturbed["c", "remove_insignificant"]
    done = found.perturbed["a", "remove_insignificant"]
    (edit,) = done.edits
    assert done.text == reports["a"]
    assert done.original == reports["a"] + edit.before
    assert done.original[slice(*edit.span)] == edit.before
    assert edit.before.strip() in knowledge().general
    assert not done.significant
    assert found.perturbed["b", "remove_insignificant"].original.isupper()
