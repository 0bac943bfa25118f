"""The examples on the metric cards give what the cards say."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

CARDS = sorted((Path(__file__).parents[2] / "docs" / "metrics").glob("*.md"))


MARKS = {"layman": [pytest.mark.long], "lay_fidelity": [pytest.mark.long], "meteor": [pytest.mark.java]}


@pytest.mark.parametrize(
    "card", [pytest.param(card, marks=MARKS.get(card.stem, []), id=card.stem) for card in CARDS]
)
def test_examples(card: Path) -> None:
    if card.stem == "vlscore":
        pytest.importorskip("PIL", reason="the extra 'image' is not installed")
    if card.stem == "meteor":
        pytest.importorskip("pycocoevalcap.meteor", reason="the extra 'meteor' is not installed")
    found = doctest.testfile(str(card), module_relative=False, encoding="utf-8")
    assert found.failed == 0


def test_the_meteor_card() -> None:
    import re
    import shutil

    import radgauge as rg

    pytest.importorskip("pycocoevalcap.meteor", reason="the extra 'meteor' is not installed")
    if shutil.which("java") is None:
        pytest.skip("there is no Java on this machine")
    text = (Path(__file__).parents[2] / "docs" / "metrics" / "meteor.md").read_text(encoding="utf-8")
    reference = re.search(r'against "(.*)"', text)[1]  # type: ignore[index]
    lines = re.findall(r"^[a-z ]+?\s{2,}(0\.\d{3})   (.*)$", text, re.MULTILINE)
    assert len(lines) == 4
    cases = [
        {"id": str(i), "candidate": candidate, "reference": reference} for i, (_, candidate) in enumerate(lines)
    ]
    values = rg.score(cases, ["meteor"])["meteor"].headline
    assert [f"{value:.3f}" for value in values] == [value for value, _ in lines]
