"""What a report claims, as names and as numbers."""

from __future__ import annotations

import numpy as np
import pytest

from radgauge.encoders.text.report_claims import ReportClaims, claim_vocabulary, claims, stating_sentences
from radgauge.reader import read_report


@pytest.mark.parametrize(
    ("text", "there", "not_there"),
    [
        ("Left pleural effusion.", ["+pleural_effusion@left", "+finding"], ["+pleural_effusion@right"]),
        ("No pleural effusion.", ["-pleural_effusion"], ["+pleural_effusion", "+finding"]),
        ("Bilateral pleural effusions.", ["+pleural_effusion@left", "+pleural_effusion@right"], []),
        ("Severe cardiomegaly.", ["+cardiomegaly:severe", "+:severe"], ["+cardiomegaly:mild"]),
        ("The heart is normal.", ["=heart"], ["+cardiomegaly"]),
        ("Pacemaker.", ["+device"], ["+finding"]),
        ("Fracture of the left femur.", ["+fracture@left", "+@femur"], ["+@tibia"]),
        ("There is a quuxoma in the left kidney.", ["+~quuxoma"], ["-~quuxoma"]),
    ],
)
def test_names(text: str, there: list[str], not_there: list[str]) -> None:
    found = claims(read_report(text))
    assert set(there) <= set(found)
    assert not set(not_there) & set(found)


def test_a_hedged_claim_is_weaker_and_a_kind_is_claimed_with_its_parents() -> None:
    sure, hedged = (claims(read_report(text)) for text in ("Pneumonia.", "Possible pneumonia."))
    assert 0 < hedged["+pneumonia"] < sure["+pneumonia"] == 1
    assert len([name for name in sure if name not in ("+pneumonia", "+finding")]) > 0


def test_only_sentences_that_state_something() -> None:
    text = "No effusion. There is a left effusion. The lungs are clear. Pacemaker in place."
    assert stating_sentences(read_report(text)) == ["There is a left effusion.", "Pacemaker in place."]


def test_vocabulary_counts_reports_not_mentions() -> None:
    readings = [read_report("Effusion. Effusion. No pneumothorax."), read_report("No pneumothorax.")]
    assert claim_vocabulary(readings, min_count=2) == ("-pneumothorax",)


def test_rows_do_not_depend_on_company() -> None:
    made = ReportClaims(("+finding", "-pneumothorax"))
    texts = ["Effusion. No pneumothorax.", "", "Clear."]
    together = made.rows(texts)
    assert together.shape == (3, made.dimensions)
    assert together[:, :2].tolist() == [[1, 1], [0, 0], [0, 0]]
    assert not together[1].any()
    np.testing.assert_allclose(together, np.vstack([made.rows([text]) for text in texts]), atol=1e-6)
