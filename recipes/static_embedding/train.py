"""Make the table: `python train.py --cache CACHE --shared DATA`; see README.md beside it."""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
from pathlib import Path

import numpy as np
import torch
from contrasts import draw_contrasts, families, siblings, with_attribute
from export import term_vectors, write_table
from material import Material, gather, links, slip
from numpy.typing import NDArray
from sources import Concept
from student import Student, band, centred, contrastive, project_teachers
from teachers import teacher_vectors

from radgauge.text.static_embedding import words_of

ROOT = Path(__file__).parents[2]
LEXICON = ROOT / "src/radgauge/reader/lexicon"
OUTPUT = ROOT / "src/radgauge/encoders/text/data/static_embedding.npz"
TEACHERS = ("gte",)
DIMENSIONS = 256
SLIP = "slip"
SHARES = {
    "lexicon": 0.42,
    "hpo": 0.24,
    "uberon": 0.1,
    "mondo": 0.1,
    "dictionary": 0.06,
    "descriptors": 0.03,
    "slips": 0.05,
}
BATCH = 512


def log(message: str) -> None:
    """Progress goes to stderr."""
    print(f"{time.strftime('%H:%M:%S')} {message}", file=sys.stderr, flush=True)


def teacher_targets(
    material: Material, concepts: list[Concept], groups: NDArray[np.int64], *, cache: Path, seed: int
) -> tuple[list[str], NDArray[np.float32]]:
    """Texts and the vectors that the student should give them."""
    texts = list(dict.fromkeys((*material.texts, *material.sentences)))
    place = {text: at for at, text in enumerate(texts)}
    pairs, mine = [], []
    for at, concept in enumerate(concepts):
        names = [place[term] for term in (*concept.terms, *concept.lay) if term in place]
        for first, second in itertools.pairwise(names):
            pairs.append((first, second))
            mine.append(groups[at])
    joined = centred([teacher_vectors(name, texts, cache=cache) for name in TEACHERS])
    log(f"teachers: {len(texts)} texts, {len(pairs)} synonym pairs")
    targets = project_teachers(
        joined, np.array(pairs), np.array(mine), dimensions=DIMENSIONS, steps=350, seed=seed
    )
    return texts, targets


