"""Settings of estimator training."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Literal

from radgauge.core.errors import UsageError
from radgauge.lab.training.pair_scores import TARGETS

ERROR_COUNTS = "error_counts"
LEARNED = {**TARGETS, "errors_quality": True, ERROR_COUNTS: False}
"""What an estimator can learn, and whether higher is better."""
SHIPPED = (64, 32)
"""Hidden layers of the head that comes with radgauge."""


@dataclass(frozen=True)
class EstimatorSettings:
    """Training settings; defaults are COMET's for its referenceless model, version 2."""

    # "embedded" (sketches, numpy at run time), or folder or hub id of a transformers encoder
    encoder: str = "embedded"
    # What the pairs are scored with: radcliq (lower is better), radgraph_f1, bleu2 or errors_quality (higher is
    # better), or any other name, with a direction
    target: str = "radcliq"
    # "higher" or "lower" is better; "auto" where the target's is known
    direction: Literal["auto", "higher", "lower"] = "auto"
    # Vectors of an embedded encoder: "claims" (findings), "words" (words and graphs), or "auto": words for the
    # scores that `train pairs` computed from words and graphs, claims for ratings, counts and everything else
    features: Literal["auto", "claims", "words"] = "auto"
    # First weights of an embedded encoder's head: "random", or "shipped", the head that comes with radgauge
    start: Literal["random", "shipped"] = "random"
    epochs: int = 20  # At most
    patience: int = 5  # Epochs without a better validation tau before training stops
    batch_size: int = 16  # Pairs per step
    accumulate: int = 2  # Steps per update of the weights
    learning_rate: float = 1.5e-5  # Of the head and the mix of layers
    encoder_learning_rate: float = 1e-6  # Of the encoder's top layer
    layerwise_decay: float = 0.95  # Factor from each encoder layer to the one below
    frozen: float = 0.3  # Share of the first epoch during which the encoder stays as it is
    keep_embeddings_frozen: bool = True  # True if the encoder's word vectors stay as they are throughout
    clip: float = 1.0  # Largest norm of the gradient
    weight_decay: float = 0.01  # AdamW's
    hidden_sizes: tuple[int, ...] = (2048, 1024)
    dropout: float = 0.1  # In the head and over the layers of the mix
    layer_transformation: str = "sparsemax"  # sparsemax or softmax
    layer_norm: bool = False  # True if layers are normalised before they are mixed
    pool: str = "avg"  # avg, max or cls
    seed: int = 0
    device: str = "auto"  # auto, cpu, cuda
    save_every: int = 2000  # Steps between states that a killed run can go on from

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z][\w-]*", self.target):
            raise UsageError(f"target must be the name of a column, letters first, got {self.target!r}")
        if self.target not in LEARNED and self.direction == "auto":
            raise UsageError(
                f"which way is better is known of {', '.join(LEARNED)}; "
                f"of {self.target!r} say direction='higher' or 'lower'"
            )
        direction_of_target = (
            ("higher" if LEARNED[self.target] else "lower") if self.target in LEARNED else self.direction
        )
        if self.direction not in ("auto", direction_of_target):
            raise UsageError(f"of {self.target}, {direction_of_target} is better")
        if self.encoder != "embedded" and (self.features, self.start) != ("auto", "random"):
            raise UsageError(f"features and start are of the encoder 'embedded', got encoder={self.encoder!r}")
        if self.start == "shipped" and (self.counts or self.features == "words" or self.hidden_sizes != SHIPPED):
            raise UsageError("start=shipped is for one target, features=claims and hidden_sizes=64+32")
        for name in ("epochs", "patience", "batch_size", "accumulate", "save_every"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be 1 or more, got {getattr(self, name)}")
        if not self.hidden_sizes:
            raise UsageError("hidden_sizes must name at least one layer")

    @property
    def counts(self) -> bool:
        """True if six heads learn the errors in each category, and not one head a value."""
        return self.target == ERROR_COUNTS

    @property
    def higher_is_better(self) -> bool:
        """The direction of the target."""
        return LEARNED[self.target] if self.direction == "auto" else self.direction == "higher"

    @classmethod
    def for_counts(cls, encoder: str, **changes: Any) -> EstimatorSettings:
        """Return settings for count heads on an encoder that is trained with them, or on the sketch."""
        counts: dict[str, Any] = {"encoder": encoder, "target": ERROR_COUNTS}
        if encoder == "embedded":
            return cls.for_embedded(**counts, **changes)
        rates = {"learning_rate": 1e-3, "encoder_learning_rate": 5e-5, "frozen": 0.0}
        return cls(**{**counts, **rates, "accumulate": 1, "epochs": 4, "patience": 2, **changes})

    @classmethod
    def for_embedded(cls, **changes: Any) -> EstimatorSettings:
        """Settings that suit a small head on fixed vectors: larger steps, larger batches, fewer epochs."""
        small = cls(
            epochs=6,
            patience=3,
            batch_size=256,
            accumulate=1,
            learning_rate=1e-3,
            weight_decay=0.05,
            hidden_sizes=SHIPPED,
        )
        return replace(small, **changes)
