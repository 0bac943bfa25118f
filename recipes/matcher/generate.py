"""Write statements about invented reports from the lexicon: python generate.py OUTPUT.jsonl [--reports 1500]."""

from __future__ import annotations

import argparse
import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from radgauge.reader import load_lexicon
from radgauge.reader.lexicon import Concept, Lexicon

TEMPLATES = tomllib.loads((Path(__file__).parent / "templates.toml").read_text(encoding="utf-8"))
CHANGES = {"increased": "decreased", "decreased": "increased", "stable": "increased", "new": "stable"}
"""A change and one that contradicts it."""
FAR = {"small": "large", "mild": "large", "moderate": "small", "large": "small"}
LOWER = {"urgent": "actionable"} | {tier: tier for tier in ("actionable", "not_actionable", "benign")}
"""How much a wrong degree or change of a finding of that tier matters."""
Item = dict[str, str]


@dataclass(frozen=True)
class Told:
    """A finding as a report tells it."""

    concept: Concept
    side: str = ""
    degree: str = ""
    change: str = ""


class Writer:
    """Sentences about findings, in words chosen at random."""

    def __init__(self, lexicon: Lexicon, rng: np.random.Generator) -> None:
        self.lexicon, self.rng = lexicon, rng
        found = [each for each in lexicon if each.is_finding and each.tier and each.kind != "device"]
        self.by_region: dict[str, list[Concept]] = {}
        for concept in found:
            for region in concept.regions:
                if region not in ("any", "general"):
                    self.by_region.setdefault(region, []).append(concept)
        self.regions = [region for region, concepts in self.by_region.items() if len(concepts) >= 40]

    def pick(self, options: Any) -> Any:
        """One of them."""
        return options[int(self.rng.integers(len(options)))]

    def term(self, concept: Concept) -> str:
        """A name of the concept that can stand as a noun."""
        terms = [concept.name, *concept.synonyms]
        nouns = [each for each in terms if not {"is", "are", "of", "status", "with"} & set(each.split()[:3])]
        return str(self.pick(nouns or [concept.name]))

    def phrase(self, told: Told) -> str:
        """The finding with side and degree."""
        words = self.term(told.concept)
        if told.degree:
            words = f"{self.pick(TEMPLATES['degree'][told.degree])} {words}"
        return str(self.pick(TEMPLATES["side"][told.side]).format(x=words)) if told.side else words

    def sentence(self, forms: Any, told: Told) -> str:
        """A form filled."""
        return sentence(str(self.pick(forms)).format(f=self.phrase(told), t=self.term(told.concept)))

    def told(self, told: Told) -> str:
        """How a report states the finding."""
        return self.sentence(TEMPLATES["change"][told.change] if told.change else TEMPLATES["positive"], told)

    def finding(self, region: str) -> Told:
        """A finding of the region, with attributes."""
        concept = self.pick(self.by_region[region])
        paired = any(self.lexicon[each].paired for each in concept.location if each in self.lexicon)
        side = str(self.pick(("left", "right"))) if paired and self.rng.random() < 0.7 else ""
        degree = str(self.pick(tuple(FAR))) if self.rng.random() < 0.35 else ""
        change = str(self.pick(tuple(CHANGES))) if self.rng.random() < 0.3 else ""
        return Told(concept, side, degree, change)

    def apart(self, concept: Concept, others: list[Concept]) -> bool:
        """Whether no other concept is the same, more general, more special, or at the same place."""
        for other in others:
            if self.lexicon.is_a(concept.id, other.id) or self.lexicon.is_a(other.id, concept.id):
                return False
            if set(concept.location) & set(other.location) or set(concept.parents) & set(other.parents):
                return False
        return True


def sentence(text: str) -> str:
    """With a capital."""
    return text[:1].upper() + text[1:]


