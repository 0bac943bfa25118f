"""The behavioural suite: its form, its size, and that `errors` passes it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from radgauge.analysis.behaviour import behaviour, behaviour_cases
from radgauge.core.errors import InputError

GROUPS = {
    *("false findings", "omissions", "significance", "normal statements", "paraphrase", "location", "severity"),
    *("measurement", "device position", "temporal change", "uncertainty", "partial credit"),
    *("diagnosis versus description", "duplicates", "order"),
}


def test_the_suite_is_large_enough_and_without_repeats() -> None:
    cases = behaviour_cases()
    assert len(cases) >= 120
    assert {case.group for case in cases} >= GROUPS
    assert min(Counter(case.group for case in cases).values()) >= 6
    questions = [(case.reference, case.first, case.second) for case in cases]
    assert len(set(questions)) == len(questions)
    assert all(case.first != case.second for case in cases)


@pytest.mark.parametrize("group", sorted({case.group for case in behaviour_cases()}))
def test_errors_passes(group: str) -> None:
    asked = [case for case in behaviour_cases() if case.group == group]
    (found,) = behaviour("errors", cases=asked)
    failed = [
        (v.case.number, v.first, v.second, v.case.reference, v.case.first, v.case.second)
        for v in found.verdicts
        if not v.passed
    ]
    assert not failed


def test_other_metrics_run_through_it() -> None:
    found = behaviour(["bleu", "rouge"])
    assert [each.judge for each in found] == ["bleu", "rouge"]
    for each in found:
        assert 0 < each.passed < len(each.verdicts)
        assert sum(asked for _, asked in each.by_group().values()) == len(each.verdicts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "not a TOML file"),
        ("a = 1", r"must have \[\[group\]\] tables"),
        ('[[group]]\nname = "g"\ncases = [{ better = "a" }]', "case 1 of group 'g' must have a reference"),
        ('[[group]]\nname = "g"\ncases = [{ reference = "a", better = "a" }]', "must have better and worse"),
        ('[[group]]\nname = "g"\ncases = [{ reference = "a", equal = ["a"] }]', "or equal with two texts"),
    ],
)
def test_faulty_suites(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "suite.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        behaviour_cases(path)
