"""The trainable form of the table, the projection of the teachers, and the losses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from radgauge.text.static_embedding import NUMBER, grams_of, words_of


class Student(nn.Module):
    """Word vectors plus the mean of their n-gram vectors; a text is the sum of its words.

    While training, some words lose their own vector for a step, so that n-grams alone learn to stand in.
    """

    def __init__(self, words: Sequence[str], grams: Sequence[str], *, dimensions: int) -> None:
        super().__init__()
        self.index = {word: at for at, word in enumerate(words)}
        self.gram_index = {gram: at for at, gram in enumerate(grams)}
        self.own = nn.Parameter(torch.zeros(len(words), dimensions))
        self.parts = nn.Parameter(torch.randn(len(grams), dimensions) * 0.01)
        self._grams: dict[str, list[int]] = {}

    def tokens(self, text: str) -> list[str]:
        """Words as the table will look them up; numbers without a vector become the number word."""
        return [w if w in self.index or not w[0].isdigit() else NUMBER for w in words_of(text)] or [NUMBER]

    def grams(self, word: str) -> list[int]:
        """Rows of the n-grams of a word; none for numbers and words shorter than three letters."""
        found = self._grams.get(word)
        if found is None:
            usable = not word[0].isdigit() and word != NUMBER and (len(word) > 2 or word not in self.index)
            found = [self.gram_index[g] for g in grams_of(word) if g in self.gram_index] if usable else []
            self._grams[word] = found
        return found

    def word_vectors(self, words: Sequence[str], *, drop: float = 0.0) -> Tensor:
        """One row per word."""
        own = torch.tensor([self.index.get(word, -1) for word in words])
        grams = [self.grams(word) for word in words]
        sizes = torch.tensor([len(found) for found in grams])
        flat = torch.tensor([row for found in grams for row in found], dtype=torch.long)
        parts = functional.embedding_bag(flat, self.parts, sizes.cumsum(0) - sizes, mode="mean")
        known = own >= 0
        if drop:
            known &= (torch.rand(len(words)) >= drop) | (sizes == 0)
        return parts + self.own[own.clamp(min=0)] * known[:, None]

    def forward(self, texts: Sequence[Sequence[str]], *, drop: float = 0.0) -> Tensor:
        """Unit vectors of tokenised texts."""
        unique: dict[str, int] = {}
        rows = [unique.setdefault(word, len(unique)) for text in texts for word in text]
        sizes = torch.tensor([len(text) for text in texts])
        vectors = self.word_vectors(list(unique), drop=drop)
        summed = functional.embedding_bag(torch.tensor(rows), vectors, sizes.cumsum(0) - sizes, mode="sum")
        return functional.normalize(summed, dim=1)


def contrastive(first: Tensor, second: Tensor, kin: Tensor, *, temperature: float) -> Tensor:
    """Each text must find its partner among the second texts; kin do not count as wrong.

    Args:
        first: One row per pair.
        second: The partners in the same order, then any number of further wrong answers.
        kin: Which pairs are of linked concepts: one square matrix of truth values.
        temperature: Divides the cosines.
    """
    size = len(first)
    logits = first @ second.T / temperature
    same = kin & ~torch.eye(size, dtype=torch.bool)
    logits = logits.masked_fill(functional.pad(same, (0, len(second) - size)), -1e4)
    target = torch.arange(size)
    back = functional.cross_entropy(logits[:, :size].T, target)
    return (functional.cross_entropy(logits, target) + back) / 2


def band(cosines: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Squared distance of the cosines from their intervals."""
    return (functional.relu(cosines - high) ** 2 + functional.relu(low - cosines) ** 2).mean()


def centred(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Teachers side by side, each without its mean: general encoders share one large common direction."""
    parts = []
    for part in vectors:
        shifted = part - part.mean(axis=0)
        parts.append(shifted / np.linalg.norm(shifted, axis=1, keepdims=True))
    joined: NDArray[np.float32] = np.hstack(parts).astype(np.float32)
    return joined / np.float32(np.sqrt(len(parts)))


def principal_axes(vectors: NDArray[np.float32], dimensions: int) -> NDArray[np.float32]:
    """Orthonormal directions of greatest spread, as columns."""
    _, axes = np.linalg.eigh(vectors.T @ vectors)
    found: NDArray[np.float32] = axes[:, ::-1][:, :dimensions].astype(np.float32)
    return found


def project_teachers(
    joined: NDArray[np.float32],
    pairs: NDArray[np.int64],
    groups: NDArray[np.int64],
    *,
    dimensions: int,
    steps: int,
    seed: int,
) -> NDArray[np.float32]:
    """A linear map of the teachers, tuned so that synonyms meet, close to the principal axes where it can be.

    Returns:
        Unit vectors, one row per teacher text.
    """
    torch.manual_seed(seed)
    source = torch.from_numpy(joined)
    axes = torch.from_numpy(principal_axes(joined, dimensions))
    start = functional.normalize(source @ axes, dim=1)
    matrix = nn.Parameter(axes.clone())
    optimizer = torch.optim.Adam([matrix], lr=2e-3)
    for _ in range(steps):
        chosen = torch.randint(len(pairs), (768,))
        left, right = torch.from_numpy(pairs)[chosen].T
        a = functional.normalize(source[left] @ matrix, dim=1)
        b = functional.normalize(source[right] @ matrix, dim=1)
        mine = torch.from_numpy(groups)[chosen]
        loss = contrastive(a, b, mine[:, None] == mine[None], temperature=0.07)
        some = torch.randint(len(source), (384,))
        kept = functional.normalize(source[some] @ matrix, dim=1)
        loss = loss + 10 * ((kept @ kept.T - start[some] @ start[some].T) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        return functional.normalize(source @ matrix, dim=1).numpy()
