"""CheXbert F1 and similarity: counts by hand, policies, sums, scikit-learn's averages where it is installed."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import radgauge as rg
from radgauge.core.errors import InputError, UsageError
from radgauge.core.metric import sums
from radgauge.encoders.text.chexbert_labels import CONDITIONS, FIVE, condition_codes, label_table
from radgauge.metrics.chexbert import Chexbert
from radgauge.metrics.chexbert_similarity import ChexbertSimilarity

PAIRS = [
    ("Cardiomegaly. Pleural effusion.", "Cardiomegaly. No effusion."),
    ("No pneumothorax. Edema.", "Possible edema."),
    ("No acute findings.", "Consolidation in the left lower lobe."),
    ("Endotracheal tube in place. Atelectasis.", "Atelectasis. Rib fracture."),
    ("The lungs are clear.", "The lungs are clear."),
]
CASES = [rg.Case(str(i), a, (b,)) for i, (a, b) in enumerate(PAIRS)]


def scores(metric: Chexbert, cases: list[rg.Case] = CASES) -> rg.Scores:
    return rg.score(cases, [metric])["chexbert"]


def corpus(metric: Chexbert, cases: list[rg.Case] = CASES) -> dict[str, float]:
    found = scores(metric, cases)
    return dict(zip(found.columns, metric.corpus_scores(*sums(found.rows)), strict=True))


def test_one_case_by_hand() -> None:
    # cardiomegaly right, effusion too many
    values = dict(zip(Chexbert().columns, scores(Chexbert()).values[0], strict=True))
    assert values["chexbert_14_micro_f1_embedded"] == pytest.approx(2 / 3)
    assert values["chexbert_14_macro_f1_embedded"] == pytest.approx(1 / 2)
    assert values["chexbert_14_weighted_f1_embedded"] == pytest.approx(1.0)  # only cardiomegaly has support
    assert values["chexbert_5_exact_embedded"] == 0


@pytest.mark.parametrize(
    ("uncertain", "right"), [("positive", 1.0), ("negative", 0.0), ("class", 0.0), ("ignore", None)]
)
def test_uncertain_policies(uncertain: str, right: float | None) -> None:
    # the candidate has edema, the reference possible edema
    metric = Chexbert(uncertain=uncertain, per_condition=True)
    found = dict(zip(metric.columns, scores(metric).values[1], strict=True))["chexbert_edema_f1_embedded"]
    assert np.isnan(found) if right is None else found == right


def test_blank_ignored_forgives_what_the_reference_does_not_mention() -> None:
    case = [rg.Case("1", "Edema. Rib fracture.", ("Edema.",))]
    assert scores(Chexbert(), case).headline[0] == pytest.approx(2 / 3)
    assert scores(Chexbert(blank="ignore"), case).headline[0] == pytest.approx(1.0)


def test_averages_are_those_of_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    reading = rg.Readings()
    mine = condition_codes([a for a, _ in PAIRS], reading=reading)
    theirs = condition_codes([b for _, b in PAIRS], reading=reading)
    found = corpus(Chexbert())
    for size, chosen in (("14", list(range(14))), ("5", list(FIVE))):
        for average in ("micro", "macro", "weighted"):
            expected = sklearn.f1_score(
                np.isin(theirs, (1, 3))[:, chosen],
                np.isin(mine, (1, 3))[:, chosen],
                average=average,
                zero_division=0,
            )
            assert found[f"chexbert_{size}_{average}_f1_embedded"] == pytest.approx(expected)


def test_absent_conditions_can_be_skipped() -> None:
    with_zeros, without = corpus(Chexbert()), corpus(Chexbert(absent="skip"))
    name = "chexbert_14_macro_f1_embedded"
    assert without[name] > with_zeros[name]
    assert without["chexbert_14_micro_f1_embedded"] == with_zeros["chexbert_14_micro_f1_embedded"]


def test_exact_is_a_share_of_cases() -> None:
    # all but the effusion too many and the missed consolidation
    assert corpus(Chexbert())["chexbert_5_exact_embedded"] == pytest.approx(3 / 5)


def test_reasons() -> None:
    cases = [
        rg.Case("1", "...", ("Edema.",)),
        rg.Case("2", "Edema.", ("!",)),
        rg.Case("3", "Hello.", ("Good day.",)),
    ]
    found = scores(Chexbert(), cases)
    assert found.reasons["1", "system"] == "candidate has no words"
    assert found.reasons["2", "system"] == "reference has no words"
    assert found.reasons["3", "system"] == "no condition is positive in either text"


def test_names_of_conditions() -> None:
    names = Chexbert(per_condition=True).columns
    assert len(names) == 7 + 14
    assert "chexbert_pleural_effusion_f1_embedded" in names
    assert len(CONDITIONS) == 14


def test_explanation_says_what_each_text_says() -> None:
    notes = Chexbert().explain(CASES[0], reading=rg.Readings()).notes
    assert "Pleural Effusion: negative in the reference, positive in the candidate" in {n.text for n in notes}


@pytest.mark.parametrize("setting", ["uncertain", "blank", "absent", "empty"])
def test_unknown_settings(setting: str) -> None:
    with pytest.raises(UsageError, match=f"chexbert: {setting} must be one of"):
        Chexbert(**{setting: "sometimes"})


def similarity(a: str, b: str, **settings: str) -> float:
    return float(
        rg.score([rg.Case("1", a, (b,))], [ChexbertSimilarity(**settings)])["chexbert_similarity"].headline[0]
    )


def test_similarity_by_hand() -> None:
    assert similarity("Edema. Pneumothorax.", "Edema.", of="labels") == pytest.approx(np.sqrt(1 / 2))
    assert similarity("Edema.", "Edema.", of="labels") == pytest.approx(1.0)
    assert similarity("Edema.", "Pneumothorax.", of="labels") == 0
    assert similarity("Possible edema.", "Edema.", of="labels", uncertain="negative") == 0


def test_similarity_of_claims_sees_what_labels_do_not() -> None:
    reference = "Small left pleural effusion. No pneumothorax."
    other_side, denied = reference.replace("left", "right"), reference.replace("Small left", "No")
    assert similarity(reference, reference) == pytest.approx(1.0)
    assert similarity(other_side, reference, of="labels") == pytest.approx(1.0)
    assert 1.0 > similarity(other_side, reference) > similarity(denied, reference)


def test_similarity_of_claims_orders_pairs_like_the_published_embedding(shared_data: Path) -> None:
    """590 outputs of a generator with s_emb as the authors' program computed it."""
    folder = shared_data / "iu_xray_systems"
    with (folder / "moerad_report_scores.csv").open(encoding="utf-8") as stream:
        theirs = list(csv.DictReader(stream))
    with (folder / "test590_systems.csv").open(encoding="utf-8") as stream:
        references = [row["reference"] for row in csv.DictReader(stream)]
    texts = zip((row["report"] for row in theirs), references, strict=True)
    cases = [rg.Case(str(at), report, (reference,)) for at, (report, reference) in enumerate(texts)]
    published = [float(row["semb_score"]) for row in theirs]
    reading = rg.Readings()
    values = {of: ChexbertSimilarity(of=of).measure(cases, reading=reading)[:, 0] for of in ("claims", "labels")}
    found = {of: stats.spearmanr(each, published).statistic for of, each in values.items()}
    assert found["claims"] > 0.75
    assert found["labels"] < 0.6