class Pairs:
    """Draws batches of synonym pairs; half of each batch are neighbours of the other half."""

    def __init__(self, material: Material, drawn: random.Random) -> None:
        self.drawn = drawn
        self.concepts = [c for part in material.concepts.values() for c in part]
        names = [name for name, part in material.concepts.items() for _ in part]
        self.groups = np.array(links(self.concepts))
        self.by_source: dict[str, list[int]] = {name: [] for name in SHARES}
        for at, (name, concept) in enumerate(zip(names, self.concepts, strict=True)):
            if len(concept.terms) + len(concept.lay) + bool(concept.definition) > 1:
                self.by_source[name].append(at)
        # Words of the lexicon by themselves, to be met with a slip of the pen.
        terms = {w for c in material.concepts["lexicon"] for t in c.terms for w in words_of(t)}
        for word in sorted(word for word in terms if len(word) >= 6 and word.isalpha()):
            self.by_source["slips"].append(len(self.concepts))
            self.concepts.append(Concept(SLIP, (word,)))
        self.groups = np.concatenate([self.groups, -1 - np.arange(len(self.concepts) - len(self.groups))])
        self.near: dict[int, list[int]] = {}
        place = {c.key: at for at, c in enumerate(self.concepts)}
        self.family: dict[int, set[int]] = {}
        for at, concept in enumerate(self.concepts):
            for parent in concept.parents:
                if parent in place:
                    self.family.setdefault(at, set()).add(place[parent])
                    self.family.setdefault(place[parent], set()).add(at)

    def find_neighbours(self, place: dict[str, int], vectors: NDArray[np.float32]) -> None:
        """The concepts whose names the teachers find most alike."""
        usable = [
            at
            for part in self.by_source.values()
            for at in part
            if self.concepts[at].terms and self.concepts[at].terms[0] in place
        ]
        rows = vectors[[place[self.concepts[at].terms[0]] for at in usable]]
        for start in range(0, len(usable), 2000):
            nearest = np.argpartition(-(rows[start : start + 2000] @ rows.T), 16, axis=1)[:, :16]
            for offset, found in enumerate(nearest):
                at = usable[start + offset]
                self.near[at] = [usable[i] for i in found if self.groups[usable[i]] != self.groups[at]]

    def draw(self) -> tuple[list[str], list[str], torch.Tensor, list[str]]:
        """First texts, second texts, which of them are kin, and texts that none of them should be near."""
        sources = self.drawn.choices(list(SHARES), list(SHARES.values()), k=BATCH // 2)
        seeds = [self.drawn.choice(self.by_source[name]) for name in sources]
        chosen = seeds + [self.drawn.choice(self.near.get(at) or [at]) for at in seeds]
        first, second, opposite = [], [], []
        for at in chosen:
            a, b = self._two(self.concepts[at])
            framed = with_attribute(a, b, self.drawn) if self.drawn.random() < 0.25 else None
            if framed:
                a, b, other = framed
                opposite.append(other)
            first.append(a)
            second.append(b)
        groups = self.groups[chosen]
        kin = groups[:, None] == groups[None]
        where: dict[int, list[int]] = {}
        for position, at in enumerate(chosen):
            where.setdefault(at, []).append(position)
        for position, at in enumerate(chosen):
            for relative in self.family.get(at, ()):
                kin[position, where.get(relative, [])] = True
        return first, second, torch.from_numpy(kin), opposite

    def _two(self, concept: Concept) -> tuple[str, str]:
        names = [*concept.terms, *concept.lay]
        if concept.key == SLIP:
            return names[0], slip(names[0], self.drawn)
        if concept.definition and (len(names) < 2 or self.drawn.random() < 0.25):
            return self.drawn.choice(names), concept.definition
        if len(names) < 2:
            return names[0], names[0]
        # Sampling starts from the preferred name half of the time: it is what the others must find.
        if self.drawn.random() < 0.5:
            return concept.terms[0] if concept.terms else names[0], self.drawn.choice(names[1:])
        one, other = self.drawn.sample(names, 2)
        return one, other


def train(material: Material, *, cache: Path, steps: int, seed: int) -> Student:
    """Distil the teachers and tune on synonyms and contrasts, in one go."""
    drawn = random.Random(seed)
    pairs = Pairs(material, drawn)
    texts, targets = teacher_targets(material, pairs.concepts, pairs.groups, cache=cache, seed=seed)
    place = {text: at for at, text in enumerate(texts)}
    pairs.find_neighbours(place, targets)
    log(f"{len(pairs.concepts)} concepts, neighbours found")

    torch.manual_seed(seed)
    student = Student(material.words, material.grams, dimensions=DIMENSIONS)
    with torch.no_grad():
        for word, at in student.index.items():
            if word in place:
                student.own[at] = torch.from_numpy(targets[place[word]])
    wanted = torch.from_numpy(targets)
    tokenised = [student.tokens(text) for text in texts]
    known: dict[str, list[str]] = {}

    def tokens(text: str) -> list[str]:
        if text not in known:
            known[text] = student.tokens(text)
        return known[text]

    lexicon_terms = [t for c in material.concepts["lexicon"] for t in c.terms if len(t.split()) <= 4]
    findings = [c.terms[0] for c in material.concepts["hpo"] if c.terms and len(c.terms[0].split()) <= 3]
    contrast_terms = lexicon_terms * (1 + len(findings) // max(1, len(lexicon_terms))) + findings
    kin = [siblings(lexicon_terms), families(material.concepts["lexicon"]), material.related, material.related]
    optimizer = torch.optim.Adam(student.parameters(), lr=3e-3, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps, pct_start=0.1)
    sums = np.zeros(3)
    for step in range(1, steps + 1):
        some = torch.randint(len(texts), (768,))
        first, second, related, opposite = pairs.draw()
        contrasts = draw_contrasts(contrast_terms, kin, 256, drawn)
        # One pass for all three losses: the gradient of the table is dense and dear.
        vectors = student(
            [
                *(tokenised[at] for at in some.tolist()),
                *(tokens(text) for text in (*first, *second, *opposite)),
                *(tokens(text) for item in contrasts for text in item[:2]),
            ],
            drop=0.15,
        )
        learned, named, ends = vectors.split(
            [len(some), len(first) + len(second) + len(opposite), 2 * len(contrasts)]
        )
        distil = (1 - (learned * wanted[some]).sum(1)).mean()
        size = len(first)
        match = contrastive(named[:size], named[size:], related, temperature=0.06)
        low, high = torch.tensor([item[2:] for item in contrasts]).T
        apart = band((ends[0::2] * ends[1::2]).sum(1), low, high)

        loss = distil + 0.5 * match + 8 * apart
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        sums += [distil.item(), match.item(), apart.item()]
        if step % 250 == 0:
            log(f"step {step}: distil {sums[0] / 250:.4f} match {sums[1] / 250:.3f} apart {sums[2] / 250:.4f}")
            sums[:] = 0
    return student.eval()


def main() -> None:
    """Train and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True, help="folder for packages and teacher vectors")
    parser.add_argument("--shared", type=Path, required=True, help="folder with iu_xray and mtsamples")
    parser.add_argument("--lexicon", type=Path, default=LEXICON)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--hold-out", action="store_true", help="keep the concepts of the tasks from training")
    parser.add_argument("--steps", type=int, default=1400)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    material = gather(
        cache=options.cache, shared=options.shared, lexicon=options.lexicon, hold_out=options.hold_out
    )
    log(f"{len(material.words)} words, {len(material.grams)} n-grams, {len(material.texts)} texts")
    student = train(material, cache=options.cache, steps=options.steps, seed=options.seed)
    terms = term_vectors(student, material.concepts)
    name = "radgauge-static-1" + ("-held-out" if options.hold_out else "")
    log(write_table(student, material, terms, path=options.output, name=name))


if __name__ == "__main__":
    main()
