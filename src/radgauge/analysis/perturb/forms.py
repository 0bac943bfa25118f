"""Harmless changes of form: bullets, key-value lines, the other voice, abbreviations, a moved section.

None touches a statement, and none needs the report reader to be accepted: the same content words must be there
before and after (`same_words`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from radgauge.analysis.perturb.edits import Proposal
from radgauge.analysis.perturb.fitting import with_number
from radgauge.analysis.perturb.report import ParsedReport
from radgauge.core.parsing import shipped_toml
from radgauge.text.grammar import capital, small

_WORD = re.compile(r"[a-z0-9]+(?:[./'-][a-z0-9]+)*/?")
_MIN_KEYS = 2  # lines of "Heart: normal" that make a report one in key-value form


@cache
def _terms() -> tuple[frozenset[str], dict[str, str], re.Pattern[str]]:
    """Function words, term -> abbreviation, and the pattern of all terms, longest first."""
    raw = shipped_toml(__file__, "forms.toml")
    short: dict[str, str] = raw["abbreviations"]
    terms = sorted(short, key=len, reverse=True)
    return (
        frozenset(raw["function"]["words"]),
        short,
        re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, terms))})(?![\w-])", re.IGNORECASE),
    )


@cache
def _rules(name: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    raw = shipped_toml(__file__, "forms.toml")[name]
    return tuple((re.compile(pattern), template) for pattern, template in raw["rules"])


def same_words(before: str, after: str) -> bool:
    """True if two texts have the same content words, in any order, abbreviated or not.

    >>> same_words("There is no effusion.", "Effusion: none."), same_words("Left effusion.", "Right effusion.")
    (True, False)
    """
    return _content(before) == _content(after)


def _content(text: str) -> Counter[str]:
    function, short, terms = _terms()
    abbreviated = terms.sub(lambda match: short[match[0].lower()], text).lower()
    words = ("no" if word == "none" else word for word in _WORD.findall(abbreviated))
    return Counter(word for word in words if word not in function)


def bullets(report: ParsedReport) -> Iterator[Proposal]:
    """Every sentence on a line of its own behind a dash, headings between them."""
    lines = _lines(report)
    if len(lines) > 1:
        yield _rewritten(report, [line if heading else f"- {line}" for heading, line in lines])


def key_value(report: ParsedReport) -> Iterator[Proposal]:
    """Every sentence on a line of its own, "The heart is normal" as "Heart: normal"."""
    lines = [(heading, line if heading else _changed(line, "key_value")) for heading, line in _lines(report)]
    keys = sum(not heading and re.match(r"[^.]+: ", line) is not None for heading, line in lines)
    if keys >= _MIN_KEYS:
        yield _rewritten(report, [line for _, line in lines])


def other_voice(report: ParsedReport) -> Iterator[tuple[Proposal, ...]]:
    """ "There is an effusion" as "An effusion is seen" and the reverse, in all sentences that allow it."""
    edits = []
    for index, sentence in enumerate(report.reading.sentences):
        before = report.sentence(index)
        after = _changed(before, "voice")
        if after != before:
            edits.append(Proposal(sentence.start, sentence.end, after, 0, False))
    if edits:
        yield tuple(edits)


def abbreviate(report: ParsedReport) -> Iterator[tuple[Proposal, ...]]:
    """All terms that have a usual abbreviation, abbreviated."""
    _, short, terms = _terms()
    edits = []
    for match in terms.finditer(report.text):
        after = short[match[0].lower()]
        edits.append(Proposal(*match.span(), capital(after) if match[0][0].isupper() else after, 0, False))
    if edits:
        yield tuple(edits)


def move_section(report: ParsedReport) -> Iterator[Proposal]:
    """The impression in front of the other sections; each keeps its heading."""
    sentences, text = report.reading.sentences, report.text
    starts = [
        index for index, each in enumerate(sentences) if not index or sentences[index - 1].section != each.section
    ]
    names = [sentences[index].section for index in starts]
    if len(starts) < 2 or names[-1] != "impression" or len(set(names)) < len(names):
        return
    ends = [0, *(sentences[index - 1].end for index in starts[1:]), len(text)]
    blocks = [text[start:end].strip() for start, end in pairwise(ends)]
    headed = all(":" in text[end : sentences[index].start] for end, index in zip(ends[:-1], starts, strict=True))
    if headed:
        yield _rewritten(report, [blocks[-1], *blocks[:-1]])


def _lines(report: ParsedReport) -> list[tuple[bool, str]]:
    """(Is a heading, text) line by line; none for reports with numbers, lists or labels of their own."""
    lines, end = [], 0
    for index, sentence in enumerate(report.reading.sentences):
        between = report.text[end : sentence.start].strip()
        if between and not between.endswith(":"):
            return []
        if with_number(report.text, sentence.start, after=end) != sentence.start or ":" in report.sentence(index):
            return []
        if between:
            lines.append((True, between))
        lines.append((False, report.sentence(index)))
        end = sentence.end
    return [] if report.text[end:].strip() else lines


def _rewritten(report: ParsedReport, lines: list[str]) -> Proposal:
    return Proposal(0, len(report.text), "\n".join(lines), 0, False)


def _changed(sentence: str, name: str) -> str:
    """The sentence after the first rule that applies, the same content words in it; else as it was."""
    for pattern, template in _rules(name):
        match = pattern.search(small(sentence))
        if match is not None:
            after = capital(match.expand(template))
            if same_words(sentence, after):
                return after
    return sentence
