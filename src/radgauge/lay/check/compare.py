"""A lay text beside its report: what it keeps, changes, loses, adds, and what could not be read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from radgauge.lay.check.aligning import align_facts, related
from radgauge.lay.check.reading import Advice, EverydayReading, Fact, read_everyday

Span = tuple[int, int]

CERTAINTY = {"": 3.0, "probable": 2.0, "concern": 1.5, "possible": 1.0}
SPECIFIC = frozenset(
    (
        *("ct", "mri", "xray", "ultrasound", "pet", "mammogram", "views", "biopsy", "specialist", "surgery"),
        *("reposition", "advance", "withdraw", "medicine", "none"),
    )
)
ROUNDING = 0.12


class Difference(NamedTuple):
    """One thing told otherwise."""

    # negation, side, place, level, degree, size, certainty, change, device, recommendation, urgency, lost, added,
    # or unread
    what: str
    professional: str  # What the report says; "" if it says nothing
    lay: str  # What the lay text says
    spans: tuple[Span, ...] = ()  # Where, in the report
    lay_spans: tuple[Span, ...] = ()  # Where, in the lay text


class LayCheck(NamedTuple):
    """The facts of a report and of its lay version side by side."""

    # Facts of the report that the lay text tells alike: (report, lay)
    kept: tuple[tuple[Fact | Advice, Fact | Advice], ...]
    differences: tuple[Difference, ...]  # What is lost, added or told otherwise
    # What could not be compared, in words; with an empty `differences` the text is not judged
    unread: tuple[Difference, ...]

    @property
    def is_judged(self) -> bool:
        """True if a number can be reported: something differs, or everything was read and agrees."""
        return bool(self.differences) or (bool(self.kept) and not self.unread)

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Kept, changed, lost, added."""
        lost = sum(difference.what == "lost" for difference in self.differences)
        added = sum(difference.what == "added" for difference in self.differences)
        return len(self.kept), len(self.differences) - lost - added, lost, added


def check_lay(professional: str, lay: str, *, strict: bool = False) -> LayCheck:
    """Compare a lay text with the report it stands for.

    Args:
        professional: The report.
        lay: Its lay version.
        strict: Whether what a lay text may leave out counts as well: a small degree, the part of an organ, which
            of several things is denied. The writer is held to this.

    >>> told = check_lay("Small left pleural effusion.", "A little fluid has collected around your right lung.")
    >>> told.differences[0][:3]
    ('side', 'left', 'right')
    >>> check_lay("Mild cardiomegaly.", "Your heart is a bit bigger than usual.").differences
    ()
    """
    return compare_readings(read_everyday(professional), read_everyday(lay), strict=strict)


def compare_readings(professional: EverydayReading, lay: EverydayReading, *, strict: bool = False) -> LayCheck:
    """Compare two texts that were read."""
    matched: list[tuple[Fact | Advice, Fact | Advice]] = []
    differences: list[Difference] = []
    unread: list[Difference] = []
    pairs, lost, added = align_facts(_each_once(professional.facts), _each_once(lay.facts), strict=strict)
    for p, q in pairs:
        pair_differences = list(_told_otherwise(p, q, professional, lay, strict=strict))
        differences += pair_differences
        if not pair_differences:
            matched.append((p, q))
    free = iter(sorted(n for n in set(lay.unread) if n >= 0))
    for fact in lost:
        sentence_number = next(free, None)
        if sentence_number is not None:
            unread.append(_unread(fact, professional, lay, sentence_number))
        elif not fact.gloss and fact.values != frozenset({"limited"}):
            differences.append(Difference("lost", _words(professional, fact), "", ((fact.start, fact.end),)))
    for number in professional.unread:
        start, end = professional.sentences[number]
        unread.append(Difference("unread", professional.text[start:end].strip(), "", ((start, end),)))
    left = len(professional.unread)
    for fact in added:
        if fact.kind == "benign" and professional.is_benign:
            continue
        if left and fact.kind in ("finding", "device"):
            left -= 1
            continue
        differences.append(Difference("added", "", _words(lay, fact), (), ((fact.start, fact.end),)))
    advised, agreed = _advice(professional, lay)
    differences += advised
    matched += agreed
    differences += _sizes(professional, lay)
    if lay.proofs and not professional.proofs:
        differences.append(
            Difference("certainty", "not proven", lay.text[slice(*lay.proofs[0])], (), lay.proofs[:1])
        )
    if lay.causes and not professional.reasons:
        differences.append(Difference("added", "", lay.text[slice(*lay.causes[0])], (), lay.causes[:1]))
    apart = professional.levels and lay.levels and not professional.levels & lay.levels
    if apart or (strict and professional.levels != lay.levels):
        differences.append(Difference("level", _set(professional.levels), _set(lay.levels)))
    return LayCheck(tuple(matched), tuple(_once(differences)), tuple(unread))


