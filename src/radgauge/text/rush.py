"""Sentences as the PyRuSH splitter of medspacy 1.3.1 finds them, without medspacy.

RaTEScore's entity recogniser was published with that splitter, so its sentences are part of the number; but the
package drags old releases of spaCy and numpy along. PyRuSH (Shi et al., University of Utah) is a rule engine:
rules mark where sentences begin and end, other rules mark what only looks like it, wider matches push out narrower
ones they touch, and what lies between is repaired. Here the engine is rewritten, and a few families of regular
expressions stand for the rules that fire in radiology reports. How often both agree is measured in
`docs/metrics/ratescore.md`; the setting `splitter="pyrush"` runs the original.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

Span = tuple[int, int]

_S = r"[ \t\xa0]"  # blanks within a line
_N = r"[\n\r]"
_W = r"[\s\x7f-\U0010ffff]"  # blanks of any kind, and everything beyond ASCII
_LOWER, _UPPER = "a-zß-öø-ÿ", "A-ZÀ-ÖØ-Þ"
_PERSONS = "He|His|Her|She|We|Our|The|They|Their|I|My"
_WORDS = f"{_PERSONS}|But|Now|Discharge|This|That|this|that|he|she|we|our|his|her|they|their|my|but"
_HEADINGS = (
    "FINDINGS:|Findings:|INDICATION:|Indication:|REASON:|Reason:|REASON FOR|Reason For|Past Medical History:|"
    "Chief Complaint:|History of Past Illness:|History of [Pp]resent [Ii]llness:|HISTORY OF PRESENT ILLNESS:|"
    "Discharge Diagnosis:|DISCHARGE DIAGNOSIS:|Admitting Diagnosis:|ADMITTING DIAGNOSIS:"
)

# In each expression the group is what the match covers: its first character is where a sentence begins or ends,
# and its width decides between matches that touch. {S}, {N}, {W}, {c}, {C} are the classes above.
_BEGIN = (
    r"(?<![\s\S]){S}*([{C}\d])",
    r"(?:{c}|\d|\)| mL)\.{S}+({C})",
    r"{c}\)\.{S}+({C})",
    r"{C}{C}{C}\.{S}+({C}){c}",
    r"\.{W}+((?:{words}) )",
    r"\.{S}+(The)",
    r"\.{S}+(Now|Discharge) ",
    r"\.{W}+(\")",
    r"{c}\.\"{S}+({C})",
    r"{c}+{S}+\.{S}+({C}{c}+)",
    r"{c}{c}\.{W}+({c}+)",
    r"\.{S}+(\d\.{S}*{C})",
    r"[?!]{S}+(?:({C}){c}|(\d))",
    r"{N}+{S}{{0,4}}({C})",
    r"{N}+( {C})",
    r"[^\s]{S}*{N}+({C}(?:{c}+|{C}+):)",
    r"{c}:{S}*{N}+([^\s])",
    r"[{C}\d]:{S}*{N}+(\d)",
    r"{C}{C}{C}\)?:{N}+({c})",
    r"{N}+({c}){c}+:",
    r"{N}{S}*(\d{{1,3}}\.{S}*{C})",
    r"{N}(\d+\.{S}+{c})",
    r"[^\s]{N}+(\d\.{S}+{C})",
    r"\){S}*{N}+(\d\.{S}+{c}+)",
    r"{N}{N}{W}*(\d+){S}",
    r"{c}{c}\.{N}+(\d+|{c}{c})",
    r"{c}\.{S}*{N}+{S}*(\d+)(?:{S}|{c}|x)",
    r"{N}(\d\d?\){S}*[{C}{c}])",
    r"{N}(\(\d\){S}+{C})",
    r"{N}{N}(\([^\s]+)",
    r"{N}([-#*?] [{C}{c}])",
    r"{N}([-#][{C}{c}])",
    r"{N}(\"{C})",
    r"{c}(?:{c}+\.)?{W}+(\d)\){S}+{C}",
    r"{S}{S}+(\d\d?\){S}+{C})",
    r"{S}{S}(\d\){C})",
    r"{c}\.{S}+(-){S}+{C}",
    r"{c}{S}+(-){S}+{C}",
    r"(F)INDINGS:",
    r"(R)EASON FOR",
    r"{N}+(Follow)",
)
_NO_BEGIN = (r"(\*)", r"{C}{c}+{S}+(-){S}+{C}{c}+")
_END = (
    r"[^\s](\.) +",
    r"(?:{c}{c}|\d|\)|{C}{C}{C}(?=\.{S}+{C}{c}))(\.){S}+{C}",
    r"[{C}{c}\d)\]](\.){N}",
    r"{c}(\.){S}+{N}",
    r"[{C}{c}\d](:){S}*{N}",
    r"([^\s]{S}*{N}{N})",
    r"{c}({c}){S}*{N}+ ?{C}",
    r"([^\s]){S}*{N}+{C}(?:{C}+|{c}+(?:{S}+{C}{c}+)?):",
    r"(\d){N}+{C}{C}+",
    r"([^\s]){N}+\d\.{S}+{C}",
    r"([{C}{c}\d]){S}+{N}+\d\d?\.{S}+[{C}{c}]",
    r"(\)){S}*{N}+\d\.{S}+{c}",
    r"([{C}{c}\d!-/:-@\[-`{{-~]){W}+(?:{headings})",
    r"(\.{S}+\d\.{S}+{C})",
    r"{c}(\.{S}+\d\.{C})",
    r"[{C}{c}\d](\?){W}+",
    r"(\.){W}+(?:{persons}) ",
    r"(\.){S}+The",
    r"{c}\.(\"){S}+{C}",
    r"{c}+{S}+(\.){S}+{C}{c}+",
    r"({c}{S}+-{S}+{C})",
    r"{c}(\.){S}+-{S}+{C}",
    r"({c}){N}- [{C}{c}]",
    r"([^\s]){S}+{N}+-",
    r"([{c}\d]){W}+\d\d?\)",
    r"{C}({C}){W}+\d\d?\)",
    r"{c}(\.){W}+\d\){S}+{C}",
    r"([^\s]){S}{S}{S}{S}+(?:Reason|Sex|Discharge Date):",
)
_NO_END = (
    r"({S}(?:[Dd]r|[Mm]rs?|[Mm]s|phd)\. )",
    r"({S}pulm\.)",
    r"{N}\d+(\.){S}+{C}",
    r"([,;)]{N}?{W}+{c}{c})",
    r"([,)]{N}?{W}+\d+ )",
    r"(A{N}?{W}+(?:{c}{c}|\d+ ))",
    r"({c}{S}*{N}+{S}*{c})",
    r"({c}{S}*{N}+{S}*\d+(?:\.\d+)?{S}+{c}{c})",
    r"{S}+{C}{{1,3}}({C}){W}+{c}{c}",
    r"(\d+){W}+(?:week|month|\day|year|dose|tablet|(?:cm|m|mg|g|kg|lb|feet|inch|ml) )",
    r"(\([^\s]+{W}+[^\s]\))",
    r"(\((?:{C}+|{c}+){S}+\d\d\))",
    r"((?:{c}{c}|{C}{C})){W}+\d\d?\)[.,]",
    r"({C}{c}+{S}+-{S}+{C}{c}+)",
    r":{W}+(\?{W}+)",
    r"( (?:and|that){S}+{N}{N})",
    r"( (?:for|had|have|has){S}+{N}+)",
    r"({S}and){S}*{N}+[{C}{c}]",
    r"((?:are|was|were|{S}is):{S}*{N}+{S}*{c})",
    r"{S}(?:[Tt]h(e){N}{C}{c}+|[Ii](n){N}[^\s]+|fo(r){N}[^\s]+|o(r){N}[^\s]+|a(s){N}[^\s]+)",
    r"(from \d+ to \d+)",
    r"(Heart{N}Failure)",
)


class _Match(NamedTuple):
    begin: int
    end: int
    real: bool


@dataclass
class _Sentence:
    begin: int
    end: int


@lru_cache(maxsize=1)
def _compiled() -> tuple[list[tuple[re.Pattern[str], bool]], list[tuple[re.Pattern[str], bool]]]:
    classes = {"S": _S, "N": _N, "W": _W, "words": _WORDS, "persons": _PERSONS, "headings": _HEADINGS}

    def patterns(rules: tuple[str, ...], real: bool) -> list[tuple[re.Pattern[str], bool]]:
        result = []
        for rule in rules:
            # Within brackets a class of letters is written bare, outside it is a class of its own.
            inner = re.sub(r"\[[^\]]*\]", _bare, rule)
            ready = inner.format(c=f"[{_LOWER}]", C=f"[{_UPPER}]", **classes)
            result.append((re.compile(f"(?={_UNBOUNDED.sub(_bounded, ready)})"), real))
        return result

    return (
        patterns(_NO_BEGIN, False) + patterns(_BEGIN, True),
        patterns(_NO_END, False) + patterns(_END, True),
    )


_UNBOUNDED = re.compile(r"(?<=[\]d ])[+*]")
_LONGEST_RUN = 64
"""Letters or blanks that a rule looks across; a longer run would cost the square of its length."""


def _bounded(quantifier: re.Match[str]) -> str:
    return f"{{{int(quantifier[0] == '+')},{_LONGEST_RUN}}}"


def _bare(box: re.Match[str]) -> str:
    return box[0].replace("{C}", _UPPER).replace("{c}", _LOWER)


def _matches(text: str, rules: list[tuple[re.Pattern[str], bool]]) -> list[_Match]:
    """Matches of real rules, after wider matches have pushed out those they touch."""
    result = [
        (match.start(), *match.span(match.lastindex or 0), real)
        for pattern, real in rules
        for match in pattern.finditer(text)
    ]
    result.sort(key=lambda each: each[0])
    remaining: list[_Match] = []
    claimed: list[tuple[int, int, int]] = []  # begin, end, place in `kept`; old claims stay
    for _, begin, end, real in result:
        touching = -1
        for claim in range(len(claimed) - 1, max(-1, len(claimed) - 8), -1):
            if claimed[claim][0] < end and begin < claimed[claim][1]:
                touching = claimed[claim][2]
                break
        if touching < 0:
            claimed.append((begin, end if remaining else max(begin + 1, end - 1), len(remaining)))
            remaining.append(_Match(begin, end, real))
        elif end - begin > remaining[touching].end - remaining[touching].begin:
            claimed.append((begin, end, touching))
            remaining[touching] = _Match(begin, end, real)
    return [match for match in remaining if match.real]


def _trimmed(text: str, begin: int, end: int) -> _Sentence | None:
    """The part of a gap that could be a sentence, from its first visible character to its last letter or stop."""
    first = next((at for at in range(begin, end) if not text[at].isspace()), -1)
    if first < 0:
        return None
    for at in range(end - 1, first, -1):
        if text[at].isalnum() or text[at] in '.!?)]"':
            return _Sentence(first, at + 1)
    return None


_SHORTEST = 5  # characters of a gap that stands alone


def _assemble(text: str, begins: list[_Match], ends: list[_Match]) -> list[_Sentence]:
    """Sentences from begins and ends: each runs to the last end before the next begin; gaps are repaired."""
    made: list[_Sentence] = []
    began, stop, open_ = 0, 0, False
    first_end = 0
    for number, begin in enumerate(begins):
        if not open_:
            began = begin.begin
            if began < stop:
                continue
            open_ = True
        elif begin.begin < stop:
            continue
        last_begin = number == len(begins) - 1
        gap_from = made[-1].end if made else 0
        if began > gap_from and (gap := _trimmed(text, gap_from, began)) is not None:
            if gap.end - gap.begin > _SHORTEST:
                made.append(gap)
            elif made:
                made[-1].end = gap.end
        for at in range(first_end, len(ends)):
            last_end = at == len(ends) - 1
            if not last_begin and not last_end and begins[number + 1].begin <= ends[at].begin:
                break
            stop = ends[at].begin + 1
            first_end = at
            while stop >= 1 and text[stop - 1].isspace():
                stop -= 1
            if stop < began:
                continue
            if not open_:
                made[-1] = _Sentence(began, stop)
                continue
            made.append(_Sentence(began, stop))
            open_ = False
            if last_begin or (not last_end and begins[number + 1].begin > ends[at + 1].end):
                continue
            break
    if not made:
        full = _trimmed(text, 0, len(text))
        return [full] if full is not None and full.end - full.begin > _SHORTEST else []
    head = _trimmed(text, 0, made[0].begin)
    if head is not None:
        if ends and made[0].begin <= ends[0].begin:
            made[0].begin = head.begin
        else:
            made.insert(0, head)
    tail = _trimmed(text, made[-1].end, len(text))
    if tail is not None and tail.end - tail.begin > _SHORTEST:
        made.append(tail)
    elif tail is not None:
        made[-1].end = tail.end
    return made


def rush_sentences(text: str) -> list[Span]:
    """Spans of the sentences, which together cover the text.

    >>> text = "No effusion. Dr. Smith was told. 2. Heart normal"
    >>> [text[start:end].strip() for start, end in rush_sentences(text)]
    ['No effusion.', 'Dr. Smith was told.', '2. Heart normal']
    """
    if not text:
        return []
    begin_rules, end_rules = _compiled()
    sentences = _assemble(text, _matches(text, begin_rules), _matches(text, end_rules))
    marks = {0}
    for sentence in sentences:
        marks |= {sentence.begin, sentence.end}
    starts = sorted(mark for mark in marks if mark < len(text) and _is_token_start(text, mark))
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def _is_token_start(text: str, at: int) -> bool:
    """True if a sentence can start here: the original works on spaCy's tokens and never cuts one."""
    if at == 0 or text[at].isspace() or text[at - 1].isspace():
        return True
    return not (text[at - 1].isalnum() and text[at].isalnum())
