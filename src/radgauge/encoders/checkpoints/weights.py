"""Reading foreign checkpoints without trusting them: tensors only, names and shapes checked and listed."""

from __future__ import annotations

import errno
import json
import pickle
import re
import struct
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from radgauge.core.errors import ModelError, require
from radgauge.core.parsing import parse_json

_SHOWN = 6
_NUMBERS_AT_ONCE = 1 << 20
_CODE = re.compile(r"GLOBAL ([\w.]+)")
_BROKEN = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, EOFError),
    *(AssertionError, OverflowError, MemoryError, struct.error, zipfile.BadZipFile),
)
"""What PyTorch and transformers raise for files that are damaged or not theirs."""


@contextmanager
def quietly() -> Iterator[None]:
    """Keep transformers from drawing bars and printing reports meanwhile: a library does not print."""
    talk = require("transformers", extra="models").utils.logging
    drawn, level = talk.is_progress_bar_enabled(), talk.get_verbosity()
    talk.disable_progress_bar()
    talk.set_verbosity(talk.CRITICAL)
    try:
        yield
    finally:
        talk.set_verbosity(level)
        if drawn:
            talk.enable_progress_bar()


def load_tokenizer(folder: Path | str, *, of: str, **options: Any) -> Any:
    """The tokenizer of a folder.

    Args:
        folder: Where its files are.
        of: The model it belongs to, for the message.
        options: For transformers.

    Raises:
        ModelError: There is none, or it has no words: without its vocabulary file transformers builds one that
            takes every word for unknown.
    """
    transformers = require("transformers", extra="models")
    try:
        with quietly():
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, **options)
    except (*_BROKEN, ImportError) as error:
        raise ModelError(f"{folder} must hold the tokenizer of {of}, got: {reason(error)}") from error
    if len(tokenizer) <= len(tokenizer.all_special_tokens):
        raise ModelError(
            f"{folder} must hold the tokenizer of {of}, whose vocabulary (vocab.txt, tokenizer.json or the like) "
            "is missing or empty"
        )
    return tokenizer


