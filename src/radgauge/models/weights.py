"""Reading foreign checkpoints without trusting them: tensors only, names and shapes checked and listed."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from radgauge.errors import ModelError, require

_SHOWN = 6


@contextmanager
def quietly() -> Iterator[None]:
    """Keep transformers from drawing its own progress bars meanwhile: a library does not print."""
    talk = require("transformers", extra="models").utils.logging
    drawn = talk.is_progress_bar_enabled()
    talk.disable_progress_bar()
    try:
        yield
    finally:
        if drawn:
            talk.enable_progress_bar()


def read_weights(path: Path) -> dict[str, Any]:
    """The content of a .safetensors, .pth, .th or .bin file; nothing is unpickled but tensors and plain values.

    Raises:
        ModelError: It is no such file, or holds objects that could run code.
    """
    torch = require("torch", extra="models")
    try:
        if path.suffix == ".safetensors":
            tensors: dict[str, Any] = require("safetensors.torch", extra="models").load_file(path)
            return tensors
        try:
            found = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
        except RuntimeError:  # files of torch before 1.6 cannot be mapped
            found = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise ModelError(
            f"{path} must hold tensors only; it holds other objects and is not loaded: {_first_line(error)}"
        ) from error
    except (OSError, RuntimeError, ValueError, EOFError, KeyError) as error:
        raise ModelError(f"{path} must be a PyTorch or safetensors checkpoint, got: {error}") from error
    if not isinstance(found, dict):
        raise ModelError(f"{path} must hold a dictionary of tensors, got {type(found).__name__}")
    return found


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def check_keys(found: Mapping[str, Any], wanted: Mapping[str, Any], *, where: object, prefix: str = "") -> None:
    """Names and shapes must be those that the network has.

    Args:
        found: Name -> tensor, as stored.
        wanted: Name -> tensor of the network.
        where: The checkpoint, for the message.
        prefix: What to put before the names in the message.

    Raises:
        ModelError: It lists what is missing, unexpected, or of another shape.
    """
    missing = sorted(wanted.keys() - found.keys())
    unexpected = sorted(found.keys() - wanted.keys())
    shapes = [
        f"{prefix}{key} {tuple(found[key].shape)} instead of {tuple(wanted[key].shape)}"
        for key in sorted(wanted.keys() & found.keys())
        if tuple(found[key].shape) != tuple(wanted[key].shape)
    ]
    faults = [
        f"{len(names)} {what}: {', '.join(names[:_SHOWN])}{', ...' if len(names) > _SHOWN else ''}"
        for what, names in (
            ("missing", [prefix + key for key in missing]),
            ("unexpected", [prefix + key for key in unexpected]),
            ("of another shape", shapes),
        )
        if names
    ]
    if faults:
        raise ModelError(f"{where} does not fit the network; {'; '.join(faults)}")


def encoder_from(folder: Path, *, pooler: bool = True) -> Any:
    """An encoder without trained weights, built from the config.json of a folder."""
    transformers = require("transformers", extra="models")
    torch = require("torch", extra="models")
    try:
        settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise ModelError(f"{folder} must hold the encoder's config.json, got: {error}") from error
    kind = settings.pop("model_type", "bert")
    settings.pop("auto_map", None)  # code of others is never run
    # CXR-BERT is a plain BERT under another name.
    kind = kind if kind in transformers.CONFIG_MAPPING else "bert"
    try:
        config = transformers.AutoConfig.for_model(kind, **settings)
        with torch.device("cpu"):
            if kind == "bert":
                return transformers.BertModel(config, add_pooling_layer=pooler)
            return transformers.AutoModel.from_config(config)
    except (ValueError, TypeError, AttributeError) as error:
        raise ModelError(f"{folder}/config.json must describe an encoder, got: {error}") from error
