"""Instruction data for people who tune larger models: image, instruction, report (Layman's RRG, section 3.3).

Two forms, one record per line: plain (id, study, kind, images, instruction, report) and the conversations that
LLaVA and the programs after it read. Professional, lay, or both for every study: the paper's joint tuning.
`python reproduce/layman.py tuning` writes the same records from a built lay set.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.files import check_folder, replacing
from radgauge.core.parsing import shipped_toml
from radgauge.io.tuning_records import tuning_record
from radgauge.lab.training.generator_data import lay_texts

Form = Literal["plain", "llava"]
Register = Literal["professional", "lay", "both"]
FORMS: tuple[Form, ...] = ("plain", "llava")
INSTRUCTIONS: Mapping[str, Sequence[str]] = shipped_toml(__file__, "instructions.toml")


def instruction_records(
    cases: Sequence[Case],
    *,
    form: Form = "plain",
    register: Register = "professional",
    images: Path | str | None = None,
    seed: int = 0,
) -> Iterator[dict[str, Any]]:
    """One record per study and register; studies without a report or an image have none.

    Args:
        cases: With references and images; lay reports are written from the first reference.
        form: plain or llava.
        register: professional, lay or both.
        images: Folder that image names are made relative to; None leaves them as they are.
        seed: Chooses the instruction, together with the study's id.

    >>> case = Case("7", "", ("Small left pleural effusion.",), images=(Path("7.png"),))
    >>> record = next(instruction_records([case], form="llava"))
    >>> record["image"], record["conversations"][1]["value"]
    ('7.png', 'Small left pleural effusion.')
    """
    if form not in FORMS:
        raise UsageError(f"form must be one of {', '.join(FORMS)}, got {form!r}")
    usable = [case for case in cases if case.images and case.references and case.references[0].strip()]
    texts = {"professional": [case.references[0].strip() for case in usable]}
    if register != "professional":
        texts["lay"] = lay_texts(texts["professional"])
    registers = ("professional", "lay") if register == "both" else (register,)
    for at, case in enumerate(usable):
        names = [_relative(path, images) for path in case.images]
        for kind in registers:
            request = _instruction(case.id, kind, seed)
            identifier = "" if register == "both" else case.id
            yield tuning_record(
                *(case.id, kind),
                images=names,
                instruction=request,
                report=texts[kind][at],
                form="rows" if form == "plain" else "conversations",
                name=identifier,
            )


def write_instructions(path: Path | str, records: Iterable[Mapping[str, Any]], *, replace: bool = False) -> int:
    """Write records as JSON lines, whole or not at all; how many there are.

    Args:
        path: A .jsonl file.
        records: From `instruction_records`.
        replace: Whether a file that is there may be replaced.
    """
    file = Path(path)
    check_instructions_path(file, replace=replace)
    number = 0
    with replacing(file) as beside, beside.open("w", encoding="utf-8") as stream:
        for record in records:
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
            number += 1
        if not number:
            raise InputError("instruction data need studies with a report and an image; there is none")
    return number


def check_instructions_path(path: Path, *, replace: bool) -> None:
    """Check that records can be written there."""
    if path.suffix != ".jsonl":
        raise UsageError(f"instruction data are written as .jsonl, got {path.name!r}")
    check_folder(path)
    if path.exists() and not replace:
        raise UsageError(f"{path} is there already; choose another name, or replace it with replace=True")


def _instruction(study: str, register: str, seed: int) -> str:
    """The same study is asked the same way whatever stands beside it."""
    instructions = INSTRUCTIONS[register]
    digest = hashlib.sha256(f"{seed}:{register}:{study}".encode()).digest()
    return instructions[int.from_bytes(digest[:4], "big") % len(instructions)]


def _relative(path: Path, folder: Path | str | None) -> str:
    if folder is not None and path.is_relative_to(folder):
        return path.relative_to(folder).as_posix()
    return path.as_posix()
