"""What a sentence says of a finding, as a table: the concept, its assertion, and attributes where they matter.

`side=` with nothing behind it: the finding has none. All mentions of the concept that are stated must agree with
the claim ("some": one of them); "unread": there is none.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from radgauge.reader import read_report

ROWS = [
    line.split("\t")
    for line in (Path(__file__).parents[1] / "data" / "reader_claims.tsv").read_text("utf-8").splitlines()[1:]
    if not line.startswith("#")
]
ATTRIBUTES = {"side": "laterality", "places": "locations"}


@pytest.mark.parametrize(("report", "claims"), ROWS, ids=[report[:60] for report, _ in ROWS])
def test_a_sentence_says_what_the_table_says(report: str, claims: str) -> None:
    stated = [mention for mention in read_report(report).mentions if mention.form != "implied"]
    for claim in claims.split("; "):
        concept, assertion, *attributes = claim.removeprefix("some ").split(" ")
        mentions = [mention for mention in stated if mention.concept == concept]
        assert bool(mentions) is (assertion != "unread"), claim
        read = []
        for mention in mentions:
            values = [mention.assertion]
            for pair in attributes:
                name = pair.partition("=")[0]
                value = getattr(mention.attributes, ATTRIBUTES.get(name, name))
                values.append(f"{name}={value}" if isinstance(value, str) else f"{name}={'+'.join(sorted(value))}")
            read.append(values)
        if claim.startswith("some "):
            assert [assertion, *attributes] in read
        elif mentions:
            assert read == [[assertion, *attributes]] * len(read)
