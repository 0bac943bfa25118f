"""Sizes of the network that writes reports; without torch, so that settings and cards can be read anywhere."""

from __future__ import annotations

from dataclasses import dataclass

from radgauge.core.errors import UsageError

_COUNTS = ("width", "layers", "heads", "slots", "narrow", "longest")


@dataclass(frozen=True, kw_only=True)
class DecoderSize:
    """Chosen sizes of the network; the rest follows from the data."""

    width: int = 128  # Of a token's vector
    layers: int = 2
    heads: int = 4  # Of each attention
    slots: int = 2  # Vectors per source that a layer looks at
    narrow: int = 64  # Numbers that a source is brought down to before it becomes slots
    longest: int = 128  # Tokens of a report, at most
    dropout: float = 0.2  # Share of values set to zero in training

    def __post_init__(self) -> None:
        for name in _COUNTS:
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be 1 or more, got {getattr(self, name)}")
        if self.width % self.heads:
            raise UsageError(f"width must be a multiple of heads, got {self.width} and {self.heads}")
        if not 0 <= self.dropout < 1:
            raise UsageError(f"dropout must be 0 or more and below 1, got {self.dropout}")
