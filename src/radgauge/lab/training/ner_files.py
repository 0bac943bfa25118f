"""RaTE-NER files: sentences of words with labelled spans, in the IOB and in the span form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from radgauge.core.errors import InputError
from radgauge.core.files import write_file
from radgauge.core.parsing import parse_json
from radgauge.encoders.text.ratener import LABELS

LabelledSpan = tuple[int, int, str]
"""First word, last word (included), type."""
Fields = tuple[tuple[str, str], ...]
"""Names and values of a record's other fields."""


class NerSentence(NamedTuple):
    """A sentence as words, and its entities."""

    words: tuple[str, ...]
    spans: tuple[LabelledSpan, ...]
    about: Fields = ()  # Of the report, such as id and modality; written, not read

    @property
    def labels(self) -> list[str]:
        """One IOB label per word; where spans overlap the longer one is kept."""
        tags = ["O"] * len(self.words)
        for first, last, kind in sorted(self.spans, key=lambda span: (span[0] - span[1], span[0])):
            if all(label == "O" for label in tags[first : last + 1]):
                tags[first : last + 1] = [f"B-{kind}", *[f"I-{kind}"] * (last - first)]
        return tags


def spans_of(labels: Sequence[str]) -> tuple[LabelledSpan, ...]:
    """Entities of IOB labels by the usual rule: an I- without an opening of its type opens one.

    >>> spans_of(["O", "B-DISEASE", "I-DISEASE", "I-ANATOMY"])
    ((1, 2, 'DISEASE'), (3, 3, 'ANATOMY'))
    """
    spans: list[LabelledSpan] = []
    for at, label in enumerate(labels):
        if label == "O":
            continue
        mark, kind = label[0], label[2:]
        if mark == "I" and spans and spans[-1][1] == at - 1 and spans[-1][2] == kind:
            spans[-1] = (spans[-1][0], at, kind)
        else:
            spans.append((at, at, kind))
    return tuple(spans)


def read_ner(path: Path | str) -> list[NerSentence]:
    """Sentences of a RaTE-NER file.

    Understands IOB records (`tokens`, `ner_tags` as numbers or labels), span records (`tokens` or `words`,
    `spans`, `entities` or `ner` as [first, last, type]) and documents of the PURE form (`sentences`, `ner`, words
    counted through the document); a JSON list or JSON lines.
    """
    file = Path(path)
    sentences = [
        sentence
        for number, record in enumerate(ner_records(file), start=1)
        for sentence in sentences_of_record(record, f"{file.name}, record {number}")
    ]
    if not sentences:
        raise InputError(f"{file} holds no sentence")
    return sentences


def sentences_of_record(record: Any, where: str) -> list[NerSentence]:
    """The sentences of one record: one, or those of a document of the PURE form."""
    if isinstance(record, dict) and "sentences" in record:
        sentences, begin = [], 0
        for words, spans in zip(record["sentences"], record.get("ner", []), strict=True):
            moved = [[first - begin, last - begin, kind] for first, last, kind, *_ in spans]
            sentences.append(_sentence(words, moved, where))
            begin += len(words)
        return sentences
    words = _field(record, ("tokens", "words"), where)
    if isinstance(record, dict) and "ner_tags" in record:
        labels = [_label(tag, where) for tag in record["ner_tags"]]
        if len(labels) != len(words):
            raise InputError(f"{where}: {len(words)} tokens need as many ner_tags, got {len(labels)}")
        return [NerSentence(tuple(map(str, words)), spans_of(labels))]
    return [_sentence(words, _field(record, ("spans", "entities", "ner"), where), where)]


def write_ner(path: Path | str, sentences: Sequence[NerSentence], *, form: str = "iob") -> None:
    """Write sentences as a JSON list in the IOB or the span form."""
    index = {label: number for number, label in enumerate(LABELS)}
    records: list[dict[str, Any]] = [
        {**dict(sentence.about), "tokens": sentence.words, "ner_tags": [index[label] for label in sentence.labels]}
        if form == "iob"
        else {**dict(sentence.about), "tokens": sentence.words, "spans": sentence.spans}
        for sentence in sentences
    ]
    write_file(path, json.dumps(records, ensure_ascii=False) + "\n")


def ner_records(path: Path) -> list[Any]:
    """The records of a JSON list or of JSON lines, as they are."""
    text = path.read_text(encoding="utf-8")
    try:
        if text.lstrip().startswith("["):
            record = parse_json(text)
            return record if isinstance(record, list) else [record]
        return [parse_json(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        raise InputError(f"{path}: neither a JSON list nor JSON lines ({error})") from None


def _field(record: Any, names: tuple[str, ...], where: str) -> Any:
    for name in names:
        if isinstance(record, dict) and name in record:
            return record[name]
    raise InputError(f"{where}: the field {names[0]!r} is missing")


def _label(tag: Any, where: str) -> str:
    if isinstance(tag, int) and 0 <= tag < len(LABELS):
        return LABELS[tag]
    if isinstance(tag, str) and tag.upper() in LABELS:
        return tag.upper()
    raise InputError(f"{where}: a tag must be 0 to {len(LABELS) - 1} or a label such as B-DISEASE, got {tag!r}")


def _sentence(words: Sequence[Any], spans: Sequence[Any], where: str) -> NerSentence:
    checked = []
    for first, last, kind, *_ in spans:
        if not 0 <= first <= last < len(words):
            raise InputError(f"{where}: the span {first} to {last} must lie within {len(words)} words")
        if f"B-{str(kind).upper()}" not in LABELS:
            raise InputError(f"{where}: there is no entity type {kind!r}")
        checked.append((int(first), int(last), str(kind).upper()))
    return NerSentence(tuple(map(str, words)), tuple(sorted(checked)))
