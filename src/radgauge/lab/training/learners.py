"""Learners of the training loop: a transformer with a head, or a head on fixed vectors of the reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import require
from radgauge.core.readings import Readings
from radgauge.encoders.checkpoints.hub import pick_device
from radgauge.encoders.text.crepe_network import HEADS
from radgauge.encoders.text.embedded_estimator import load_embedded, save_embedded
from radgauge.encoders.text.estimator import DEFAULTS, ENCODERS, Loaded, build, save_estimator
from radgauge.encoders.text.feed_forward import head_of
from radgauge.encoders.text.report_sketch import CLAIMS, WORDS_AND_GRAPH, ReportSketch
from radgauge.lab.training.estimator_settings import EstimatorSettings
from radgauge.lab.training.pair_files import PairTable

Index = NDArray[np.intp]
EMBEDDED_FILE, COUNTS_FILE = "comet_embedded.npz", "crepe_embedded.npz"
TEXTS_AT_ONCE = 32  # in validation; every layer of each is held
PAIRS_AT_ONCE = 1024


class Learner(Protocol):
    """A module that scores pairs, given as positions in the texts of the training or the validation table."""

    module: Any
    device: str

    def predict(self, candidate: Index, reference: Index) -> Any:
        """One score per training pair, as a tensor with gradients."""

    def validate(self, candidate: Index, reference: Index) -> NDArray[np.float64]:
        """One score per validation pair."""

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Parameters with their learning rates."""

    def freeze(self, frozen: bool) -> None:
        """Freeze or thaw the encoder, if there is one."""

    def save(self, folder: Path, *, about: Mapping[str, Any]) -> None:
        """Write the checkpoint."""


def make_learner(settings: EstimatorSettings, *, train: PairTable, validation: PairTable) -> Learner:
    """The learner that the settings name."""
    counted = ~np.isnan(train.target)  # categories that the raters were not asked about have no mean
    start = np.atleast_1d(
        np.where(counted, train.target, 0).sum(axis=0) / np.maximum(counted.sum(axis=0), 1)
    ).tolist()
    if settings.encoder == "embedded":
        return SketchLearner(settings, train, validation, means=start)
    if settings.counts:
        from radgauge.lab.training.count_heads import PairLearner

        return PairLearner(settings, train.texts, validation.texts, start=start)
    return TransformerLearner(settings, train.texts, validation.texts)


class SketchLearner:
    """The head alone; every text is a fixed vector."""

    def __init__(
        self,
        settings: EstimatorSettings,
        train: PairTable,
        validation: PairTable,
        *,
        means: Sequence[float],
    ) -> None:
        torch = require("torch", extra="models")
        from radgauge.encoders.text.comet_network import FeedForward

        self.settings, self.device = settings, pick_device(settings.device)
        self.sketch = ReportSketch(WORDS_AND_GRAPH if settings.features == "words" else CLAIMS)
        reading = Readings()
        self._vectors = [
            torch.from_numpy(self.sketch.vectors(table.texts, reading=reading)).to(self.device)
            for table in (train, validation)
        ]
        self._counts = settings.counts
        biases = [*means, *[0.0] * len(means)] if self._counts else means
        self.module = FeedForward(
            4 * self.sketch.dimensions, settings.hidden_sizes, dropout=settings.dropout, outputs=len(biases)
        ).to(self.device)
        with torch.no_grad():
            self.module.ff[-1].bias.copy_(torch.tensor(biases))  # the mean target: epochs are few
        if settings.start == "shipped":
            self._start_from_shipped(train)

    def _start_from_shipped(self, train: PairTable) -> None:
        """Take the head that ships, its output put on the scale of the training targets by least squares."""
        torch = require("torch", extra="models")
        head = load_embedded().head
        linear = [part for part in self.module.ff if isinstance(part, torch.nn.Linear)]
        with torch.no_grad():
            for part, weight, bias in zip(linear, head.weights, head.biases, strict=True):
                part.weight.copy_(torch.from_numpy(np.asarray(weight, np.float32)))
                part.bias.copy_(torch.from_numpy(np.asarray(bias, np.float32)))
            self.module.eval()
            scores = _scores(self.module, self._vectors[0], train.candidate, train.reference)
            if np.ptp(scores) > 0 and np.ptp(train.target) > 0:
                slope, intercept = np.polyfit(scores, train.target.astype(np.float64), 1)
                linear[-1].weight.mul_(float(slope))
                linear[-1].bias.mul_(float(slope)).add_(float(intercept))

    def predict(self, candidate: Index, reference: Index) -> Any:
        vectors = self._vectors[0]
        return self.module(vectors[candidate], vectors[reference])

    def validate(self, candidate: Index, reference: Index) -> NDArray[np.float64]:
        predicted = _scores(self.module, self._vectors[1], candidate, reference)
        return predicted[:, :HEADS].clip(min=0).sum(axis=1) if self._counts else predicted

    def parameter_groups(self) -> list[dict[str, Any]]:
        return [{"params": list(self.module.parameters()), "lr": self.settings.learning_rate}]

    def freeze(self, frozen: bool) -> None:
        """There is no encoder to freeze."""

    def save(self, folder: Path, *, about: Mapping[str, Any]) -> None:
        layers = self.module.parameters_of_layers()
        if self._counts:  # heads of presence are for training
            layers[-1] = (layers[-1][0][:HEADS], layers[-1][1][:HEADS])
        file = folder / (COUNTS_FILE if self._counts else EMBEDDED_FILE)
        save_embedded(file, head_of(layers, activation="tanh"), sketch=self.sketch, about=about)


