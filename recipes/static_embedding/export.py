"""From the trained student to the file that ships: terms, quantisation to four bits, content hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from material import Material
from numpy.typing import NDArray
from sources import Concept
from student import Student
from tasks import ATTRIBUTES, key_of

TERM_WORDS = (2, 6)
TERM_PULL = 0.7  # how far a term moves from the sum of its words towards its concept
TERM_COSINE = 0.82  # terms whose words already say it need no row


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    scaled: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return scaled


def _ambiguous(lexicon: Sequence[Concept], phenotypes: Sequence[Concept]) -> set[tuple[str, str]]:
    """(concept, term) where HPO has the term for another concept of the lexicon: "collapsed lung"."""
    owner = {key_of(term): concept.key for concept in lexicon for term in concept.terms}
    found = set()
    for phenotype in phenotypes:
        if not phenotype.terms or (mine := owner.get(key_of(phenotype.terms[0]))) is None:
            continue
        for term in (*phenotype.terms, *phenotype.lay):
            if (theirs := owner.get(key_of(term), mine)) != mine:
                found.add((theirs, key_of(term)))
    return found


def term_vectors(
    student: Student, sources: Mapping[str, Sequence[Concept]]
) -> dict[tuple[str, ...], NDArray[np.float32]]:
    """Vectors for multi-word terms of the lexicon that are not the sum of their words.

    Left alone are terms that name another side, level, degree or change than their concept does: a row would
    take the attribute away.
    """
    found = {}
    ambiguous = _ambiguous(sources["lexicon"], sources["hpo"])
    for concept in sources["lexicon"]:
        terms = [student.tokens(term) for term in dict.fromkeys((*concept.terms, *concept.lay))]
        with torch.no_grad():
            sums = np.stack([student.word_vectors(term).sum(0).numpy() for term in terms])
        lengths = np.linalg.norm(sums, axis=1)
        units = _unit(sums)
        # The name counts as much as all others: it is what the others are compared with most.
        centre = _unit(units[0] + units[1:].mean(0)) if len(terms) > 1 else units[0]
        for term, unit, length in zip(terms, units, lengths, strict=True):
            fits = TERM_WORDS[0] <= len(term) <= TERM_WORDS[1] and all(word in student.index for word in term)
            fits = fits and not ATTRIBUTES & (set(term) ^ set(terms[0]))
            fits = fits and (concept.key, " ".join(term)) not in ambiguous
            if fits and min(unit @ centre, unit @ units[0]) < TERM_COSINE:
                moved = _unit(TERM_PULL * centre + (1 - TERM_PULL) * unit)
                for key in (term, [word for word in term if word not in ("the", "a", "an")]):
                    if len(key) > 1:
                        found.setdefault(tuple(key), (moved * length).astype(np.float32))
    return found


def quantise(vectors: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
    """Four bits per number, one scale per row: the scale that loses least is searched for."""
    highest = np.abs(vectors).max(axis=1, keepdims=True)
    best = np.full(len(vectors), np.inf)
    scales = np.zeros((len(vectors), 1), np.float32)
    for share in np.linspace(0.45, 1.0, 23):
        scale = np.float16(highest * share / 7).astype(np.float32)
        scale[scale == 0] = 1
        error = ((np.clip(np.round(vectors / scale), -8, 7) * scale - vectors) ** 2).sum(axis=1)
        better = error < best
        best[better] = error[better]
        scales[better] = scale[better]
    codes = (np.clip(np.round(vectors / scales), -8, 7) + 8).astype(np.uint8)
    return codes[:, 0::2] | (codes[:, 1::2] << 4), scales[:, 0].astype(np.float16)


def write_table(
    student: Student,
    material: Material,
    terms: dict[tuple[str, ...], NDArray[np.float32]],
    *,
    path: Path,
    name: str,
) -> str:
    """Write the file that `radgauge.text.static_embedding` reads; returns a line that describes it."""
    with torch.no_grad():
        words = student.word_vectors(material.words).numpy()
        grams = student.parts.numpy()
    rows = np.vstack([words, *(vector[None] for vector in terms.values()), grams])
    codes, scales = quantise(rows)
    arrays = {
        "words": np.frombuffer("\n".join(material.words).encode(), np.uint8),
        "grams": np.frombuffer("\n".join(material.grams).encode(), np.uint8),
        "term_sizes": np.array([len(key) for key in terms], np.uint8),
        "term_words": np.array([student.index[word] for key in terms for word in key], np.uint16),
        "codes": codes,
        "scales": scales,
    }
    digest = hashlib.sha256()
    for key, value in arrays.items():
        digest.update(key.encode() + value.tobytes())
    meta = {"name": name, "hash": digest.hexdigest()[:12], "dimensions": int(rows.shape[1]), "bits": 4}
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)  # four-bit codes do not compress, and plain files load faster
    size = path.stat().st_size / 1e6
    return f"{path}: {len(words)} words, {len(terms)} terms, {len(grams)} n-grams, {size:.2f} MB, {meta['hash']}"
