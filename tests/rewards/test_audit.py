"""What rewards can be gamed with, on the bundled reports."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import radgauge as rg
from radgauge.cli import app
from radgauge.rewards import audit, reward
from radgauge.rewards.audit import degenerate
from radgauge.samples import sample_reports_path


@pytest.fixture(scope="module")
def cases() -> list[rg.Case]:
    return [case for case in rg.read_cases(sample_reports_path()).cases if case.system == "careful"][:12]


def test_bleu_can_be_gamed_where_errors_cannot(cases: list[rg.Case]) -> None:
    found = audit(cases, [reward("bleu", name="bleu"), reward("errors", name="errors")])
    by_kind = {(line.reward, line.kind): line for line in found}
    assert by_kind["bleu", "contradictions"].gamed
    assert not by_kind["errors", "contradictions"].gamed
    assert not any(line.gamed for line in found if line.reward == "errors")
    assert by_kind["errors", "the reference itself"].mean == 1.0
    for name in ("bleu", "errors"):
        assert by_kind[name, "empty"].floor == 1.0
        assert by_kind[name, "one sentence over and over"].floor == 1.0
    assert "contradictions" in repr(found)
    assert len(found.to_dict()["mean"]) == len(found) == 2 * 11


def test_every_kind_has_a_text_per_case(cases: list[rg.Case]) -> None:
    import numpy as np

    texts = degenerate(cases, rng=np.random.default_rng(0))
    assert all(len(written) == len(cases) for written in texts.values())
    others = texts["reference of another patient"]
    assert all(text != case.references[0] for text, case in zip(others, cases, strict=True))


def test_few_studies_are_not_audited(cases: list[rg.Case]) -> None:
    with pytest.raises(rg.InputError, match="an audit needs 5 studies"):
        audit(cases[:4], [reward("bleu")])


def test_the_command_line_audits_one_system() -> None:
    path = str(sample_reports_path())
    refused = CliRunner().invoke(app, ["rewards", "audit", path])
    assert "choose one with --system" in str(refused.exception)
    done = CliRunner().invoke(
        app, ["rewards", "audit", path, "--system", "hasty", "-m", "bleu", "--json", "--no-cache"]
    )
    assert {line["reward"] for line in json.loads(done.stdout)["audit"]} == {"bleu"}
