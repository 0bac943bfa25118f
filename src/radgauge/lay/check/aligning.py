"""Facts of a report and of its lay version side by side, in time that grows with their number alone."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

from radgauge.lay.check.patterns import everyday
from radgauge.lay.check.reading import Fact

EXPLAINED = frozenset({"anything_wrong", "acute", "pain", "fluid", "infection", "inflammation", "swelling"})
GLOSSED = frozenset(
    (
        *(
            "infection",
            "inflammation",
            "pain",
            "trauma",
            "swelling",
            "fluid",
            "thickening",
            "blockage",
            "scar",
            "flow",
        ),
        *("anything_wrong", "calcification", "opacity", "acute", "surgery", "stenosis", "dilatation", "collapse"),
        *("nodule", "arthritis", "atrophy", "tear", "healing", "contrast"),
    )
)


def _meant(fact: Fact) -> frozenset[str]:
    return _meanings(fact.values)


@lru_cache(maxsize=4096)
def _meanings(values: frozenset[str]) -> frozenset[str]:
    return frozenset(meaning for value in values for meaning in everyday().means.get(value, {value}))


@lru_cache(maxsize=4096)
def related(a: frozenset[str], b: frozenset[str]) -> bool:
    """True if two sets of parts can refer to one location; an empty set fits any."""
    if not a or not b:
        return True
    return any(_is_kin(x, y) for x in a for y in b)


_ANYWHERE = {
    "chest": {
        "lung",
        "heart",
        "mediastinum",
        "pleura",
        "rib",
        "aorta",
        "diaphragm",
        "breastbone",
        "hilum",
        "airways",
        "bone",
        "spine",
    }
}


def _is_kin(x: str, y: str) -> bool:
    above = everyday().above
    for a, b in ((x, y), (y, x)):
        if a == b or above.get(a) == b or (above.get(a) and above.get(a) == above.get(b)):
            return True
        if b in _ANYWHERE.get(a, ()):
            return True
    return {x, y} <= {"heart", "mediastinum", "aorta", "vessel", "hilum"}


def _alike(p: Fact, q: Fact) -> bool:
    """True if two facts can be one statement, however it is phrased."""
    if p.kind != q.kind:
        return False
    if p.kind == "normal":
        return related(p.parts, q.parts)
    if p.kind in ("benign", "limited"):
        return True
    if p.kind == "course":
        return related(p.parts, q.parts)
    if _meant(p) & _meant(q):
        return p.denied == q.denied or related(p.parts, q.parts)
    return False


def _likeness(p: Fact, q: Fact, at: float) -> float:
    score = 4.0 * (p.denied == q.denied) + 2.0 * bool(p.values & q.values)
    score += 2.0 * bool(p.parts & q.parts) + (1.0 * related(p.parts, q.parts))
    score += 1.5 * (p.sides == q.sides) + 1.0 * (p.zones == q.zones) + 1.5 * (p.degree == q.degree)
    return score + 1.0 * (p.change == q.change) + 1.0 * (p.certainty == q.certainty) - at


def align_facts(
    professional: Sequence[Fact], lay: Sequence[Fact], *, strict: bool
) -> tuple[list[tuple[Fact, Fact]], list[Fact], list[Fact]]:
    """Return the facts that two texts share, and those of each that the other does not tell."""
    pairs: list[tuple[Fact, Fact]] = []
    by_key: dict[tuple[str, bool, str], list[int]] = defaultdict(list)
    for j, q in enumerate(lay):
        for key in _keys(q):
            by_key[key].append(j)
    possible = [
        (_likeness(p, lay[j], abs(i / max(1, len(professional)) - j / max(1, len(lay)))), i, j)
        for i, p in enumerate(professional)
        for j in {j for key in _keys(p) for j in _around(by_key.get(key, ()), i * len(lay) // len(professional))}
        if _alike(p, lay[j])
    ]
    matched_professional: set[int] = set()
    matched_lay: set[int] = set()
    for _, i, j in sorted(possible, key=lambda candidate: (-candidate[0], candidate[1], candidate[2])):
        if i not in matched_professional and j not in matched_lay:
            pairs.append((professional[i], lay[j]))
            matched_professional.add(i)
            matched_lay.add(j)
    lost = [p for i, p in enumerate(professional) if i not in matched_professional]
    added = [q for j, q in enumerate(lay) if j not in matched_lay]
    lost, crossed = _crossed(lost, added)
    said_p, said_q = _unlike(professional), _unlike(lay)
    pairs += crossed
    taken = {id(q) for _, q in crossed}
    added = [fact for fact in added if id(fact) not in taken]
    return (
        pairs,
        [p for p in lost if not _is_said(p, said_q, strict=strict)],
        [q for q in added if not _is_said(q, said_p, strict=strict) and not _is_gloss(q, said_p)],
    )


COMPARED = 100
"""Facts of one kind in a text that one of another is compared with at most; no real report has as many."""


def _around(positions: Sequence[int], middle: int) -> Sequence[int]:
    """All positions, or of very many those around the same part of the text."""
    if len(positions) <= COMPARED:
        return positions
    first = max(0, min(bisect_left(positions, middle) - COMPARED // 2, len(positions) - COMPARED))
    return positions[first : first + COMPARED]


def _unlike(facts: Sequence[Fact]) -> list[Fact]:
    """Facts that differ in what `_is_said` and `_is_gloss` ask for; a long text has no more of them."""
    return list({(f.kind, f.denied, f.values, f.parts): f for f in facts}.values())


def _keys(fact: Fact) -> list[tuple[str, bool, str]]:
    """Keys that two facts phrased alike share: kind, yes or no, and for findings one meaning."""
    meanings = _meant(fact) if fact.kind in ("finding", "device") else ("",)
    return [(fact.kind, fact.denied, meaning) for meaning in meanings]


def _crossed(lost: Sequence[Fact], added: Sequence[Fact]) -> tuple[list[Fact], list[tuple[Fact, Fact]]]:
    """Facts of which one text says yes and the other no."""
    crossed: list[tuple[Fact, Fact]] = []
    left = []
    taken: set[int] = set()
    by_key: dict[tuple[str, bool, str], list[Fact]] = defaultdict(list)
    order = {id(q): position for position, q in enumerate(added)}
    for q in added:
        for key in _keys(q):
            by_key[key].append(q)
    for p in lost:
        possible = {
            id(q): q for key in _keys(p._replace(denied=not p.denied)) for q in by_key.get(key, ())[:COMPARED]
        }
        free = (index for index in possible if index not in taken and _alike(p, possible[index]))
        first = min(free, key=order.__getitem__, default=None)
        match = None if first is None else possible[first]
        if match is None:
            left.append(p)
        else:
            crossed.append((p, match))
            taken.add(id(match))
    return left, crossed


def _is_said(fact: Fact, others: Sequence[Fact], *, strict: bool) -> bool:
    """True if the other text has it in another form: again, as normality, or as the absence of something there."""
    for other in others:
        if fact.kind == other.kind and _alike(fact, other) and fact.denied == other.denied:
            return True
        calm, other_calm = _is_calm(fact), _is_calm(other)
        if strict and not (fact.kind == other.kind == "normal"):
            continue
        if calm and other_calm and related(fact.parts, other.parts):
            return True
        if "acute" in _meant(fact) and fact.denied and other_calm:
            return True
        if "acute" in _meant(other) and other.denied and calm and not fact.parts:
            return True
    return fact.kind == "finding" and fact.denied is False and fact.values <= _SAYS_LITTLE


_SAYS_LITTLE = frozenset({"anything_wrong", "acute", "alignment", "variant", "flow", "pain", "healing"})


def _is_calm(fact: Fact) -> bool:
    return fact.kind == "normal" or (fact.kind == "finding" and fact.denied)


def _is_gloss(fact: Fact, professional: Sequence[Fact]) -> bool:
    """True if a fact of the lay text explains one of the report rather than adding one."""
    if fact.kind in ("limited", "benign", "course"):
        return fact.gloss
    if fact.gloss and (fact.values <= GLOSSED or fact.kind == "normal"):
        return True
    if fact.kind != "finding" or fact.denied or not fact.values <= EXPLAINED:
        return False
    return any(not p.denied and related(p.parts, fact.parts) for p in professional)
