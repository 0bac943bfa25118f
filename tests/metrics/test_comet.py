"""The metric `comet` on the estimator that ships."""

from __future__ import annotations

import numpy as np
import pytest

from radgauge import score
from radgauge.core.cases import Case
from radgauge.core.errors import ModelError, UsageError
from radgauge.core.readings import Readings
from radgauge.core.registry import describe_metrics, load
from radgauge.metrics.comet import Comet

REFERENCE = "The heart is mildly enlarged. There is a small left pleural effusion. No pneumothorax."


def value(candidate: str, *references: str) -> float:
    return float(Comet().measure([Case("1", candidate, references or (REFERENCE,))], reading=Readings())[0, 0])


def test_higher_is_better_and_a_copy_is_best() -> None:
    metric = Comet()
    assert metric.higher_is_better is True
    assert metric.directions == (True,)
    assert metric.columns == ("comet_embedded",)
    assert value(REFERENCE) > value("There is a small left pleural effusion.") > value("Severe edema.")


def test_it_follows_findings_and_not_words() -> None:
    reworded = "Heart size is slightly increased. Trace fluid in the left pleural space. Pneumothorax is absent."
    opposite = "The heart is not enlarged. There is no left pleural effusion. Large pneumothorax."
    assert value(reworded) > value(opposite)


def test_a_text_in_which_nothing_is_read_gets_no_number() -> None:
    case = {"id": "1", "candidate": "Please see above.", "reference": REFERENCE}
    scores = score([case], ["comet"])["comet"]
    assert np.isnan(scores.headline[0])
    assert scores.reasons == {("1", "system"): "no finding and no normal statement was read in the candidate"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("small left", "small right"),
        ("There is a small", "There is no"),
        ("mildly", "severely"),
        ("No pneu", "Pneu"),
    ],
)
def test_changes_are_noticed(old: str, new: str) -> None:
    assert value(REFERENCE.replace(old, new)) < value(REFERENCE)


def test_the_best_of_several_references_counts() -> None:
    assert value(REFERENCE, "Severe edema.", REFERENCE) == pytest.approx(value(REFERENCE))


def test_texts_without_words_are_not_judged() -> None:
    scores = score([{"id": "1", "candidate": "...", "reference": "Clear."}], ["comet"])["comet"]
    assert np.isnan(scores.headline[0])
    assert scores.reasons == {("1", "system"): "candidate has no words"}
    assert Comet().explain(Case("1", "...", ("Clear.",)), reading=Readings()).notes == ()


def test_explanations_say_what_each_sentence_does() -> None:
    candidate = f"{REFERENCE} A large right mass is seen."
    explained = Comet().explain(Case("1", candidate, (REFERENCE,)), reading=Readings())
    assert explained is not None
    assert "higher is better" in explained.notes[0].text
    gains = {candidate[slice(*note.candidate_spans[0])]: note.data["gain"] for note in explained.notes[1:]}
    assert min(gains, key=gains.__getitem__) == "A large right mass is seen."
    assert len(gains) == 4


def test_the_signature_names_checkpoint_target_and_typical_range() -> None:
    signature = Comet().signature()
    assert "|predicts:errors_quality|typical:" in signature
    assert "|checkpoint:" in signature
    low, high = Comet().typical_range or (0, 0)
    assert -1.2 < low < 0 < high < 1.2


def test_a_file_of_ones_own_is_read_like_the_shipped_one(tmp_path) -> None:
    from radgauge.encoders.text.embedded_estimator import EMBEDDED

    copy = tmp_path / "comet_embedded.npz"
    copy.write_bytes(EMBEDDED.read_bytes())
    for models in (str(copy), str(tmp_path)):
        own = load("comet", models=models)
        assert own.columns == ("comet_embedded",)
        case = Case("1", "Clear lungs.", (REFERENCE,))
        assert own.measure([case], reading=Readings()) == Comet().measure([case], reading=Readings())


def test_models_that_are_not_there() -> None:
    with pytest.raises(ModelError, match="comet has no checkpoint that can be fetched"):
        load("comet", models="published").signature()
    with pytest.raises(ModelError, match="comet: /none must be a checkpoint folder, and is not there"):
        load("comet", models="/none").signature()
    with pytest.raises(UsageError, match=r"comet: target must be one of .*got 'x'"):
        Comet(target="x")


def test_the_list_of_metrics_knows_the_direction() -> None:
    line = next(line for line in describe_metrics() if line.name == "comet")
    assert line.higher_is_better is True
    assert line.range == (float("-inf"), float("inf"))
