"""GREEN and CRIMSON by hand and by a scripted server; GREEN's own answers are read or refused, never guessed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripted_llm import FakeClock, Reply, Request, ScriptedServer

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.registry import load
from radgauge.core.scores import Results
from radgauge.llm import Limits, session
from radgauge.metrics.llm_errors.findings import KINDS, Claim, Fault, Judgment
from radgauge.metrics.llm_errors.published import crimson, green_row, parse_green
from radgauge.run.score import score

CASE = Case("1", "Small left effusion. Rib fracture.", ("Small left effusion. Large pneumothorax. No fracture.",))
ANSWER = """[Explanation]: two words
[Clinically Significant Errors]:
(a) False report of a finding in the candidate: 1. Rib fracture
(b) Missing a finding present in the reference: 2. Pneumothorax; device
[Clinically Insignificant Errors]:
(d) Misassessment of severity: 1. small
[Matched Findings]: 3. effusion; heart; lungs"""


def _score(cases: list[Case], spec: str, **how: Any) -> Results:
    with session(clock=FakeClock(), **how):
        return score(cases, spec)


def _judgment(tiers: str, matched: str, faults: list[tuple[str, str, str, int]]) -> Judgment:
    """Findings R1, R2, ... of these tiers; matched ones have partners C1, C2, ... of the same number."""
    reference = {f"R{n}": Claim((0, 1), "x", False, int(tier)) for n, tier in enumerate(tiers, 1)}
    candidate = {f"C{n}": Claim((0, 1), "x", False, int(tiers[int(n) - 1])) for n in matched}
    errors = tuple(Fault(KINDS.index(kind), r, c, False, tier, "") for kind, r, c, tier in faults)
    return Judgment(reference, candidate, {(f"R{n}", f"C{n}"): "" for n in matched}, errors, 1.0)


def test_green_by_hand() -> None:
    assert green_row(3, 1, 2) == [0.75, 3.0, 1.0]
    assert green_row(0, 1, 0)[0] == green_row(0, 0, 1)[0] == 0.0
    assert math.isnan(green_row(0, 0, 0)[0])


@pytest.mark.parametrize(
    ("judgment", "expected"),
    [
        (_judgment("00", "12", []), 1.0),
        (_judgment("01", "1", [("omission", "R2", "", 1)]), 1 / 1.5),
        # a significant error of an attribute: 1 * 1 / (1 + .5); a negligible one costs nothing
        (_judgment("0", "1", [("location", "R1", "C1", 1), ("severity", "R1", "C1", 3)]), 1 / 1.5),
        (_judgment("1", "1", [("severity", "R1", "C1", 0), ("location", "R1", "C1", 0)]), 0.25 / 1.5 / 0.5),
        # below 0: saturated, d = 1.5 - .5
        (_judgment("1", "1", [("false_finding", "", "C2", 0), ("false_finding", "", "C3", 1)]), -0.5),
        (_judgment("", "", []), 1.0),
        (_judgment("3", "", [("false_finding", "", "C1", 3)]), 1.0),  # benign findings weigh nothing
        (_judgment("", "", [("false_finding", "", "C1", 0)]), -0.5),
    ],
)
def test_crimson_by_hand(judgment: Judgment, expected: float) -> None:
    assert crimson(judgment) == pytest.approx(expected)


def test_one_answer_serves_all_three(judging: ScriptedServer, tmp_path: Path) -> None:
    """One of two actionable findings matched, one left out, one invented."""
    case = Case("1", CASE.candidate, ("Small left effusion. Large pneumothorax.",))
    with session(clock=FakeClock(), journal=tmp_path / "journal.jsonl"):
        results = score([case], "llm_errors,green_llm,crimson_llm")
    assert len(judging.requests) == 1
    assert results["green_llm"].columns == ("green_llm", "green_errors_llm", "green_significant_llm")
    assert results["green_llm"].values[0] == pytest.approx([1 / 3, 2, 2])
    assert results["crimson_llm"].values[0] == pytest.approx([(0.5 - 0.5) / 1.0])
    assert results["green_llm"].directions == (True, False, False)
    assert results["llm_errors"].column("errors_significant_llm")[0] == 2


def test_copies_beat_unrelated_texts(judging: ScriptedServer) -> None:
    texts = ["Small left effusion. Large pneumothorax.", "Rib fracture. Pacemaker."]
    cases = [Case("copy", texts[0], (texts[0],)), Case("other", texts[1], (texts[0],))]
    for spec in ("green_llm", "crimson_llm"):
        good, bad = _score(cases, spec)[spec].headline
        assert good == 1.0
        assert bad <= 0.0


def test_an_answer_of_the_checkpoint_is_read_by_category() -> None:
    value, fault = parse_green(ANSWER)
    assert fault == ""
    assert value == {"significant": [1, 2, 0, 0, 0, 0], "insignificant": [0, 0, 0, 1, 0, 0], "matched": 3}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("[Matched Findings]: 3", "[Matched Findings]: three"), "matched findings are not counted"),
        (("(a) False report of a finding in the candidate: 1.", "(a) False report."), "not counted by category"),
        (("(b) Missing", "(a) Missing"), "not counted by category"),
        (("(d) Misassessment of severity: 1. small", "a few"), "insignificant errors are not counted"),
        (("[Clinically Significant Errors]:", ""), "no section of significant errors"),
        (("[Explanation]: two words", "[Matched Findings]: 1. heart"), "matched findings occur twice"),
        ((ANSWER, "I cannot help with that."), "no section"),
        ((ANSWER, ""), "no section"),
    ],
)
def test_what_cannot_be_read_is_a_fault(change: tuple[str, str], fault: str) -> None:
    value, why = parse_green(ANSWER.replace(*change))
    assert value is None
    assert fault in why


def test_the_published_prompt_goes_out_to_the_letter_and_in_full(judging: ScriptedServer, tmp_path: Path) -> None:
    prompt = tmp_path / "green.txt"
    prompt.write_text("Compare {candidate} with {reference}!", encoding="utf-8")
    long = " ".join(["effusion"] * 400)
    judging.behaviour = lambda request: Reply(ANSWER if "fracture" in str(request.body) else "no idea")
    spec = f"green_llm:form=published,prompt={prompt}"
    results = _score([CASE, Case("2", long, ("Clear.",))], spec, parallel=1)
    assert results["green_llm"].values[0] == pytest.approx([3 / 6, 4, 3])
    assert np.isnan(results["green_llm"].values[1]).all()
    assert "no section" in results["green_llm"].reasons["2", "system"]
    sent = [request.body["messages"] for request in judging.requests]
    assert sent[0] == [{"role": "user", "content": f"Compare {CASE.candidate} with {CASE.references[0]}!"}]
    assert sent[1] == [{"role": "user", "content": f"Compare {long} with Clear.!"}]  # not cut, not sent back
    assert "response_format" not in judging.requests[0].body
    assert results.header["accounts"]["green_llm"]["long_texts"] == 1


def test_the_published_form_needs_its_prompt(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="form=published needs prompt=FILE"):
        load("green_llm:form=published")
    (tmp_path / "p.txt").write_text("{reference}")
    with pytest.raises(InputError, match="must contain"):
        load(f"green_llm:form=published,prompt={tmp_path / 'p.txt'}")


def test_a_judge_that_always_answers_the_same_draws_a_warning(
    judging: ScriptedServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    prompt = tmp_path / "green.txt"
    prompt.write_text("{candidate} {reference}", encoding="utf-8")
    cases = [Case(str(n), f"Mass of {n} mm.", (f"Nodule of {n} mm.",)) for n in range(12)]

    def answers(request: Request) -> Reply:
        return Reply(ANSWER)

    judging.behaviour = answers
    results = _score(cases, f"green_llm:form=published,prompt={prompt}")
    assert results.header["accounts"]["green_llm"]["constant"] == 0.5
    assert "12 pairs of different reports all got 0.5" in caplog.text
    caplog.clear()
    judging.behaviour = lambda request: Reply(
        ANSWER.replace("3.", f"{len(str(request.body)) % 7 + request.number}.")
    )
    results = _score(
        [Case(f"x{case.id}", f"{case.candidate} New.", case.references) for case in cases],
        f"green_llm:form=published,prompt={prompt}",
    )
    assert "constant" not in results.header["accounts"]["green_llm"]
    assert "all got" not in caplog.text


def test_money_set_aside_for_open_requests_is_waited_for(judging: ScriptedServer, tmp_path: Path) -> None:
    """An answer costs .002 and could cost 1: four in flight could cost 4, yet all 40 fit a budget of 2."""
    prompt = tmp_path / "green.txt"
    prompt.write_text("{candidate} {reference}", encoding="utf-8")
    judging.behaviour = lambda request: Reply(ANSWER, usage=(1, 1))
    cases = [Case(str(n), f"Mass of {n} mm.", (f"Nodule of {n} mm.",)) for n in range(40)]
    limits = Limits(price_in=1000.0, price_out=1000.0, max_cost=2.0)
    spec = f"green_llm:form=published,prompt={prompt},max_tokens=900"
    account = _score(cases, spec, limits=limits, parallel=4).header["accounts"]["green_llm"]
    assert (account["judged"], account["not_asked"]) == (40, 0)
    assert account["cost"] == pytest.approx(40 * 0.002)