def load_transformer(
    folder: Path, *, of: str, kind: str = "AutoModel", new: tuple[str, ...] = (), **options: Any
) -> Any:
    """A network of transformers with the weights of a folder, all of them.

    transformers draws missing weights at random and says so in its log only. Here only a missing pooler is let
    pass, since encoders are published without one; the network then has none.

    Args:
        folder: config.json and weights.
        of: The model, for the message.
        kind: Class of transformers.
        new: Beginnings of names that need no weights there: what is about to be trained.
        options: For transformers.

    Raises:
        ModelError: It is damaged, holds code, or is not whole; what is missing is listed.
    """
    transformers = require("transformers", extra="models")
    damaged = require("safetensors", extra="models").SafetensorError
    try:
        with quietly(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            network, report = getattr(transformers, kind).from_pretrained(
                folder,
                local_files_only=True,
                weights_only=True,
                ignore_mismatched_sizes=True,
                output_loading_info=True,
                **options,
            )
    except (*_BROKEN, pickle.UnpicklingError, damaged) as error:
        raise ModelError(f"{of!r} must hold a transformers model, got: {reason(error)}") from error
    missing = [key for key in report["missing_keys"] if not key.startswith(("pooler.", *new))]
    shapes = [
        f"{key} {tuple(a)} instead of {tuple(b)}"
        for key, a, b in report["mismatched_keys"]
        if not key.startswith(new)
    ]
    non_finite = [key for key, value in network.state_dict().items() if not _finite(value)]
    _refuse(
        of,
        missing=missing,
        unexpected=report["unexpected_keys"] if missing else (),  # heads of other tasks are no fault
        shapes=shapes,
        non_finite=non_finite,
    )
    if any(key.startswith("pooler.") for key in report["missing_keys"]):
        network.pooler = None
    return network


def read_weights(path: Path) -> dict[str, Any]:
    """The content of a .safetensors, .pth, .th or .bin file; nothing is unpickled but tensors and plain values.

    Raises:
        ModelError: It is no such file, or holds objects that could run code.
    """
    if path.suffix != ".safetensors":
        return read_tensors(path, where=str(path))
    damaged = require("safetensors", extra="models").SafetensorError
    try:
        tensors: dict[str, Any] = require("safetensors.torch", extra="models").load_file(path)
    except (*_BROKEN, damaged) as error:
        raise ModelError(f"{path} must be a safetensors file, got: {reason(error)}") from error
    return tensors


def read_tensors(source: Path | BytesIO, *, where: str) -> dict[str, Any]:
    """Read a file of PyTorch, if it is tensors and plain values.

    Args:
        source: The file, or its content.
        where: Its name, for the message.
    """
    torch = require("torch", extra="models")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about old ways of storing
            mapped = isinstance(source, Path) and zipfile.is_zipfile(source)  # since torch 1.6
            if zipfile.is_zipfile(source):
                _refuse_compressed(source, where)
            if isinstance(source, BytesIO):
                source.seek(0)
            content = torch.load(source, map_location="cpu", weights_only=True, mmap=mapped)
    except pickle.UnpicklingError as error:
        raise ModelError(
            f"{where} must hold tensors only; it is not loaded, because it holds {_culprit(error)}"
        ) from error
    except _BROKEN as error:
        raise ModelError(f"{where} must be a PyTorch checkpoint, got: {reason(error)}") from error
    if not isinstance(content, dict):
        raise ModelError(f"{where} must hold a dictionary of tensors, got {type(content).__name__}")
    for name, value in content.items():
        # Steps of 0 make any number of values out of one; the first copy would take all memory.
        if torch.is_tensor(value) and value.nbytes > value.untyped_storage().nbytes():
            raise ModelError(f"{where}: {name} claims {tuple(value.shape)} values, more than its storage holds")
    return content


def _refuse_compressed(source: Path | BytesIO, where: str) -> None:
    """PyTorch stores tensors as they are; in a compressed archive a few bytes could become gigabytes."""
    with zipfile.ZipFile(source) as archive:
        if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
            raise ModelError(f"{where} is compressed, which PyTorch does not do; it is not read")


def reason(error: Exception) -> str:
    """Return another library's error message as one short line."""
    if isinstance(error, EOFError) and not str(error):
        return "an empty file"
    # what PyTorch says of a file that was cut depends on where
    if (isinstance(error, OSError) and error.errno == errno.EINVAL) or "PytorchStreamReader failed" in str(error):
        return "a file that is damaged or not whole"
    if isinstance(error, pickle.UnpicklingError):
        return _culprit(error)
    message = " ".join(str(error).split()) or type(error).__name__
    return message if len(message) <= 240 else f"{message[:239]}…"


def _culprit(error: Exception) -> str:
    """The object that PyTorch refused; its advice to load it all the same is left out."""
    named = _CODE.search(str(error))
    return f"{named[1]}, which could run code" if named else "other objects, which could run code, or is damaged"


def check_keys(stored: Mapping[str, Any], expected: Mapping[str, Any], *, where: object, prefix: str = "") -> None:
    """Names and shapes must be those that the network has, and every number finite.

    Args:
        stored: Name -> tensor, as stored.
        expected: Name -> tensor of the network.
        where: The checkpoint, for the message.
        prefix: What to put before the names in the message.

    Raises:
        ModelError: It lists what is missing, unexpected, of another shape, or not finite.
    """
    shared = sorted(expected.keys() & stored.keys())
    _refuse(
        where,
        missing=[prefix + key for key in expected.keys() - stored.keys()],
        unexpected=[prefix + key for key in stored.keys() - expected.keys()],
        shapes=[
            f"{prefix}{key} {tuple(stored[key].shape)} instead of {tuple(expected[key].shape)}"
            for key in shared
            if tuple(stored[key].shape) != tuple(expected[key].shape)
        ],
        non_finite=[prefix + key for key in shared if not _finite(stored[key])],
    )


def _finite(values: Any) -> bool:
    """True if all numbers are finite; some at a time, because the comparison takes as much memory again."""
    if not values.is_floating_point():
        return True
    return all(bool(part.isfinite().all()) for part in values.reshape(-1).split(_NUMBERS_AT_ONCE))


def _refuse(
    where: object,
    *,
    missing: Iterable[str],
    unexpected: Iterable[str],
    shapes: Iterable[str],
    non_finite: Iterable[str],
) -> None:
    faults = [
        f"{len(names)} {what}: {', '.join(names[:_SHOWN])}{', ...' if len(names) > _SHOWN else ''}"
        for what, names in (
            ("missing", sorted(missing)),
            ("unexpected", sorted(unexpected)),
            ("of another shape", sorted(shapes)),
            ("with values that are not finite", sorted(non_finite)),
        )
        if names
    ]
    if faults:
        raise ModelError(f"{where} does not fit the network; {'; '.join(faults)}")


def _with_buffers(bert: Any) -> bool:
    """Give a BERT without weights the numbers that no checkpoint has; False if some of them are not known."""
    torch = require("torch", extra="models")
    defaults = {
        "embeddings.position_ids": lambda count: torch.arange(count)[None],
        "embeddings.token_type_ids": lambda count: torch.zeros(1, count, dtype=torch.long),
    }
    buffers = dict(bert.named_buffers())
    if not buffers.keys() <= defaults.keys():
        return False
    for name, value in buffers.items():
        setattr(bert.embeddings, name.rpartition(".")[2], defaults[name](value.shape[-1]))
    return True


def encoder_from(folder: Path, *, pooler: bool = True, hollow: bool = False) -> Any:
    """An encoder without trained weights, built from the config.json of a folder.

    Args:
        folder: Where config.json is.
        pooler: Whether a BERT gets one.
        hollow: Take no memory for a BERT's weights, and draw none, where that can be: all of them are about to be
            taken over (`load_state_dict(..., assign=True)`).
    """
    transformers = require("transformers", extra="models")
    torch = require("torch", extra="models")
    try:
        settings = parse_json((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise ModelError(f"{folder} must hold the encoder's config.json, got: {error}") from error
    kind = settings.pop("model_type", "bert")
    settings.pop("auto_map", None)  # code of others is never run
    # CXR-BERT is a plain BERT under another name.
    kind = kind if kind in transformers.CONFIG_MAPPING else "bert"
    try:
        config = transformers.AutoConfig.for_model(kind, **settings)
        if kind == "bert" and hollow:
            with torch.device("meta"):
                encoder = transformers.BertModel(config, add_pooling_layer=pooler)
            if _with_buffers(encoder):
                return encoder
        with torch.device("cpu"):
            if kind == "bert":
                return transformers.BertModel(config, add_pooling_layer=pooler)
            return transformers.AutoModel.from_config(config)
    except (ValueError, TypeError, AttributeError) as error:
        raise ModelError(f"{folder}/config.json must describe an encoder, got: {error}") from error
