"""Terms of the vocabularies that users hold under their own licences: UMLS, SNOMED CT, ICD-10-CM, or a plain list.

Told by what the file holds, read line by line: MRCONSO.RRF has some fifteen million. None of them ships.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from radgauge.core.errors import InputError

ICD_ORDER = re.compile(r"\d{5} [A-Z]\w{2,6} *[01] ")
SNOMED_COLUMNS = {"active", "conceptId", "languageCode", "term"}
FULLY_SPECIFIED = "900000000000003001"
_SEMANTIC_TAG = re.compile(r" \([^()]*\)$")


class Term(NamedTuple):
    """A term and the concept it names; "" in a plain list."""

    text: str
    concept: str


def read_terms(path: Path | str) -> Iterator[Term]:
    """The English terms of a vocabulary file.

    Understands MRCONSO.RRF of the UMLS (suppressed rows left out), a description file of SNOMED CT (RF2,
    sct2_Description_*.txt; active rows, fully specified names without their tag), the order file of ICD-10-CM
    (icd10cm_order_*.txt, long descriptions), and a plain list with a term per line.

    Raises:
        InputError: A row does not have the form that the first one has, or no term is there.
    """
    file = Path(path)
    first = _first_line(file)
    if first.count("|") >= 17:
        rows = _umls(file)
    elif set(first.split("\t")) >= SNOMED_COLUMNS:
        rows = _snomed(file)
    elif ICD_ORDER.match(first):
        rows = _icd(file)
    else:
        rows = (Term(line.strip(), "") for _, line in _lines(file) if line.strip())
    empty = True
    for term in rows:
        empty = False
        yield term
    if empty:
        raise InputError(f"{file.name} holds no English term")


def read_semantic_types(path: Path | str) -> dict[str, set[str]]:
    """Concept -> semantic types (T033, ...) of MRSTY.RRF."""
    types: dict[str, set[str]] = {}
    file = Path(path)
    for number, line in _lines(file):
        cells = line.split("|")
        if len(cells) < 4 or not re.fullmatch(r"T\d{3}", cells[1]):
            raise InputError(f"{file.name}, line {number}: must be a row of MRSTY.RRF: CUI|T033|...")
        types.setdefault(cells[0], set()).add(cells[1])
    if not types:
        raise InputError(f"{file.name} holds no semantic type")
    return types


def _umls(file: Path) -> Iterator[Term]:
    """CUI|LAT|TS|LUI|STT|SUI|ISPREF|AUI|SAUI|SCUI|SDUI|SAB|TTY|CODE|STR|SRL|SUPPRESS|CVF|"""
    for number, line in _lines(file):
        cells = line.split("|")
        if len(cells) < 18:
            raise InputError(f"{file.name}, line {number}: MRCONSO.RRF has 18 fields, got {len(cells) - 1}")
        if cells[1] == "ENG" and cells[16] not in ("O", "E", "Y") and cells[14].strip():
            yield Term(cells[14].strip(), cells[0])


def _snomed(file: Path) -> Iterator[Term]:
    names: list[str] = []
    for number, line in _lines(file):
        cells = line.split("\t")
        if not names:
            names = cells
            continue
        if len(cells) != len(names):
            raise InputError(f"{file.name}, line {number}: must have {len(names)} fields, got {len(cells)}")
        row = dict(zip(names, cells, strict=True))
        if row["active"] != "1" or not row["languageCode"].startswith("en"):
            continue
        text = row["term"].strip()
        if row.get("typeId") == FULLY_SPECIFIED:
            text = _SEMANTIC_TAG.sub("", text)
        if text:
            yield Term(text, row["conceptId"])


def _icd(file: Path) -> Iterator[Term]:
    """Fixed columns: order 1-5, code 7-13, billable 15, short description 17-76, long description from 78 on."""
    for number, line in _lines(file):
        if not line.strip():
            continue
        if not ICD_ORDER.match(line):
            raise InputError(f"{file.name}, line {number}: must be a row of ICD-10-CM's order file")
        text = line[77:].strip() or line[16:76].strip()
        if text:
            yield Term(text, line[6:13].strip())


def _first_line(file: Path) -> str:
    return next((line for _, line in _lines(file) if line.strip()), "")


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    try:
        with file.open(encoding="utf-8-sig", newline="\n") as stream:
            for number, line in enumerate(stream, start=1):
                yield number, line.rstrip("\r\n")
    except OSError:
        raise InputError(f"{file} cannot be read as a file of terms") from None
    except UnicodeDecodeError:
        raise InputError(f"{file.name} is not UTF-8 text") from None
