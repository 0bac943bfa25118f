"""MEDCON: UMLS concepts that candidate and reference share.

Yim et al. (2023), ACI-BENCH, Scientific Data 10:586. There QuickUMLS (Soldaini and Goharian 2016) finds the
concepts, with similarity 1: strings of the UMLS that stand in the text as they are, up to five tokens long. The
same is done here by a dictionary, on the user's own MRCONSO.RRF and MRSTY.RRF; the UMLS does not ship.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.errors import ModelError
from radgauge.core.files import sha256_of
from radgauge.core.metric import Explanation, Metric, Note, Rows, best_reference, reference_pairs
from radgauge.core.readings import Readings
from radgauge.io.vocabularies import read_semantic_types, read_terms

WINDOW = 5  # tokens
SHORTEST = 3  # characters
TOKEN = re.compile(r"\w+|[^\w\s]")
ConceptTerms = Mapping[str, tuple[str, ...]]
"""Term of the UMLS -> its concepts."""


@dataclass(frozen=True)
class ConceptReader:
    """Reads a text as the UMLS terms in it, with their concepts.

    Args:
        umls: Folder with MRCONSO.RRF and MRSTY.RRF.
        case: "keep": as QuickUMLS installs by default (a span all in capitals is looked up in small letters);
            "lower": as it installs with -L.
    """

    umls: str
    case: Literal["keep", "lower"] = "keep"
    batch_size: ClassVar[int] = 256

    @property
    def signature(self) -> str:
        """The release by its content."""
        return f"medcon:{umls_hash(self.umls)}|case:{self.case}"

    def read(self, texts: Sequence[str]) -> list[ConceptTerms]:
        """The terms that cover each text: longest first, none over another."""
        terms = concepts(self.umls, self.case)
        return [self._terms(text, terms) for text in texts]

    def _terms(self, text: str, terms: Mapping[str, tuple[str, ...]]) -> ConceptTerms:
        spans = [match.span() for match in TOKEN.finditer(text)]
        matches = []
        for first, (start, _) in enumerate(spans):
            for _, end in spans[first : first + WINDOW]:
                if end - start < SHORTEST:
                    continue
                words = text[start:end]
                key = words.lower() if self.case == "lower" or words.isupper() else words
                if key in terms:
                    matches.append((start, end, key))
        matches.sort(key=lambda match: match[0] - match[1])  # the longest first; stable, so the leftmost of equals
        taken = bytearray(len(text))
        matched: dict[str, tuple[str, ...]] = {}
        for start, end, key in matches:
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                matched[key] = terms[key]
        return matched

    def pack(self, reading: ConceptTerms, text: str) -> bytes:
        """JSON."""
        return json.dumps(reading).encode()

    def unpack(self, packed: bytes, text: str) -> ConceptTerms:
        """Reverse `pack`."""
        return {term: tuple(cuis) for term, cuis in json.loads(packed).items()}


@dataclass(frozen=True)
class Medcon(Metric):
    """F1 of UMLS concepts, as ACI-BENCH computes it.

    A term of the reference is matched if one of its concepts is among the candidate's; precision divides the
    matched terms by the candidate's terms, recall by the reference's. Semantic groups: anatomy, chemicals, drugs,
    devices, disorders, genes, phenomena, physiology.
    """

    name: ClassVar[str] = "medcon"
    higher_is_better: ClassVar[bool] = True
    english_only: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (0.0, 2.0)
    summary: ClassVar[str] = "UMLS concepts shared with the reference (MEDCON; needs your UMLS)"

    umls: str = ""  # Folder with your MRCONSO.RRF and MRSTY.RRF
    case: Literal["keep", "lower"] = "keep"  # How strings are compared, see `ConceptReader`
    # "nan": a side without concepts is not judged; "zero": it scores 0, as in the authors' code
    empty: Literal["nan", "zero"] = "nan"

    @property
    def judges_empty(self) -> bool:
        """True if an empty candidate scores 0."""
        return self.empty == "zero"

    def parts(self) -> Mapping[str, str]:
        """The release of the UMLS by its content."""
        return {"release": umls_hash(self.umls) if self.umls else "none", "references": "best"}

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """F1 against the best reference."""
        reader = ConceptReader(self.umls, self.case)
        umls_files(self.umls)  # before any text is read
        candidates, references, owner = reference_pairs(cases)
        concepts = reading.of(reader, [*candidates, *references])
        pairs = zip(concepts[: len(candidates)], concepts[len(candidates) :], strict=True)
        values = np.array([[self._f1(candidate, reference)] for candidate, reference in pairs]).reshape(-1, 1)
        rows = np.full((len(cases), 1), np.nan)
        best = best_reference(values, owner, cases=len(cases), higher_is_better=True)
        rows[best >= 0] = values[best[best >= 0]]
        return rows

    def _f1(self, candidate: ConceptTerms, reference: ConceptTerms) -> float:
        if not candidate or not reference:
            return np.nan if self.empty == "nan" else 0.0
        there = {cui for cuis in candidate.values() for cui in cuis}
        matched = sum(not there.isdisjoint(cuis) for cuis in reference.values())
        return 2 * matched / (len(candidate) + len(reference))

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Name the side without concepts."""
        if not case.candidate.strip():
            return "empty candidate"
        [concepts] = reading.of(ConceptReader(self.umls, self.case), [case.candidate])
        return f"no UMLS concept found in the {'reference' if concepts else 'candidate'}"

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """Terms of both sides, and those of one only."""
        value = float(self.measure([case], reading=reading)[0, 0])
        texts = [case.candidate, *case.references[:1]]
        own, *rest = reading.of(ConceptReader(self.umls, self.case), texts)
        theirs = rest[0] if rest else {}
        sides = [{cui for cuis in side.values() for cui in cuis} for side in (own, theirs)]
        notes = [
            Note("matched" if not sides[0].isdisjoint(cuis) else "missing", f"{term} ({', '.join(cuis)})")
            for term, cuis in theirs.items()
        ]
        notes += [
            Note("added", f"{term} ({', '.join(cuis)})") for term, cuis in own.items() if sides[1].isdisjoint(cuis)
        ]
        return Explanation(self.name, {self.name: value}, tuple(notes))


