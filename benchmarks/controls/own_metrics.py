"""Metrics by others.

A metric that fails must be told what failed, and one without knowledge must not look like one with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from outcome import Outcome

import radgauge as rg
from radgauge.run.contract import ContractBroken, check_metric


@dataclass(frozen=True)
class NeverEmpty(rg.Metric):
    """Fails for an empty list of cases, as np.vstack does."""

    name: ClassVar[str] = "never_empty"
    higher_is_better: ClassVar[bool] = True
    summary: ClassVar[str] = "fails for no cases"

    def measure(self, cases, *, reading):  # type: ignore[no-untyped-def]
        return np.vstack([[1.0] for _ in cases])


def control_metric_that_fails_on_an_empty_list() -> Outcome:
    """The real exception is shown, in one line."""
    tried, must = "`check_metric` on a metric that fails for no cases", "its own exception, in a line"
    try:
        check_metric(NeverEmpty())
    except ContractBroken as error:
        did = str(error)
        return Outcome(tried, must, did, "ValueError" in did and len(did.splitlines()) == 1)
    return Outcome(tried, must, "passed", False)


def control_signature_of_a_function() -> Outcome:
    """A function that is called like one of our metrics does not get that metric's signature."""

    def bleu(candidate: str, reference: str) -> float:
        return 1.0

    case = {"id": "1", "candidate": "No effusion.", "reference": "Effusion."}
    own, ours = (rg.score([case], [metric]) for metric in (bleu, "bleu"))
    signatures = [next(iter(results.judges.values())).signature for results in (own, ours)]
    differs = "|probes:" not in signatures[0] and signatures[0] != signatures[1]
    did = "signed by its source" if differs else signatures[0]
    return Outcome("a constant function called `bleu`", "a signature of its own", did, differs)
