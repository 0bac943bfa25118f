"""Labelled statements: the words of a label are read as a sentence, and its value says what holds of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from radgauge.core.parsing import shipped_toml
from radgauge.reader.label_values import Span, Statement
from radgauge.reader.reading import Mention, Modifier, Relation
from radgauge.reader.sentence import SentenceReading
from radgauge.reader.vocabulary import FINDINGS

_CLAIMS = FINDINGS | {"normality"}
_CATEGORIES = frozenset(shipped_toml(__file__, "word_lists.toml")["categories"])
_ASSERTED = {"absent": "absent", "normal": "absent", "uncertain": "uncertain"}

Read = Callable[[str], SentenceReading]


def read_statement(text: str, statement: Statement, read: Read) -> SentenceReading:
    """The reading of a labelled statement; offsets count from where it starts.

    Args:
        text: The report.
        statement: Label and value in it.
        read: Reads one sentence.
    """
    words = _Words(text, statement.words)
    reading = read(words.text)
    status = statement.status
    claims = {mention.kind for mention in reading.mentions} & _CLAIMS
    if status == "normal" and not claims & FINDINGS:
        return read(text[statement.start : statement.end])
    if not status:
        reading = settled(reading, words.label)
    elif status == "unknown":
        reading = keep_mentions(reading, [mention.kind not in _CLAIMS for mention in reading.mentions])
    elif not claims:
        reading = read(text[statement.start : statement.end])
        return reading
    else:
        reading = with_status(reading, status, cue=text[slice(*statement.value)])
    return words.placed(reading, statement.start)


class _Words:
    """Spans of a text as one sentence, and the way back."""

    def __init__(self, text: str, spans: Sequence[Span]) -> None:
        self.starts: list[int] = []
        self.origins: list[int] = []
        pieces: list[str] = []
        length = 0
        for number, (start, end) in enumerate(spans):
            if number:
                joint = ": " if number == 1 else ", "
                pieces.append(joint)
                length += len(joint)
            self.starts.append(length)
            self.origins.append(start)
            pieces.append(_without_underscores(text[start:end]))
            length += end - start
        self.text = "".join(pieces)
        self.label = spans[0][1] - spans[0][0]

    def at(self, position: int) -> int:
        """Position in the text of a character of the sentence."""
        piece = bisect_right(self.starts, position) - 1
        return self.origins[piece] + position - self.starts[piece]

    def placed(self, reading: SentenceReading, start: int) -> SentenceReading:
        """The reading with the offsets of the text, counted from `start`."""
        if len(self.starts) == 1 and self.origins[0] == start:
            return reading
        mentions = tuple(
            mention._replace(start=self.at(mention.start) - start, end=self.at(mention.end - 1) + 1 - start)
            for mention in reading.mentions
        )
        modifiers = tuple(
            modifier._replace(start=self.at(modifier.start) - start, end=self.at(modifier.end - 1) + 1 - start)
            for modifier in reading.modifiers
        )
        unread = tuple((self.at(begin) - start, self.at(end - 1) + 1 - start) for begin, end in reading.unread)
        return reading._replace(mentions=mentions, modifiers=modifiers, unread=unread)


def _without_underscores(words: str) -> str:
    """Names of fields as words: "pleural_effusion"; masks stay."""
    if "_" not in words or "__" in words:
        return words
    return words.replace("_", " ")


def with_status(reading: SentenceReading, status: str, *, cue: str) -> SentenceReading:
    """The reading of a label with what its value says of it."""
    if status == "present":
        return reading
    mentions: list[Mention] = []
    for mention in reading.mentions:
        if mention.kind in FINDINGS and mention.assertion != "absent":
            asserted = _ASSERTED[status]
            described = mention.attributes._replace(cue=cue)
            mention = mention._replace(assertion=asserted, attributes=described)
        elif mention.kind == "normality" and mention.form != "implied" and status == "absent":
            asserted = "present" if mention.assertion == "absent" else "absent"
            mention = mention._replace(assertion=asserted, attributes=mention.attributes._replace(cue=cue))
        mentions.append(mention)
    changed = reading._replace(mentions=tuple(mentions))
    implied = status == "absent" and any(mention.form == "implied" for mention in mentions)
    return keep_mentions(changed, [mention.form != "implied" for mention in mentions]) if implied else changed


def settled(reading: SentenceReading, label: int) -> SentenceReading:
    """A label that names a finding, and a value that makes statements of its own: "Pneumonia: lungs are clear".

    Where the value denies all that it speaks of, the finding of the label is not there either.
    """
    own = [mention for mention in reading.mentions if mention.start < label and mention.kind in FINDINGS]
    stated = [
        mention
        for mention in reading.mentions
        if mention.start >= label and mention.kind in _CLAIMS and mention.form != "implied"
    ]
    if not own or not stated or any(mention.assertion == "absent" for mention in own):
        return reading
    if all(mention.concept in _CATEGORIES for mention in own) and any(
        mention.kind in FINDINGS and mention.assertion != "absent" for mention in stated
    ):  # "Masses: a 4 mm cyst"
        return keep_mentions(reading, [mention not in own for mention in reading.mentions])
    if any((mention.kind == "normality") == (mention.assertion == "absent") for mention in stated):
        return reading
    cue = next((mention.attributes.cue or mention.text for mention in stated), "")
    mentions = tuple(
        mention._replace(assertion="absent", attributes=mention.attributes._replace(cue=cue))
        if mention.start < label and mention.kind in FINDINGS
        else mention
        for mention in reading.mentions
    )
    return reading._replace(mentions=mentions)


def keep_mentions(reading: SentenceReading, keep: Sequence[bool]) -> SentenceReading:
    """The reading with some of its mentions, and with what belongs to them."""
    index: dict[int, int] = {}
    for old, keeps in enumerate(keep):
        if keeps:
            index[old] = len(index)
    return reading._replace(
        mentions=tuple(reading.mentions[old] for old in index),
        relations=tuple(
            Relation(index[source], index[target], kind)
            for source, target, kind in reading.relations
            if source in index and target in index
        ),
        modifiers=tuple(_owned(modifier, index) for modifier in reading.modifiers),
    )


def _owned(modifier: Modifier, index: dict[int, int]) -> Modifier:
    return modifier._replace(mention=index.get(modifier.mention, -1))
