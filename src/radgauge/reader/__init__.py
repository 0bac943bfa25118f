"""The embedded report reader: what a radiology report says, from a lexicon and rules, offline."""

from radgauge.reader.labels import chexpert_labels
from radgauge.reader.lexicon import Lexicon, LexiconError, load_lexicon
from radgauge.reader.radgraph import radgraph_graph
from radgauge.reader.rate import RateEntity, rate_entities
from radgauge.reader.reader import ReportReader, read_report
from radgauge.reader.reading import Attributes, Mention, Modifier, Relation, ReportReading, Sentence, Unread

__all__ = [
    "Attributes",
    "Lexicon",
    "LexiconError",
    "Mention",
    "Modifier",
    "RateEntity",
    "Relation",
    "ReportReader",
    "ReportReading",
    "Sentence",
    "Unread",
    "chexpert_labels",
    "load_lexicon",
    "radgraph_graph",
    "rate_entities",
    "read_report",
]
