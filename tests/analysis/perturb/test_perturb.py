"""Perturbations: hand-made cases for every kind, and what must hold for all sample reports."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from radgauge.analysis.perturb import KINDS, Corpus, PerturbationSet, make_triples, perturb, perturb_reports
from radgauge.analysis.perturb.check import accepted, denied, families_of
from radgauge.analysis.perturb.edits import Proposal
from radgauge.analysis.perturb.fitting import fit, shrink
from radgauge.analysis.perturb.knowledge import knowledge
from radgauge.analysis.perturb.report import read
from radgauge.core.errors import UsageError
from radgauge.reader import load_lexicon, read_report
from radgauge.samples import sample_reports_path


def results(text: str, kind: str, corpus: Corpus | None = None) -> set[str]:
    """What a few seeds make of the text."""
    made = (perturb(text, kind, rng=np.random.default_rng(seed), corpus=corpus) for seed in range(12))
    return {each.text for each in made if each is not None}


TABLE = Path(__file__).parents[2] / "data" / "perturbations.tsv"
ROWS = [line.replace("\\n", "\n").split("\t") for line in TABLE.read_text("utf-8").splitlines()[1:]]


@pytest.mark.parametrize(("kind", "text", "possible"), ROWS)
def test_hand_made_cases(kind: str, text: str, possible: str) -> None:
    made = results(text, kind)
    assert bool(made) is bool(possible)
    assert made <= set(possible.split(" | "))


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
    for given in (corpus, Corpus.of([sick] * 3), None):  # whatever other reports there are
        made = perturb("Lungs clear. Normal heart.", "normal_report", rng=np.random.default_rng(0), corpus=given)
        assert made is not None
        assert made.text == knowledge().normal["chest"]
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
def perturbations(reports: dict[str, str]) -> PerturbationSet:
    return perturb_reports(reports, seed=7)


def test_edits_are_where_they_say(reports: dict[str, str], perturbations: PerturbationSet) -> None:
    for (study, kind), done in perturbations.perturbed.items():
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


def test_results_are_tidy(perturbations: PerturbationSet) -> None:
    for done in perturbations.perturbed.values():
        text = done.text
        if done.kind == "bullets":
            text = text.replace("\n- ", "\n").removeprefix("- ")
        assert not any(bad in text for bad in ("  ", " .", " ,", "..", "\n\n\n", " a a ", " the the ")), text
        assert text == text.strip()
        assert text[0].isupper() or text[0] == "["


def test_every_report_counts_once_per_kind(reports: dict[str, str], perturbations: PerturbationSet) -> None:
    for kind in KINDS:
        made = sum(name == kind for _, name in perturbations.perturbed)
        assert made + perturbations.none_possible[kind] == len(reports)


CHANGED = ("flip_negation", "hedge", "assert", "change_location", "change_severity", "drop_comparison")


def test_the_reader_does_not_decide_which_changes_are_made(
    reports: dict[str, str], perturbations: PerturbationSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("radgauge.analysis.perturb.make._same", lambda before, after: False)
    again = perturb_reports(reports, [*CHANGED, "remove_pathology", "reorder"], seed=7).perturbed
    assert again == {key: done for key, done in perturbations.perturbed.items() if key[1] in (*CHANGED, *REMOVED)}
    assert perturb_reports(reports, ["paraphrase"], seed=7).perturbed == {}  # its synonyms are the reader's own


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("There is mediastinal shift to the left.", "change_location"),
        ("The lower thoracic spine shows dextroscoliosis.", "change_location"),
        ("There is a stable mild tenting of the diaphragm.", "change_severity"),
    ],
)
def test_changes_that_the_reader_misses_are_made(text: str, kind: str) -> None:
    done = perturb(text, kind, rng=np.random.default_rng(0))
    assert done is not None
    assert done.text != text


REMOVED = ("remove_pathology", "reorder")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "There is a large left pneumothorax. The heart is normal. IMPRESSION: Left pneumothorax.",
            "The heart is normal.",
        ),
        (
            "The heart is enlarged. The lungs are clear. 1. Cardiomegaly. 2. No acute disease.",
            "The lungs are clear. 2. No acute disease.",
        ),
        (
            "Right basilar airspace disease. This has increased. No effusion. Findings suggest pneumonia.",
            "No effusion.",
        ),
        ("Heart size is normal. There is a left pneumothorax. No effusion.", "Heart size is normal. No effusion."),
        (
            "FINDINGS:\nBlunted costophrenic angle. Clear lungs.\nIMPRESSION:\nSmall left effusion.",
            "FINDINGS:\nClear lungs.",
        ),
        ("Acute rib fracture. No other fracture is seen. Clear lungs.", "No other fracture is seen. Clear lungs."),
        ("A 15 mm nodule lies in the left lung. May contain calcium. No effusion.", "No effusion."),
        ("Bridging syndesmophytes of the spine. This could indicate hyperostosis. No effusion.", "No effusion."),
        ("A retrocardiac density is seen. There appears to be air within this. No effusion.", "No effusion."),
    ],
)
def test_every_statement_of_a_removed_pathology_goes(text: str, left: str) -> None:
    assert proposed("remove_pathology", text) == {left}


def test_a_pathology_that_all_sentences_state_cannot_be_removed() -> None:
    assert proposed("remove_pathology", "Large pneumothorax. IMPRESSION: Pneumothorax.") == set()


def test_what_a_cue_denies_in_its_clause() -> None:
    assert denied("There is no left effusion.", 12)
    assert not denied("No edema, but there is a left effusion.", 25)
    assert families_of("The heart is normal. No effusion.") == frozenset()
    assert families_of("Stable enlarged heart with atelectasis.") == {"heart_size", "opacity"}
    assert not accepted("No left effusion.", "change_location", [Proposal(3, 7, "right", 3, True)])
    assert accepted("Small left effusion.", "change_location", [Proposal(6, 10, "right", 3, True)])


def test_same_seed_same_edits_whatever_else_is_asked(
    reports: dict[str, str], perturbations: PerturbationSet
) -> None:
    some = dict(list(reports.items())[:20])
    again = perturb_reports(some, ["hedge", "change_location"], seed=7).perturbed
    assert again == {key: done for key, done in perturbations.perturbed.items() if key in again}
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


def test_standard_reports_are_normal_reports_of_their_region() -> None:
    for region, text in knowledge().normal.items():
        assert read(text).is_normal, text
        assert read(text).region == region
