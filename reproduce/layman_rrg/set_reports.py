"""What can be done with a built lay set: its statistics (table 5), the trace of one item (table 6), and data for
tuning a generator on professional and lay reports together (table 7). Zhao et al., Layman's RRG (2024), appendix.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from radgauge.core.errors import InputError
from radgauge.core.files import write_file
from radgauge.io.tuning_records import RecordForm, tuning_record
from radgauge.lay.dedupe import normal_sentence
from radgauge.lay.gathering import TRACE
from radgauge.lay.refine import Step
from radgauge.lay.sentences import Pair
from radgauge.lay.sets import REPORTS, SET, read_records
from radgauge.text.sentences import sentences_of

PROFESSIONAL, LAY = "professional", "lay"
INSTRUCTIONS = {
    PROFESSIONAL: "Look at this X-ray image and write a radiology report for a doctor.",
    LAY: "Look at this X-ray image and write a radiology report in everyday words for a patient.",
}
"""Ours; the paper prepends one instruction to each kind of report, in other words."""


@dataclass(frozen=True, slots=True)
class SetStatistics:
    """A line of table 5 for one side of one set.

    Attributes:
        level: "sentence" or "report".
        side: "professional" or "lay".
        samples: Pairs of the set.
        words: Mean number of words of a sample, words being what blanks separate.
        sentences: Mean number of sentences of a sample.
        distinct: Different texts, but for case and outer punctuation.
    """

    level: str
    side: str
    samples: int
    words: float
    sentences: float
    distinct: int


def set_statistics(folder: Path) -> list[SetStatistics]:
    """Table 5 of the sets in a folder; the paper does not say which side it counts, so both are here."""
    found = []
    for level, pairs in _pairs(folder).items():
        for side, texts in zip((PROFESSIONAL, LAY), zip(*pairs, strict=True), strict=True):
            found.append(
                SetStatistics(
                    *(level, side, len(pairs)),
                    *(float(np.mean([len(text.split()) for text in texts])),),
                    *(float(np.mean([len(sentences_of(text)) for text in texts])),),
                    len({normal_sentence(text) for text in texts}),
                )
            )
    return found


def _pairs(folder: Path) -> dict[str, list[Pair]]:
    found: dict[str, list[Pair]] = {}
    path = folder / SET
    if path.is_file():
        lines = path.read_text(encoding="utf-8").splitlines()[1:]
        found = {"sentence": [Pair(*line.split("\t")) for line in lines]} if lines else {}
    whole = lay_reports(folder) if (folder / REPORTS).is_file() else []
    if whole:
        found["report"] = [Pair(row["report"], row["lay"]) for row in whole]
    if not found:
        raise InputError(f"{folder} holds no pair: give the folder of `radgauge lay build`")
    return found


def lay_reports(folder: Path) -> list[dict[str, str]]:
    """The rows of a report-level set that have a lay version."""
    path = folder / REPORTS
    if not path.is_file():
        raise InputError(f"{folder} holds no {REPORTS}: give the folder of `radgauge lay build`")
    return [row for row in read_records(path) if row["lay"] is not None]


def trace_of(folder: Path, item: str) -> tuple[str, list[Step]]:
    """The rounds of one item (table 6).

    Args:
        folder: Folder of `radgauge lay build`.
        item: The id of a report that was translated as a whole, or a sentence or the beginning of one.

    Returns:
        The professional text, and a step per round.
    """
    path = folder / TRACE
    if not path.is_file():
        raise InputError(f"{folder} holds no {TRACE}: give the folder of `radgauge lay build`")
    steps = [Step(**{**record, "sentences": tuple(record["sentences"])}) for record in read_records(path)]
    ids = {}
    if (folder / REPORTS).is_file():
        ids = {str(row["id"]): " ".join(row["report"].split()) for row in read_records(folder / REPORTS)}
    wanted = ids.get(item, "")
    exact = [step for step in steps if step.item == wanted] or [
        step for step in steps if normal_sentence(step.item) == normal_sentence(item)
    ]
    if not exact:
        start = normal_sentence(item)
        first = next((step.item for step in steps if start and normal_sentence(step.item).startswith(start)), None)
        exact = [step for step in steps if step.item == first]
    if not exact:
        raise InputError(
            f"{path} holds no rounds of {item[:60]!r}; give the id of a report that was translated as a whole, "
            "or the beginning of a sentence"
        )
    return exact[0].item, exact


class Instructions(NamedTuple):
    """What stands before a professional and before a lay report."""

    professional: str = INSTRUCTIONS[PROFESSIONAL]
    lay: str = INSTRUCTIONS[LAY]


def write_tuning(
    folder: Path,
    path: Path,
    *,
    images: Mapping[str, Sequence[str]] | None = None,
    instructions: Instructions | None = None,
    form: RecordForm = "rows",
    kinds: Sequence[str] = (PROFESSIONAL, LAY),
    seed: int = 0,
) -> int:
    """Write professional and lay reports as one set of instructions and answers (table 7), shuffled.

    Args:
        folder: Folder of `radgauge lay build`.
        path: JSON lines.
        images: Images of each study; studies without one are refused if any are given.
        instructions: What stands before each kind; ours unless given.
        form: "rows" (id, study, kind, images, instruction, report), or "conversations" of a person and an
            assistant as trainers of image-text models read them.
        kinds: Which reports: both for the paper's joint set, one for its two comparisons.
        seed: Of the order.

    Returns:
        How many rows were written.
    """
    said = instructions or Instructions()
    rows = []
    reports = lay_reports(folder)
    if not reports:
        raise InputError(f"{folder} holds no report with a lay version")
    bare = [row["id"] for row in reports if images is not None and not images.get(row["id"])]
    if bare:
        raise InputError(f"{len(bare)} of {len(reports)} reports have no image, first: {bare[0]!r}")
    for row in reports:
        for kind, text in ((PROFESSIONAL, row["report"]), (LAY, row["lay"])):
            if kind in kinds:
                asked, pictures = getattr(said, kind), list((images or {}).get(row["id"], ()))
                rows.append(
                    tuning_record(row["id"], kind, images=pictures, instruction=asked, report=text, form=form)
                )
    order = np.random.default_rng(seed).permutation(len(rows))
    lines = (rows[place] for place in order.tolist())
    write_file(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return len(rows)


SIZES = (5_000, 10_000, 15_000, 20_000, 25_000, 50_000)
"""Reports of the paper's training sets (section 3.3)."""