@lru_cache(maxsize=1)
def semantic_types() -> frozenset[str]:
    """The semantic types that count."""
    with (Path(__file__).parent / "data" / "semantic_groups.toml").open("rb") as file:
        return frozenset(name for names in tomllib.load(file).values() for name in names)


def umls_files(folder: str) -> tuple[Path, Path]:
    """MRCONSO.RRF and MRSTY.RRF of a folder."""
    if not folder:
        raise ModelError(
            "MEDCON rests on the UMLS, which needs a licence of your own: name the folder that holds MRCONSO.RRF "
            "and MRSTY.RRF, medcon:umls=FOLDER"
        )
    files = (Path(folder).expanduser() / "MRCONSO.RRF", Path(folder).expanduser() / "MRSTY.RRF")
    for file in files:
        if not file.is_file():
            raise ModelError(f"medcon: {folder} must hold {file.name}, and it is not there")
    return files


@lru_cache(maxsize=4)
def umls_hash(folder: str) -> str:
    """First twelve hex digits of the content of both files."""
    return "".join(sha256_of(file)[:6] for file in umls_files(folder))


@lru_cache(maxsize=2)
def concepts(folder: str, case: str) -> dict[str, tuple[str, ...]]:
    """String -> concepts of the semantic groups that count, for strings that a window of tokens can hold."""
    terms, types = umls_files(folder)
    allowed = {cui for cui, kinds in read_semantic_types(types).items() if not kinds.isdisjoint(semantic_types())}
    by_text: dict[str, dict[str, None]] = {}
    for term in read_terms(terms):
        if term.concept in allowed and len(TOKEN.findall(term.text)) <= WINDOW:
            key = term.text.lower() if case == "lower" else term.text
            by_text.setdefault(key, {})[term.concept] = None
    return {key: tuple(cuis) for key, cuis in by_text.items()}
