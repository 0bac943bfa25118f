"""How an image-text encoder is trained."""

from __future__ import annotations

from dataclasses import dataclass

from radgauge.errors import UsageError


@dataclass(frozen=True)
class ImageTextSettings:
    """How to train; the defaults made the encoder that ships.

    Attributes:
        start: Starting weights of the image network: imagenet, scratch or a file.
        frozen: Stages (of 17) that stay as they start; all learn if it is 0, only what is behind them if it is 17.
        size: Height and width of a picture in pixels; a multiple of 32.
        dimensions: Length of a vector.
        epochs: Passes over the studies; the last one is kept.
        batch_size: Studies per step.
        copies: Changed copies of every picture, drawn once; each pass takes one of them.
        learning_rate: Of the image network.
        head_rate: Of the layers of both sides behind it.
        label_rate: Of the layer that predicts findings, which starts at random.
        weight_decay: AdamW's.
        picture_ridge: Of the start that both sides' layers get from canonical correlations.
        report_ridge: The same, for reports.
        dropout: Before the image side's layer.
        text_dropout: Before the text side's layer.
        temperature: Of the contrastive terms.
        shared: Part of the target that goes to studies with like reports.
        local_weight: Of the local term.
        claims_weight: Of the claims.
        sentences: Stating sentences per study and step, at most.
        least: Reports that must make a claim for it to count.
        least_label: Reports that must state a finding for it to be predicted.
        seed: Of everything random.
        device: auto, cpu, cuda.
    """

    start: str = "imagenet"
    frozen: int = 17
    size: int = 192
    dimensions: int = 128
    epochs: int = 8
    batch_size: int = 64
    copies: int = 1
    learning_rate: float = 3e-4
    head_rate: float = 3e-5
    label_rate: float = 1e-3
    weight_decay: float = 0.02
    picture_ridge: float = 3.0
    report_ridge: float = 2.0
    dropout: float = 0.5
    text_dropout: float = 0.3
    temperature: float = 0.2
    shared: float = 0.3
    local_weight: float = 0.5
    claims_weight: float = 5.0
    sentences: int = 2
    least: int = 4
    least_label: int = 15
    seed: int = 0
    device: str = "auto"

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "copies", "dimensions", "least", "least_label"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be 1 or more, got {getattr(self, name)}")
        if self.size < 32 or self.size % 32:
            raise UsageError(f"size must be a multiple of 32, got {self.size}")
        if not 0 <= self.frozen <= 17:
            raise UsageError(f"frozen must lie between 0 and 17, got {self.frozen}")
        if self.start == "scratch" and self.frozen:
            raise UsageError("frozen stages need starting weights; with start 'scratch' give frozen 0")
