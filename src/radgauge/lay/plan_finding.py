"""One finding of a sentence as a statement: degree, change, qualities, number, status; or why it cannot be."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from radgauge.lay.limits import limit_behind, limit_of, stop_at_more_than_normal, stop_at_words_inside
from radgauge.lay.normal_parts import QUIET_QUANTITIES, change_said
from radgauge.lay.statement import NoPlan, Statement, mentions_in
from radgauge.reader import Mention, Modifier, ReportReading, load_lexicon
from radgauge.reader.lexicon import FINDING_KINDS
from radgauge.text.grammar import is_plural

LEVELS = re.compile(r"multi-?\s?level", re.IGNORECASE)
AT_LEVELS = re.compile(r"\bat (?:several|multiple) levels\b", re.IGNORECASE)
SUSPICIOUS = re.compile(r"\bsuspicious\s+(?:focal |pulmonary |appearing )?$", re.IGNORECASE)
CALCIFIED = re.compile(r"calcif(?:ied|ic)", re.IGNORECASE)
CAN_HARDEN = ("granuloma", "lung_nodule", "nodule")
_WEAK = re.compile(r"typical|definite|obvious|convincing|overt|frank", re.IGNORECASE)
_LIMITING = re.compile(
    r"\b(?:non-?calcified|non-?displaced|displaced|acute|old|chronic|healed|significant|early|overt|frank|gross|"
    r"dominant|discrete|loculated|tension|confluent|active|recurrent|residual|resolving|healing|lobar|segmental|lobular|"
    r"unfold(?:ed|ing)|uncoil(?:ed|ing))\b",
    re.IGNORECASE,
)
_ACUTE = re.compile(r"acute|active|new\b|recent|superimposed", re.IGNORECASE)
_RANGE = re.compile(
    r"\b(?:trace|minimal|mild|small|moderate|slight)(?: to |-to-| ?- ?)"
    r"(?:mild|small|moderate|large|severe|marked)\b",
    re.IGNORECASE,
)
_SUSPICIOUS_OPACITY = re.compile(r"suspicious (?:pulmonary |lung |focal )*opacit(?:y|ies)", re.IGNORECASE)
_HEALED = re.compile(r"heal|\bold\b|chronic|remote", re.IGNORECASE)
_LIMBS = re.compile(
    r"\b(?:shoulders?|clavic\w+|humer(?:us|al)|elbows?|forearms?|wrists?|hands?|fingers?|pelvi[sc]|hips?|femurs?|"
    r"femoral|knees?|tibia\w*|ankles?|foot|feet|scapula\w*|abdom\w+|kub)\b",
    re.IGNORECASE,
)
_BROKEN = frozenset({"fracture", "dislocation", "healed_fracture", "acute_osseous_abnormality"})


def plan_finding(
    reading: ReportReading,
    index: int,
    described: Sequence[Modifier],
    targets: Sequence[int],
    modifiers: Sequence[Modifier],
    hedges: Mapping[int, tuple[str, int, int]],
) -> Statement:
    """The statement of one finding.

    Args:
        reading: The report.
        index: The finding among its mentions.
        described: Describing words of the finding.
        targets: Mentions of the parts where it lies.
        modifiers: Describing words of the sentence.
        hedges: Doubt by mention: its kind, start and end.

    Raises:
        NoPlan: If something about it would be lost or guessed.
    """
    mention = reading.mentions[index]
    if _SUSPICIOUS_OPACITY.fullmatch(mention.text):
        mention = mention._replace(concept="lung_opacity")
    attributes = mention.attributes
    parts = [m for m in modifiers if m.mention in targets]
    sentence = reading.text[slice(*reading.sentences[mention.sentence][:2])]
    if mention.concept.startswith("acute_") and not _ACUTE.search(sentence):
        raise NoPlan("a denial of more than what is acute")
    stop_at_words_inside(mention)
    for target in targets:
        stop_at_words_inside(reading.mentions[target])
    if any(m.role == "quantity" and m.value not in (*QUIET_QUANTITIES, "both") for m in parts):
        raise NoPlan("a place that is counted")
    for modifier in (*described, *parts):
        if modifier.role == "position" and not mention.start <= modifier.start < mention.end:
            raise NoPlan(f"a place told more closely: {reading.text[modifier.start : modifier.end]!r}")
    outside = {m.role for m in described if not mention.start <= m.start < mention.end}
    severity = attributes.severity if "severity" in outside or any(m.role == "severity" for m in described) else ""
    if attributes.severity and not severity:
        raise NoPlan("a degree that was not found in the text")
    words = [reading.text[m.start : m.end].lower() for m in described if m.role == "severity"]
    graded = list(_RANGE.finditer(reading.text, *reading.sentences[mention.sentence][:2]))
    if severity and any(span.start() <= m.start < span.end() for span in graded for m in described):
        words = [re.sub(r"\s*(?:to|-)\s*", " to ", graded[0][0].lower())]
    changes = [m for m in described if m.role == "change" and not mention.start <= m.start < mention.end]
    stop_at_more_than_normal(reading, mention, changes)
    change = change_said(reading, changes) if attributes.change == "stable" and changes else attributes.change
    change = change if "change" in outside else ""
    if change == "resolved":
        raise NoPlan("something that is gone")
    if change and mention.assertion == "absent":
        raise NoPlan("a change of something that is denied")
    qualities = tuple(
        "significant" if m.value == "significantly" else m.value
        for m in described
        if m.role == "quality" and not mention.start <= m.start < mention.end
    )
    if mention.concept in CAN_HARDEN and _is_calcified(reading, index) and "calcification" not in qualities:
        qualities = (*qualities, "calcification")
    name = load_lexicon()[mention.concept].name.lower() if mention.concept in load_lexicon() else ""
    limits = [word.lower() for word in _LIMITING.findall(mention.text) if word.lower() not in name]
    if not mention.concept.startswith("acute"):
        qualities = (*qualities, *(word for word in limits if word not in qualities))
    inside = "suspicious" in mention.text.lower()
    if mention.assertion == "absent" and (
        inside or SUSPICIOUS.search(reading.text[max(0, mention.start - 40) : mention.start])
    ):
        qualities = (*qualities, "suspicious")
    elif inside:
        raise NoPlan(f"not told closely enough: {mention.text!r}")
    if mention.assertion == "absent":
        weak = _WEAK.search(attributes.cue) is not None or any(_WEAK.fullmatch(quality) for quality in qualities)
        qualities = tuple(quality for quality in qualities if not _WEAK.fullmatch(quality)) + (
            ("definite",) if weak else ()
        )
    if change == "new" and _HEALED.search(" ".join((mention.text, name, *qualities))):
        raise NoPlan("new and old at once")
    if mention.assertion == "absent":
        if mention.concept in _BROKEN and not targets and _LIMBS.search(reading.text):
            raise NoPlan("a denial of which the report does not say how far it reaches")
        if not {"definite", "significant"} & set(qualities):
            limit = limit_of(reading, mention)
            qualities = (*qualities, limit) if limit else qualities
        elif "significant" in qualities and limit_behind(reading, mention) == "radiographic":
            raise NoPlan("a denial with two limits")
    elif re.search(r"\bgrossly\b", sentence, re.IGNORECASE):
        raise NoPlan("a reservation that the plain sentence cannot carry")
    counted = [m.value for m in described if m.role == "quantity" and m.value not in QUIET_QUANTITIES]
    if "apparent" in counted and mention.assertion != "absent":
        raise NoPlan("a doubt in a word of appearance")
    if {"other", "additional", "further"} & {*counted, *attributes.cue.lower().split()}:
        qualities = (*qualities, "other")
    if LEVELS.search(" ".join((mention.text, *(reading.text[m.start : m.end] for m in (*described, *parts))))):
        qualities = (*(quality for quality in qualities if quality != "multilevel"), "multilevel")
    if AT_LEVELS.search(reading.text[slice(*reading.sentences[mention.sentence][:2])]):
        counted = [value for value in counted if value not in ("several", "multiple")]
        qualities = (*(quality for quality in qualities if quality != "multilevel"), "multilevel")
    quantity = [value for value in counted if value not in ("apparent", "other", "additional", "further")]
    if quantity == ["some"] and not _is_many(mention):
        quantity = []
    if len(quantity) > 1:
        raise NoPlan("several words of number")
    return Statement(
        "finding",
        mention.concept,
        status=_status(mention, index, hedges),
        severity=severity,
        size_word=words[0] if words else "",
        side=attributes.laterality or _bend(mention),
        places=tuple(
            dict.fromkeys(
                (*attributes.locations, *_named(mention), *(reading.mentions[i].concept for i in targets))
            )
        ),
        change=change,
        qualities=qualities,
        quantity=quantity[0] if quantity else "",
        many=_is_many(mention),
        sizes_mm=attributes.sizes_mm,
        said=mention.text.lower(),
    )


def _named(mention: Mention) -> tuple[str, ...]:
    """The part of the spine that stands in the name: "thoracic spondylosis"."""
    if mention.concept not in ("spondylosis", "disc_degeneration", "degenerative_spine_change", "kyphosis"):
        return ()
    match = re.search(r"thoracic|lumbar|cervical", mention.text, re.IGNORECASE)
    return (f"{match[0].lower()}_spine",) if match is not None else ()


def _bend(mention: Mention) -> str:
    """The side to which a spine bends, from the name of the curve."""
    text = mention.text.lower()
    return "right" if "dextro" in text else "left" if "levo" in text else ""


def _is_many(mention: Mention) -> bool:
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


def _is_calcified(reading: ReportReading, index: int) -> bool:
    earlier = range(mentions_in(reading, reading.mentions[index].sentence).start, index)
    before = [m for m in (reading.mentions[i] for i in earlier) if m.kind in FINDING_KINDS]
    return bool(before) and CALCIFIED.fullmatch(before[-1].text) is not None
