"""Changes of whole sentences and whole reports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from radgauge.analysis.perturb.check import cues, families_of, restates
from radgauge.analysis.perturb.edits import Proposal
from radgauge.analysis.perturb.fitting import with_number
from radgauge.analysis.perturb.knowledge import knowledge
from radgauge.analysis.perturb.report import ParsedReport, is_significant, read
from radgauge.reader import load_lexicon

_DANGLING = re.compile(r"(?:\s+\d{1,2}[.)])?\s*$")
_ASIDE = ("technique", "history")


@dataclass(frozen=True, eq=False)
class Corpus:
    """Sentences of other reports for perturbations."""

    texts: tuple[str, ...]
    regions: tuple[str, ...]  # Body region of each

    @classmethod
    def of(cls, texts: Sequence[str]) -> Corpus:
        """The corpus of these reports.

        >>> Corpus.of(["The lungs are clear. No pleural effusion."] * 2).regions
        ('chest',)
        """
        distinct = [read(text) for text in dict.fromkeys(texts) if text.strip()]
        return cls(
            tuple(report.text for report in distinct),
            tuple(report.region for report in distinct),
        )


def _removal(
    report: ParsedReport, index: int, *, category: int, significant: bool, others: frozenset[int] = frozenset()
) -> Iterator[Proposal]:
    """Take out a sentence with the space, the number and, if nothing else is under it, the heading before it.

    Args:
        report: Where from.
        index: Of the sentence.
        category: Of the edit.
        significant: Whether a reader of the report must care.
        others: Sentences that are taken out as well.
    """
    text, sentences = report.text, report.reading.sentences
    removed = others | {index}
    if len(removed) >= len(sentences):
        return
    start, end, section = sentences[index]
    alone = all(at in removed for at, sentence in enumerate(sentences) if sentence.section == section)
    before = sentences[index - 1].end if index else 0
    start = before if section and alone else with_number(text, start, after=before)
    if removed >= set(range(index)) or (start and text[start - 1] == "\n"):
        while end < len(text) and text[end].isspace():
            end += 1
    elif index:
        first = sentences[index - 1].end
        start = first if not text[first:start].strip() else start
        if start > first:  # something stands between, a heading: keep it and take the space behind
            while end < len(text) and text[end] == " ":
                end += 1
    if removed >= set(range(index + 1, len(sentences))) and not text[sentences[-1].end :].strip():
        start = before + len(_DANGLING.sub("", text[before:start]))  # nothing follows: no space, no number is left
    yield Proposal(start, end, "", category, significant)


def remove_pathology(report: ParsedReport) -> Iterator[tuple[Proposal, ...]]:
    """All sentences that state a pathology which matters, for each sentence that states one.

    A report that still names the finding in its impression omits nothing. Statements are collected by the reader
    and by words (`check.toml`), since neither sees all of them.
    """
    lexicon = load_lexicon()
    for index, sentence in enumerate(report.reading.sentences):
        if sentence.section in (*_ASIDE, "recommendation"):
            continue
        stated = [mention for mention in report.stated(index) if mention.concept in lexicon]
        if stated and is_significant(stated):
            removed = _statements(report, index)
            parts = [
                part
                for at in sorted(removed)
                for part in _removal(report, at, category=2, significant=True, others=removed)
            ]
            if parts:
                yield tuple(_joined(parts))


def _statements(report: ParsedReport, index: int) -> frozenset[int]:
    """The sentence, those that state one of its findings too, and so on; and those that lean on one of these."""
    lexicon, removed, grown = load_lexicon(), {index}, True
    while grown:
        stated = [mention for at in removed for mention in report.stated(at)]
        kinds = {kind for mention in stated for kind in (mention.concept, *lexicon.ancestors(mention.concept))}
        names = [mention.text.split()[-1] for mention in stated]
        families = frozenset().union(*(families_of(report.sentence(at)) for at in removed))
        families |= families_of("", [mention.text for mention in stated])
        more = set(removed)
        for at, sentence in enumerate(report.reading.sentences):
            leans = at - 1 in more and cues().leaning.match(report.sentence(at)) is not None
            leans |= at + 1 in removed and cues().leaning.match(report.sentence(at + 1)) is not None
            named = any(mention.concept in kinds for mention in report.stated(at))
            again = restates(report.sentence(at), families=families, names=names)
            if sentence.section not in _ASIDE and (leans or named or again):
                more.add(at)
        grown, removed = len(more) > len(removed), more
    return frozenset(removed)


def _joined(parts: Sequence[Proposal]) -> list[Proposal]:
    """Removals in text order; those that touch are one."""
    joined: list[Proposal] = []
    for part in parts:
        if joined and part.start <= joined[-1].end:
            joined[-1] = joined[-1]._replace(end=max(joined[-1].end, part.end))
        else:
            joined.append(part)
    return joined


def remove_insignificant(report: ParsedReport) -> Iterator[Proposal]:
    """Sentences about the examination, the patient's history or who was told, without any finding."""
    spoken = {mention.sentence for mention in report.reading.mentions if mention.kind != "anatomy"}
    for index, sentence in enumerate(report.reading.sentences):
        if report.stated(index):
            continue
        if sentence.section in _ASIDE or (
            index not in spoken
            and knowledge().insignificant.search(report.sentence(index))
            and not knowledge().not_insignificant.search(report.sentence(index))
        ):
            yield from _removal(report, index, category=0, significant=False)


