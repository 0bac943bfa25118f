"""Cases from files and back: one file, a wide file, or references and candidates joined on the study id."""

from radgauge.io.case_files.read import CaseFile, Provenance, read_cases, read_references, system_files
from radgauge.io.case_files.write import write_cases

__all__ = ["CaseFile", "Provenance", "read_cases", "read_references", "system_files", "write_cases"]
