"""Tensors and settings of a PyTorch Lightning checkpoint, read without running what the file says.

Such files are pickles that name classes of Lightning and omegaconf, so `torch.load(weights_only=True)` refuses
them, and plain unpickling would run any code a stranger put in. Listing the classes as safe globals does not help
(tried with torch 2.13): items for a subclass of dict, such as Lightning's settings, are refused even so, and a
tensor that claims more values than its storage holds is let through.

Here names stand for nothing: those that Lightning checkpoints need become records that only remember what they
were given, tensors become positions in the archive, and any other name ends the reading. Tensors are read from the
archive when asked for.
"""

from __future__ import annotations

import math
import pickle
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import ModelError

_INERT = (
    *("omegaconf", "pytorch_lightning", "lightning", "lightning_fabric", "lightning_utilities", "torchmetrics"),
    *("typing", "argparse", "pathlib", "numpy"),
)
"""Packages whose classes may be named; nothing of them is imported."""
_TORCH = ("device", "dtype", *("float16", "float32", "float64", "bfloat16", "int32", "int64", "uint8", "bool"))
"""Names of torch that settings may hold; they too stand for nothing."""
_PLAIN = {
    *("dict", "list", "set", "frozenset", "tuple", "object"),
    *("int", "long", "float", "complex", "bool", "str", "unicode", "bytes", "bytearray"),
}
_DAMAGE = (
    *(pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, LookupError),
    *(OverflowError, MemoryError, RecursionError),  # lengths and depths that no file has
    zlib.error,
)
"""What a garbled pickle leads to."""
_LARGEST_PICKLE = 1 << 26  # bytes: names and places of tensors, and settings
_KINDS = {
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "HalfStorage": "<f2",
    "BFloat16Storage": "<u2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "BoolStorage": "?",
}


class Inert(dict[Any, Any]):
    """Stands for an object of a class that is not imported; keeps what the pickle gave it."""

    kind: str = ""

    state: dict[Any, Any]
    listed: list[object]

    def __new__(cls, *arguments: object, **named: object) -> Self:
        """Pickles make objects with or without arguments; either way nothing is done with them."""
        made = super().__new__(cls)
        made.state, made.listed = {}, []
        return made

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__()

    def __hash__(self) -> int:  # type: ignore[override]  # classes and objects occur as keys
        return id(self)

    def __setstate__(self, state: object) -> None:
        self.state = state if isinstance(state, dict) else {"state": state}

    def append(self, item: object) -> None:
        """As lists are filled."""
        self.listed.append(item)

    def extend(self, items: Any) -> None:
        """As lists are filled."""
        self.listed.extend(items)


@dataclass(frozen=True, slots=True)
class Stored:
    """Position of a tensor in the archive."""

    key: str
    kind: str
    items: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True)
class LightningCheckpoint:
    """A checkpoint that was opened; tensors are read one by one."""

    path: Path
    settings: Mapping[str, Any]  # The hyper-parameters as plain dicts, lists and values
    tensors: Mapping[str, Stored]  # Name -> place, for every tensor of the state_dict

    def read(self, *prefixes: str) -> Iterator[tuple[str, NDArray[Any]]]:
        """(name, values) of every tensor whose name starts with one of the prefixes."""
        with zipfile.ZipFile(self.path) as archive:
            root = _root(archive, self.path)
            for name, stored in self.tensors.items():
                if name.startswith(prefixes):
                    yield name, _values(archive, f"{root}data/{stored.key}", stored, where=f"{self.path}: {name}")


def open_lightning(path: Path) -> LightningCheckpoint:
    """Settings and places of the tensors.

    Raises:
        ModelError: It is not a checkpoint in torch's zip form, holds no state_dict, or names something that a
            checkpoint has no need of (and that could run code).
    """
    try:
        with zipfile.ZipFile(path) as archive:
            name = f"{_root(archive, path)}data.pkl"
            if archive.getinfo(name).file_size > _LARGEST_PICKLE:
                raise ModelError(f"{path} is not read: its data.pkl is larger than any list of tensors")
            with archive.open(name) as stream:
                content = _Reader(stream, path).load()
    except zipfile.BadZipFile as error:
        raise ModelError(f"{path} must be a checkpoint in the zip form of torch 1.6 or later: {error}") from error
    except (OSError, NotImplementedError) as error:
        raise ModelError(f"{path} cannot be read: {error}") from error
    except _DAMAGE as error:
        raise ModelError(f"{path} is damaged: {error!r}") from error
    if not isinstance(content, dict) or not isinstance(content.get("state_dict"), dict):
        raise ModelError(f"{path} must be a Lightning checkpoint with a state_dict")
    try:
        settings = plain(content.get("hyper_parameters", {}))
    except RecursionError:
        raise ModelError(f"{path} is damaged: its settings hold themselves") from None
    tensors = {str(k): v for k, v in content["state_dict"].items() if isinstance(v, Stored)}
    return LightningCheckpoint(path, settings if isinstance(settings, dict) else {}, tensors)


