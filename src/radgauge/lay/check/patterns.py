"""The patterns of `data/`, compiled: what words of everyday English stand for."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from radgauge.core.parsing import shipped_toml

FILES = ("findings.toml", "parts.toml", "devices.toml", "grammar.toml")
GAP = r"(?:[ ]+(?!(?:and|with|without|or|but|nor)\b)(?:[\w'’-]+|\([^()]{1,40}\))){0,6}?[ ]+"
_NOT = re.compile(r"\b(?:no|not|isn't|aren't|without|none|never|hasn't|haven't|doesn't)\b")


class PatternMatch(NamedTuple):
    """Words of a text and the values that they may stand for."""

    start: int
    end: int
    values: frozenset[str]
    denied: bool = False  # the words between the parts of the pattern deny it: "the heart is not enlarged"


@dataclass(frozen=True, eq=False)
class Group:
    """Patterns of one kind: each with the value it stands for, tried all, the longest match wins."""

    patterns: tuple[tuple[str, re.Pattern[str], bool], ...]

    def find(self, text: str, *, overlapping: bool = False) -> list[PatternMatch]:
        """Matches in text order; of those that overlap the longest, all values of equal ones together."""
        spans: dict[tuple[int, int], tuple[set[str], bool]] = {}
        for value, pattern, says_not in self.patterns:
            for match in pattern.finditer(text):
                denied = match[0].startswith(("nothing", "non")) or (
                    not says_not and _NOT.search(match[0]) is not None
                )
                entry = spans.setdefault(match.span(), (set(), denied))
                entry[0].add(value)
        if overlapping:
            return sorted(
                PatternMatch(*span, frozenset(values), denied) for span, (values, denied) in spans.items()
            )
        # in text order; none overlaps another, so only neighbours can overlap a new one
        matches: list[PatternMatch] = []
        starts: list[int] = []
        for (start, end), (values, denied) in sorted(spans.items(), key=lambda item: item[0][0] - item[0][1]):
            at = bisect_right(starts, start)
            if (at == 0 or matches[at - 1].end <= start) and (at == len(matches) or end <= matches[at].start):
                starts.insert(at, start)
                matches.insert(at, PatternMatch(start, end, frozenset(values), denied))
        return matches


@dataclass(frozen=True, eq=False)
class Everyday:
    """Everything the reader knows."""

    findings: Group
    parts: Group
    devices: Group
    groups: Mapping[str, Group]
    means: Mapping[str, frozenset[str]]
    part_of: Mapping[str, str]
    above: Mapping[str, str]
    numbers: Mapping[str, int]
    sides_of: Mapping[str, str]
    hash: str


@lru_cache(maxsize=1)
def everyday() -> Everyday:
    """The knowledge that ships."""
    tables = {name.partition(".")[0]: shipped_toml(__file__, name) for name in FILES}
    grammar = tables["grammar"]
    macros = grammar["macros"]

    def group(values: Mapping[str, Sequence[str]]) -> Group:
        return Group(
            tuple(
                (value, *_compiled(pattern, macros)) for value, patterns in values.items() for pattern in patterns
            )
        )

    def group_of(table: Mapping[str, Any]) -> Group:
        return group({value: entry["patterns"] for value, entry in table.items()})

    findings = tables["findings"]
    content = b"".join((Path(__file__).parent / "data" / name).read_bytes() for name in FILES)
    return Everyday(
        findings=group_of(findings),
        parts=group_of(tables["parts"]),
        devices=group_of(tables["devices"]),
        groups={
            **{
                name: group_of(grammar[name])
                for name in ("certainty", "degree", "change", "device_state", "urgency")
            },
            **{
                name: group({name: grammar[name]["patterns"]})
                for name in ("normal", "benign", "not_assessed", "breaks", "benign_by_nature", "proof", "cause")
            },
            **{name: group(grammar[name]) for name in ("sides", "zones", "spine_level", "units")},
            "no": group({"no": grammar["negation"]["before"]}),
            "no_behind": group({"no": grammar["negation"]["after"]}),
            "no_negation": group({"no": grammar["negation"]["never"]}),
            "advice": group({"advice": grammar["recommendation"]["cues"]}),
            "actions": group(grammar["recommendation"]["actions"]),
            "reasons": group({"reason": grammar["cause"]["allowed"]}),
            "gloss": group({"gloss": grammar["gloss"]["patterns"]}),
            "technique": group({"technique": grammar["technique"]["patterns"]}),
        },
        means={
            name: frozenset({name, *entry.get("means", ())})
            for name, entry in (*findings.items(), *tables["devices"].items())
        },
        part_of={name: entry["part"] for name, entry in findings.items() if "part" in entry},
        above={name: entry["above"] for name, entry in tables["parts"].items() if "above" in entry},
        numbers=grammar["numbers"],
        sides_of={},
        hash=hashlib.sha256(content).hexdigest()[:8],
    )


def _compiled(pattern: str, macros: Mapping[str, str]) -> tuple[re.Pattern[str], bool]:
    says_not = _NOT.search(pattern) is not None
    for name, words in macros.items():
        pattern = pattern.replace("{" + name + "}", words.replace(" .. ", GAP))
    pattern = pattern.replace(" .. ", GAP)
    head = r"(?<!\w)" if re.match(r"[\w(]", pattern) else ""
    tail = r"(?!\w)" if re.search(r"[\w)*+?]$", pattern) and not _looks_ahead(pattern) else ""
    return re.compile(f"{head}(?:{pattern}){tail}"), says_not


def _looks_ahead(pattern: str) -> bool:
    """True if a pattern ends with a look-ahead: the word after it is examined and must not be refused."""
    open_at: list[int] = []
    last = -1
    for index, char in enumerate(pattern):
        if index and pattern[index - 1] == "\\":
            continue
        if char == "(":
            open_at.append(index)
        elif char == ")" and open_at:
            last = open_at.pop()
    return pattern.endswith(")") and last >= 0 and pattern.startswith(("(?=", "(?!"), last)
