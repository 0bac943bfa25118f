"""The 14 CheXpert conditions of a reading, each positive, negative, uncertain or blank."""

from __future__ import annotations

from radgauge.reader.lexicon import ABNORMAL_KINDS, Lexicon, load_lexicon
from radgauge.reader.lexicon.concepts import CHEXPERT
from radgauge.reader.reading import ReportReading

_STATE = {"present": "positive", "absent": "negative", "uncertain": "uncertain"}
_RANK = {"": 0, "negative": 1, "uncertain": 2, "positive": 3}
_DENIED = frozenset({"Cardiomegaly", "Enlarged Cardiomediastinum"})
"""Conditions that a statement of normality makes negative, as the CheXpert labeler does for heart size."""


def chexpert_labels(reading: ReportReading, *, lexicon: Lexicon | None = None) -> dict[str, str]:
    """State of each condition in the published order: "positive", "negative", "uncertain" or "" (blank).

    A condition takes its strongest mention: positive before uncertain before negative. "No Finding" is positive
    when nothing abnormal but devices is present or uncertain, blank otherwise: CheXbert (Smit et al. 2020) leaves
    it blank for abnormalities outside the 13 conditions too, where the rule-based labeler does not look.

    >>> from radgauge.reader import read_report
    >>> labels = chexpert_labels(read_report("No effusion. Possible pneumonia."))
    >>> labels["Pleural Effusion"], labels["Pneumonia"], labels["Edema"]
    ('negative', 'uncertain', '')
    """
    lexicon = lexicon or load_lexicon()
    states = dict.fromkeys(CHEXPERT, "")
    abnormal = False
    for mention in reading.mentions:
        if mention.kind == "open" and mention.attributes.context == "current":
            abnormal |= mention.assertion != "absent"
        concept = lexicon.concepts.get(mention.concept)
        if concept is None or mention.attributes.context in ("history", "technique"):
            continue
        if mention.kind == "normality":
            denied = _denied(mention.attributes.locations, lexicon)
            names = denied if mention.assertion == "present" else frozenset[str]()
            state = "negative"
        else:
            names = frozenset({label} if (label := chexpert_of(concept.id, lexicon)) else ())
            state = _STATE[mention.assertion]
            abnormal |= mention.kind in ABNORMAL_KINDS and state != "negative"
        for name in names:
            if _RANK[state] > _RANK[states[name]]:
                states[name] = state
    if reading.mentions and not abnormal:
        states["No Finding"] = "positive"
    return states


def chexpert_of(concept: str, lexicon: Lexicon) -> str:
    """The condition a concept belongs to: its own, else that of its nearest ancestor; "" for none."""
    for concept_id in (concept, *lexicon.ancestors(concept)):
        entry = lexicon.concepts.get(concept_id)
        if entry is not None and entry.chexpert:
            return entry.chexpert.removeprefix("none")
    return ""


def _denied(structures: tuple[str, ...], lexicon: Lexicon) -> frozenset[str]:
    result = set()
    for structure in structures:
        concept = lexicon.concepts.get(structure)
        for denied in concept.denies if concept is not None else ():
            result.add(chexpert_of(denied, lexicon))
    return _DENIED & result
