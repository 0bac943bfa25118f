"""What a professional sentence states, made ready to be said in any language; or why it cannot be.

The report reader says what stands in the sentence; a plan is only made if every word of it is accounted for, every
part and every describing word has its place in a statement, and the doubt is worded in a way that is known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from radgauge.parsing import shipped_toml
from radgauge.report_reader import Mention, Modifier, ReportReading, load_lexicon
from radgauge.report_reader.lexicon import FINDING_KINDS

_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*|\d+(?:\.\d+)?")
_MASK = re.compile(r"[Xx]{3,}|_{2,}")
_JOINED = re.compile(r"^[\s,]*(?:and/or|or|versus|vs\.?|and)?[\s,]*(?:a|an|the)?\s*$", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"\b(?:or|versus|vs|and/or)\b", re.IGNORECASE)
_WEAK = re.compile(r"typical|definite|obvious|convincing|overt", re.IGNORECASE)
_SUFFIXES = {
    "age": re.compile(r"\bfor (?:the )?(?:patient'?s? |stated )?age\b"),
    "technique": re.compile(r"\bfor (?:(?:supine|portable|ap|the) )*(?:technique|projection|positioning)\b"),
}
_LIMITING = re.compile(
    r"\b(?:non-?calcified|non-?displaced|displaced|acute|old|chronic|healed|significant|early|overt|frank|gross|"
    r"dominant|discrete|loculated|tension|confluent|active|recurrent|residual|resolving|healing|lobar|segmental|lobular|"
    r"unfold(?:ed|ing)|uncoil(?:ed|ing))\b",
    re.IGNORECASE,
)
_UNIT = frozenset({"mm", "cm", "x", "by", "measuring", "measures", "approximately", "about"})
_QUIET_PARTS = frozenset({"size", "contour", "appearance", "silhouette", "area of", "region of"})
_SUSPICIOUS = re.compile(r"\bsuspicious\s+(?:focal |pulmonary |appearing )?$", re.IGNORECASE)
_QUIET_QUANTITIES = frozenset({"associated", "other", "also", "overall", "grossly", "apparent", "visible"})
REACH = 300
"""Characters before a finding in which its denial is looked for, so that time grows with the text."""
_DENIES = re.compile(r"\b(?:no|not|without|nor|negative for|free of|absence of)\b", re.IGNORECASE)
_LIMITS = {  # how far a denial or a normal part was seen
    "radiographic": re.compile(r"\bradiographic(?:ally)?\b", re.IGNORECASE),
    "visible": re.compile(r"\b(?:visible|visuali[sz]ed|imaged)\b", re.IGNORECASE),
    "evidence": re.compile(r"\b(?:evidence|signs?|suggestion|indication)\b", re.IGNORECASE),
}
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
_HEALED = re.compile(r"heal|\bold\b|chronic|remote", re.IGNORECASE)
_ASIDE = re.compile(  # a possible finding of its own: "cardiomegaly, question effusion", "A and possible B"
    r"\b(?:possible|probable|question(?:able)?(?: of)?|suspect(?:ed)?|maybe|perhaps|suspicion (?:for|of)|"
    r"not excluded|(?:cannot|can not) (?:be )?(?:excluded?|ruled? out))$|"
    r"\b(?:and|with)\s+(?:an?\s+)?(?:(?:most |more )?(?:likely|probabl[ey]|possibl[ey])|presumed)$",
    re.IGNORECASE,
)
_ADVERB = re.compile(r"\b(?:likely|probably|possibly|presum(?:ed|ably))$", re.IGNORECASE)
_LIMBS = re.compile(
    r"\b(?:shoulders?|clavic\w+|humer(?:us|al)|elbows?|forearms?|wrists?|hands?|fingers?|pelvi[sc]|hips?|femurs?|"
    r"femoral|knees?|tibia\w*|ankles?|foot|feet|scapula\w*|abdom\w+|kub)\b",
    re.IGNORECASE,
)
_BROKEN = frozenset({"fracture", "dislocation", "healed_fracture", "acute_osseous_abnormality"})
_CLOUDY = frozenset({"infiltrate", "airspace_disease", "airspace_opacity", "lung_opacity"})  # alike in plain words


class Statement(NamedTuple):
    """One thing to be said.

    Attributes:
        kind: finding | normal | same.
        concept: Id of the finding, or how a part is normal.
        status: present | absent | possible | probable | fits | concern.
        severity: trace | mild | moderate | severe | "".
        size_word: The report's own word of size ("small"), "" if it used another.
        side: left | right | bilateral | "".
        places: Ids of anatomy.
        change: new | increased | decreased | stable | "".
        qualities: Describing words in normal form.
        quantity: multiple, two, ..., or "".
        many: Whether the report speaks of several.
        sizes_mm: Measurements.
        refers: Whether it says what the statement before it may be.
        joined: Whether it is an alternative to the statement before it ("or").
        otherwise: Whether it excepts what was described ("otherwise clear").
        roughly: Whether it holds as far as can be seen ("grossly").
        suffix: What a normal part is normal for: age | technique | "".
        link: Whether it is what the absence before it would speak for ("no opacity to suggest pneumonia").
    """

    kind: str
    concept: str
    status: str = "present"
    severity: str = ""
    size_word: str = ""
    side: str = ""
    places: tuple[str, ...] = ()
    change: str = ""
    qualities: tuple[str, ...] = ()
    quantity: str = ""
    many: bool = False
    sizes_mm: tuple[float, ...] = ()
    refers: bool = False
    joined: bool = False
    otherwise: bool = False
    roughly: bool = False
    suffix: str = ""
    link: bool = False


class NoPlan(Exception):
    """Why a sentence cannot be written anew."""


class _Knowledge(NamedTuple):
    empty: frozenset[str]
    refuse: re.Pattern[str]
    hedges: Mapping[str, re.Pattern[str]]
    links: frozenset[str]
    comparing: frozenset[str]


@lru_cache(maxsize=1)
def _knowledge() -> _Knowledge:
    table = shipped_toml(__file__, "professional.toml")
    hedges = {
        name: re.compile(r"\b(?:" + "|".join(table["hedge"][name]) + r")\b", re.IGNORECASE)
        for name in ("possible", "probable", "concern", "fits")
    }
    return _Knowledge(
        frozenset(table["words"]["empty"]),
        re.compile(r"\b(?:" + "|".join(map(re.escape, table["words"]["refuse"])) + r")\b", re.IGNORECASE),
        hedges,
        frozenset(word for link in table["hedge"]["links"] for word in link.split()),
        frozenset(table["words"]["comparing"]),
    )


def plan_sentence(reading: ReportReading, number: int) -> list[Statement]:
    """The statements of a sentence of a report, in their order.

    Raises:
        NoPlan: If anything in the sentence would be lost or guessed.
    """
    start, end, _ = reading.sentences[number]
    text = reading.text[start:end]
    if _MASK.search(text):
        raise NoPlan("a word of the report is missing")
    mine = [i for i, m in enumerate(reading.mentions) if m.sentence == number and m.form != "implied"]
    modifiers = [m for m in reading.modifiers if start <= m.start < end]
    if re.search(r"[A-Za-z]/[A-Za-z]", text):
        raise NoPlan("a slash can mean and, or, both")
    refused = _knowledge().refuse.search(_without_normal_limits(text))
    if refused:
        raise NoPlan(f"the sentence says more than its findings: {refused[0]!r}")
    _stop_at_run_on(reading, mine, end)
    hedges = _hedges(reading, mine, (start, end))
    _account_for_words(reading, mine, modifiers, (start, end), hedges)
    planned = _statements(reading, mine, modifiers, (start, end), hedges)
    if not planned:
        raise NoPlan("nothing was read in the sentence")
    return planned


def _without_normal_limits(text: str) -> str:
    return re.sub(r"within (?:the )?normal limits", "normal", text, flags=re.IGNORECASE)


def _stop_at_run_on(reading: ReportReading, mine: Sequence[int], end: int) -> None:
    """ "No pneumothorax the lungs are hyperinflated": a denial does not reach the next subject with its verb.

    Raises:
        NoPlan: If a clause of its own follows a denied finding without a stop.
    """
    mentions = [reading.mentions[i] for i in mine]
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


def _hedges(reading: ReportReading, mine: Sequence[int], span: tuple[int, int]) -> dict[int, tuple[str, int, int]]:
    """Doubt by mention: its kind and where it stands, before the mention and behind the finding in front of it."""
    found: dict[int, tuple[str, int, int]] = {}
    findings = [i for i in mine if reading.mentions[i].kind in FINDING_KINDS]
    at = span[0]
    for index in findings:
        mention = reading.mentions[index]
        window = reading.text[at : mention.start]
        for name, pattern in _knowledge().hedges.items():
            match = pattern.search(window)
            if match and index not in found:
                found[index] = (name, at + match.start(), at + match.end())
        at = mention.end
    if findings and re.search(
        r"\b(?:is|are) (?:possible|suspected|questioned)|(?:cannot|can not|not) (?:be )?(?:excluded|ruled out)",
        reading.text[at : span[1]],
    ):
        raise NoPlan("doubt behind a finding")
    return found


def _account_for_words(
    reading: ReportReading,
    mine: Sequence[int],
    modifiers: Sequence[Modifier],
    span: tuple[int, int],
    hedges: Mapping[int, tuple[str, int, int]],
) -> None:
    spans = [(reading.mentions[i].start, reading.mentions[i].end) for i in mine]
    spans += [(m.start, m.end) for m in modifiers]
    cues = {word for i in mine for word in re.findall(r"[a-z']+", reading.mentions[i].attributes.cue.lower())}
    sizes = [size for i in mine for size in reading.mentions[i].attributes.sizes_mm]
    known = _knowledge()
    compared = any(m.role == "change" for m in modifiers)
    lowered = reading.text[slice(*span)].lower()
    suffixes = [m.span() for p in _SUFFIXES.values() for m in p.finditer(lowered)]
    clips = all(
        reading.mentions[i].concept.endswith("clips") for i in mine if reading.mentions[i].kind in FINDING_KINDS
    )
    for word in _WORD.finditer(reading.text, *span):
        said = word[0].lower()
        if any(start <= word.start() - span[0] < end for start, end in suffixes):
            continue
        if clips and said in ("overlying", "overlie", "projecting", "over", "project"):
            continue
        if any(start <= word.start() < end for start, end in spans) or said in known.empty:
            continue
        if any(start <= word.start() < end for _, start, end in hedges.values()):
            continue
        if said in known.links and any(end <= word.start() < end + 25 for _, _, end in hedges.values()):
            continue
        if compared and said in known.comparing:
            continue
        if sizes and (said in _UNIT or _is_size(said, sizes)):
            continue
        if said == "suspicious" and any(
            _SUSPICIOUS.search(reading.text[span[0] : reading.mentions[i].start])
            and reading.mentions[i].assertion == "absent"
            for i in mine
        ):
            continue
        if said in cues and said not in ("or", "versus") and not _is_hedge(said):
            continue
        raise NoPlan(f"not understood: {word[0]!r}")
    for each in modifiers:
        if each.mention < 0 and not (each.value in _QUIET_PARTS or each.value in _QUIET_QUANTITIES):
            raise NoPlan(f"belongs to nothing: {reading.text[each.start : each.end]!r}")


def _is_hedge(word: str) -> bool:
    return any(pattern.search(word) for pattern in _knowledge().hedges.values())


def _is_size(word: str, sizes: Sequence[float]) -> bool:
    return word[0].isdigit() and any(abs(float(word) * unit - size) < 0.01 for size in sizes for unit in (1, 10))


def _statements(
    reading: ReportReading,
    mine: Sequence[int],
    modifiers: Sequence[Modifier],
    span: tuple[int, int],
    hedges: Mapping[int, tuple[str, int, int]],
) -> list[Statement]:
    planned: list[Statement] = []
    used: set[int] = set()
    lowered = reading.text[span[0] : span[1]].lower()
    otherwise = "otherwise" in lowered
    roughly = "grossly" in lowered or _LIMITS["visible"].search(lowered) is not None
    suffix = next((name for name, pattern in _SUFFIXES.items() if pattern.search(lowered)), "")
    previous: Mention | None = None
    for index in mine:
        mention = reading.mentions[index]
        if mention.kind == "open" or mention.attributes.context != "current":
            raise NoPlan(f"not in the lexicon or not about today: {mention.text!r}")
        described = [m for m in modifiers if m.mention == index]
        targets = [r.target for r in reading.relations if r.source == index and r.type == "located_at"]
        if mention.kind in FINDING_KINDS:
            statement = _finding(reading, index, described, targets, modifiers, hedges)
            between = reading.text[previous.end : mention.start] if previous is not None else ""
            joined = bool(
                previous is not None
                and _ALTERNATIVE.search(between)
                and _JOINED.match(_bare(between, described, reading))
            )
            if joined and statement.status == "alternative":
                before = planned[-1]
                statement = statement._replace(status=before.status, joined=True, refers=before.refers)
            elif statement.status == "alternative":
                follows = _next_joined(reading, mine, index)
                if not follows:
                    raise NoPlan("an alternative to something that was not read")
                hedged = index in hedges
                status = hedges[index][0] if hedged else "present" if follows == "or" else "possible"
                statement = statement._replace(status=status)
            made = [s for s in planned if s.kind == "finding" and s.status == "present"]
            if made and not statement.joined and index in hedges and _is_aside(reading, hedges[index], span[0]):
                pass
            elif made and statement.status in hedges_that_refer:
                if index in hedges and _ADVERB.search(reading.text[hedges[index][1] : hedges[index][2]]):
                    _stop_unless_near(statement.concept, made[-1].concept)
                statement = statement._replace(refers=not statement.joined or statement.refers)
            elif re.match(r"\s*(?:this|these|which)\b", lowered) and statement.status in hedges_that_refer:
                statement = statement._replace(refers=True)
            if statement.refers and statement.concept in _CLOUDY and any(s.concept in _CLOUDY for s in made):
                raise NoPlan("what it may be has the same plain name")
            if statement.status == "absent" and index in hedges:
                linked = planned and planned[-1].kind == "finding" and planned[-1].status == "absent"
                if not linked or not re.fullmatch(r"\s*to suggest (?:an? )?(?:\w+ )?", between):
                    raise NoPlan("a denial in doubt")
                statement = statement._replace(link=True)
            if previous is not None and planned and planned[-1].kind == "finding":
                statement = _shared(statement, planned[-1], between, mention, previous)
            planned.append(statement._replace(otherwise=otherwise and statement.status == "absent"))
            previous = mention
        elif mention.kind == "normality":
            if mention.assertion != "present":
                raise NoPlan("normality that is denied")
            if not targets:
                targets = [i for i in mine if reading.mentions[i].kind == "anatomy"]
            if any(
                m.role != "change"
                and (
                    m.role not in ("quantity", "side", "part")
                    or m.value not in (*_QUIET_QUANTITIES, *_QUIET_PARTS, "left", "right", "bilateral")
                )
                for m in described
            ):
                raise NoPlan(f"normality that is described further: {mention.text!r}")
            if not targets:
                raise NoPlan("normality of nothing that was read")
            for target in targets:
                part = reading.mentions[target]
                sized = "size" in part.text.lower() or "size" in mention.text.lower()
                sized = sized or (len(targets) == 1 and re.search(r"\bsize\b", lowered) is not None)
                how = "size" if sized and mention.concept != "clear" else mention.concept
                near = lowered if len(targets) == 1 else reading.text[part.start : part.end + 15].lower()
                shaped = r"contour|shape|configuration"
                if how == "size" and re.search(shaped if len(targets) == 1 else rf"size,? and (?:{shaped})", near):
                    how = "size and shape"
                if how == "clear" and re.search(r"expanded|inflated|aerated", mention.text.lower()):
                    how = "clear and well"
                changes = {m.value for m in modifiers if m.role == "change"}
                if changes - {"stable"}:
                    raise NoPlan("a change of something normal")
                planned.append(
                    Statement(
                        "normal",
                        how,
                        side=part.attributes.laterality,
                        places=(part.concept,),
                        otherwise=otherwise,
                        roughly=roughly,
                        suffix="" if how == "age_appropriate" else suffix,
                        change="stable" if changes else "",
                    )
                )
                if any(m.mention == target and m.role in ("position", "quality", "severity") for m in modifiers):
                    raise NoPlan("a part that is described further")
        else:
            continue
        used.update(targets)
    places = [i for i in mine if reading.mentions[i].kind == "anatomy" and i not in used]
    if suffix and not all(s.kind == "normal" for s in planned):
        raise NoPlan("a reservation that the plain sentence cannot carry")
    if planned and all("lung" in _around(s.concept) for s in planned if s.kind == "finding"):
        places = [
            i
            for i in places
            if reading.mentions[i].concept != "lung"
            or reading.mentions[i].attributes.laterality in ("left", "right")
        ]
    volumes = {"low_lung_volumes", "hyperinflation"} & {s.concept for s in planned}
    places = [i for i in places if not (volumes and reading.mentions[i].concept == "lung_volumes")]
    stable = any(reading.mentions[i].attributes.change == "stable" for i in places)
    for index in places:
        mention = reading.mentions[index]
        if (
            planned
            or not stable
            or mention.attributes.change not in ("", "stable")
            or any(m.mention == index and m.role not in ("change", "part", "side", "quantity") for m in modifiers)
        ):
            raise NoPlan(f"a part that no statement takes up: {mention.text!r}")
    for index in places:
        mention = reading.mentions[index]
        near = lowered if len(places) == 1 else reading.text[mention.start : mention.end + 5].lower()
        shape = len(places) == 1 and re.search(r"contour|shape|configuration", lowered)
        how = "stable size" if re.search(r"\bsize\b", near) and not shape else "stable"
        planned.append(Statement("same", how, side=mention.attributes.laterality, places=(mention.concept,)))
    return planned


def _shared(
    statement: Statement, before: Statement, between: str, mention: Mention, previous: Mention
) -> Statement:
    """What stands once before a list holds for all of it: "no definite A or B", "stable A and B"."""
    anew = re.search(r"\b(?:no|without|with|but)\b", between, re.IGNORECASE)
    denied = statement.status == before.status == "absent" and not anew
    limits = [each for each in ("definite", "suspicious", *_LIMITS) if each in before.qualities]
    if denied:
        more = tuple(each for each in limits if each not in statement.qualities)
        statement = statement._replace(qualities=(*statement.qualities, *more))
    listed = re.fullmatch(r"(?:[\s,]|and|\w+ ){1,6}", between) and re.search(r"\band\b|,", between)
    made = statement.status == before.status == "present" and not anew
    if made and before.change == "stable" and not statement.change and listed:
        statement = statement._replace(change="stable")
    return statement


def _is_aside(reading: ReportReading, hedge: tuple[str, int, int], start: int) -> bool:
    return _ASIDE.search(reading.text[max(start, hedge[1] - REACH) : hedge[2]]) is not None


def _stop_unless_near(concept: str, before: str) -> None:
    """ "Cardiomegaly, likely effusion": whether the one is what the other is, is not said."""
    here, there = _around(concept), _around(before)
    if here and there and not here & there:
        raise NoPlan("two findings, or one that explains the other")


def _around(concept: str) -> frozenset[str]:
    lexicon = load_lexicon()
    places = lexicon[concept].location if concept in lexicon else ()
    return frozenset("lung" if place in ("lung", "pleural_space", "airspace") else place for place in places)


hedges_that_refer = frozenset({"possible", "probable", "fits", "concern"})


def _bare(between: str, described: Sequence[Modifier], reading: ReportReading) -> str:
    for each in described:
        between = between.replace(reading.text[each.start : each.end], " ")
    return re.sub(r"\s+", " ", between)


def _next_joined(reading: ReportReading, mine: Sequence[int], index: int) -> str:
    """The word that joins a finding to its alternative; "" if there is none."""
    later = [i for i in mine if i > index and reading.mentions[i].kind in FINDING_KINDS]
    if not later:
        return ""
    between = reading.text[reading.mentions[index].end : reading.mentions[later[0]].start]
    word = _ALTERNATIVE.search(between)
    return word[0].lower() if word is not None and len(between.split()) <= 4 else ""


def _finding(
    reading: ReportReading,
    index: int,
    described: Sequence[Modifier],
    targets: Sequence[int],
    modifiers: Sequence[Modifier],
    hedges: Mapping[int, tuple[str, int, int]],
) -> Statement:
    mention = reading.mentions[index]
    said = mention.attributes
    parts = [m for m in modifiers if m.mention in targets]
    for each in (*described, *parts):
        if each.role == "position" and not mention.start <= each.start < mention.end:
            raise NoPlan(f"a place told more closely: {reading.text[each.start : each.end]!r}")
    outside = {m.role for m in described if not mention.start <= m.start < mention.end}
    severity = said.severity if "severity" in outside or any(m.role == "severity" for m in described) else ""
    if said.severity and not severity:
        raise NoPlan("a degree that was not found in the text")
    words = [reading.text[m.start : m.end].lower() for m in described if m.role == "severity"]
    change = said.change if "change" in outside else ""
    if change == "resolved":
        raise NoPlan("something that is gone")
    qualities = tuple(
        m.value for m in described if m.role == "quality" and not mention.start <= m.start < mention.end
    )
    name = load_lexicon()[mention.concept].name.lower() if mention.concept in load_lexicon() else ""
    limits = [word.lower() for word in _LIMITING.findall(mention.text) if word.lower() not in name]
    if not mention.concept.startswith("acute"):
        qualities = (*qualities, *(word for word in limits if word not in qualities))
    if mention.assertion == "absent" and _SUSPICIOUS.search(reading.text[: mention.start]):
        qualities = (*qualities, "suspicious")
    if "suspicious" in mention.text.lower():
        raise NoPlan(f"not told closely enough: {mention.text!r}")
    if mention.assertion == "absent" and _WEAK.search(said.cue) and "definite" not in qualities:
        qualities = (*qualities, "definite")
    if change == "new" and _HEALED.search(" ".join((mention.text, name, *qualities))):
        raise NoPlan("new and old at once")
    if mention.assertion == "absent":
        if mention.concept in _BROKEN and not targets and _LIMBS.search(reading.text):
            raise NoPlan("a denial of which the report does not say how far it reaches")
        if not {"definite", "significant"} & set(qualities):
            lead = reading.text[max(reading.sentences[mention.sentence][0], mention.start - REACH) : mention.end]
            no = list(_DENIES.finditer(lead))
            window = lead[no[-1].start() if no else 0 :]
            limit = next((limit for limit, pattern in _LIMITS.items() if pattern.search(window)), "")
            qualities = (*qualities, limit) if limit else qualities
    quantity = [m.value for m in described if m.role == "quantity" and m.value not in _QUIET_QUANTITIES]
    if len(quantity) > 1:
        raise NoPlan("several words of number")
    return Statement(
        "finding",
        mention.concept,
        status=_status(mention, index, hedges),
        severity=severity,
        size_word=words[0] if words else "",
        side=said.laterality or _bend(mention),
        places=tuple(dict.fromkeys((*said.locations, *(reading.mentions[i].concept for i in targets)))),
        change=change,
        qualities=qualities,
        quantity=quantity[0] if quantity else "",
        many=_is_many(mention),
        sizes_mm=said.sizes_mm,
    )


def _bend(mention: Mention) -> str:
    """The side to which a spine bends, from the name of the curve."""
    text = mention.text.lower()
    return "right" if "dextro" in text else "left" if "levo" in text else ""


def _is_many(mention: Mention) -> bool:
    from radgauge.text.grammar import is_plural

    last = mention.text.lower().rpartition(" ")[2]
    return is_plural(last) and last not in ("changes", "volumes", "markings")


def _status(mention: Mention, index: int, hedges: Mapping[int, tuple[str, int, int]]) -> str:
    hedge = hedges.get(index)
    if mention.assertion == "absent":
        if hedge is not None and hedge[0] != "fits":
            raise NoPlan("a denial in doubt")
        return "absent"
    cue = mention.attributes.cue.lower()
    if hedge is not None and cue in ("or", "versus", "and/or", "vs"):
        return hedge[0]
    if mention.assertion == "uncertain" and cue in ("or", "versus", "and/or", "vs"):
        return "alternative"
    if mention.assertion == "uncertain" and hedge is None:
        return "alternative"
    if hedge is None:
        return "present"
    if mention.assertion == "present" and hedge[0] in ("possible", "concern"):
        raise NoPlan("a doubt that the reader did not see")
    return hedge[0]


def known_places() -> frozenset[str]:
    """Ids of anatomy in the lexicon."""
    return frozenset(concept.id for concept in load_lexicon() if concept.kind == "anatomy")
