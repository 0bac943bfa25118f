"""Cases from files and back: one file, a wide file, or references and candidates joined on the study id."""

from radgauge.io.case_files.read import CaseFile, Provenance, read_again, read_cases, read_input, read_references
from radgauge.io.case_files.spec import InputSpec, input_spec, spec_from_dict, system_files
from radgauge.io.case_files.write import write_cases

__all__ = [
    "CaseFile",
    "InputSpec",
    "Provenance",
    "input_spec",
    "read_again",
    "read_cases",
    "read_input",
    "read_references",
    "spec_from_dict",
    "system_files",
    "write_cases",
]
