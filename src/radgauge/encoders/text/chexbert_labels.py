"""The 14 CheXpert conditions of reports as numbers, from the embedded reader or the CheXbert network.

Classes are those of CheXbert's heads: 0 blank, 1 positive, 2 negative, 3 uncertain.
Smit et al. (2020), CheXbert, EMNLP; Irvin et al. (2019), CheXpert, AAAI.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import InputError
from radgauge.core.files import sha256_of
from radgauge.core.readings import Readings
from radgauge.io.tables import read_table
from radgauge.io.tables.cells import cell
from radgauge.reader import ReportReader, chexpert_labels
from radgauge.reader.lexicon.concepts import CHEXPERT

Codes = NDArray[np.int8]

CONDITIONS = CHEXPERT
BLANK, POSITIVE, NEGATIVE, UNCERTAIN = 0, 1, 2, 3
STATES = ("blank", "positive", "negative", "uncertain")
NO_FINDING = CONDITIONS.index("No Finding")
FIVE = (1, 4, 5, 7, 9)
"""Cardiomegaly, Edema, Consolidation, Atelectasis, Pleural Effusion: the five of the CheXpert competition."""

_LABELER = {
    "": BLANK,
    "1": POSITIVE,
    "1.0": POSITIVE,
    "0": NEGATIVE,
    "0.0": NEGATIVE,
    "-1": UNCERTAIN,
    "-1.0": UNCERTAIN,
}
_CODE = {"": BLANK, "positive": POSITIVE, "negative": NEGATIVE, "uncertain": UNCERTAIN}


@dataclass(frozen=True)
class LabelTable:
    """Labels by text, as the CheXpert labeler writes them: `Reports` and 14 columns of 1, 0, -1 or blank."""

    codes: Mapping[str, tuple[int, ...]]
    signature: str

    def read(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the classes of each text.

        Raises:
            InputError: A text has no row.
        """
        keys = [" ".join(text.split()) for text in texts]
        missing = len(set(keys) - self.codes.keys())
        if missing:
            raise InputError(f"{self.signature}: {missing} of {len(set(keys))} texts have no row of labels")
        return [self.codes[key] for key in keys]


@lru_cache(maxsize=4)
def label_table(path: str) -> LabelTable:
    """Read a table of labels; a blank cell is no mention."""
    records = read_table(Path(path)).records
    codes = {}
    for record in records:
        values = {name: cell(value).strip() for name, value in record.values.items()}
        if missing := {"Reports", *CONDITIONS} - values.keys():
            raise InputError(
                f"{path} must have the columns Reports and the 14 conditions; missing: {sorted(missing)[0]}"
            )
        states = [values[name] for name in CONDITIONS]
        if unknown := [state for state in states if state not in _LABELER]:
            raise InputError(f"{path}: labels must be 1, 0, -1 or blank, got {unknown[0]!r}")
        codes[" ".join(values["Reports"].split())] = tuple(_LABELER[state] for state in states)
    return LabelTable(codes, f"{Path(path).name}@{sha256_of(Path(path))[:12]}")


def labeler_signature(models: str) -> str:
    """Names the labeler behind a model profile."""
    if models == "embedded":
        return ReportReader().signature
    if models.endswith(".csv"):
        return label_table(models).signature
    from radgauge.encoders.text.chexbert_network import chexbert_reader

    return chexbert_reader(models).signature


def condition_codes(texts: Sequence[str], *, reading: Readings, models: str = "embedded") -> Codes:
    """Class of every condition in every text, shape (texts, 14).

    >>> codes = condition_codes(["No effusion. Possible pneumonia."], reading=Readings())
    >>> [(CONDITIONS[i], STATES[codes[0, i]]) for i in np.flatnonzero(codes[0])]
    [('Pneumonia', 'uncertain'), ('Pleural Effusion', 'negative')]
    """
    if models.endswith(".csv"):
        return np.array(label_table(models).read(texts), dtype=np.int8).reshape(len(texts), len(CONDITIONS))
    if models != "embedded":
        from radgauge.encoders.text.chexbert_network import chexbert_reader

        read = reading.of(chexbert_reader(models), texts)
        return np.array([labelled.classes for labelled in read], dtype=np.int8).reshape(
            len(texts), len(CONDITIONS)
        )
    codes = reading.derive(
        ReportReader(),
        texts,
        lambda report: [_CODE[state] for state in chexpert_labels(report).values()],
        key="chexpert labels",
    )
    return np.array(codes, dtype=np.int8).reshape(len(texts), len(CONDITIONS))
