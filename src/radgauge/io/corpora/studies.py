"""Study: what a radiologist wrote about one examination, before any system is in play."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.files import sha256_of
from radgauge.io.tables.cells import as_text
from radgauge.io.tables.columns import SECTIONS
from radgauge.text.sections import choose_section

EMPTY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Study:
    """One examination of a corpus."""

    id: str  # As the corpus names it
    # Section -> text: findings, impression, indication, comparison; "report" is the whole report where the corpus
    # gives it
    sections: Mapping[str, str]
    images: tuple[Path, ...] = ()  # Files, relative to the corpus's image folder
    # What indexers or labellers said of it, in the corpus's words (MeSH headings, PadChest findings)
    labels: tuple[str, ...] = ()
    split: str = ""  # train, val or test, if the corpus says
    patient: str = ""  # Patient id, if the corpus says
    meta: Mapping[str, str] = field(default_factory=lambda: EMPTY)  # Everything else worth keeping

    def text(self, section: str = "whole") -> str:
        """The text of findings, impression, both, or the whole report; "" if the study has none.

        A report without headings stands for any section, as in `read_cases`.

        >>> study = Study("1", {"findings": "Clear.", "impression": "Normal."})
        >>> study.text("impression"), study.text("both")
        ('Normal.', 'Clear.\\nNormal.')
        """
        if section not in SECTIONS:
            raise UsageError(f"section must be one of {', '.join(SECTIONS)}, got {section!r}")
        report = self.sections.get("report", "")
        if section == "whole" and report:
            return report
        names = ("findings", "impression") if section in ("both", "whole") else (section,)
        texts = [text for name in names if (text := self.sections.get(name, "").strip())]
        if texts or not report:
            return "\n".join(texts)
        chosen = choose_section(report, section)
        return report if chosen is None else chosen

    def as_record(self) -> dict[str, Any]:
        """A flat record with the columns `read_cases` knows."""
        context = {name: text for name, text in self.sections.items() if name != "report"}
        return {
            "id": self.id,
            **({"report": self.sections["report"]} if "report" in self.sections else {}),
            **context,
            "images": [image.as_posix() for image in self.images],
            **({"labels": "; ".join(self.labels)} if self.labels else {}),
            **({"split": self.split} if self.split else {}),
            **({"patient": self.patient} if self.patient else {}),
            **self.meta,
        }

    def as_case(self, candidate: str = "", *, section: str = "whole", system: str = "system") -> Case:
        """The study as a case with one reference."""
        meta = {"split": self.split, "patient": self.patient, **self.meta}
        return Case(
            id=self.id,
            candidate=candidate,
            references=(self.text(section),),
            system=system,
            images=self.images,
            meta=MappingProxyType({name: text for name, text in meta.items() if text}),
        )


def check_studies(studies: Sequence[Study], *, name: str) -> list[Study]:
    """Every id once, and at least one study."""
    if not studies:
        raise InputError(f"{name} holds no studies")
    seen: set[str] = set()
    for study in studies:
        if study.id in seen:
            raise InputError(f"{name}: the study {study.id!r} occurs more than once")
        seen.add(study.id)
    return list(studies)


def section_texts(record: Mapping[str, Any], columns: Mapping[str, str], *, where: str) -> dict[str, str]:
    """Sections of a record: section name -> text, for the columns that are there and not empty.

    Args:
        record: Cells by column.
        columns: Section -> column.
        where: For messages.
    """
    texts = {name: as_text(record.get(column), where=f"{where}: {column}") for name, column in columns.items()}
    return {name: text for name, text in texts.items() if text.strip()}


def hash_files(files: Iterable[Path], *, folder: Path) -> str:
    """One hash for a folder of files: of their relative names and contents, in order of name."""
    total = hashlib.sha256()
    for file in sorted(files):
        total.update(f"{file.relative_to(folder).as_posix()}\0{sha256_of(file)}\n".encode())
    return total.hexdigest()
