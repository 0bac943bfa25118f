"""Embeddings that were computed elsewhere: image, candidate and reference of every case, joined by id and system.

The way in for encoders with code of their own (BioViL-T, CXR-CLIP, MedImageInsight). A folder holds the three
files of VLScore's authors (vlscore-cxr 0.1.2: img_emb.npy, output_emb.npy, gt_emb.npy) and `cases.csv`, which says
whose a row is; or a Parquet file holds it all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from radgauge.core.cases import Case, Key
from radgauge.core.errors import InputError, ModelError, require
from radgauge.core.files import sha256_of
from radgauge.io.tables import read_table
from radgauge.io.tables.cells import cell

Rows = NDArray[np.float64]
FILES = {"image": "img_emb.npy", "candidate": "output_emb.npy", "reference": "gt_emb.npy"}
CASES = "cases.csv"
SYSTEM = "system"


@dataclass(frozen=True)
class CaseEmbeddings:
    """Vectors of cases."""

    place: str  # A folder, or a Parquet file with id, image, candidate, reference and, of several systems, system
    constant: ClassVar[float | None] = None

    @property
    def name(self) -> str:
        """Return the hash of the files."""
        digests = [sha256_of(path)[:12] for path in _files(Path(self.place).expanduser())]
        return f"embeddings@{'+'.join(digests)}"

    def rows(self, cases: Sequence[Case]) -> tuple[Rows, Rows, Rows]:
        """Return vectors (n, width) of images, candidates and references; NaN for cases that are not there."""
        source = Path(self.place).expanduser()
        index, *tables = _load(source, tuple(path.stat().st_mtime_ns for path in _files(source)))
        at = np.array([_row(index, case.key) for case in cases], dtype=np.intp)
        image, candidate, reference = (np.where((at >= 0)[:, None], table[at], np.nan) for table in tables)
        return image, candidate, reference


def _row(index: Mapping[Key, int], key: Key) -> int:
    """Position of a case; files of one system need not name it."""
    return index.get(key, index.get((key[0], ""), -1))


def _files(source: Path) -> tuple[Path, ...]:
    paths = [source] if source.is_file() else [source / name for name in (*FILES.values(), CASES)]
    absent = [path for path in paths if not path.is_file()]
    if not absent:
        return tuple(paths)
    if absent[0].name == CASES and len(absent) == 1:
        raise ModelError(
            f"{source} must hold {CASES} with the columns id and, of several systems, system: a row per embedding "
            "in their order; rows without an id cannot be joined"
        )
    raise ModelError(
        f"{source} must be a Parquet file, or a folder with {', '.join(FILES.values())} and {CASES}; "
        f"{absent[0].name} is not there"
    )


@lru_cache(maxsize=2)
def _load(path: Path, changed: tuple[int, ...]) -> tuple[Mapping[Key, int], Rows, Rows, Rows]:
    """Positions by key, then images, candidates and references."""
    del changed  # part of the key: files that were written anew are read anew
    read = _read_parquet if path.is_file() else _read_folder
    keys, tables = read(path)
    shapes = {name: table.shape for name, table in tables.items()}
    if len(set(shapes.values())) > 1 or any(len(shape) != 2 for shape in shapes.values()):
        raise ModelError(f"{path}: image, candidate and reference must be equally many and wide, got {shapes}")
    if len(keys) != len(tables["image"]):
        raise ModelError(f"{path}: {len(keys)} cases for {len(tables['image'])} embeddings; one row is one case")
    if not keys:
        raise InputError(f"{path} holds no embeddings")
    index = {key: number for number, key in enumerate(keys)}
    if len(index) < len(keys):
        twice = next(key for number, key in enumerate(keys) if index[key] != number)
        raise InputError(f"{path}: the case {twice} has two embeddings")
    return index, tables["image"], tables["candidate"], tables["reference"]


def _read_folder(folder: Path) -> tuple[list[Key], dict[str, Rows]]:
    table = read_table(folder / CASES)
    if "id" not in table.columns:
        raise InputError(f"{folder / CASES} must have the column id")
    keys = [
        (cell(record.values.get("id")).strip(), cell(record.values.get(SYSTEM)).strip())
        for record in table.records
    ]
    return keys, {part: _numbers(folder / name) for part, name in FILES.items()}


def _numbers(path: Path) -> Rows:
    try:
        return np.asarray(np.load(path, allow_pickle=False), dtype=np.float64)
    except (OSError, ValueError, TypeError) as error:
        raise ModelError(f"{path} must be an array of numbers (.npy), got: {error}") from error


def _read_parquet(path: Path) -> tuple[list[Key], dict[str, Rows]]:
    parquet: Any = require("pyarrow.parquet", extra="parquet")
    try:
        table = parquet.read_table(path)
        columns = {name: table.column(name).to_pylist() for name in ("id", *FILES)}
        tables = {name: np.array(columns[name], dtype=np.float64) for name in FILES}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ModelError(
            f"{path} must be a Parquet file with id and lists of numbers in image, candidate and reference, "
            f"got: {error}"
        ) from error
    systems = table.column(SYSTEM).to_pylist() if SYSTEM in table.column_names else [""] * len(columns["id"])
    return [(str(i), str(s or "")) for i, s in zip(columns["id"], systems, strict=True)], tables
