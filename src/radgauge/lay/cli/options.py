"""Options that the subjects of `radgauge lay` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from radgauge.cli import options as o

if TYPE_CHECKING:
    from radgauge.encoders.text.encoders import Encoder
    from radgauge.lay.metrics.layman import Layman

layman = o.subjects("lay")

EncoderName = Annotated[
    str,
    typer.Option(
        "--encoder", help="findings, static, folder or id of a transformer, or settings of a decoder (.toml)."
    ),
]


@dataclass(frozen=True, slots=True)
class LayText:
    """Source of the replacement sentences, and how they are matched."""

    sentences: Annotated[str, "A sentence set of your own: two tab-separated columns."] = ""
    encoder: Annotated[
        str, "findings, static, folder or id of a transformer, or settings of a decoder (.toml)."
    ] = "findings"
    threshold: Annotated[float, "Cosine from which two sentences agree."] = 0.8
    outside: Annotated[
        Literal["nearest", "write"], "Sentences unlike any of the set: the nearest, as published, or written."
    ] = "nearest"

    def metric(self, **settings: Any) -> Layman:
        """`layman` with an encoder as the verbs name it: 'findings', 'static', or a model."""
        from radgauge.lay.metrics.layman import Layman

        ours = self.encoder in ("findings", "static")
        settings["encoder" if ours else "models"] = self.encoder
        return Layman(sentences=self.sentences, **settings)


def encoder_called(name: str) -> Encoder:
    """An encoder as the verbs name it: 'findings', 'static', or a model."""
    from radgauge.encoders.text.encoders import encoder_named
    from radgauge.lay.encoder import FindingEncoder

    if name == "findings":
        return FindingEncoder()
    return encoder_named("embedded") if name == "static" else encoder_named(name, max_length=512)


def why_no_meteor() -> str:
    """Reason why METEOR cannot run on this machine; "" if it can."""
    from radgauge.core.errors import MissingExtra, ModelError
    from radgauge.metrics._meteor_java import command

    try:
        command()
    except (MissingExtra, ModelError) as error:
        return str(error)
    return ""
