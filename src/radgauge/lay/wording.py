"""Statements in the words of a language: names, places and frames of `words/<language>.toml`; none stands here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from radgauge.lay.language_words import Words
from radgauge.lay.statement import NoPlan, Statement
from radgauge.reader import load_lexicon
from radgauge.text import grammar

HARD_TO_SEE = ("subtle", "faint", "barely perceptible")
"""Words that the lexicon counts as a small degree and that say how well something is seen."""
_SIDES = ("left", "right", "bilateral", "")


def say(statements: Sequence[Statement], words: Words) -> str:
    """The statements as sentences.

    Raises:
        NoPlan: If the language has no words for something.
    """
    sentences: list[str] = []
    at = 0
    while at < len(statements):
        group = [statements[at]]
        while at + len(group) < len(statements) and _goes_with(group[-1], statements[at + len(group)], words):
            group.append(statements[at + len(group)])
        again, otherwise = words["frames"].get("otherwise_again", ""), words["frames"]["otherwise"]
        sentence = _group(group, words)
        if again and sentences and sentences[-1].startswith((otherwise, again)) and sentence.startswith(otherwise):
            sentence = again + sentence.removeprefix(otherwise)
        sentences.append(sentence)
        at += len(group)
    return " ".join(dict.fromkeys(sentences))


def _goes_with(a: Statement, b: Statement, words: Words) -> bool:
    """True if two statements share one sentence: denials, alternatives, parts that are normal alike."""
    if a.kind != b.kind:
        return False
    if a.kind in ("normal", "same"):
        long = words.get("alone", ())
        outlines = a.places[0].endswith("_outline") and b.places[0].endswith("_outline")
        if a.places != b.places and not outlines and (a.places[0] in long or b.places[0] in long):
            return False
        return (a.concept, a.change, a.otherwise, a.roughly) == (b.concept, b.change, b.otherwise, b.roughly)
    if b.joined:
        return True
    return a.status == b.status == "absent" and not _is_state(a, words) and not _is_state(b, words)


def _is_state(statement: Statement, words: Words) -> bool:
    return bool(_entry(statement, words)["kind"] == "state")


def _entry(statement: Statement, words: Words) -> Mapping[str, Any]:
    entry = words["finding"].get(statement.concept)
    if entry is None:
        raise NoPlan(f"no plain name for {statement.concept.replace('_', ' ')}")
    only = entry.get("only")
    if only and only != statement.status:
        raise NoPlan(f"the plain name of {statement.concept.replace('_', ' ')} is for other sentences")
    typed_entry: Mapping[str, Any] = entry
    return typed_entry


def _group(group: Sequence[Statement], words: Words) -> str:
    frames = words["frames"]
    first = group[0]
    if first.kind in ("normal", "same"):
        return _normal(group, words)
    if _is_state(first, words):
        if len(group) > 1:
            raise NoPlan("alternatives that cannot be joined")
        return _state(first, words)
    if any(statement.link for statement in group):
        return _linked(group, words)
    if len(group) > 1 and first.status != "absent":
        group = _clause_last(_one_place(group, words), words)
    named = [_noun_phrase(statement, words, bare=first.status == "absent") for statement in group]
    if first.status == "absent":
        what = _list(_tail_once(named, words), frames["and"], frames)
        lower = first.otherwise or first.roughly
        signs = [words["sign"][quality] for quality in first.qualities if quality in words["sign"]]
        many = _many(first, words) and not any(
            sign.get("article") for sign in signs
        )  # "no sign of spots": one sign
        return _start(first, words) + _framed("absent", many, what, words, lower=lower)
    many = _many(first, words)
    what = _list(_place_once(named, group, words), frames["or"], frames)
    name = f"this_{first.status}" if first.refers and first.status != "present" else first.status
    if len({_many(statement, words) for statement in group}) > 1 and len(set(frames.get(name, ()))) > 1:
        raise NoPlan("alternatives that cannot be joined")
    return _framed(name, many, what, words)


def _tail_once(named: Sequence[str], words: Words) -> list[str]:
    """Denials that all hold "on this picture" say so once."""
    for tail in (str(sign["tail"]) for sign in words["sign"].values() if "tail" in sign):
        if all(name.endswith(tail) for name in named):
            return [*(name.removesuffix(tail) for name in named[:-1]), named[-1]]
    return list(named)


def _linked(group: Sequence[Statement], words: Words) -> str:
    """ "There is no cloudy area in your lungs that would suggest pneumonia."""
    link = words["frames"].get("link")
    if link is None or not group[-1].link or any(statement.link for statement in group[:-1]):
        raise NoPlan("no way to say what is not suggested")
    entry = _entry(group[-1], words)
    meant = entry["name"] if entry["kind"] != "thing" else _with_article(entry["name"], entry, words)
    limits = tuple(quality for quality in group[-1].qualities if quality not in words["sign"])
    if (
        group[-1]._replace(
            qualities=limits, status="", link=False, places=(), concept="", kind="", many=False, said=""
        )
        != _PLAIN
    ):
        raise NoPlan("more than the plain sentence can carry")
    named = [_noun_phrase(statement, words, bare=True) for statement in group[:-1]]
    what = _list(named, words["frames"]["and"], words["frames"]) + link + meant
    return _framed("absent", _many(group[0], words), what, words)


