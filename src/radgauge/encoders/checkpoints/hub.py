"""Find a checkpoint: a local folder, or an id of the Hugging Face hub with an optional revision.

Naming a model is the user's request to fetch it; `RADGAUGE_OFFLINE=1` forbids fetching outright, and then
only what is already in the hub's cache on this machine is used.
"""

from __future__ import annotations

import hashlib
import logging
from functools import lru_cache
from pathlib import Path
from typing import Any

from radgauge.core.errors import MissingModel, ModelError, UsageError, require
from radgauge.core.files import sha256_of
from radgauge.encoders.checkpoints.catalogue import (
    CHECKPOINTS,
    TOKENIZER_FILES,
    Checkpoint,
    checkpoint,
    find,
    offline,
)
from radgauge.encoders.checkpoints.fetch import endpoint, fetch, without_telemetry

log = logging.getLogger(__name__)

_MODEL_FILES = ("*.json", "*.txt", "*.model", "*.safetensors", "*.jinja")
_ONLY_WITHOUT_SAFETENSORS = ("*.bin",)
_NAMING = (".json", ".txt", ".model", ".safetensors", ".bin", ".pt", ".pth", ".ckpt")


def split_revision(model: str) -> tuple[str, str | None]:
    """Id or path, and the revision after `@` if there is one.

    >>> split_revision("FremyCompany/BioLORD-2023-C@167aab8")
    ('FremyCompany/BioLORD-2023-C', '167aab8')
    >>> split_revision("models/encoder")
    ('models/encoder', None)
    """
    name, mark, revision = model.rpartition("@")
    return (name, revision) if mark and "/" not in revision else (model, None)


@lru_cache(maxsize=64)
def checkpoint_folder(model: str) -> Path:
    """Folder with the files of a model.

    Args:
        model: A folder, or a hub id, `owner/name` or `owner/name@revision`.

    Raises:
        ModelError: It is neither, or it would have to be fetched and must not or cannot be.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    name, revision = split_revision(model)
    if name.count("/") != 1 or name.startswith((".", "/", "~")):
        raise ModelError(f"model must be a folder or a hub id such as owner/name@revision, got {model!r}")
    if revision is None and (listed := _in_catalogue(name)) is not None:
        return listed
    hub, errors = (require(name, extra="models") for name in ("huggingface_hub", "huggingface_hub.errors"))
    try:
        # The snapshot's folder is named by its commit, so even a moving revision has a fixed signature.
        return _fetch(hub, name, revision, local_only=True)
    except errors.LocalEntryNotFoundError:
        if offline():
            raise MissingModel(
                f"model {model!r} is not on this machine and RADGAUGE_OFFLINE forbids fetching it; "
                "unset it, or give a local folder"
            ) from None
    try:
        return _fetch(hub, name, revision, local_only=False)
    except (errors.HfHubHTTPError, errors.LocalEntryNotFoundError, OSError) as error:
        raise ModelError(f"model {model!r} cannot be fetched from the hub: {error}") from error


def _in_catalogue(name: str) -> Path | None:
    """Path of a checkpoint of radgauge's own list, fetched if need be; None if its weights are not listed."""
    for entry in CHECKPOINTS:
        if entry.repo == name and "*.safetensors" in entry.patterns:  # others are vocabularies alone
            return find(entry) or fetch(entry)
    return None


def _fetch(hub: Any, name: str, revision: str | None, *, local_only: bool) -> Path:
    settings = {"revision": revision, "local_files_only": local_only, "endpoint": endpoint()}
    with without_telemetry():
        snapshot = Path(hub.snapshot_download(name, allow_patterns=list(_MODEL_FILES), **settings))
        if any(snapshot.glob("**/*.safetensors")):
            return snapshot
        return Path(
            hub.snapshot_download(name, allow_patterns=[*_MODEL_FILES, *_ONLY_WITHOUT_SAFETENSORS], **settings)
        )


def locate_file(name: str, *, models: str) -> Path:
    """A checkpoint file or unpacked archive for a model profile; fetched if that is allowed and needed.

    Args:
        name: Name in the catalogue.
        models: "published", a folder that holds the file under its published name, or the file itself.

    Raises:
        ModelError: It is nowhere and must not or cannot be fetched.
    """
    entry = checkpoint(name)
    if models == "published":
        return find(entry) or fetch(entry)
    path = Path(models).expanduser()
    if path.is_file():
        return path
    for inside in (path / entry.file, path / entry.name):
        if inside.is_file() or (inside.is_dir() and (inside / "config.json").is_file()):
            return inside
    if not path.is_dir():
        raise ModelError(f"models must be 'embedded', 'published' or a folder or file that exists, got {models!r}")
    raise MissingModel(f"the folder {path} must hold {entry.file}, which is not there")


def locate_tokenizer(model: str, *, models: str) -> Path:
    """The folder with vocabulary and config.json of an encoder.

    Args:
        model: Hub id, or a folder.
        models: "published", or a folder in which a folder of the id's last part is looked for first.
    """
    if Path(model).expanduser().is_dir():
        return Path(model).expanduser()
    leaf = model.partition("@")[0].rpartition("/")[2]
    if models != "published":
        inside = Path(models).expanduser() / leaf
        if (inside / "config.json").is_file():
            return inside
        raise MissingModel(f"the folder {models} must hold the vocabulary and config.json of {model} as {leaf}/")
    matches = [match for match in CHECKPOINTS if match.repo == model]
    # Encoders named by other archives need their vocabulary only, too.
    entry = matches[0] if matches else Checkpoint(leaf, "vocabulary", model, "", patterns=TOKENIZER_FILES)
    return find(entry) or fetch(entry)


@lru_cache(maxsize=64)
def checkpoint_name(model: str) -> str:
    """A name that changes when the weights do: id@commit for hub models, folder@hash for local ones."""
    folder = checkpoint_folder(model)
    if folder.parent.name == "snapshots" and not Path(model).expanduser().is_dir():
        return f"{split_revision(model)[0]}@{folder.name[:12]}"
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in _NAMING:
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(bytes.fromhex(sha256_of(path)))
    return f"{folder.resolve().name}@{digest.hexdigest()[:12]}"


@lru_cache(maxsize=4)  # so that each device is named once
def _tell_device(device: str) -> None:
    log.info("models run on %s", device)


def pick_device(device: str) -> str:
    """The device named, or the best one for "auto": CUDA if there is one, otherwise the CPU.

    Raises:
        UsageError: PyTorch has no such device here.
    """
    if device == "cpu":
        return device
    torch = require("torch", extra="models")
    if device == "auto":
        best = "cuda" if torch.cuda.is_available() else "cpu"
        _tell_device(best)
        return best
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # PyTorch without CUDA asserts
        message = str(error).partition("\n")[0]
        raise UsageError(
            f"the device must be auto, cpu or one that PyTorch has, got {device!r}: {message}"
        ) from None
    return device
