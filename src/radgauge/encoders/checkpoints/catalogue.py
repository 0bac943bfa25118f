"""Every published checkpoint that radgauge can use, and where it is looked for on this machine.

Looked for, in this order: the folder the user named; `$RADGAUGE_MODELS`; radgauge's own folder in the cache;
the Hugging Face cache; the caches of the authors' packages. What is nowhere is fetched by `radgauge models
fetch`, or when `models=published` asks for it, unless RADGAUGE_OFFLINE forbids it.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from radgauge.core.cache import default_cache_dir
from radgauge.core.errors import UsageError
from radgauge.core.files import sha256_of
from radgauge.core.metric import Metric
from radgauge.core.registry import load, metric_names
from radgauge.core.storage import offline as offline

TOKENIZER_FILES = ("*.json", "*.txt", "*.model")


@dataclass(frozen=True)
class Checkpoint:
    """A published checkpoint."""

    name: str  # What the user calls it
    purpose: str  # What radgauge does with it
    repo: str  # Hub id
    licence: str  # As the hub page and the authors state it
    # Commit, where one is known; "main" otherwise. What was read is in the signature by its content.
    revision: str = "main"
    file: str = ""  # The one file that is needed; "" for a folder of files
    patterns: tuple[str, ...] = ()  # Which files of a folder are needed
    megabytes: int = 0  # Size of the download; 0 where it is not known
    # Other places, relative to the user's cache folder, where the authors' packages keep it
    also: tuple[str, ...] = ()
    companions: tuple[str, ...] = ()  # Other checkpoints without which it is of no use, such as its vocabulary
    # File -> SHA-256 (64 digits) or git blob hash (40 digits), where it is known
    hashes: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Hub id, revision and file."""
        return f"{self.repo}@{self.revision}" + (f"/{self.file}" if self.file else "")

    @property
    def pinned(self) -> bool:
        """True if the revision names a commit, and so the same content for ever."""
        return len(self.revision) == 40


def _read_catalogue() -> tuple[Checkpoint, ...]:
    with (Path(__file__).parent / "data" / "checkpoints.toml").open("rb") as file:
        entries: list[dict[str, Any]] = tomllib.load(file)["checkpoint"]
    plural = ("patterns", "also", "companions")
    for entry in entries:
        entry.update({key: tuple(entry[key]) for key in plural if key in entry})
    return tuple(Checkpoint(**entry) for entry in entries)


CHECKPOINTS: tuple[Checkpoint, ...] = _read_catalogue()


def checkpoint(name: str) -> Checkpoint:
    """The checkpoint of a name or hub id."""
    for entry in CHECKPOINTS:
        if name in (entry.name, entry.repo) and (name == entry.name or not entry.file):
            return entry
    names = ", ".join(entry.name for entry in CHECKPOINTS)
    raise UsageError(f"there is no checkpoint or metric {name!r} with weights; radgauge knows: {names}")


def located(name: str) -> str:
    """Path of a checkpoint of the catalogue, by its name or hub id, else its pinned id; other names as they are.

    >>> located("my/encoder"), located("embedded")
    ('my/encoder', 'embedded')
    """
    models = [entry for entry in CHECKPOINTS if "*.safetensors" in entry.patterns]
    match = next((entry for entry in models if name in (entry.name, entry.repo)), None)
    if match is None:
        return name
    path = find(match)
    return match.id if path is None else str(path)


def checkpoints_for(name: str) -> tuple[Checkpoint, ...]:
    """Return a checkpoint with its companions, or what a metric needs with these settings.

    >>> [each.name for each in checkpoints_for("chexbert")], [each.name for each in checkpoints_for("ratescore")]
    (['chexbert', 'bert-base-uncased'], ['rate-ner', 'biolord'])
    """
    metric = name.partition(":")[0]
    if name in {entry.name for entry in CHECKPOINTS} or metric not in metric_names():
        match = checkpoint(name)
        return (match, *(checkpoint(other) for other in match.companions))
    needed = needed_by(load(name, models="published"))
    if not needed:
        raise UsageError(f"{metric} needs no checkpoint that can be fetched")
    return needed


def needed_by(metric: Metric) -> tuple[Checkpoint, ...]:
    """Return the checkpoints of the catalogue that a metric needs, with their companions."""
    names = {name.partition("@")[0] for name in metric.checkpoints()}
    main = [entry for entry in CHECKPOINTS if entry.name in names or (entry.repo in names and not entry.file)]
    listed = [part for entry in main for part in (entry, *map(checkpoint, entry.companions))]
    return tuple({entry.name: entry for entry in listed}.values())


def models_dir() -> Path:
    """Radgauge's own folder for checkpoints: $RADGAUGE_MODELS, or `models` in the cache folder."""
    chosen = os.environ.get("RADGAUGE_MODELS")
    return Path(chosen).expanduser() if chosen else default_cache_dir() / "models"


def places_of(entry: Checkpoint) -> list[Path]:
    """Paths at which a checkpoint is looked for, whether it is there or not; stars match any version."""
    leaf = entry.file or entry.repo.rpartition("/")[2]
    snapshots = hub_cache() / f"models--{entry.repo.replace('/', '--')}" / "snapshots"
    own = [models_dir() / leaf]
    if entry.file:
        own.append(models_dir() / entry.name)  # an archive that was unpacked
    elif entry.name != leaf:
        own.append(models_dir() / entry.name)
    versions = [snapshots / version for version in ((entry.revision, "*") if entry.pinned else ("*",))]
    hub = [version / entry.file if entry.file else version for version in versions]
    return [*own, *hub, *(_user_cache() / location for location in entry.also)]


def find(entry: Checkpoint) -> Path | None:
    """Path of the checkpoint on this machine; None if there is none."""
    for location in places_of(entry):
        for path in _expand(location):
            if path.is_file() and entry.file:
                return path
            settled = any((path / name).is_file() for name in ("config.json", "open_clip_config.json"))
            if path.is_dir() and settled and _is_complete(path, entry):
                return path
    return None


@lru_cache(maxsize=16)
def file_hash(path: str) -> str:
    """First twelve hex digits of the SHA-256 of a file, or of the weights in an unpacked archive."""
    location = Path(path)
    return sha256_of(location if location.is_file() else location / "weights.th")[:12]


def content_hash(path: Path, *, like: str) -> str:
    """The hash of a file in the form of another hash: SHA-256, or the git blob hash, which has 40 digits."""
    if len(like) == 40:
        content = path.read_bytes()
        return hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
    return sha256_of(path)


def _is_complete(folder: Path, entry: Checkpoint) -> bool:
    """True if weights are there where weights are needed: a folder may hold the vocabulary only."""
    if "*.safetensors" not in entry.patterns:
        return True
    return any(folder.glob("*.safetensors")) or any(folder.glob("*.bin"))


def _expand(pattern: Path) -> Iterator[Path]:
    text = str(pattern)
    if "*" not in text:
        yield pattern
        return
    parts = pattern.parts
    star = next(i for i, part in enumerate(parts) if "*" in part)
    yield from sorted(Path(*parts[:star]).glob(str(Path(*parts[star:]))), reverse=True)


def _user_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


def hub_cache() -> Path:
    """Cache folder of huggingface_hub."""
    if chosen := os.environ.get("HF_HUB_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("HF_HOME", _user_cache() / "huggingface")) / "hub"