_PLAIN = Statement("", "", status="")


def _one_place(group: Sequence[Statement], words: Words) -> list[Statement]:
    """Alternatives of which one names the place: all of them are there, and the last says it."""
    entries = [_entry(statement, words) for statement in group]
    homes = {(entry["home"], entry["at"]) for entry in entries}
    distinct = {(statement.places, statement.side) for statement in group}
    wheres = [_where(statement, entry, words) for statement, entry in zip(group, entries, strict=True)]
    if len(homes) > 1 or len(distinct) == 1:
        return list(group)
    homely = [_where(e._replace(places=(), side=e.side), x, words) for e, x in zip(group, entries, strict=True)]
    special = [n for n, (where, home) in enumerate(zip(wheres, homely, strict=True)) if where != home]
    if len(special) != 1:
        return list(group)
    located = group[special[0]]
    return [statement._replace(places=located.places, side=located.side) for statement in group]


def _clause_last(group: Sequence[Statement], words: Words) -> list[Statement]:
    """Alternatives of which one has a clause behind its name ("an area that is not fully open"): it stands last.

    Raises:
        NoPlan: If two of them have one.
    """
    long = [statement for statement in group if _entry(statement, words).get("after")]
    if len(long) > 1:
        raise NoPlan("alternatives that cannot be joined")
    return [*(statement for statement in group if statement not in long), *long]


def _place_once(named: Sequence[str], group: Sequence[Statement], words: Words) -> list[str]:
    """Alternatives at one place name it once, at the end."""
    wheres = {_where(statement, _entry(statement, words), words) for statement in group}
    if _entry(group[-1], words).get("after"):  # "scarring or an area at the bottom of ... that": of the area only
        return list(named)
    if len(wheres) != 1 or not (where := next(iter(wheres))):
        return list(named)
    return [*(name.replace(f" {where}", "", 1) for name in named[:-1]), named[-1]]


def _framed(name: str, many: bool, what: str, words: Words, *, lower: bool = False) -> str:
    frame = words["frames"].get(name)
    if frame is None:
        raise NoPlan(f"no way to say {name}")
    text = frame[1 if many else 0].format(what=what)
    return grammar.small(text) if lower else text


def _list(items: Sequence[str], last: str, frames: Mapping[str, Any]) -> str:
    items = list(dict.fromkeys(items))
    return items[0] if len(items) == 1 else frames["comma"].join(items[:-1]) + last + items[-1]


def _many(statement: Statement, words: Words) -> bool:
    kind = _entry(statement, words)["kind"]
    if kind == "many":
        return True
    several = statement.many or statement.quantity not in ("", "one")
    both = statement.side == "bilateral" and statement.status != "absent"
    return kind == "thing" and (several or both) and not (statement.many and statement.status == "absent")


