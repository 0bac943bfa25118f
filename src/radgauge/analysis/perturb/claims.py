"""Changes of what a sentence claims: negation, certainty, comparison. Rules rewrite the sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from radgauge.analysis.perturb.edits import Proposal
from radgauge.analysis.perturb.fitting import shrink
from radgauge.analysis.perturb.knowledge import Rules, knowledge
from radgauge.analysis.perturb.report import ParsedReport, is_significant
from radgauge.reader import Mention
from radgauge.reader.lexicon import ABNORMAL_KINDS
from radgauge.text.grammar import article, capital, is_counted, is_plural, small, subject_is_plural

_ARTICLE = re.compile(r"\b([Aa]n?) ([\w-]+)")
_PHRASE_END = re.compile(
    r"[.;:]|,? (?:is|are|was|were|in|of|at|on|under|beneath|within|along|with|after|to|and there|and no|and the)\b"
)
_LIST = re.compile(r",|\b(?:or|nor|and)\b")
_SPACED = re.compile(r" [.,;]")


def flip_negation(report: ParsedReport) -> Iterator[Proposal]:
    """Deny what is stated (an omission), state what is denied (a false finding)."""
    rules = knowledge()
    for index, sentence in enumerate(report.reading.sentences):
        if sentence.section in ("technique", "history", "recommendation"):
            continue
        words = report.sentence(index)
        if stated := report.stated(index):
            for after in _rewritten(words, rules.deny):
                if after.startswith("No ") and not _negatable(report, index, stated):
                    continue
                yield from _proposal(report, index, after, category=2, significant=is_significant(stated))
        denied = [
            mention
            for mention in report.by_sentence[index]
            if mention.assertion == "absent" and mention.kind in ABNORMAL_KINDS
        ]
        if denied:
            for pattern, template in rules.state:
                match = pattern.search(words)
                if match is not None:
                    after = _stated(words, match, template)
                    yield from _proposal(report, index, after, category=1, significant=is_significant(denied))


def _negatable(report: ParsedReport, index: int, stated: Sequence[Mention]) -> bool:
    """True if "No" may precede the sentence: it opens with a finding that is a noun, no verb before it."""
    rules, start = knowledge(), report.reading.sentences[index].start
    words, first = report.sentence(index), stated[0]
    if first.form != "noun" or rules.not_negatable.search(words[: first.end - start]):
        return False
    rest = rules.seen.sub("", words[first.end - start :])
    return not re.search(r"\b(?:is|are|was|were|has|have|had)\b", rest)


def _stated(words: str, match: re.Match[str], template: str) -> str:
    """A denial turned into a statement: article, "and" for "or", and a verb that agrees."""
    rest = words[match.end() :]
    if ", no " not in rest and " and no " not in rest:
        rest = re.sub(r"\bn?or\b", "and", rest)
    stop = _PHRASE_END.search(rest)
    phrase = rest[: stop.start()] if stop else rest
    several = ", no " not in phrase and _LIST.search(phrase) is not None
    first = re.split(r",| and ", phrase)[0]
    head = first.split()[-1].lower() if first.split() else ""
    plural = is_plural(head)
    needs = not several and is_counted(head)
    if "{A}" in template:
        rest = f"{article(rest)} {rest}" if needs else rest
        if several:
            rest = re.sub(r"\bis (?=\w+ ?[.,;]|\w+$)", "are ", rest, count=1)
        after = capital(rest)
    else:
        after = (
            match.expand(template.replace("{a}", "\0")).replace("\0", f"{article(rest)} " if needs else "") + rest
        )
        if plural:
            after = re.sub(r"^([Tt]here) is ", r"\1 are ", after)
    return words[: match.start()] + after


def hedge(report: ParsedReport) -> Iterator[Proposal]:
    """Make a stated pathology uncertain."""
    yield from _of_stated(report, knowledge().hedge, assertion="present", category=7)


def make_certain(report: ParsedReport) -> Iterator[Proposal]:
    """State a pathology that the report holds for possible."""
    yield from _of_stated(report, knowledge().make_certain, assertion="uncertain", category=8)


def _of_stated(report: ParsedReport, rules: Rules, *, assertion: str, category: int) -> Iterator[Proposal]:
    for index in range(len(report.reading.sentences)):
        mentions = [mention for mention in report.stated(index) if mention.assertion == assertion]
        if mentions:
            for after in _rewritten(report.sentence(index), rules):
                yield from _proposal(report, index, after, category=category, significant=is_significant(mentions))


def add_comparison(report: ParsedReport) -> Iterator[Proposal]:
    """Say of a finding how it compares with a prior that the report does not speak of."""
    for index in range(len(report.reading.sentences)):
        words = report.sentence(index)
        findings = report.stated(index)
        if findings and words.endswith(".") and not any(mention.attributes.change for mention in findings):
            stem = words[:-1]
            space = " " if stem.endswith(" ") else ""
            lasting = not is_significant(findings)  # of a scar one says that it is unchanged
            for added in knowledge().add_comparison[: 1 if lasting else None]:
                yield from _proposal(
                    report, index, f"{stem}{added}{space}.", category=5, significant=is_significant(findings)
                )


def drop_comparison(report: ParsedReport) -> Iterator[Proposal]:
    """Take the comparison with a prior out of a sentence."""
    for index in range(len(report.reading.sentences)):
        compared = [mention for mention in report.by_sentence[index] if mention.attributes.change]
        if compared:
            for after in _rewritten(report.sentence(index), knowledge().drop_comparison):
                if knowledge().still_compared.search(after):
                    continue
                yield from _proposal(report, index, after, category=6, significant=is_significant(compared))


def _rewritten(words: str, rules: Rules) -> Iterator[str]:
    """The sentence after each rule that applies to it."""
    for pattern, template in rules:
        match = pattern.search(words)
        if match is None:
            continue
        after = match.expand(_agreeing(template, words[: match.start()] or match[0]))
        rest = words[match.end() :]
        if match.start() == 0 and after and rest[:1].isupper():
            rest = small(rest)
        yield words[: match.start()] + after + rest


def _agreeing(template: str, before: str) -> str:
    """The template with the verb that fits the subject in `before`: {is}, and {s} for its ending."""
    plural = subject_is_plural(before)
    return template.replace("{is}", "are" if plural else "is").replace("{s}", "" if plural else "s")


def _proposal(
    report: ParsedReport, index: int, after: str, *, category: int, significant: bool
) -> Iterator[Proposal]:
    before = report.sentence(index)
    after = re.sub(r" {2,}", " ", after)
    if not _SPACED.search(before):  # tokenised reports keep the spaces before their full stops
        after = re.sub(r" +(?=[.,;])", "", after)
    if before[:1].isupper():
        after = capital(after)
    after = _agree(before, after)
    if after == before:
        return
    start, end, new = shrink(before, after)
    offset = report.reading.sentences[index].start
    yield Proposal(offset + start, offset + end, new, category, significant)


def _agree(before: str, after: str) -> str:
    """Articles that stand before another word than they did fit their new word."""
    old = {match[0] for match in _ARTICLE.finditer(before)}

    def fitted(match: re.Match[str]) -> str:
        if match[0] in old:
            return match[0]
        right = article(match[2])
        return f"{capital(right) if match[1][0] == 'A' else right} {match[2]}"

    return _ARTICLE.sub(fitted, after)