def report(writer: Writer) -> list[Item]:
    """A report of a few sentences and statements about it."""
    rng, pick = writer.rng, writer.pick
    region = str(pick(writer.regions))
    present: list[Told] = []
    denied: list[Concept] = []
    for _ in range(int(rng.integers(1, 4))):
        told = writer.finding(region)
        if writer.apart(told.concept, [each.concept for each in present]):
            present.append(told)
    for _ in range(int(rng.integers(1, 4))):
        told = writer.finding(region)
        if writer.apart(told.concept, [*(each.concept for each in present), *denied]):
            denied.append(told.concept)
    device = pick(TEMPLATES["device"]) if region in ("chest", "abdomen") and rng.random() < 0.6 else None
    lines = [writer.told(each) for each in present]
    lines += [writer.sentence(TEMPLATES["negative"], Told(each)) for each in denied]
    items: list[Item] = []

    def say(statement: str, label: str, error: str, tier: str) -> None:
        items.append({"statement": statement, "label": label, "error": error, "tier": tier})

    if device is not None:
        wrong = rng.random() < 0.5
        here, other = ("bad", "good") if wrong else ("good", "bad")
        name, state = str(pick(device["name"])), str(pick(device[here]))
        lines.append(f"The {name} {state}.")
        said = device["tier"] if wrong else "normal"
        others = [each for each in device[here] if each != state] if not wrong else [state]
        say(f"{sentence(str(pick(device['name'])))} {pick(others)}.", "supported", "none", said)
        say(f"The {pick(device['name'])} {pick(device[other])}.", "contradicted", "device", device["tier"])
    for told in present:
        tier = told.concept.tier
        say(writer.sentence(TEMPLATES["positive"], told), "supported", "none", tier)
        _changed(writer, told, say)
    for concept in denied:
        if rng.random() < 0.6:
            say(writer.sentence(TEMPLATES["negative"], Told(concept)), "supported", "none", "normal")
        if rng.random() < 0.6:
            say(writer.sentence(TEMPLATES["positive"], Told(concept)), "contradicted", "negation", concept.tier)
    for _ in range(2):
        told = writer.finding(region)
        if writer.apart(told.concept, [*(each.concept for each in present), *denied]):
            if rng.random() < 0.65:
                say(writer.told(told), "unmentioned", "added", told.concept.tier)
            else:
                say(writer.sentence(TEMPLATES["negative"], told), "unmentioned", "none", "normal")
    order = rng.permutation(len(lines))
    context = " ".join(lines[at] for at in order)
    if rng.random() < 0.3:
        context = context.lower().replace(".", " .")
    chosen = rng.permutation(len(items))[:8]
    return [{"region": region, "context": context, **items[at]} for at in chosen]


def _changed(writer: Writer, told: Told, say: Any) -> None:
    """Statements that contradict a finding of the report, and some that follow from it."""
    rng, concept = writer.rng, told.concept
    tier, lower = concept.tier, LOWER[concept.tier]
    place = [writer.lexicon[each].name for each in concept.location if each in writer.lexicon]
    options: list[tuple[str, str, str, str]] = [
        (writer.sentence(TEMPLATES["negative"], told), "contradicted", "negation", tier),
    ]
    if told.side:
        other = Told(concept, "left" if told.side == "right" else "right", told.degree)
        options += [(writer.sentence(TEMPLATES["positive"], other), "contradicted", "location", tier)] * 2
    if told.degree:
        far = Told(concept, told.side, FAR[told.degree])
        options.append((writer.sentence(TEMPLATES["positive"], far), "contradicted", "severity", lower))
    if told.change:
        forms = TEMPLATES["change"]
        other = Told(concept, told.side)
        options.append((writer.sentence(forms[CHANGES[told.change]], other), "contradicted", "comparison", lower))
        options.append((writer.sentence(forms["resolved"], other), "contradicted", "comparison", tier))
        options.append((writer.sentence(forms[told.change], other), "supported", "none", tier))
    else:
        doubt = writer.sentence(TEMPLATES["uncertain"], told)
        options.append((doubt, "contradicted", "uncertainty", "not_actionable"))
    if place:
        named = str(writer.pick(place))
        wrong = str(writer.pick(TEMPLATES["normal"])).format(a=named)
        right = str(writer.pick(TEMPLATES["abnormal"])).format(a=named)
        options.append((sentence(wrong), "contradicted", "negation", tier))
        options.append((sentence(right), "supported", "none", tier))
    for at in rng.permutation(len(options))[:2]:
        say(*options[at])


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--reports", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    writer = Writer(load_lexicon(), np.random.default_rng(given.seed))
    items = [item for _ in range(given.reports) for item in report(writer)]
    given.output.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    print(f"{len(items)} statements about {given.reports} reports")


if __name__ == "__main__":
    main()