def _noun_phrase(statement: Statement, words: Words, *, bare: bool) -> str:
    entry = _entry(statement, words)
    kind, many = entry["kind"], _many(statement, words)
    name = _name(statement, entry, words, many=many and kind == "thing")
    sign: Mapping[str, Any] = {}
    before = []
    for quality in statement.qualities:
        if bare and quality == "confluent":
            raise NoPlan("a denial that says less without its describing word")
        if quality in words.get("behind", {}) or (
            bare and quality == "evidence" and "evidence" not in words["sign"]
        ):
            continue
        if quality in words["sign"] and bare:
            sign = words["sign"][quality]
            continue
        word = words["quality"].get(quality)
        if word is None:
            raise NoPlan(f"no plain word for {quality!r}")
        if word and word[:5] not in name:
            before.append(word)
    if len(before) > 1:
        raise NoPlan("several describing words")
    if entry.get("bare") and before:
        raise NoPlan("a description that the plain name cannot carry")
    quantity = ""
    if statement.quantity:
        quantity = words["quantity"].get(statement.quantity, "")
        if not quantity or kind not in ("thing", "many"):
            raise NoPlan(f"no plain word for {statement.quantity!r}")
    change = str(words["change_before"].get(statement.change, ""))
    degree = _degree(statement, entry, words, denied=bare and not sign.get("article"))
    behind = words["order"]["degree"] == "behind"
    front = "" if behind else degree
    leading = (front, change) if kind == "amount" else (change, front)
    phrase = "".join((quantity, *leading, *(f"{word} " for word in before), name))
    one = kind == "thing" and not many
    if one and (not bare or sign.get("article")):
        phrase = _with_article(phrase, entry, words)
    phrase = sign.get("text", "") + phrase
    if bare:
        phrase = str(sign.get("denied") or _denied(entry, many, words)) + phrase
    tail = (degree if behind else "") + (str(sign.get("tail", "")) if bare else _tail(statement, words, many=many))
    levels = "".join(words["behind"][limit] for limit in statement.qualities if limit in words.get("behind", {}))
    after = entry.get("after", "")
    after = (after if isinstance(after, str) else after[1 if many else 0]) + levels
    return " ".join(filter(None, (phrase, _where(statement, entry, words)))) + after + tail


def _name(statement: Statement, entry: Mapping[str, Any], words: Words, *, many: bool) -> str:
    """The plain name, as close as the report's own, with only those terms in brackets that the report has."""
    name = str(entry["name"])
    if many:
        name = entry.get("names") or (grammar.plural(name) if words["article"]["thing"] == "sound" else "")
        if not name:
            raise NoPlan("no plural")
    else:
        name_at = entry.get("name_at", {})
        name = next((str(name_at[location]) for location in statement.places if location in name_at), name)
        name = next(
            (str(closer) for pattern, closer in entry.get("named", ()) if re.search(pattern, statement.said)), name
        )
    return _terms_said(name, statement, words)


def _terms_said(name: str, statement: Statement, words: Words) -> str:
    """ "Curve (scoliosis)" of a report that says curvature is a curve."""

    def keep_term(bracket: re.Match[str]) -> str:
        stem = words.get("terms", {}).get(bracket[1])
        return "" if stem and statement.said and not re.search(stem, statement.said) else bracket[0]

    return re.sub(r" \(([^()]+)\)", keep_term, name)


def _denied(entry: Mapping[str, Any], many: bool, words: Words) -> str:
    word = words["article"]["denied"]
    return str(word if isinstance(word, str) else word["many" if many else entry["gender"]])


def _with_article(phrase: str, entry: Mapping[str, Any], words: Words) -> str:
    article = words["article"]["thing"]
    if article == "sound":
        return f"an{phrase}" if phrase.startswith("other ") else f"{grammar.article(phrase)} {phrase}"
    return f"{article[entry['gender']]} {phrase}"


