"""Settings of image-text training."""

from __future__ import annotations

from dataclasses import dataclass

from radgauge.core.errors import UsageError


@dataclass(frozen=True)
class ImageTextSettings:
    """Training settings; defaults made the encoder that ships."""

    # Weights of the image network, which stay as they are: embedded (those of the encoder that ships), imagenet
    # (the package that publishes them), or a .pth file of the same layout
    start: str = "embedded"
    size: int = 192  # Height and width of a picture in pixels; a multiple of 32
    dimensions: int = 128  # Length of a vector
    # Added to the variances of the pictures' numbers, which are one, where both sides' directions are found
    picture_ridge: float = 6.0
    report_ridge: float = 2.0  # The same for reports, as a multiple of their mean variance
    view_ridge: float = 2.0  # The same where the layer of a view is fitted
    # Weight of how reports differ that state the same: the larger, the less such differences count
    rewording: float = 0.3
    least: int = 4  # Reports that must make a claim for it to count
    seed: int = 0
    threads: int = 0  # Pictures side by side; 0: as many as there are cores. Each picture takes one thread.

    def __post_init__(self) -> None:
        for name in ("dimensions", "least"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be 1 or more, got {getattr(self, name)}")
        for name in ("picture_ridge", "report_ridge", "view_ridge"):
            if not getattr(self, name) > 0:
                raise UsageError(f"{name} must be above 0, got {getattr(self, name)}")
        if self.rewording < 0 or self.threads < 0:
            raise UsageError(f"rewording and threads must be 0 or more, got {self.rewording} and {self.threads}")
        if self.size < 32 or self.size % 32:
            raise UsageError(f"size must be a multiple of 32, got {self.size}")
