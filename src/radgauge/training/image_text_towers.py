"""The two towers in torch, and what they are trained to do.

Three terms. *Global*: pictures and reports of one study are near, others far (InfoNCE in both directions), where
part of the target is shared with studies whose reports claim the same, because a third of chest X-ray reports are
normal ones that fit each other's pictures. *Local*: a sentence that states a finding is near some patches of its
own study's pictures (GLoRIA, LIMITR); studies that make the same claims do not count against it. *Claims*: which
findings the report states is predicted from the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.errors import require
from radgauge.models.text.report_claims import ReportClaims, claim_vocabulary, stating_sentences
from radgauge.report_reader import ReportReader
from radgauge.training.image_network import TAPS, build_stages, load_start, widths
from radgauge.training.image_text_data import PicturedReport
from radgauge.training.image_text_settings import ImageTextSettings
from radgauge.training.image_text_start import Start

torch = require("torch", extra="models")
nn, functional = torch.nn, torch.nn.functional

_RAREST = 0.01  # share of reports; columns of rarer claims are not scaled up further
_CLAIMS = 1 / 8  # claims have a length of about one in a typical report
_STATED, _WORDS = 2.0, 1.0  # vectors of the stating sentences, of all words: a half and a quarter of that


@dataclass(frozen=True, eq=False)
class TextMaterial:
    """Reports of the studies to learn from, as numbers.

    Attributes:
        claims: What makes rows of reports.
        scale: Of each column: rare claims weigh more.
        rows: Scaled rows of all forms of all reports.
        forms: Study -> rows of its forms.
        sentences: Scaled rows of stating sentences.
        spoken: Study -> rows of its stating sentences.
        labels: Columns of claims that are predicted from pictures.
    """

    claims: ReportClaims
    scale: NDArray[np.float32]
    rows: NDArray[np.float32]
    forms: tuple[NDArray[np.intp], ...]
    sentences: NDArray[np.float32]
    spoken: tuple[NDArray[np.intp], ...]
    labels: NDArray[np.intp]


def text_material(studies: Sequence[PicturedReport], *, least: int, least_label: int) -> TextMaterial:
    """Rows of all reports and of their stating sentences.

    Args:
        studies: To learn from.
        least: Reports that must make a claim for it to have a column.
        least_label: Reports that must state a finding for it to be predicted from pictures.
    """
    last = [study.texts[-1] for study in studies]
    readings = ReportReader().read(last)
    claims = ReportClaims(claim_vocabulary(readings, least=least))
    known = len(claims.vocabulary)
    texts = [text for study in studies for text in study.texts]
    rows = claims.rows(texts)
    whole = claims.rows(last)[:, :known] > 0
    scale = np.full(claims.dimensions, _WORDS, np.float32)
    scale[:known] = _CLAIMS / np.sqrt(whole.mean(axis=0).clip(_RAREST))
    scale[known : (known + claims.dimensions) // 2] = _STATED
    named = [stating_sentences(reading) for reading in readings]
    plain = np.array([name.startswith("+") and not set(name) & set("@:") for name in claims.vocabulary])
    sentences = claims.rows([text for each in named for text in each])
    return TextMaterial(
        claims,
        scale,
        rows * scale,
        _consecutive([len(study.texts) for study in studies]),
        sentences * scale,
        _consecutive([len(each) for each in named]),
        np.flatnonzero(plain & (whole.sum(axis=0) >= least_label)),
    )


def _consecutive(sizes: Sequence[int]) -> tuple[NDArray[np.intp], ...]:
    ends = np.cumsum(sizes)
    return tuple(np.arange(end - size, end) for end, size in zip(ends, sizes, strict=True))


class Towers(nn.Module):  # type: ignore[misc, name-defined]
    """Stages of the image network, and the linear layers on top of both sides."""

    def __init__(self, settings: ImageTextSettings, *, columns: int, claims: int, labels: int) -> None:
        super().__init__()
        self.settings, self.claims = settings, claims
        self.stages = build_stages()
        load_start(self.stages, settings.start)
        self.last = widths(self.stages)[-1]
        self.image = nn.Linear(sum(widths(self.stages)), settings.dimensions)
        self.text = nn.Linear(columns, settings.dimensions)
        for name, size in (("centre", self.image.in_features), ("text_centre", columns)):
            self.register_buffer(name, torch.zeros(size))
        self.register_buffer("spread", torch.ones(self.image.in_features))
        self.labels = nn.Linear(settings.dimensions, labels) if labels else None
        for stage in self.stages[: settings.frozen]:
            stage.requires_grad_(False)

    def begin(self, start: Start) -> None:
        """Take over what canonical correlations found."""
        with torch.no_grad():
            for mine, found in (
                (self.centre, start.centre),
                (self.spread, start.spread),
                (self.text_centre, start.text_centre),
                (self.image.weight, start.image.T),
                (self.text.weight, start.text.T),
            ):
                mine.copy_(torch.from_numpy(np.ascontiguousarray(found, dtype=np.float32)))
            self.image.bias.zero_()
            self.text.bias.zero_()

    def image_matrix(self) -> tuple[Any, Any]:
        """Matrix and bias for means as the stages give them."""
        matrix = self.image.weight.T / self.spread[:, None]
        return matrix, self.image.bias - self.centre @ matrix

    def text_bias(self) -> Any:
        """Bias for scaled rows as they are."""
        return self.text.bias - self.text.weight @ self.text_centre

    def train(self, mode: bool = True) -> Towers:
        """Frozen stages stay as they are, their normalisation too."""
        super().train(mode)
        for stage in self.stages[: self.settings.frozen]:
            stage.train(False)
        return self

    def below(self, pictures: Any) -> tuple[Any, Any]:
        """Pictures through the frozen stages, without gradient: what comes out, and the means of their taps."""
        with torch.no_grad():
            return self._through(pictures, range(self.settings.frozen))

    def _through(self, values: Any, numbers: range) -> tuple[Any, Any]:
        values = values.float().contiguous(memory_format=torch.channels_last)
        means = [values.new_zeros(len(values), 0)]
        for number in numbers:
            values = self.stages[number](values)
            if number in TAPS:
                means.append(values.mean(dim=(2, 3)))
        return values, torch.cat(means, dim=1)

    def means(self, values: Any, below: Any) -> tuple[Any, Any]:
        """From what `below` gave to the last stage's output and the means of all taps."""
        values, above = self._through(values, range(self.settings.frozen, len(self.stages)))
        return values, torch.cat([below, above], dim=1)

    def pictures(self, values: Any, below: Any) -> tuple[Any, Any]:
        """Vectors of whole pictures, and of their places: (pictures, places, dimensions).

        A place differs from its picture by what the last stage shows there.
        """
        values, means = self.means(values, below)
        scaled = functional.dropout((means - self.centre) / self.spread, self.settings.dropout, self.training)
        whole = self.image(scaled)
        places = values.flatten(2).transpose(1, 2)
        apart = (places - places.mean(dim=1, keepdim=True)) / self.spread[-self.last :]
        return whole, whole[:, None] + apart @ self.image.weight[:, -self.last :].T

    def reports(self, rows: Any) -> Any:
        """Vectors of length one."""
        return functional.normalize(
            self.text(functional.dropout(rows - self.text_centre, self.settings.text_dropout, self.training)),
            dim=1,
        )

    def loss(
        self, values: Any, below: Any, share: Any, rows: Any, targets: Any, sentences: Any, owners: Any
    ) -> dict[str, Any]:
        """The three terms.

        Args:
            values: Output of the frozen stages for all pictures of a batch.
            below: Means of their taps.
            share: (studies, pictures): what each picture counts in the mean of its study.
            rows: Scaled rows of the reports.
            targets: (studies, labels): strength with which a finding is stated.
            sentences: Scaled rows of stating sentences.
            owners: Study of each sentence, as a position in the batch.
        """
        settings = self.settings
        single, patches = self.pictures(values, below)
        studies = functional.normalize(share @ functional.normalize(single, dim=1), dim=1)
        reports = self.reports(rows)
        near = studies @ reports.T / settings.temperature
        same = functional.normalize(rows, dim=1)
        wanted = torch.eye(len(rows), device=rows.device) * (1 - settings.shared)
        wanted = wanted + settings.shared * functional.softmax(same @ same.T / 0.1, dim=1)
        terms = {
            "global": -(wanted * functional.log_softmax(near, dim=1)).sum(1).mean()
            - (wanted * functional.log_softmax(near.T, dim=1)).sum(1).mean(),
        }
        if self.labels is not None:
            stated = functional.binary_cross_entropy_with_logits(self.labels(share @ single), targets)
            terms["claims"] = stated * settings.claims_weight
        if len(sentences):
            terms["local"] = self._local(patches, share, sentences, owners, rows) * settings.local_weight
        return terms

    def _local(self, patches: Any, share: Any, sentences: Any, owners: Any, rows: Any) -> Any:
        said = self.reports(sentences)
        places = functional.normalize(patches, dim=2)
        near = torch.einsum("sd,npd->snp", said, places)
        weights = functional.softmax(near / 0.1, dim=2)
        scores = ((weights * near).sum(2) @ share.T) / self.settings.temperature
        stated = (sentences[:, : self.claims] > 0).float()
        also = stated @ (rows[:, : self.claims] > 0).float().T >= stated.sum(1, keepdim=True)
        also[torch.arange(len(owners)), owners] = False
        return functional.cross_entropy(scores.masked_fill(also, -1e4), owners)
