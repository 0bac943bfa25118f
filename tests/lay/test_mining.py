"""Pairs found in a corpus: the same meaning in other words, another meaning in similar words."""

from __future__ import annotations

from radgauge.lay.mining import mine_triples

REPORTS = {
    "1": "There is a single calcified granuloma in the right lung base. The heart is XXXX.",
    "2": "Right basilar calcified granuloma noted. Zzz.",
    "3": "There is a single calcified granuloma in the left lung base.",
    "4": "No pneumothorax or pleural effusion. Cardiac silhouette is not enlarged.",
    "5": "There are no pleural effusions, and there is no pneumothorax.",
    "6": "No pneumothorax or large pleural effusion. The cardiac silhouette is enlarged.",
    "7": "Pneumothorax or pleural effusion.",
}


def test_an_opposite_differs_in_meaning_and_a_rewrite_in_words() -> None:
    mined = {each.original: each for each in mine_triples(REPORTS)}
    granuloma = mined["There is a single calcified granuloma in the right lung base."]
    assert granuloma.rewrite == "Right basilar calcified granuloma noted."
    assert granuloma.opposite == "There is a single calcified granuloma in the left lung base."
    assert granuloma.id == "1#1"
    denial = mined["No pneumothorax or pleural effusion."]
    assert denial.rewrite == "There are no pleural effusions, and there is no pneumothorax."
    assert denial.opposite == "Pneumothorax or pleural effusion."  # a degree alone is not enough


def test_what_has_no_partner_or_is_masked_is_left_out() -> None:
    assert not mine_triples({"1": REPORTS["1"]})
    assert all("XXXX" not in text for each in mine_triples(REPORTS) for text in each[1:])
    assert mine_triples({}) == []
