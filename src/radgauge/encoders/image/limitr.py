"""LIMITR, the image-text network of VLScore, and its ancestor GLoRIA, from their Lightning checkpoints.

Dawidowicz et al. (2023), LIMITR, ICCV; Huang et al. (2021), GLoRIA, ICCV. Global vectors only: those that VLScore
compares. Equal to vlscore-cxr 0.1.2 (`resize=pil`); `resize=area` shrinks pictures as LIMITR's training did. The
checkpoint is read without running it, and neither torchvision nor omegaconf is needed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import ModelError, UsageError, require
from radgauge.encoders.checkpoints.catalogue import file_hash
from radgauge.encoders.checkpoints.hub import locate_file, locate_tokenizer, pick_device
from radgauge.encoders.checkpoints.lightning_checkpoint import LightningCheckpoint, open_lightning
from radgauge.encoders.checkpoints.weights import check_keys, encoder_from, load_tokenizer
from radgauge.encoders.text.batching import overlong, padded, token_batches
from radgauge.images import Grey
from radgauge.images.resize import resize_area, resize_pil

Vectors = NDArray[np.float32]
RESIZES = {"pil": resize_pil, "area": resize_area}
CONSTANTS = {"limitr": 890.0, "gloria": 1155.0}
"""Largest triangle areas on ReXVal, as the paper states them (sections 3 and 4.3)."""
_TOWERS = {"limitr": "img_encoder_f", "gloria": "img_encoder"}
_LATERAL = "img_encoder_l"
_PICTURES_PER_PASS = 8
_UPSAMPLED = 299
_NUMBERING = re.compile(r"[0-9]+\.")


@dataclass(frozen=True)
class Limitr:
    """Images and reports as global vectors; weights are loaded at first use."""

    # "published", a folder that holds the checkpoint under its published name, or the checkpoint. A folder also
    # holds (and a checkpoint has beside it) the vocabulary of its BERT, as Bio_ClinicalBERT/.
    models: str = "published"
    resize: str = "pil"  # "pil" or "area"
    device: str = "auto"  # auto, cpu, cuda
    # True if pictures go through LIMITR's tower for lateral views; `side_view` gives such an encoder
    lateral: bool = False

    def __post_init__(self) -> None:
        if self.resize not in RESIZES:
            raise UsageError(f"resize must be one of {', '.join(RESIZES)}, got {self.resize!r}")

    @property
    def name(self) -> str:
        """Family, hash of the checkpoint, and the resize rule."""
        path = self._path()
        side = "+lateral" if self.lateral else ""
        return f"{_family(str(path))}@{file_hash(str(path))}+resize:{self.resize}{side}"

    @property
    def side_view(self) -> Limitr | None:
        """The encoder of lateral views, if the checkpoint has one."""
        names = _opened(str(self._path())).tensors
        return (
            replace(self, lateral=True) if any(name.startswith(f"limitr.{_LATERAL}.") for name in names) else None
        )

    @property
    def constant(self) -> float:
        """As the paper states it for this network."""
        return CONSTANTS[_family(str(self._path()))]

    def embed_images(self, images: Sequence[Grey]) -> Vectors:
        """One row per picture."""
        network = self._network()
        prepared = [network.prepared(picture, resize=self.resize) for picture in images]
        return network.images(prepared)

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """One row per report; NaN for one without a word that LIMITR keeps."""
        return self._network().texts([clean_report(text) for text in texts])

    def overlong(self, texts: Sequence[str]) -> list[bool]:
        """True for texts that LIMITR does not read to their end."""
        network = self._network()
        spoken = [clean_report(text) for text in texts]
        return overlong(network.tokenizer, spoken, network.settings.length - 2, markers=False)

    def _path(self) -> Path:
        return locate_file("limitr", models=self.models)

    def _network(self) -> _Network:
        near = "published" if self.models == "published" else str(self._path().parent)
        return _load(str(self._path()), near, pick_device(self.device), self.lateral)


def clean_report(text: str) -> str:
    """The words of a report as LIMITR reads them: lower case, no numbering, no punctuation, ASCII only.

    >>> clean_report("1. Heart size: normal.\\n2. No effusion (2.5 cm)")
    'heart size normal no effusion 5 cm'
    """
    cleaned = []
    for point in _NUMBERING.split(text.replace("\n", " ")):
        for sentence in point.split("."):
            words = re.findall(r"\w+", sentence.replace("\ufffd\ufffd", " ").lower())
            cleaned += [plain for word in words if (plain := word.encode("ascii", "ignore").decode("ascii"))]
    return " ".join(cleaned)


def squared(picture: Grey, size: int, *, resize: str) -> Grey:
    """The picture with its longer side at `size`, in the middle of a black square."""
    height, width = picture.shape
    if height >= width:
        new = (size, int(float(width) * (size / float(height))))
    else:
        new = (int(float(height) * (size / float(width))), size)
    new = (max(new[0], 1), max(new[1], 1))
    small = RESIZES[resize](picture, *new)
    rows, columns = size - new[0], size - new[1]
    return np.pad(small, ((rows // 2, rows - rows // 2), (columns // 2, columns - columns // 2)))


@dataclass(frozen=True)
class _Settings:
    """Settings in the checkpoint; the defaults are those of the published one."""

    bert: str
    layers: int
    sum_layers: bool
    words: bool
    unit: bool
    length: int
    size: int
    crop: int

    @classmethod
    def of(cls, config: Mapping[str, Any], *, where: Path) -> _Settings:
        def find(path: str, default: Any) -> Any:
            value: Any = config
            for key in path.split("."):
                value = value.get(key) if isinstance(value, Mapping) else None
            return default if value is None else value

        backbone, method = find("model.vision.model_name", "resnet_50"), find("model.text.aggregate_method", "sum")
        if backbone != "resnet_50":
            raise ModelError(f"{where} has the image network {backbone!r}; only resnet_50 is known")
        if method not in ("sum", "mean"):
            raise ModelError(f"{where} puts layers together by {method!r}; only sum and mean are known")
        size = int(find("data.image.imsize", 256))
        return cls(
            bert=str(find("model.text.bert_type", "emilyalsentzer/Bio_ClinicalBERT")),
            layers=int(find("model.text.last_n_layers", 4)),
            sum_layers=method == "sum",
            words=bool(find("model.text.agg_tokens", True)),
            unit=bool(find("model.text.norm", False)),
            length=int(find("data.text.word_num", 97)),
            size=size,
            crop=min(int(find("transforms.random_crop.crop_size", 224)), size),
        )


@dataclass(frozen=True, eq=False)
class _Network:
    settings: _Settings
    backbone: Any
    weight: Any
    bias: Any
    bert: Any
    tokenizer: Any
    device: str

    def prepared(self, picture: Grey, *, resize: str) -> NDArray[np.float32]:
        """Square, cropped in the middle, from -1 (black) to 1 (white)."""
        square = squared(picture, self.settings.size, resize=resize)
        start = round((self.settings.size - self.settings.crop) / 2)
        cut = square[start : start + self.settings.crop, start : start + self.settings.crop]
        return (cut.astype(np.float32) / np.float32(255) - np.float32(0.5)) / np.float32(0.5)

    def images(self, prepared: Sequence[NDArray[np.float32]]) -> Vectors:
        torch = require("torch", extra="models")
        functional = torch.nn.functional
        pooled = np.empty((len(prepared), len(self.bias)), np.float32)
        with torch.inference_mode():
            for start in range(0, len(prepared), _PICTURES_PER_PASS):
                batch = torch.from_numpy(np.stack(prepared[start : start + _PICTURES_PER_PASS]))[:, None]
                large = functional.interpolate(
                    batch.to(self.device), (_UPSAMPLED, _UPSAMPLED), mode="bilinear", align_corners=True
                )
                features = self.backbone(large.expand(-1, 3, -1, -1))
                vectors = functional.linear(features, self.weight, self.bias)
                pooled[start : start + len(batch)] = vectors.float().cpu().numpy()
        return pooled

    def texts(self, texts: Sequence[str]) -> Vectors:
        torch = require("torch", extra="models")
        vectors = np.full((len(texts), len(self.bias)), np.nan, np.float32)
        spoken = [at for at, text in enumerate(texts) if text]
        if not spoken:
            return vectors
        length = self.settings.length
        pieces = self.tokenizer([texts[at] for at in spoken], add_special_tokens=False, verbose=False)["input_ids"]
        first, last = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        ids = [[first, *piece[: length - 2], last] for piece in pieces]
        with torch.inference_mode():
            for batch in token_batches([len(piece) for piece in ids], device=self.device):
                vectors[[spoken[at] for at in batch]] = self._global([ids[at] for at in batch])
        return vectors

    def _global(self, batch: list[list[int]]) -> Vectors:
        """Mean over the `length` positions of each of the last layers, layers put together.

        Word-pieces are summed into words and positions behind the text are zeros, so the mean over words is the
        sum over the text's pieces divided by `length`; how the pieces make words changes nothing.
        """
        torch = require("torch", extra="models")
        settings = self.settings
        if not settings.words:  # then positions behind the text count with what BERT makes of them
            batch = [[*row, *[0] * (settings.length - len(row))] for row in batch]
            mask = torch.tensor([[int(number != 0) for number in row] for row in batch], device=self.device)
            ids = torch.tensor(batch, device=self.device)
        else:
            ids, mask = padded(batch, pad=0, device=self.device)
        out = self.bert(ids, attention_mask=mask, output_hidden_states=True)
        if settings.layers > 1:
            layers = torch.stack(out.hidden_states[-settings.layers :])
            if settings.words and mask is not None:
                layers = layers * mask[None, :, :, None]
            means = layers.sum(dim=2) / settings.length
            vectors = means.sum(dim=0) if settings.sum_layers else means.mean(dim=0)
        else:
            vectors = out.pooler_output
        if settings.unit:
            vectors = torch.nn.functional.normalize(vectors, dim=1)
        pooled: Vectors = vectors.float().cpu().numpy()
        return pooled


@lru_cache(maxsize=4)
def _opened(path: str) -> LightningCheckpoint:
    return open_lightning(Path(path))


def _family(path: str) -> str:
    names = _opened(path).tensors
    for family in _TOWERS:
        if any(name.startswith(f"{family}.") for name in names):
            return family
    raise ModelError(f"{path} must be a checkpoint of LIMITR or GLoRIA, whose names start with limitr. or gloria.")


@lru_cache(maxsize=2)
def _load(path: str, near: str, device: str, lateral: bool) -> _Network:
    torch = require("torch", extra="models")
    from radgauge.encoders.image.resnet import WIDTH, ResNet50, folded

    opened, family = _opened(path), _family(path)
    settings = _Settings.of(opened.settings, where=opened.path)
    image, text = f"{family}.{_LATERAL if lateral else _TOWERS[family]}.", f"{family}.text_encoder."
    state = {name: torch.from_numpy(values) for name, values in opened.read(image, text)}
    folder = locate_tokenizer(settings.bert, models=near)
    bert, backbone = encoder_from(folder), ResNet50()
    hidden = bert.config.hidden_size
    local = f"{image}local_embedder.weight"
    needed = {
        **{f"{text}model.{name}": value for name, value in bert.state_dict().items()},
        **{f"{image}model.{name}": value for name, value in backbone.state_dict().items()},
        f"{image}global_embedder.weight": torch.empty(hidden, WIDTH, device="meta"),
        f"{image}global_embedder.bias": torch.empty(hidden, device="meta"),
        **({local: torch.empty(hidden, WIDTH // 2, 1, 1, device="meta")} if local in state else {}),
    }
    surplus = ("position_ids", "token_type_ids")
    check_keys({k: v for k, v in state.items() if not k.endswith(surplus)}, needed, where=path)
    bert.load_state_dict({name: state[f"{text}model.{name}"].float() for name in bert.state_dict()})
    backbone.load_state_dict({name: state[f"{image}model.{name}"] for name in backbone.state_dict()})
    tokenizer = load_tokenizer(folder, of=settings.bert)
    return _Network(
        settings,
        folded(backbone).to(device),
        state[f"{image}global_embedder.weight"].float().to(device),
        state[f"{image}global_embedder.bias"].float().to(device),
        bert.eval().to(device),
        tokenizer,
        device,
    )
