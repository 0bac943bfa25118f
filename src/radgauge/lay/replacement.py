"""Lay replacement: every sentence becomes the lay text of its nearest entry of a sentence set (algorithm 2).

Zhao et al., Layman's RRG (2024), appendix, algorithm 2: the nearest entry by cosine, without a threshold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radgauge.core.readings import Readings
from radgauge.encoders.text.encoders import Encoder
from radgauge.lay.plain_sentences import mixed_text, write_plain
from radgauge.lay.search import nearest
from radgauge.lay.sentences import Pair
from radgauge.text.sentences import sentences_of

Vectors = NDArray[np.float32]
STRANGE, SAME, NEVER = 0.96, 0.8, -1.0
"""Cosines below which an entry may say something else than the sentence, below which it does, and below all."""


@dataclass(frozen=True)
class Replaced:
    """Texts with their sentences, the lay text of each, and vectors of both.

    Attributes:
        sentences: Sentences of each text.
        lay: The lay text of each distinct sentence.
        vectors: Vector of each distinct sentence, and of each lay text.
        similarity: Cosine of each distinct sentence with its entry.
    """

    sentences: dict[str, tuple[str, ...]]
    lay: dict[str, str]
    vectors: dict[str, Vectors]
    similarity: dict[str, float]

    def lay_text(self, text: str) -> str:
        """A text with every sentence replaced."""
        return " ".join(self.lay[sentence] for sentence in self.sentences[text])

    def matrix(self, text: str, *, lay: bool) -> Vectors:
        """Vectors of the sentences of a text, or of their lay texts."""
        return np.stack([self.vectors[self.lay[each] if lay else each] for each in self.sentences[text]])


def replace_sentences(
    texts: Sequence[str],
    pairs: Sequence[Pair],
    *,
    encoder: Encoder,
    reading: Readings,
    write_below: float = NEVER,
) -> Replaced:
    """Replace every sentence of the texts.

    Args:
        texts: Reports.
        pairs: The sentence set.
        encoder: What finds the nearest entry.
        reading: Hands out the encoder's vectors.
        write_below: A sentence whose nearest entry, or that entry's lay text, has a smaller cosine than this is
            also written in plain language, and the text that comes nearer to it counts; below `SAME` the entry
            means something else and the written text counts. What the writer keeps stands as it is. The published
            method always takes the nearest entry.
    """
    sentences = {text: sentences_of(text) for text in dict.fromkeys(texts)}
    distinct = list(dict.fromkeys(each for found in sentences.values() for each in found))
    entries = reading.once(
        ("layman entries", encoder.signature, hash(tuple(pairs))),
        lambda: np.stack(reading.of(encoder, [pair.professional for pair in pairs])),
    )
    if not distinct:
        return Replaced(sentences, {}, {}, {})
    queries = np.stack(reading.of(encoder, distinct))
    chosen, products = nearest(queries, entries)
    lay = {each: pairs[index].lay for each, index in zip(distinct, chosen, strict=True)}
    vectors = dict(zip(distinct, queries, strict=True))
    _add_vectors(vectors, lay.values(), encoder, reading)
    said = {
        each: min(float(product), float(vectors[each] @ vectors[lay[each]]))
        for each, product in zip(distinct, products, strict=True)
    }
    written = {each: mixed_text(write_plain(each)) or each for each in distinct if said[each] < write_below}
    _add_vectors(vectors, written.values(), encoder, reading)
    for each, text in written.items():  # whichever says more nearly what the sentence says
        if said[each] < SAME or vectors[each] @ vectors[text] >= said[each]:
            lay[each] = text
    return Replaced(sentences, lay, vectors, dict(zip(distinct, products.tolist(), strict=True)))


def _add_vectors(vectors: dict[str, Vectors], texts: Iterable[str], encoder: Encoder, reading: Readings) -> None:
    wanted = [text for text in dict.fromkeys(texts) if text not in vectors]
    vectors.update(zip(wanted, reading.of(encoder, wanted), strict=True))
