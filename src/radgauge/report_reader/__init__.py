"""The embedded report reader: what a radiology report says, from a lexicon and rules, offline."""

from radgauge.report_reader.reader import ReportReader, read_report
from radgauge.report_reader.reading import (
    Attributes,
    Mention,
    Modifier,
    Relation,
    ReportReading,
    Sentence,
)

__all__ = [
    "Attributes",
    "Mention",
    "Modifier",
    "Relation",
    "ReportReader",
    "ReportReading",
    "Sentence",
    "read_report",
]