def plain(value: object) -> Any:
    """Settings as dicts, lists and values, out of whatever omegaconf or Lightning wrapped them in.

    >>> node = Inert(); node.__setstate__({"_content": {"imsize": 256}})
    >>> plain({"data": node})
    {'data': {'imsize': 256}}
    """
    if isinstance(value, Inert):
        state = value.state
        if "_content" in state:
            return plain(state["_content"])
        if "_val" in state:
            return plain(state["_val"])
        if value.listed:
            return plain(value.listed)
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


class _Reader(pickle.Unpickler):
    """Knows no name but those below; what they stand for is local to this reader and does nothing."""

    def __init__(self, stream: Any, path: Path) -> None:
        super().__init__(stream)
        self._path = path

    def find_class(self, module: str, name: str) -> Any:
        """Resolve a name in the pickle."""
        if module == "collections" and name in ("OrderedDict", "defaultdict"):
            return _mapping
        if module == "torch._utils" and name in ("_rebuild_tensor_v2", "_rebuild_tensor"):
            return _tensor
        if module == "torch._utils" and name == "_rebuild_parameter":
            return _parameter
        if module in ("torch", "torch.storage") and (name in _KINDS or name in ("UntypedStorage", "TypedStorage")):
            return name
        if module == "torch" and name == "Size":
            return tuple
        if module in ("builtins", "__builtin__") and name in _PLAIN:
            return {"dict": dict, "list": list, "set": set, "tuple": tuple}.get(name, _record(module, name))
        if (module, name) == ("_codecs", "encode"):  # how bytes are written
            return _record(module, name)
        if module.partition(".")[0] in _INERT or (module == "torch" and name in _TORCH):
            return _record(module, name)
        self._refuse(module, name)

    def persistent_load(self, pid: Any) -> Any:
        """A storage: (mark, type, key in the archive, device, items)."""
        mark, kind, key, _, items = pid
        if mark != "storage" or kind not in _KINDS or not str(key).isdecimal():
            raise ModelError(f"{self._path} holds a storage of an unknown kind: {kind!r}")
        return (str(key), kind, int(items))

    def _refuse(self, module: str, name: str) -> NoReturn:
        raise ModelError(
            f"{self._path} is not loaded: it names {module}.{name}, which a checkpoint has no need of and which "
            "could run code on this machine"
        )


def _record(module: str, name: str) -> type[Inert]:
    return type(name, (Inert,), {"kind": f"{module}.{name}"})


def _mapping(*arguments: Any) -> dict[Any, Any]:
    pairs = [item for item in arguments if isinstance(item, list | tuple)]
    return dict(pairs[0]) if pairs else {}


def _tensor(storage: Any, offset: int, shape: Any, strides: Any, *more: object) -> Stored:
    key, kind, items = storage
    return Stored(key, kind, items, int(offset), tuple(map(int, shape)), tuple(map(int, strides)))


def _parameter(data: Any, *more: object) -> Any:
    return data


def _root(archive: zipfile.ZipFile, path: Path) -> str:
    names = [name for name in archive.namelist() if name.endswith("/data.pkl") and name.count("/") == 1]
    if len(names) != 1:
        raise ModelError(f"{path} must be a checkpoint in the zip form of torch 1.6 or later: it has no data.pkl")
    return names[0].removesuffix("data.pkl")


def _values(archive: zipfile.ZipFile, member: str, stored: Stored, *, where: str) -> NDArray[Any]:
    """The numbers of one tensor; its place is checked, so that a forged one cannot reach other memory."""
    try:
        if archive.getinfo(member).compress_type != zipfile.ZIP_STORED:  # a few bytes could become gigabytes
            raise ModelError(f"{where} is compressed, which PyTorch does not do; it is not read")
        flat = np.frombuffer(archive.read(member), dtype=_KINDS[stored.kind])
    except (KeyError, ValueError, EOFError, OSError, NotImplementedError, zipfile.BadZipFile) as error:
        raise ModelError(f"{where} is not in the archive, or cut off: {error}") from error
    if len(stored.shape) != len(stored.strides):
        raise ModelError(f"{where} has a shape that does not fit its steps")
    sizes = zip(stored.shape, stored.strides, strict=True)
    last = stored.offset + sum((size - 1) * stride for size, stride in sizes)
    empty = 0 in stored.shape
    if min((*stored.shape, *stored.strides, stored.offset), default=0) < 0 or (not empty and last >= len(flat)):
        raise ModelError(f"{where} reaches beyond its storage")
    if math.prod(stored.shape) > len(flat):  # steps of 0 would make any number of values out of one
        raise ModelError(f"{where} claims {stored.shape} values, more than its storage holds ({len(flat)})")
    if empty:
        return np.empty(stored.shape, dtype=flat.dtype)
    steps = tuple(stride * flat.itemsize for stride in stored.strides)
    view = np.lib.stride_tricks.as_strided(flat[stored.offset :], stored.shape, steps)
    if stored.kind == "BFloat16Storage":
        return (view.astype(np.uint32) << 16).view(np.float32)
    return np.array(view)
