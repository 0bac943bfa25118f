"""Records of instruction data (image, instruction, report), alike wherever the reports come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

RecordForm = Literal["rows", "conversations"]


def tuning_record(
    study: str,
    kind: str,
    *,
    images: Sequence[str],
    instruction: str,
    report: str,
    form: RecordForm = "rows",
    name: str = "",
) -> dict[str, Any]:
    """One record.

    Args:
        study: Id of the study.
        kind: professional or lay.
        images: Names of its images; may be none.
        instruction: What a person asks.
        report: What is to be answered; line breaks become blanks.
        form: "rows" (id, study, kind, images, instruction, report), or "conversations" of a person and an
            assistant as LLaVA and the programs after it read them.
        name: Id of the record; that of the study and the kind if "".

    >>> tuning_record("7", "lay", images=["7.png"], instruction="Write.", report="No air leak.")["id"]
    '7-lay'
    """
    about: dict[str, Any] = {"id": name or f"{study}-{kind}", "study": study, "kind": kind}
    text = " ".join(report.split())
    if form == "rows":
        return {**about, "images": list(images), "instruction": instruction, "report": text}
    picture = {} if not images else {"image": images[0] if len(images) == 1 else list(images)}
    prompt = "<image>\n" * len(images) + instruction
    return {
        **about,
        **picture,
        "conversations": [{"from": "human", "value": prompt}, {"from": "gpt", "value": text}],
    }
