"""Limits of a sentence: how far a denial was seen, where it ends, what a name says beyond its finding."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from radgauge.core.parsing import shipped_toml
from radgauge.lay.statement import NoPlan, Statement, mentions_in
from radgauge.reader import Mention, Modifier, ReportReading, load_lexicon
from radgauge.reader.lexicon import FINDING_KINDS

REACH = 300
"""Characters before a finding in which its denial is looked for, so that time grows with the text."""

_VISIBLE = r"\b(?:visible|visuali[sz]ed|imaged|apparent)\b"
LIMITS = {  # how far a denial or a normal part was seen
    "radiographic": re.compile(r"\bradiographic(?:ally)?\b", re.IGNORECASE),
    "visible": re.compile(_VISIBLE, re.IGNORECASE),
    "evidence": re.compile(
        r"\b(?:evidence|signs?|suggestion|indication|findings? (?:of|for|to suggest))\b", re.IGNORECASE
    ),
}
_SEEN = re.compile(  # the same as the predicate of a denial: "no fracture is seen", "no effusion identified"
    r"\b(?:visible|visuali[sz]ed|imaged|apparent|evident|identified|seen|detected|appreciated|demonstrated)\b",
    re.IGNORECASE,
)
_OTHER_CLAUSE = re.compile(  # "no A, no B seen" says it of B, "no A and no B are seen" of both
    r";|\b(?:but|however|although|though|while)\b|\b(?:no|without)\b(?!.*\b(?:are|were)\b)", re.IGNORECASE
)
_OF_DENIAL = re.compile(  # "visible" that belongs to a denial and not to the normal part beside it
    rf"\b(?:no|not|without)\s+(?:[\w-]+\s+)?{_VISIBLE}|"
    rf"\b(?:no|not|without)\b[^;.]*?{_VISIBLE}(?=\s*(?:[,;.]|$|(?:and|or|on|in|at|but|radiograph\w*)\b))",
    re.IGNORECASE,
)
_DENIES = re.compile(r"\b(?:no|not|without|nor|negative for|free of|absence of)\b", re.IGNORECASE)
_SUBJECT = re.compile(
    r"[\s,]*(?:and\s+)?(?:(?:the|both|left|right|bilateral|visuali[sz]ed|visible)\s+)*", re.IGNORECASE
)
_VERB = re.compile(
    r"(?:\s+[\w-]+){0,3}?\s+(?:is|are|was|were|has|have|appears?|remains?|looks?|demonstrates?|shows?)\b"
    r"(?!\s+(?:been\s+|clearly\s+)?(?:seen|identified|noted|present|evident|visuali[sz]ed|demonstrated|detected|"
    r"appreciated|visible|found|apparent|shown|observed|suspected)\b)",
    re.IGNORECASE,
)
_THERE = re.compile(
    r"[\s,]*(?:and\s+)?there\s+(?:is|are|was|were|has|have)\b(?!\s+(?:no|not|also no)\b)", re.IGNORECASE
)

_MEASURED = re.compile(
    r"(?<![\w.])\d+(?:\.\d+)?(?=\s*-?\s*(?:mm|cm|millimet\w+|centimet\w+)\b|\s*(?:x|by)\s*\d)", re.IGNORECASE
)
_MORE = re.compile(r"(?:increased|decreased|diminished|reduced)", re.IGNORECASE)
_COMPARED = re.compile(
    r"\b(?:interval|since|compar\w+|prior|previous(?:ly)?|last|earlier|now|than|from)\b", re.IGNORECASE
)
_WORDS = re.compile(r"[a-z]+")
_STEM = 5


def limit_of(reading: ReportReading, mention: Mention) -> str:
    """Limit of a denial: radiographic | visible | evidence | "" (flatly denied).

    The word stands before the finding ("no visible effusion"), behind it ("no effusion visible", "no fracture of
    the visualized bones") or behind the list that it closes ("no effusion or pneumothorax is seen").
    """
    lead = reading.text[max(reading.sentences[mention.sentence][0], mention.start - REACH) : mention.end]
    no = list(_DENIES.finditer(lead))
    window = lead[no[-1].start() if no else 0 :]
    before = next((limit for limit, pattern in LIMITS.items() if pattern.search(window)), "")
    return before or limit_behind(reading, mention)


def limit_behind(reading: ReportReading, mention: Mention) -> str:
    """Limit of a denial, stated after the finding: radiographic | visible | ""."""
    end = min(reading.sentences[mention.sentence][1], mention.end + REACH)
    made = (
        m.start
        for m in (reading.mentions[i] for i in mentions_in(reading, mention.sentence))
        if mention.end <= m.start < end and m.kind in FINDING_KINDS and m.assertion != "absent"
    )
    tail = _OTHER_CLAUSE.split(reading.text[mention.end : min((end, *made))])[0]
    if LIMITS["radiographic"].search(tail):
        return "radiographic"
    return "visible" if _SEEN.search(tail) else ""


def is_seen_roughly(sentence: str) -> bool:
    """True if a sentence calls its normal or unchanged parts so as far as can be seen.

    >>> is_seen_roughly("the visualized bones are intact."), is_seen_roughly("lungs clear, no effusion visible.")
    (True, False)
    """
    return "grossly" in sentence or LIMITS["visible"].search(_OF_DENIAL.sub("", sentence)) is not None


def stop_at_words_inside(mention: Mention) -> None:
    """ "Bullous emphysematous changes" read as bullae: a name may say more than the finding that it was read as.

    Raises:
        NoPlan: If a word of the name is neither in the finding's own name nor known to add nothing.
    """
    lexicon = load_lexicon()
    named = lexicon[mention.concept].name.lower() if mention.concept in lexicon else ""
    own = {word[:_STEM] for word in (*_WORDS.findall(named), *mention.concept.split("_"))}
    kinds = _inside()
    neutral = kinds["anywhere"] | kinds.get(mention.kind, frozenset()) | kinds.get(mention.concept, frozenset())
    for word in _WORDS.findall(mention.text.lower()):
        if word[:_STEM] not in own and word not in neutral:
            raise NoPlan(f"a name that says more than its finding: {mention.text!r}")


def stop_at_other_measurements(text: str, statements: Sequence[Statement]) -> None:
    """ "4.6 cm x 3.7 cm" are two measurements: a reading with three is wrong.

    Raises:
        NoPlan: If the statements hold more or fewer measurements than the sentence.
    """
    n_stated = sum(len(statement.sizes_mm) for statement in statements)
    if n_stated != len(_MEASURED.findall(text)):
        raise NoPlan("measurements that were not read one by one")


def stop_at_more_than_normal(reading: ReportReading, mention: Mention, changes: Sequence[Modifier]) -> None:
    """ "Increased kyphotic curvature" is more than normal, "increased effusion" more than before.

    Raises:
        NoPlan: If "increased" or the like stands before what has a normal amount, and nothing compares.
    """
    start, end, _ = reading.sentences[mention.sentence]
    for modifier in changes:
        before = modifier.end <= mention.start and _MORE.fullmatch(reading.text[modifier.start : modifier.end])
        if before and mention.concept not in _never_normal() and not _COMPARED.search(reading.text[start:end]):
            raise NoPlan("more than before, or more than normal")


@lru_cache(maxsize=1)
def _never_normal() -> frozenset[str]:
    return frozenset(shipped_toml(__file__, "professional.toml")["words"]["never_normal"])


@lru_cache(maxsize=1)
def _inside() -> dict[str, frozenset[str]]:
    table = shipped_toml(__file__, "professional.toml")["inside"]
    return {name: frozenset(words) for name, words in table.items()}


def stop_at_run_on(reading: ReportReading, indices: Sequence[int], end: int) -> None:
    """ "No pneumothorax the lungs are hyperinflated": a denial does not reach the next subject with its verb.

    Raises:
        NoPlan: If a clause of its own follows a denied finding without a stop.
    """
    mentions = [reading.mentions[i] for i in indices]
    for number, denied in enumerate(mentions):
        if denied.kind not in FINDING_KINDS or denied.assertion != "absent":
            continue
        later = next((m for m in mentions[number + 1 :] if m.start >= denied.end), None)
        if _THERE.match(reading.text[denied.end : end]):
            raise NoPlan("a new clause behind a denial")
        if later is None or not _SUBJECT.fullmatch(between := reading.text[denied.end : later.start]):
            continue
        verb = _VERB.match(reading.text[later.end : end]) or re.search(r"\b(?:is|are)\b", later.text)
        if verb or (later.kind == "anatomy" and not re.search(r",|\band\b", between)):
            raise NoPlan("a new clause behind a denial")
