"""Perturbation: reports with one known change, and how metrics respond to it.

The six kinds of VLScore (section 4.2) and eleven more. Every change is proposed by rules, confirmed by the report
reader, and recorded.
"""

from radgauge.analysis.perturb.edits import KINDS, Edit, Kind, Perturbed
from radgauge.analysis.perturb.make import Laboratory, perturb, perturb_reports
from radgauge.analysis.perturb.sentences import Corpus
from radgauge.analysis.perturb.study import (
    DELTAS,
    Delta,
    Sensitivity,
    SensitivityStudy,
    Value,
    evaluate,
    perturbed_cases,
)
from radgauge.analysis.perturb.triples import make_triples, write_triples

__all__ = [
    "DELTAS",
    "KINDS",
    "Corpus",
    "Delta",
    "Edit",
    "Kind",
    "Laboratory",
    "Perturbed",
    "Sensitivity",
    "SensitivityStudy",
    "Value",
    "evaluate",
    "make_triples",
    "perturb",
    "perturb_reports",
    "perturbed_cases",
    "write_triples",
]
