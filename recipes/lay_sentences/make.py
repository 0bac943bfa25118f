"""Write the embedded sentence set of the metric `layman` anew, out of blocks.toml.

python recipes/lay_sentences/make.py
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from radgauge.lay.plain_sentences import write_plain
from radgauge.lay.rules import lay_rules
from radgauge.lay.sentences import EMBEDDED, HEADER, Pair, keeps_meaning
from radgauge.text.grammar import article, head_of, is_counted, is_disease_name, is_plural

BLOCKS = Path(__file__).parent / "blocks.toml"
SIDES = {"left": "on the left", "right": "on the right", "bilateral": "on both sides"}


def is_amount(term: str) -> bool:
    """Whether one has some of it rather than one of it: fluid, air, wear and tear."""
    return head_of(term) in lay_rules().amounts


def with_article(term: str) -> str:
    """A term with "a" or "an" where English wants one.

    >>> with_article("enlarged heart"), with_article("fluid around the lung")
    ('an enlarged heart', 'fluid around the lung')
    """
    determined = term.startswith(("a ", "an ", "the ", "more ", "too "))
    if determined or is_plural(term) or is_amount(term) or is_disease_name(term):
        return term
    return f"{article(term)} {term}"


def degree(term: str, severity: str, *, size: str = "") -> str:
    """A term with its severity, without an article except where an amount brings one.

    >>> degree("fluid around the lung", "mild"), degree("enlarged heart", "severe")
    ('a small amount of fluid around the lung', 'severely enlarged heart')
    """
    if not severity:
        return term
    tables = lay_rules().severity
    first = term.split(" ")[0]
    if is_amount(term):
        return f"{tables['amount'][severity]} {term}"
    if first in lay_rules().adjectives:
        return f"{tables['adverb'][severity]} {term}"
    if size in tables["size"]:
        return f"{size} {term}" if first != size else term
    return f"{tables['adjective'][severity]} {term}"


def build_pairs() -> tuple[Pair, ...]:
    """Every pair that the building blocks give and the reader confirms, each professional sentence once."""
    blocks = tomllib.loads(BLOCKS.read_text(encoding="utf-8"))
    made: dict[str, Pair] = {}
    for pair in itertools.chain(_findings(blocks), _devices(blocks), _normal(blocks), _joined(blocks)):
        tidy = Pair(*(re.sub(r"\s+", " ", text[0].upper() + text[1:]) for text in pair))
        if tidy.professional not in made and keeps_meaning(tidy):
            made[tidy.professional] = tidy
    return tuple(made.values())


def _article(phrase: str) -> str:
    """Professional English drops the article before what has no number."""
    counted = is_counted(phrase) and not phrase.startswith("trace ")
    return f"{article(phrase)} {phrase}" if counted else phrase


def _fill(template: str, professional: str, lay: str) -> str:
    """A template with the phrases put in; which side it is for shows in its fields."""
    bare = re.sub(r"^an? ", "", lay)
    text = template
    for key, value in {
        "{p}": professional,
        "{P}": professional[0].upper() + professional[1:],
        "{ap}": _article(professional),
        "{a}": with_article(lay),
        "{al}": with_article(lay),
        "{AL}": with_article(lay)[0].upper() + with_article(lay)[1:],
        "{l}": bare,
        "{anl}": with_article(f"new {bare}"),
        "{anp}": _article(f"new {professional}"),
    }.items():
        text = text.replace(key, value)
    return _agree(
        text, bare if any(field in template for field in ("{a}", "{al}", "{l}", "{anl}")) else professional
    )


def _agree(text: str, phrase: str) -> str:
    """Verbs that go with a plural phrase."""
    if not is_plural(phrase):
        return text
    text = re.sub(r"\b([Tt])here is\b", r"\1here are", text)
    text = re.sub(r"\bis (?=the same|worse|better|no longer|unchanged|seen|present|noted|not seen)", "are ", text)
    return re.sub(r"\bhas (?=stayed|gone|been|worsened|improved|resolved)", "have ", text)


def _findings(blocks: Mapping[str, Any]) -> Iterator[Pair]:
    templates = blocks["templates"]
    turn = itertools.count()
    for finding in blocks["finding"]:
        forms, lay = finding["forms"], finding["lay"]
        sides = ("", *SIDES) if "side" in forms else ("",)
        for professional in finding["professional"]:
            degrees: list[tuple[str, str]] = [("", "")]
            for kind in ("size", "grade"):
                if kind in forms:
                    degrees += [
                        (value, word) for value, words in blocks["severity"][kind].items() for word in words
                    ]
            for side, (severity, word) in itertools.product(sides, degrees):
                said = " ".join(part for part in (word, side, professional) if part)
                plain = degree(lay, severity, size=word if word in ("small", "large", "tiny") else "")
                plain = f"{plain} {SIDES[side]}" if side else plain
                yield from _statements(templates, forms, said, plain, next(turn), graded=bool(severity))
                if side or not severity:
                    yield from _changes(templates["change"], forms, said, plain, next(turn), graded=bool(severity))
            if "place" in forms:
                for number, (place, words) in enumerate(blocks["places"].items()):
                    plain = f"{lay} in the {words}"
                    yield from _statements(
                        templates, forms, f"{place} {professional}", plain, number, graded=False
                    )
                    said = f"{professional} in the {place}"
                    yield from _statements(templates, forms, said, plain, number + 1, graded=True)
                    if "change" in forms:
                        for options in templates["change"].values():
                            first, second = options[number % len(options)].split("|")
                            yield Pair(_fill(first, f"{place} {professional}", plain), _fill(second, said, plain))


def _statements(
    templates: Mapping[str, Any], forms: Sequence[str], said: str, plain: str, turn: int, *, graded: bool
) -> Iterator[Pair]:
    """A finding made, denied and left open; templates take turns so that the set stays varied."""
    if "change" in forms:
        yield Pair(f"{said}.", _fill("There is {al}.", said, plain))
        for step in range(2 if not graded else 1):
            table = templates["present"]
            first = table["professional"][(turn + step) % len(table["professional"])]
            text = _agree(first.replace("{a}", _article(said)).replace("{A}", said[0].upper() + said[1:]), said)
            yield Pair(text, _fill(table["lay"][(turn + step + 1) % len(table["lay"])], said, plain))
    for form in ("absent", "uncertain"):
        if form not in forms or (graded and form == "absent"):
            continue
        table = templates[form]
        for step in range(3 if not graded else 1):
            first = table["professional"][(turn + step) % len(table["professional"])]
            second = table["lay"][(turn + step) % len(table["lay"])]
            yield Pair(_fill(first, said, plain), _fill(second, said, plain))


def _changes(
    templates: Mapping[str, Any], forms: Sequence[str], said: str, plain: str, turn: int, *, graded: bool
) -> Iterator[Pair]:
    if "change" not in forms:
        return
    for change, options in templates.items():
        if graded and change != "stable":
            continue
        chosen = options if not graded else [options[turn % len(options)]]
        for option in chosen:
            first, second = option.split("|")
            yield Pair(_fill(first, said, plain), _fill(second, said, plain))


def _devices(blocks: Mapping[str, Any]) -> Iterator[Pair]:
    for device in blocks["device"]:
        for professional in device["professional"]:
            for side in ("", "left", "right") if device.get("sides") else ("",):
                said = f"{side} {professional}".strip()
                plain = f"{device['lay']} {SIDES[side]}" if side else device["lay"]
                for option in blocks["templates"]["device"]["pairs"]:
                    first, second = option.split("|")
                    yield Pair(_fill(first, said, plain), _fill(second, said, plain))


def _normal(blocks: Mapping[str, Any]) -> Iterator[Pair]:
    turn = itertools.count()
    for part in blocks["part"]:
        for professional, ending in itertools.product(part["professional"], part["endings"]):
            be = "are" if is_plural(professional) else "is"
            plain = part["plain"][next(turn) % len(part["plain"])]
            fitting = [
                each
                for each in part["plain"]
                if all((word in each) == (word in ending) for word in ("size", "intact", "clear"))
                and ("middle" in each) == ("midline" in ending)
            ]
            plain = fitting[0] if fitting else plain
            lay = f"The {part['lay']} {plain}."
            yield Pair(f"The {professional} {be} {ending}.", lay)
            yield Pair(f"{professional} {'appear' if be == 'are' else 'appears'} {ending}.", lay)
            yield Pair(f"{professional} {ending}.", lay)
            if ending in ("normal", "clear", "unremarkable"):
                yield Pair(f"{ending} {professional}.", lay)


def _joined(blocks: Mapping[str, Any]) -> Iterator[Pair]:
    """Lists of denials and findings that go together, as reports have them; the writer writes their plain side."""
    absent = [each for each in blocks["finding"] if "absent" in each["forms"]][:12]
    for first, second in itertools.permutations(absent, 2):
        said = f"No {first['professional'][0]} or {second['professional'][0]}."
        yield from _by_the_writer(said)
    for first, second in itertools.permutations(absent[:5], 2):
        one, two = first["professional"][0], second["professional"][0]
        for said in (
            f"The lungs are clear without {one} or {two}.",
            f"There is no evidence of {one} or {two}.",
            f"There is no focal {one}, {two} or pneumonia."
            if "effusion" not in one
            else f"No large {one} or {two}.",
        ):
            yield from _by_the_writer(said)
    for three in itertools.combinations(absent[:10], 3):
        one, two, last = (each["professional"][0] for each in three)
        for said in (f"No {one}, {two} or {last}.", f"There is no {one}, {two}, or {last}."):
            yield from _by_the_writer(said)
    for first, second in blocks["together"]["pairs"]:
        for side in ("", "left ", "right ", "bilateral ") if first in blocks["together"]["sided"] else ("",):
            for said in (f"{side}{first} with {second}.", f"There is {side}{first} and {second}."):
                yield from _by_the_writer(said)


def _by_the_writer(said: str) -> Iterator[Pair]:
    """The sentence with the writer's text; nothing if the writer keeps it."""
    written = write_plain(said[0].upper() + said[1:])
    if not any(each.kept for each in written):
        yield Pair(said, " ".join(each.plain for each in written))


def main() -> None:
    """Write the embedded set anew."""
    lines = [HEADER, *("\t".join(pair) for pair in build_pairs())]
    EMBEDDED.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