def test_similarity_needs_the_checkpoint_for_embeddings() -> None:
    with pytest.raises(UsageError, match="of=embedding needs the CheXbert checkpoint"):
        ChexbertSimilarity(of="embedding")
    with pytest.raises(UsageError, match="of=claims is the embedded report reader's"):
        ChexbertSimilarity(of="claims", models="published")
    assert ChexbertSimilarity().columns == ("chexbert_similarity_embedded",)
    assert ChexbertSimilarity(of="labels").columns == ("chexbert_label_similarity_embedded",)
    assert ChexbertSimilarity(models="published").columns == ("chexbert_similarity",)


def test_findings_outside_the_14_are_no_finding_for_the_similarity() -> None:
    """Two reports of spinal degeneration agree; a text that says nothing is still not judged."""
    cases = [
        rg.Case("1", "Degenerative changes of the spine.", ("Mild degenerative change in the thoracic spine.",)),
        rg.Case("2", "Degenerative changes of the spine.", ("Large right pneumothorax.",)),
        rg.Case("3", "Hello.", ("Good day.",)),
    ]
    found = rg.score(cases, [ChexbertSimilarity(of="labels")])["chexbert_similarity"]
    assert found.headline[0] == pytest.approx(1.0)
    assert found.headline[1] == 0.0
    assert found.reasons == {("3", "system"): "no condition is positive in either text"}


def test_labels_of_another_labeler_as_a_table(tmp_path: Path) -> None:
    path = tmp_path / "labeled_reports.csv"
    edema = CONDITIONS.index("Edema")
    lines = {"Pulmonary  edema.": "1", "No edema.": "0", "Possible edema.": "-1", "Clear lungs.": ""}
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Reports", *CONDITIONS])
        writer.writerows([text, *[""] * edema, state, *[""] * (13 - edema)] for text, state in lines.items())
    cases = [
        rg.Case(str(number), text, ("Pulmonary edema.",))
        for number, text in enumerate(("Possible edema.", "No edema."))
    ]
    metric = Chexbert(models=str(path))
    assert metric.columns[0] == "chexbert_14_micro_f1"  # not ours, so not marked as embedded
    assert "labeled_reports.csv@" in metric.signature()
    assert metric.case_scores(metric.measure(cases, reading=rg.Readings()))[:, 0].tolist() == [1, 0]
    with pytest.raises(InputError, match="1 of 2 texts have no row"):
        metric.measure([rg.Case("x", "Large effusion.", ("No edema.",))], reading=rg.Readings())
    path.write_text("Reports,Edema\na,1\n")
    label_table.cache_clear()
    with pytest.raises(InputError, match="missing: Atelectasis"):
        metric.signature()