def _each_once(facts: Sequence[Fact]) -> list[Fact]:
    """Facts that a text repeats, once."""
    distinct: dict[Fact, Fact] = {}
    for fact in facts:
        distinct.setdefault(fact._replace(start=0, end=0, sentence=0), fact)
    return list(distinct.values())


def _once(differences: Iterable[Difference]) -> list[Difference]:
    return list(dict.fromkeys(differences))


def _words(reading: EverydayReading, fact: Fact) -> str:
    text = " ".join(reading.text[fact.start : fact.end].split())
    where = _set(fact.parts) if fact.kind == "normal" else ""
    return f"{'no ' if fact.denied else ''}{text}{f' ({where})' if where else ''}"


def _unread(fact: Fact, professional: EverydayReading, lay: EverydayReading, number: int) -> Difference:
    start, end = lay.sentences[number]
    return Difference(
        "unread",
        _words(professional, fact),
        lay.text[start:end].strip(),
        ((fact.start, fact.end),),
        ((start, end),),
    )


def _set(values: Iterable[str]) -> str:
    return " and ".join(sorted(values))


def _told_otherwise(
    p: Fact, q: Fact, professional: EverydayReading, lay: EverydayReading, *, strict: bool
) -> Iterable[Difference]:
    where = (((p.start, p.end),), ((q.start, q.end),))

    def differs(what: str, a: str, b: str) -> Difference:
        return Difference(what, a, b, *where)

    if p.denied != q.denied:
        yield differs("negation", _words(professional, p), _words(lay, q))
        return
    if p.sides != q.sides and not _is_quiet_side(p, q, professional, lay, strict=strict):
        yield differs("side", _set(p.sides), _set(q.sides))
    if strict and p.kind != "normal" and (p.degree != q.degree or p.zones - q.zones or q.zones - p.zones):
        yield differs("degree or place", f"{p.degree} {_set(p.zones)}", f"{q.degree} {_set(q.zones)}")
    if p.kind == "normal" or p.denied:
        return
    if p.zones and q.zones and not p.zones & q.zones:
        yield differs("place", _set(p.zones), _set(q.zones))
    if not related(p.parts, q.parts):
        yield differs("place", _set(p.parts), _set(q.parts))
    if p.degree != q.degree and not _is_quiet_degree(p, q, professional):
        yield differs("degree", p.degree, q.degree)
    if abs(CERTAINTY[p.certainty] - CERTAINTY[q.certainty]) > 0.5:
        yield differs("certainty", p.certainty or "definite", q.certainty or "definite")
    measured = not p.change and len(professional.sizes) > 1 and professional.sizes == lay.sizes
    if p.change != q.change and not measured and _is_other_change(p.change, q.change):
        yield differs("change", p.change, q.change)
    if p.kind == "device" and p.state != q.state and ({p.state, q.state} & {"removed", "wrong"}):
        yield differs("device", p.state, q.state)


def _is_other_change(p: str, q: str) -> bool:
    """True if two texts describe the change differently; "still" fits something old or unchanged."""
    calm = {"", "still", "stable", "old"}
    if {p, q} <= {"", "still", "old"} or {p, q} <= {"still", "stable", "old"}:
        return False
    if {p, q} <= {"acute", "new", ""}:
        return {p, q} == {"new", ""}
    return not (p == "acute" and q in calm - {"old", "stable"})


