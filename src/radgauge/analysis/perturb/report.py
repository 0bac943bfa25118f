"""A report as the perturbations see it: the reading, sentence by sentence."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from radgauge.reader import Mention, ReportReading, load_lexicon, read_report
from radgauge.reader.lexicon import ABNORMAL_KINDS, FINDING_KINDS

_NO_REGION = ("any", "general")
_LEAST_MENTIONS = 2.0

_CONDITION = re.compile(r"if\b", re.IGNORECASE)

Fact = tuple[str, str, str, tuple[str, ...], str, str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class ParsedReport:
    """A text with its reading."""

    text: str
    reading: ReportReading  # What the report reader made of it
    # Findings and devices of every sentence, in text order; none of one that only says what to do if something
    # were there ("If pneumonia is suspected, ...")
    by_sentence: tuple[tuple[Mention, ...], ...]
    region: str  # Body region that most of it is about; "" if that is not clear
    openings: frozenset[int]  # Where sentences begin
    in_section: Mapping[str, int]  # How many sentences each section has

    def sentence(self, index: int) -> str:
        """The words of one sentence."""
        start, end, _ = self.reading.sentences[index]
        return self.text[start:end]

    def stated(self, index: int) -> list[Mention]:
        """Pathologies that the sentence states, surely or not."""
        return [
            mention
            for mention in self.by_sentence[index]
            if mention.kind in ABNORMAL_KINDS
            and mention.assertion != "absent"
            and mention.attributes.context == "current"
        ]

    def facts(self, index: int) -> list[Fact]:
        """Facts about findings and devices in the sentence."""
        return [fact(mention) for mention in self.by_sentence[index]]

    @property
    def all_facts(self) -> Counter[Fact]:
        """Facts about findings and devices in the report."""
        return Counter(fact(mention) for mention in self.reading.mentions if mention.kind in FINDING_KINDS)

    @property
    def is_normal(self) -> bool:
        """True if the report says something, and nothing of it is a pathology or a device."""
        findings = [mention for mention in self.reading.mentions if mention.kind in FINDING_KINDS]
        return bool(self.reading.mentions) and all(mention.assertion == "absent" for mention in findings)


def fact(mention: Mention) -> Fact:
    """Concept, assertion, side, places, severity, change, descriptors."""
    values = mention.attributes
    return (
        mention.concept,
        mention.assertion,
        values.laterality,
        tuple(sorted(values.locations)),
        values.severity,
        values.change,
        tuple(sorted(values.descriptors)),
    )


def is_significant(mentions: Sequence[Mention]) -> bool:
    """True if any of the findings matters: all but those the lexicon calls benign."""
    lexicon = load_lexicon()
    return any(mention.concept not in lexicon or lexicon[mention.concept].tier != "benign" for mention in mentions)


_MAX_CACHED_LENGTH = 20_000  # characters; what is longer is read anew each time, so that memory stays bounded


def read(text: str) -> ParsedReport:
    """The report, read once."""
    return _cached(text) if len(text) <= _MAX_CACHED_LENGTH else _read(text)


@lru_cache(maxsize=4096)
def _cached(text: str) -> ParsedReport:
    return _read(text)


def _read(text: str) -> ParsedReport:
    reading = read_report(text)
    by_sentence: list[list[Mention]] = [[] for _ in reading.sentences]
    for mention in reading.mentions:
        if mention.kind in FINDING_KINDS and not _CONDITION.match(text, *reading.sentences[mention.sentence][:2]):
            by_sentence[mention.sentence].append(mention)
    openings = frozenset(sentence.start for sentence in reading.sentences)
    in_section = Counter(sentence.section for sentence in reading.sentences)
    grouped = tuple(map(tuple, by_sentence))
    return ParsedReport(text, reading, grouped, _region(reading.mentions), openings, in_section)


def _region(mentions: Sequence[Mention]) -> str:
    lexicon = load_lexicon()
    votes: dict[str, float] = defaultdict(float)
    for mention in mentions:
        if mention.form == "implied":
            continue
        regions = lexicon[mention.concept].regions if mention.concept in lexicon else ()
        for region_ in regions:
            votes[region_] += 1 / len(regions)
    for region_ in _NO_REGION:
        votes.pop(region_, None)
    region = max(votes, key=lambda each: votes[each], default="")
    return region if region and votes[region] >= _LEAST_MENTIONS else ""