def write_training_data(
    folder: Path,
    out: Path,
    *,
    images: Mapping[str, Sequence[str]],
    sizes: Sequence[int] = SIZES,
    instructions: Instructions | None = None,
    seed: int = 0,
) -> list[tuple[str, int]]:
    """Write nested training sets of both registers, as LLaVA and as MiniGPT-4 read them.

    `lay_5000/llava.json` holds conversations, `lay_5000/filter_cap.json` captions by image id; `image/ID.jpg`
    serves both. A smaller set is the beginning of every larger one, and both registers have the same studies.

    Args:
        folder: Folder of `radgauge lay build`; only reports with a complete lay version are taken.
        out: A new folder.
        images: Images of each study; the first is taken, studies without one are left out.
        sizes: Reports per set; a size that the folder does not reach is left out.
        instructions: What stands before each kind; ours unless given.
        seed: Of the order.

    Returns:
        Name of each set and its reports.
    """
    from PIL import Image

    said = instructions or Instructions()
    rows = [row for row in lay_reports(folder) if images.get(row["id"])]
    fitting = [size for size in sizes if size <= len(rows)]
    if not fitting:
        raise InputError(
            f"{folder} has {len(rows)} lay reports with an image, fewer than the smallest set, {min(sizes)}"
        )
    if out.exists():
        raise InputError(f"{out} exists; give a new folder")
    order = np.random.default_rng(seed).permutation(len(rows))[: max(fitting)]
    chosen = [rows[index] for index in order.tolist()]
    names = {row["id"]: f"{number:06d}" for number, row in enumerate(chosen)}
    (out / "image").mkdir(parents=True, mode=0o700)
    for row in chosen:
        with Image.open(images[row["id"]][0]) as image:
            image.convert("RGB").save(out / "image" / f"{names[row['id']]}.jpg", quality=95)
    written = []
    for size in fitting:
        for kind, field in ((PROFESSIONAL, "report"), (LAY, "lay")):
            part = [(names[row["id"]], row["id"], " ".join(row[field].split())) for row in chosen[:size]]
            conversations = [
                tuning_record(
                    study,
                    kind,
                    images=[f"{name}.jpg"],
                    instruction=getattr(said, kind),
                    report=text,
                    form="conversations",
                )
                for name, study, text in part
            ]
            captions = [{"image_id": name, "caption": text} for name, _, text in part]
            target = out / f"{kind}_{size}"
            target.mkdir(mode=0o700)
            write_file(target / "llava.json", json.dumps(conversations, ensure_ascii=False, indent=1))
            write_file(target / "filter_cap.json", json.dumps({"annotations": captions}, ensure_ascii=False))
            written.append((target.name, size))
    return written