def remove_normal(report: ParsedReport) -> Iterator[Proposal]:
    """Sentences that say only what is normal or absent."""
    called_normal = {mention.sentence for mention in report.reading.mentions if mention.kind == "normality"}
    for index, sentence in enumerate(report.reading.sentences):
        findings = report.by_sentence[index]
        denied = bool(findings) and all(mention.assertion == "absent" for mention in findings)
        if sentence.section not in _ASIDE and (denied or (index in called_normal and not findings)):
            yield from _removal(report, index, category=0, significant=False)


def normal_report(report: ParsedReport) -> Iterator[Proposal]:
    """The standard normal report of the region in the place of a normal one: the same for every corpus."""
    standard = knowledge().normal.get(report.region, "")
    if standard and report.is_normal and standard.split() != report.text.split():
        yield Proposal(0, len(report.text), standard, 0, False)


def swap_report(report: ParsedReport, corpus: Corpus | None, rng: np.random.Generator) -> Iterator[Proposal]:
    """The report of another study of the same body region that says other things."""
    if corpus is None:
        return
    others = [number for number, region in enumerate(corpus.regions) if region == report.region]
    own = _claims(report)
    for number in rng.permutation(others)[:20]:
        other = corpus.texts[int(number)]
        if _claims(read(other)) != own:
            yield Proposal(0, len(report.text), other, 0, True)


def _claims(report: ParsedReport) -> set[str]:
    return {
        mention.concept for findings in report.by_sentence for mention in findings if mention.assertion != "absent"
    }


def add_finding(report: ParsedReport) -> Iterator[Proposal]:
    """A sentence with a finding that the report does not name, behind one of the sentences on findings."""
    lexicon = load_lexicon()
    named = {entry.concept for entry in report.reading.mentions if entry.form != "implied"}
    named |= {parent for entry in named for parent in lexicon.ancestors(entry)}
    ends = [
        sentence.end
        for sentence in report.reading.sentences
        if sentence.section in ("", "findings") and report.text[sentence.end - 1] == "."
    ]
    denied = _denied(report)
    fitting = [
        entry
        for entry in knowledge().findings
        if entry.region == report.region and named.isdisjoint((entry.concept, *entry.also))
    ]
    free = [entry for entry in fitting if entry.concept not in denied]
    for finding in free or fitting:
        for sentence in finding.sentences:
            for position in ends:
                yield Proposal(position, position, f" {sentence}", 1, True)


def _denied(report: ParsedReport) -> set[str]:
    """Findings that are denied by something being called normal: "heart size is normal"."""
    lexicon = load_lexicon()
    normal = [
        mention
        for mention in report.reading.mentions
        if mention.kind == "normality" and mention.assertion == "present"
    ]
    concepts = {
        name for mention in normal for name in (mention.concept, *mention.attributes.locations) if name in lexicon
    }
    return {denied for name in concepts for denied in lexicon[name].denies}


def reorder(report: ParsedReport) -> Iterator[Proposal]:
    """Two sentences of one section in exchanged places, none of which leans on the one before it."""
    text, sentences = report.text, report.reading.sentences
    leaning = [knowledge().leaning.match(report.sentence(index)) is not None for index in range(len(sentences))]
    ends = [0, *(entry.end for entry in sentences)]
    numbered = [
        with_number(text, entry.start, after=end) != entry.start
        for entry, end in zip(sentences, ends, strict=False)
    ]
    for one in range(len(sentences)):
        for two in range(one + 1, min(one + 6, len(sentences))):
            first, second = sentences[one], sentences[two]
            if first.section != second.section or any(leaning[entry] for entry in (one, two)):
                continue
            if any(leaning[entry] for entry in (one + 1, two + 1) if entry < len(sentences)):
                continue
            if text[second.end - 1] != "." != text[first.end - 1]:
                continue
            middle = text[first.end : second.start]
            if any(numbered[one : two + 1]):
                continue
            after = report.sentence(two) + middle + report.sentence(one)
            yield Proposal(first.start, second.end, after, 0, False)