def _is_quiet_side(p: Fact, q: Fact, professional: EverydayReading, lay: EverydayReading, *, strict: bool) -> bool:
    if p.kind == "normal" or (strict and p.denied):  # one clear lung is not two
        return p.sides | q.sides == {"both"}
    if p.denied:
        return not (p.sides and q.sides) or "both" in p.sides | q.sides
    if not q.sides:
        return p.sides == {"both"} or not p.sides
    return not p.sides and (q.sides == {"both"} or q.sides <= professional.sides)


def _is_quiet_degree(p: Fact, q: Fact, professional: EverydayReading) -> bool:
    if not p.degree and q.degree == "low":
        return True
    return not q.degree and p.degree == "low"


def _advice(
    professional: EverydayReading, lay: EverydayReading
) -> tuple[list[Difference], list[tuple[Fact | Advice, Fact | Advice]]]:
    differences: list[Difference] = []
    urgency = (professional.urgency, lay.urgency)
    if "high" in urgency and urgency[0] != urgency[1]:
        differences.append(Difference("urgency", urgency[0] or "none", urgency[1] or "none"))
    if not professional.advice and not lay.advice:
        return differences, []
    if not professional.advice or not lay.advice:
        professional_advice, lay_advice = _merged(professional.advice), _merged(lay.advice)
        strong = (lay_advice.actions & SPECIFIC) - {"none"} or lay_advice.intervals
        if professional_advice.actions or professional_advice.intervals:
            differences.append(
                Difference("lost", "advice: " + (_set(professional_advice.actions) or "follow-up"), "")
            )
        elif strong:
            differences.append(Difference("added", "", "advice: " + (_set(lay_advice.actions) or "follow-up")))
        return differences, []
    p, q = _merged(professional.advice), _merged(lay.advice)
    wrong = []
    if p.intervals and p.intervals != q.intervals and not _same_time(p.intervals, q.intervals):
        wrong.append(Difference("recommendation", _times(p), _times(q)))
    missing = (p.actions & SPECIFIC) - q.actions
    if missing and (p.actions & SPECIFIC) != q.actions & SPECIFIC and not (p.actions & q.actions & SPECIFIC):
        wrong.append(Difference("recommendation", _set(p.actions), _set(q.actions)))
    differences += wrong
    return differences, [] if wrong else [(p, q)]


def _same_time(a: frozenset[tuple[float, str]], b: frozenset[tuple[float, str]]) -> bool:
    days = {"day": 1.0, "week": 7.0, "month": 30.4, "year": 365.0, "hour": 1 / 24}
    days_a, days_b = ([n * days.get(unit, 1) for n, unit in intervals] for intervals in (a, b))
    return bool(days_b) and all(any(abs(x - y) <= 0.05 * x for y in days_b) for x in days_a)


def _times(advice: Advice) -> str:
    return ", ".join(f"{number:g} {unit}" for number, unit in sorted(advice.intervals)) or "no time"


def _merged(advice: Sequence[Advice]) -> Advice:
    if not advice:
        return Advice(frozenset(), frozenset(), "", 0, 0)
    return Advice(
        frozenset(action for item in advice for action in item.actions),
        frozenset(interval for item in advice for interval in item.intervals),
        "",
        advice[0].start,
        advice[-1].end,
    )


def _sizes(professional: EverydayReading, lay: EverydayReading) -> list[Difference]:
    professional_sizes, lay_sizes = sorted(professional.sizes), sorted(lay.sizes)
    lost = [x for x in professional_sizes if not _among(x, lay_sizes)]
    added = [x for x in lay_sizes if not _among(x, professional_sizes)]
    if not lost and not added:
        return []
    return [Difference("size", ", ".join(f"{x:g} mm" for x in lost), ", ".join(f"{x:g} mm" for x in added))]


def _among(size: float, ordered: Sequence[float]) -> bool:
    at = bisect_left(ordered, size)
    return any(abs(size - other) <= ROUNDING * size for other in ordered[max(0, at - 1) : at + 1])
