"""Failure modes: which candidate group makes more errors, of which kind, and whether they matter."""

from __future__ import annotations

import pytest

from radgauge.analysis.failure_modes import failure_modes
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.io.judgments.judgments import Judgments, error_scores

STUDIES, GROUPS = [f"s{n}" for n in range(12)], ("x", "y")


def counted(*counts: tuple[str, int, bool, float]) -> Judgments:
    """Two raters who agree: (group, category, significant, count), one more in every other study."""
    keys = tuple((study, group) for study in STUDIES for group in GROUPS)
    rows = [
        (key, rater, category, significant, count + int(key[0][1:]) % 2)
        for key in keys
        for rater in ("0", "1")
        for group, category, significant, count in counts
        if group == key[1]
    ]
    cases = tuple(Case(study, "t", ("r",), group) for study, group in keys)
    return Judgments("test", cases, error_scores(rows, keys=keys, signature="test"))


def test_failure_modes_find_the_group_with_more_errors() -> None:
    judged = counted(("x", 2, True, 0.0), ("y", 2, True, 3.0))
    found = {(m.category, m.first, m.second): m for m in failure_modes(judged)[0].modes}
    assert found["omission", "y", "x"].two_sample.significant
    assert not found["omission", "x", "y"].two_sample.significant
    assert found["omission", "y", "x"].mean_first == pytest.approx(3.5)


def test_significant_errors_are_told_from_all_errors() -> None:
    judged = counted(("x", 2, True, 2.0), ("x", 2, False, 0.0), ("y", 2, True, 0.0), ("y", 2, False, 5.0))
    total, significant = failure_modes(judged)
    assert (total.target, significant.target) == ("total", "significant")
    means = {
        part.target: next(m.mean_first for m in part.modes if (m.category, m.first) == ("omission", "x"))
        for part in (total, significant)
    }
    assert means == {"total": pytest.approx(3.0), "significant": pytest.approx(2.5)}
    worse = {
        part.target: {(m.category, m.first) for m in part.modes if m.two_sample.significant}
        for part in (total, significant)
    }
    assert worse["total"] == {("omission", "y"), ("total", "y")}
    assert worse["significant"] == {("omission", "x"), ("total", "x")}


def test_a_category_can_be_asked_for_alone_and_only_once() -> None:
    judged = counted(("x", 2, True, 2.0), ("x", 3, True, 1.0), ("y", 2, True, 0.0), ("y", 3, True, 1.0))
    (found,) = failure_modes(judged, targets=["2", "omission"])
    assert found.target == "omission"
    assert {mode.category for mode in found.modes} == {"omission"}
    with pytest.raises(UsageError, match="counted errors, not ratings"):
        failure_modes(judged, targets=["rating"])


def test_studies_left_out_are_counted() -> None:
    judged = counted(("x", 2, True, 2.0), ("y", 2, True, 0.0))
    for rater in judged.errors.values():
        rater.values[0] = float("nan")
    (found,) = failure_modes(judged, targets=["total"])
    assert (found.studies, found.not_judged) == (11, 1)


def test_failure_modes_need_groups() -> None:
    judged = counted(("x", 2, True, 2.0), ("y", 2, True, 0.0))
    lonely = Judgments("one", judged.cases[:1], judged.errors)
    with pytest.raises(InputError, match="two candidate groups or more"):
        failure_modes(lonely)


def test_studies_divided_among_raters_are_compared_by_their_means() -> None:
    """Six studies by one rater, six by the other: none is lost, and the means are those of all studies."""
    judged = counted(("x", 2, True, 2.0), ("y", 2, True, 0.0))
    whole = failure_modes(judged, targets=["total"])[0]
    for first, rater in zip((0, len(STUDIES)), judged.errors.values(), strict=True):
        rater.values[first : first + len(STUDIES)] = float("nan")  # two rows per study
    (found,) = failure_modes(judged, targets=["total"])
    assert (found.studies, found.not_judged) == (12, 0)
    means = [{(m.category, m.first): m.mean_first for m in part.modes} for part in (whole, found)]
    assert means[0] == pytest.approx(means[1])
    other = list(judged.errors.values())[1].values
    other[-1] = other[0]  # one candidate of a study by another rater too
    (found,) = failure_modes(judged, targets=["total"])
    assert (found.studies, found.not_judged) == (11, 1)
