"""Designs: those that ship are sound, and what is wrong with one of your own is said in full."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import pytest

from radgauge.core.error_categories import CATEGORIES
from radgauge.core.errors import UsageError
from radgauge.study import DesignError, load_design, shipped_designs
from radgauge.study.answers import asked_categories
from radgauge.study.design import design_from_dict

GOOD = """
instructions = "Rate it."
[[field]]
key = "rating"
kind = "rating"
title = "How good?"
min = 0
max = 10
use = "rating"
"""


@pytest.mark.parametrize("name", shipped_designs())
def test_shipped_designs_survive_the_store_and_have_training(name: str) -> None:
    design = load_design(name)
    assert design_from_dict(design.as_dict()) == design
    assert design.training or name == "rexval"  # the survey of the paper had none
    assert design.source
    assert design.blinded
    assert not design.assistance


def test_categories_are_those_of_the_papers() -> None:
    assert shipped_designs() == ("errors", "lay", "preference", "radevalx", "radpref", "rate_eval", "rexval")
    assert asked_categories(load_design("rexval")) == (1, 2, 3, 4, 5, 6)
    assert asked_categories(load_design("radevalx")) == tuple(each.number for each in CATEGORIES)
    assert asked_categories(load_design("radpref")) == (1, 2, 3, 4, 5, 7)
    errors = load_design("rexval").field("errors")
    assert len(errors.parts()) == 12
    assert errors.identical
    rating = load_design("radpref").field("rating")
    assert (rating.minimum, rating.maximum) == (1, 5)
    rating = load_design("rate_eval").field("rating")
    assert (rating.minimum, rating.maximum) == (0, 5)
    assert load_design("rate_eval").field("potential").per == "sentence"
    assert load_design("preference").field("preference").candidates


def test_an_own_design_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(GOOD)
    design = load_design(tmp_path / "mine.toml")
    assert (design.name, design.keys) == ("mine", ("rating",))
    changed = tmp_path / "changed.toml"
    changed.write_text(
        GOOD.replace("How good?", "How good is it?").replace("instructions", 'name = "mine"\ninstructions')
    )
    assert load_design(changed).version != design.version


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('instructions = "Rate it."', "", "must have instructions"),
        ('kind = "rating"', 'kind = "stars"', "kind must be one of 'counts', 'number'"),
        ("max = 10", "max = -1", "min must be below max"),
        ("max = 10", "", "a rating needs max"),
        ("max = 10", "max = 10\nanchors = { 11 = 'too much' }", "lies outside 0 to 10"),
        ("max = 10", "max = 10\nreason = 'required'", "'reason' has no meaning for the kind rating"),
        ("max = 10", "max = 10\ncolour = 'red'", "there is no setting 'colour'"),
        ("max = 10", "max = true", "max must be a number"),
        ('key = "rating"', 'key = "my rating"', "key must be a word of small letters"),
        ('title = "How good?"', "", "title is missing"),
        ('use = "rating"', 'use = "errors"', "needs counts or marks"),
        ('use = "rating"', 'per = "patient"', "per must be one of 'case', 'candidate', 'sentence'"),
        ('kind = "rating"', 'kind = "marks"', "need at least one [[field.category]]"),
        ("[[field]]", "[show]\nsound = true\n[[field]]", "there is no setting 'sound'"),
        ("[[field]]", "[field]", "field must be a list"),
    ],
)
def test_every_problem_of_a_design_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(DesignError) as wrong:
        load_design(path)
    assert message in str(wrong.value)


def test_marks_must_count_into_counts_that_are_there(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "src/radgauge/study/designs/errors.toml").read_text()
    path = tmp_path / "mine.toml"
    path.write_text(text.replace('counts_into = "errors"', 'counts_into = "faults"', 1))
    with pytest.raises(DesignError, match="counts_into must name a field of counts"):
        load_design(path)
    path.write_text(text.replace('key = "severity"', 'key = "degree"', 1))
    with pytest.raises(DesignError, match="does not count 'severity/significant'"):
        load_design(path)


def test_the_survey_of_the_paper_is_text_and_counts_alone() -> None:
    design = load_design("rexval")
    assert (design.show_images, design.context, design.training, design.keys) == (False, (), (), ("errors",))
    assert [each.key for each in design.field("errors").categories] == [
        *("false_finding", "omission", "location", "severity", "false_comparison", "omitted_comparison")
    ]


def test_designs_of_earlier_studies_keep_their_version() -> None:
    design = load_design("errors")
    values = design.as_dict()
    for field in values["fields"]:
        assert field.pop("explicit") is (field["key"] == "errors")
    del values["language"]
    earlier = design_from_dict(values)  # as such a study holds it
    plain = json.dumps(asdict(earlier), sort_keys=True)
    plain = plain.replace('"explicit": false, ', "").replace('"language": "en", ', "")
    assert earlier.version == hashlib.sha256(plain.encode()).hexdigest()[:12]
    assert earlier.version != design.version


def test_names_and_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no design 'stars'"):
        load_design("stars")
    broken = tmp_path / "broken.toml"
    broken.write_text("= = =")
    with pytest.raises(DesignError, match="not valid TOML"):
        load_design(broken)
