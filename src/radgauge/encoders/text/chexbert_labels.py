"""The 14 CheXpert conditions of reports as numbers, from the embedded reader or the CheXbert network.

Classes are those of CheXbert's heads: 0 blank, 1 positive, 2 negative, 3 uncertain.
Smit et al. (2020), CheXbert, EMNLP; Irvin et al. (2019), CheXpert, AAAI.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from radgauge.core.readings import Readings
from radgauge.reader import ReportReader, chexpert_labels
from radgauge.reader.lexicon.concepts import CHEXPERT

Codes = NDArray[np.int8]

CONDITIONS = CHEXPERT
BLANK, POSITIVE, NEGATIVE, UNCERTAIN = 0, 1, 2, 3
STATES = ("blank", "positive", "negative", "uncertain")
NO_FINDING = CONDITIONS.index("No Finding")
FIVE = (1, 4, 5, 7, 9)
"""Cardiomegaly, Edema, Consolidation, Atelectasis, Pleural Effusion: the five of the CheXpert competition."""

_CODE = {"": BLANK, "positive": POSITIVE, "negative": NEGATIVE, "uncertain": UNCERTAIN}


def labeler_signature(models: str) -> str:
    """Names the labeler behind a model profile."""
    if models == "embedded":
        return ReportReader().signature
    from radgauge.encoders.text.chexbert_network import chexbert_reader

    return chexbert_reader(models).signature


def condition_codes(texts: Sequence[str], *, reading: Readings, models: str = "embedded") -> Codes:
    """Class of every condition in every text, shape (texts, 14).

    >>> codes = condition_codes(["No effusion. Possible pneumonia."], reading=Readings())
    >>> [(CONDITIONS[i], STATES[codes[0, i]]) for i in np.flatnonzero(codes[0])]
    [('Pneumonia', 'uncertain'), ('Pleural Effusion', 'negative')]
    """
    if models != "embedded":
        from radgauge.encoders.text.chexbert_network import chexbert_reader

        read = reading.of(chexbert_reader(models), texts)
        return np.array([each.classes for each in read], dtype=np.int8).reshape(len(texts), len(CONDITIONS))
    codes = reading.derive(
        ReportReader(),
        texts,
        lambda report: [_CODE[state] for state in chexpert_labels(report).values()],
        key="chexpert labels",
    )
    return np.array(codes, dtype=np.int8).reshape(len(texts), len(CONDITIONS))