class TransformerLearner:
    """A transformer that is trained together with the head."""

    def __init__(self, settings: EstimatorSettings, train: Sequence[str], validation: Sequence[str]) -> None:
        self.settings = settings
        self._texts = (train, validation)
        hparams = {
            **DEFAULTS,
            "nr_frozen_epochs": settings.frozen,
            "keep_embeddings_frozen": settings.keep_embeddings_frozen,
            "encoder_learning_rate": settings.encoder_learning_rate,
            "learning_rate": settings.learning_rate,
            "layerwise_decay": settings.layerwise_decay,
            "pretrained_model": settings.encoder,
            "pool": settings.pool,
            "layer_transformation": settings.layer_transformation,
            "layer_norm": settings.layer_norm,
            "dropout": settings.dropout,
            "batch_size": settings.batch_size,
            "hidden_sizes": list(settings.hidden_sizes),
        }
        built = build(hparams, encoder=settings.encoder, pretrained=True, device=settings.device)
        kind = built.network.encoder.model.config.model_type
        self.loaded = Loaded(
            built.network,
            built.tokenizer,
            {**hparams, "encoder_model": ENCODERS.get(kind, kind)},
            built.head,
            built.device,
        )
        self.module, self.device = built.network, built.device

    def predict(self, candidate: Index, reference: Index) -> Any:
        texts = self._texts[0]
        vectors = (
            self.module.embed(*self.loaded.tokens([texts[at] for at in side])) for side in (candidate, reference)
        )
        return self.module.estimator(*vectors)

    def validate(self, candidate: Index, reference: Index) -> NDArray[np.float64]:
        """Every text is encoded once, however many pairs it stands in; like lengths share a batch."""
        torch, texts = require("torch", extra="models"), self._texts[1]
        vectors = torch.empty(len(texts), self.module.encoder.model.config.hidden_size, device=self.device)
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]), reverse=True)
        for start in range(0, len(order), TEXTS_AT_ONCE):
            part = order[start : start + TEXTS_AT_ONCE]
            vectors[part] = self.module.embed(*self.loaded.tokens([texts[at] for at in part])).float()
        return _scores(self.module.estimator, vectors, candidate, reference)

    def parameter_groups(self) -> list[dict[str, Any]]:
        settings = self.settings
        groups: list[dict[str, Any]] = self.module.parameter_groups(
            encoder_rate=settings.encoder_learning_rate,
            rate=settings.learning_rate,
            decay=settings.layerwise_decay,
        )
        return groups

    def freeze(self, frozen: bool) -> None:
        self.module.set_encoder_trainable(not frozen, embeddings=not self.settings.keep_embeddings_frozen)

    def save(self, folder: Path, *, about: Mapping[str, Any]) -> None:
        save_estimator(folder, self.loaded, about=about)


def _scores(head: Any, vectors: Any, candidate: Index, reference: Index) -> NDArray[np.float64]:
    scores = [
        head(vectors[candidate[part]], vectors[reference[part]]).float().cpu().numpy()
        for start in range(0, len(candidate), PAIRS_AT_ONCE)
        for part in (slice(start, start + PAIRS_AT_ONCE),)
    ]
    return np.concatenate(scores).astype(np.float64)