def _degree(statement: Statement, entry: Mapping[str, Any], words: Words, *, denied: bool = False) -> str:
    if not statement.severity:
        return ""
    kind = entry.get("degrees") or entry["kind"]
    tables = words["degree"]
    if entry.get("bare") and kind in ("grade", "thing") and statement.severity:
        kind = "grade"
    sizes = tables.get("size", {})
    if statement.size_word in tables.get("hidden", {}):
        if entry.get("home") != "lung" or kind not in ("thing", "grade", "extent") or denied:
            raise NoPlan("hard to see, which is no degree")
        return str(tables["hidden"][statement.size_word])
    if statement.size_word in HARD_TO_SEE:
        raise NoPlan("hard to see, which is no degree")
    if kind == "many" and statement.size_word not in sizes:
        raise NoPlan("a degree of something that has none")
    if kind in ("thing", "many") and statement.size_word in sizes:
        return str(sizes[statement.size_word])
    if kind in ("thing", "grade") and statement.size_word in tables.get("word", {}):
        return str(tables["word"][statement.size_word])
    if " to " in statement.size_word:
        if kind != "amount" or denied or statement.size_word not in tables.get("amounts", {}):
            raise NoPlan(f"a degree between two: {statement.size_word}")
        return str(tables["amounts"][statement.size_word])
    if denied and words["order"]["degree"] == "behind":
        raise NoPlan("a degree of something that is denied")
    if denied and kind == "amount":
        kind = "amount_denied"
    return str(tables[kind][statement.severity])


def _tail(statement: Statement, words: Words, *, many: bool = False) -> str:
    tail = ""
    if statement.sizes_mm:
        tail += words["size"]["tail"].format(size=_measure(statement.sizes_mm, words))
    if statement.change and statement.change not in words["change_before"]:
        if statement.change not in words["change"]:
            raise NoPlan(f"no way to say {statement.change}")
        phrase = words["change"][statement.change]
        tail += phrase if isinstance(phrase, str) else phrase[1 if many else 0]
    return tail


def _measure(sizes: Sequence[float], words: Words) -> str:
    unit, factor = ("cm", 0.1) if max(sizes) >= 10 else ("mm", 1.0)
    point = words["size"].get("point", ".")
    return " x ".join(f"{size * factor:g}".replace(".", point) for size in sizes) + f" {unit}"


def _where(statement: Statement, entry: Mapping[str, Any], words: Words) -> str:
    """Location of a finding; its own home if the report says no more than that."""
    lexicon, location_words = load_lexicon(), words["place"]
    home = entry["home"]
    implied = lexicon[statement.concept].location if statement.concept in lexicon else ()
    inner = (home, *entry.get("names_place", ()), *entry.get("name_at", ()))
    outer = {"pleural_space", "airspace", "pleura", "lung"} if home == "lung" else set()
    locations = [location for location in statement.places if location not in inner and location not in outer]
    locations = [
        location
        for location in locations
        if location not in implied or ((home != "body" or entry.get("anywhere")) and location in location_words)
    ]
    locations = [
        location
        for location in locations
        if not any(location != other and _is_inside(other, location) for other in locations)
    ] or [home]
    if home == "body" and locations != [home] and not entry.get("anywhere"):
        raise NoPlan(f"a place that the plain name cannot carry: {locations[0].replace('_', ' ')}")
    if len(locations) > 1:
        raise NoPlan("several places")
    if locations[0] not in location_words or entry["at"] not in location_words[locations[0]]:
        raise NoPlan(f"no plain word for the place {locations[0].replace('_', ' ')}")
    if home != "body" and home != locations[0] and not _is_inside(locations[0], home):
        raise NoPlan(f"an unexpected place: {locations[0].replace('_', ' ')}")
    if locations == [home] and not statement.side and (entry.get("home_silent") or statement.refers):
        return ""
    forms = location_words[locations[0]][entry["at"]]
    side = statement.side if statement.side in _SIDES else None
    if entry.get("any_side") and side == "bilateral":
        side = ""
    if statement.status == "absent" and side == "bilateral":
        side = ""
    if side is None:
        raise NoPlan(f"no plain word for the side {statement.side}")
    form = str(forms[_SIDES.index(side)])
    if not form and (side or locations[0] not in ("body", "rib")):
        raise NoPlan("a side that the plain words cannot carry")
    return form


def _is_inside(location: str, home: str) -> bool:
    lexicon = load_lexicon()
    if home == "thorax" or location == home:
        return True
    if location not in lexicon or home not in lexicon:
        return False
    lungs = ("lung", "pleural_space")
    part = lexicon.ancestors(location)
    return (
        home in part
        or (
            home in lungs
            and ("lung" in part or location.endswith(("_lobe", "_zone", "_region")) or location in _LUNG)
        )
        or (home == "spine" and location.endswith("_spine"))
    )


_LUNG = frozenset({"lung_base", "lung_apex", "lingula", "hilum"})


