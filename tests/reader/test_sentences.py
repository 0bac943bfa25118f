"""Hand-written sentences and what must be read from them: findings and words of normality, in order.

A record names text, concept and assertion of every mention that is not anatomy; attributes are checked where the
record names them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from radgauge.reader import read_report

RECORDS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "reader_sentences.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["text"][:60])
def test_sentence(record: dict[str, Any]) -> None:
    mentions = read_report(record["text"]).mentions
    read = [mention for mention in mentions if mention.kind != "anatomy" and mention.form != "implied"]
    found = [(mention.text, mention.concept, mention.assertion) for mention in read]
    assert found == [(each["text"], each["concept"], each["assertion"]) for each in record["mentions"]]
    for mention, each in zip(read, record["mentions"], strict=True):
        for name in each.keys() - {"text", "concept", "assertion"}:
            value = getattr(mention.attributes, name)
            assert (list(value) if isinstance(value, tuple) else value) == each[name], name
