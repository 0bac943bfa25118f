"""What rewards can be gamed with, on the bundled reports."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import radgauge as rg
from radgauge.analysis.rewards import Guards
from radgauge.analysis.rewards.audit import audit, degenerate
from radgauge.analysis.rewards.reward import reward
from radgauge.cli import app
from radgauge.samples import sample_reports_path


@pytest.fixture(scope="module")
def cases() -> list[rg.Case]:
    return [case for case in rg.read_cases(sample_reports_path()).cases if case.system == "careful"][:12]


def test_bleu_can_be_gamed_where_errors_cannot(cases: list[rg.Case]) -> None:
    unguarded = reward("bleu", name="bleu", guards=Guards(contradictions=0))
    found = audit(cases, [unguarded, reward("errors", name="errors")])
    by_kind = {(line.reward, line.kind): line for line in found}
    assert by_kind["bleu", "contradictions"].gamed
    assert not by_kind["errors", "contradictions"].gamed
    assert not any(line.gamed for line in found if line.reward == "errors")
    assert by_kind["errors", "the reference itself"].mean == 1.0
    for name in ("bleu", "errors"):
        assert by_kind[name, "empty"].floor == 1.0
        assert by_kind[name, "one sentence over and over"].floor == 1.0
    assert "contradictions" in repr(found)
    assert len(found.to_dict()["mean"]) == len(found) == 2 * 16


def test_every_kind_has_a_text_per_case(cases: list[rg.Case]) -> None:
    import numpy as np

    texts = degenerate(cases, rng=np.random.default_rng(0))
    assert all(len(written) == len(cases) for written in texts.values())
    others = texts["reference of another patient"]
    assert all(text != case.references[0] for text, case in zip(others, cases, strict=True))


def test_few_studies_are_not_audited(cases: list[rg.Case]) -> None:
    with pytest.raises(rg.InputError, match="an audit needs 5 studies"):
        audit(cases[:4], [reward("bleu")])


@pytest.mark.long
def test_the_command_line_audits_every_system_or_one() -> None:
    path = str(sample_reports_path())
    every = json.loads(
        CliRunner().invoke(app, ["probe", "rewards", path, "-m", "bleu", "--json", "--no-cache"]).stdout
    )
    real = {line["system"]: line["mean"] for line in every["audit"] if line["kind"] == "the system's report"}
    assert real.keys() == {case.system for case in rg.read_cases(path).cases}
    assert len(set(real.values())) == len(real)
    done = CliRunner().invoke(
        app, ["probe", "rewards", path, "--system", "hasty", "-m", "bleu", "--json", "--no-cache"]
    )
    lines = {line["kind"]: line for line in json.loads(done.stdout)["audit"]}
    assert {line["reward"] for line in lines.values()} == {"bleu"}
    assert lines["salad of words and denials"]["floor"] == 1.0
    assert lines["the system's report"]["mean"] == real["hasty"]


def test_an_output_is_tried_on_studies_that_it_applies_to(cases: list[rg.Case]) -> None:
    lines = {line.kind: line for line in audit(cases, [reward("errors_recall", name="recall")])}
    assert lines["the reference itself"].mean == 1.0
    assert lines["normal template"].mean == 0.0
    normal = [rg.Case(str(number), "Clear lungs.", ("The lungs are clear.",)) for number in range(5)]
    with pytest.raises(rg.InputError, match="recall: none of the 5"):
        audit(normal, [reward("errors_recall", name="recall")])


@pytest.mark.nightly
def test_no_attack_earns_more_than_the_lowest_tenth_of_reports() -> None:
    every = [case for case in rg.read_cases(sample_reports_path()).cases if case.system == "careful"]
    judge = reward("errors", references=[case.references for case in every])
    templates = {"normal template", "most frequent reference", "reference of another patient"}
    gamed = {line.kind for line in audit(every, [judge]) if line.gamed}
    assert gamed <= templates
