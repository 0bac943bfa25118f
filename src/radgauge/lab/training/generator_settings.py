"""Settings of generator training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from radgauge.core.errors import UsageError
from radgauge.encoders.image.decoder_size import DecoderSize

KINDS = ("network", "retrieval")
REGISTERS = ("professional", "lay")
FREE = ("epochs", "patience")
"""Settings that may change when a training goes on."""


@dataclass(frozen=True, kw_only=True)
class GeneratorSettings(DecoderSize):
    """Training settings; all, the network's sizes too, are part of the generator's card and signature."""

    # network (a transformer decoder that writes, needs the extra `models`) or retrieval (reports of the training
    # studies whose pictures are most alike; numpy only)
    kind: Literal["network", "retrieval"] = "network"
    # professional (reports as they are) or lay (rewritten by the embedded plain-language writer)
    register: Literal["professional", "lay"] = "professional"
    least: int = 3  # Times that a token must stand in the training reports to be written at all
    epochs: int = 25  # Passes over the training studies, at most
    patience: int = 3  # Epochs without a lower validation loss after which training ends
    batch_size: int = 32  # Studies per step
    learning_rate: float = 1e-3  # Of AdamW after `warm` steps; it then falls with the square root of the steps
    warm: int = 100  # Steps of growing learning rate
    weight_decay: float = 0.02  # AdamW's
    smoothing: float = 0.05
    clip: float = 1.0  # Largest norm of the gradient
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind not in KINDS:
            raise UsageError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        if self.register not in REGISTERS:
            raise UsageError(f"register must be one of {', '.join(REGISTERS)}, got {self.register!r}")
        for name in ("least", "epochs", "patience", "batch_size", "warm"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be 1 or more, got {getattr(self, name)}")
        for name in ("learning_rate", "clip"):
            if not getattr(self, name) > 0:
                raise UsageError(f"{name} must be above 0, got {getattr(self, name)}")
        if not 0 <= self.smoothing < 1:
            raise UsageError(f"smoothing must be 0 or more and below 1, got {self.smoothing}")
        if self.weight_decay < 0 or self.seed < 0:
            raise UsageError(f"weight_decay and seed must be 0 or more, got {self.weight_decay} and {self.seed}")