def _state(statement: Statement, words: Words) -> str:
    entry = _entry(statement, words)
    if (
        statement.refers
        or statement.quantity
        or statement.sizes_mm
        or statement.change in ("new", "increased", "decreased")
    ):
        raise NoPlan("more than the plain sentence can carry")
    limit = next((quality for quality in statement.qualities if f"state_absent_{quality}" in words["frames"]), "")
    if any(
        words["quality"].get(quality, None) != ""
        for quality in statement.qualities
        if quality not in (limit, "evidence")
    ):
        raise NoPlan("a description that the plain sentence cannot carry")
    subject = entry["subject"]
    lexicon, named = load_lexicon(), entry.get("subject_at", {})
    implied = lexicon[statement.concept].location if statement.concept in lexicon else ()
    closer = [
        location for location in statement.places if location not in (*implied, *entry.get("names_place", ()))
    ]
    if closer:
        if len(closer) > 1 or closer[0] not in named:
            raise NoPlan(f"a place that the plain sentence cannot carry: {closer[0].replace('_', ' ')}")
        subject = named[closer[0]]
    if "subjects" in entry:
        subject = entry["subjects"][_SIDES.index(statement.side)] if statement.side in _SIDES else ""
    if (statement.side in ("left", "right") and "subjects" not in entry) or not subject:
        raise NoPlan("a side that the plain sentence cannot carry")
    frame = words["frames"].get(f"state_{statement.status}" + (f"_{limit}" if limit else ""))
    if frame is None:
        raise NoPlan(f"no way to say {statement.status}")
    degree = _degree(statement, entry, words)
    template = entry.get("is_degree", entry["is"]) if degree else entry["is"]
    if degree and "{degree}" not in template:
        raise NoPlan("a degree that the plain sentence cannot carry")
    what = _terms_said(template.format(degree=degree), statement, words) + _tail(statement, words)
    sentence = frame[1 if entry.get("many") else 0].format(subject=subject, what=what)
    start = "" if limit == "visible" else _start(statement, words)
    return grammar.capital(start + sentence)


def _normal(group: Sequence[Statement], words: Words) -> str:
    names, several = [], len(group) > 1
    for statement in group:
        part = words["part"].get(statement.places[0])
        if part is None:
            raise NoPlan(f"no plain name for the part {statement.places[0].replace('_', ' ')}")
        side = statement.side if statement.side in ("left", "right") else ""
        if side and side not in part:
            raise NoPlan("a side that the plain name cannot carry")
        names.append(part[side] if side else part["name"])
        several = several or (bool(part.get("many")) and not side)
    frames, first = words["frames"], group[0]
    frame = frames.get(_NORMAL.get(first.concept, ""))
    if frame is None:
        raise NoPlan(f"no way to say {first.concept.replace('_', ' ')}")
    subject = _list(names, frames["and"], frames)
    several = several and not (len(set(names)) == 1 and not words["part"][first.places[0]].get("many"))
    sentence = frame[1 if several else 0].format(subject=subject)
    if first.suffix:
        if first.suffix not in words.get("suffix", {}):
            raise NoPlan("a reservation that has no words")
        sentence = sentence.rstrip(".") + words["suffix"][first.suffix] + "."
    if first.change:
        sentence = sentence.rstrip(".") + words["change"][first.change] + "."
    return grammar.capital(_start(first, words) + sentence)


_NORMAL = {
    "normal": "normal",
    "within_normal_limits": "normal",
    "unremarkable": "normal",
    "size": "normal_size",
    "size and shape": "normal_size_shape",
    "size and look": "normal_size_look",
    "clear": "clear",
    "clear and well": "clear_well",
    "well_expanded": "well",
    "intact": "intact",
    "age_appropriate": "normal_for_age",
    "midline": "midline",
    "stable": "same",
    "stable size": "same_size",
}


def _start(statement: Statement, words: Words) -> str:
    frames = words["frames"]
    roughly = str(frames["roughly"]) if statement.roughly else ""
    if roughly and statement.otherwise and "otherwise_roughly" in frames:
        return str(frames["otherwise_roughly"])
    return str(frames["otherwise"]) + grammar.small(roughly) if statement.otherwise else roughly
