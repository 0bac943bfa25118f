"""Position of a device's end: whether a report says that a tube, line or implant lies as it should."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from radgauge.findings.numbers import DATA
from radgauge.reader.lexicon import Lexicon
from radgauge.reader.reading import Mention, ReportReading

GOOD, BAD = "good", "bad"

_DISTANCE = re.compile(
    r"(?:(\d+(?:\.\d+)?)\s*(cm|mm)\s+(?:or so\s+)?(?:above|from|proximal to|superior to|cephalad to|over)"
    r"|(?:within|less than)\s+(\d+(?:\.\d+)?)\s*(cm|mm)\s+of)\b"
)
_GOES_ON = re.compile(
    r"\W*(?:this|it|its|these|they|the tip|tip|recommend|reposition|need|suggest|should|withdraw|advance|retract|"
    r"consider|do not|please|pull|remov)",
    re.IGNORECASE,
)
_LISTED = re.compile(r"^\s*(?:,|and|&|/|with|,\s*and|as well as)\s*(?:\w+\s+){0,4}$", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class DeviceRule:
    """Words for the position of one kind of device."""

    tier: str  # How much a wrong position matters
    good: re.Pattern[str]  # Words of a right position
    bad: re.Pattern[str]  # Words of a wrong one
    landmark: re.Pattern[str] | None  # What a distance is measured from
    good_mm: tuple[float, float]  # Least and greatest distance that is right


@dataclass(frozen=True, eq=False)
class Devices:
    """data/devices.toml for one lexicon: a device has the rule of its nearest ancestor that has one."""

    rules: dict[str, DeviceRule]
    other: DeviceRule
    denied: re.Pattern[str]

    def tier(self, concept: str) -> str:
        """Tier of a wrong position of this device."""
        return self.rules.get(concept, self.other).tier

    def positions(self, reading: ReportReading) -> dict[int, str]:
        """Index of each device that the report places -> good or bad."""
        mentions = reading.mentions
        devices = [index for index, mention in enumerate(mentions) if mention.kind == "device"]
        table: dict[int, str] = {}
        named = Counter(mentions[index].sentence for index in devices)
        for at in reversed(range(len(devices))):
            index = devices[at]
            mention = mentions[index]
            following = mentions[devices[at + 1]] if at + 1 < len(devices) else None
            start, end, _ = reading.sentences[mention.sentence]
            alone = named[mention.sentence] == 1
            if following is not None and following.sentence == mention.sentence:
                end = following.start
                if _LISTED.match(reading.text[mention.end : end]) and devices[at + 1] in table:
                    table[index] = table[devices[at + 1]]
                    continue
            words = reading.text[start if alone else mention.end : end].lower()
            last = following is None or following.sentence > mention.sentence
            goes_on = _continued(reading, mention, named).lower() if last else ""
            stated = self._judged(mention.concept, words)
            if self._matches(self.other.bad, goes_on)[0]:
                stated = BAD
            elif not stated and self._matches(self.other.good, goes_on)[0]:
                stated = GOOD
            if stated:
                table[index] = stated
        return table

    def _judged(self, concept: str, words: str) -> str:
        rule = self.rules.get(concept, self.other)
        if rule.landmark is not None and (match := _DISTANCE.search(words)) and rule.landmark.search(words):
            distance = float(match[1] or match[3]) * (10.0 if "cm" in match.group(2, 4) else 1.0)
            low, high = rule.good_mm
            return GOOD if low <= distance <= high else BAD
        good, wrong = self._matches(rule.good, words)
        bad, right = self._matches(rule.bad, words)
        if bad or (wrong and not good):
            return BAD
        return GOOD if good or right else ""

    def _matches(self, pattern: re.Pattern[str], words: str) -> tuple[bool, bool]:
        """True if a pattern is there as it stands, and whether it is there and denied."""
        plain = denied = False
        for match in pattern.finditer(words):
            if self.denied.search(words[: match.start()]) and not match[0].startswith(("no", "not")):
                denied = True
            else:
                plain = True
        return plain, denied


def _continued(reading: ReportReading, mention: Mention, named: Mapping[int, int]) -> str:
    """The next sentence, if it continues about the device: "This should be withdrawn", "Repositioning needed"."""
    number = mention.sentence + 1
    if number >= len(reading.sentences):
        return ""
    start, end, _ = reading.sentences[number]
    sentence = reading.text[start:end]
    if _GOES_ON.match(sentence) is None:
        return ""
    if named.get(number):
        return ""
    return sentence


@lru_cache(maxsize=4)
def devices_for(lexicon: Lexicon) -> Devices:
    """The rules, compiled for a lexicon."""
    table = tomllib.loads((DATA / "devices.toml").read_text(encoding="utf-8"))
    general = table["any"]
    named: dict[str, DeviceRule] = {}
    for entry in table["device"]:
        nearest, max_distance = map(float, entry.get("good_mm", (0, 0)))
        rule = DeviceRule(
            entry["tier"],
            _any([*entry["good"], *general["good"]]),
            _any([*entry["bad"], *general["bad"]]),
            re.compile(entry["above"]) if "above" in entry else None,
            (nearest, max_distance),
        )
        named |= dict.fromkeys(entry["concepts"], rule)
    rules = {}
    for concept in lexicon:
        line = [concept.id, *lexicon.ancestors(concept.id)]
        if (near := next((site for site in line if site in named), None)) is not None:
            rules[concept.id] = named[near]
    other = DeviceRule("actionable", _any(general["good"]), _any(general["bad"]), None, (0.0, 0.0))
    return Devices(rules, other, re.compile(table["denied"]["before"]))


def _any(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
