"""Writers of the plain sentences of leaflets: the embedded writer, a language model, or the table itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from radgauge.core.errors import RadgaugeError, UsageError
from radgauge.lay import plain_sentences
from radgauge.lay.checks import in_step
from radgauge.lay.language_words import words_hash
from radgauge.lay.plain_sentences import PlainSentence, is_about_chest, unexplained, write_plain
from radgauge.lay.refine import Refinement, Round, Verdict, refine
from radgauge.lay.sets import is_heading
from radgauge.lay.translators import EmbeddedTranslator
from radgauge.text.language import looks_english

MAX_CHARACTERS = 50_000
"""Characters of a report; a longer one is no report of one examination."""

Written = tuple[PlainSentence, ...] | str
"""The sentences, or why there are none."""


class LeafletWriter(Protocol):
    """Writes reports for patients."""

    @property
    def name(self) -> str:
        """Name of the writer, for the page."""

    @property
    def signature(self) -> str:
        """Names the writer, its version and its settings."""

    @property
    def chunk(self) -> int:
        """Reports that it takes at a time."""

    def write(self, reports: Mapping[str, str]) -> list[Written]:
        """The sentences of each report by id, or why there are none."""


@dataclass(frozen=True)
class EmbeddedWriter:
    """The plain-language writer that works offline."""

    language: str = "en"

    def __post_init__(self) -> None:
        list_languages: Callable[[], tuple[str, ...]] | None = getattr(plain_sentences, "languages", None)
        written = list_languages() if list_languages is not None else ("en",)
        if self.language not in written:
            raise UsageError(f"the embedded writer writes {', '.join(written)}, got {self.language!r}")

    @property
    def name(self) -> str:
        """With the version, since its text may change with it."""
        from radgauge import __version__

        return f"radgauge {__version__}"

    @property
    def signature(self) -> str:
        """The writer of lay sets in this language."""
        return f"{EmbeddedTranslator().signature}|language:{self.language}-{words_hash(self.language)}"

    @property
    def chunk(self) -> int:
        """Few: what is written is on disk soon."""
        return 20

    def write(self, reports: Mapping[str, str]) -> list[Written]:
        """Each report on its own; one that cannot be written costs itself only."""
        return [_gated(text, self.sentences(text), check_region=_region_known) for text in reports.values()]

    def sentences(self, text: str) -> Written:
        """Every sentence, put in plain words or kept; or why the report cannot be read."""
        if why := unfit(text):
            return why
        try:
            written = write_plain(text, language=self.language)
        except RadgaugeError:  # a setting, such as a language that does not ship
            raise
        except Exception as error:  # a trouble with one report must not cost the others
            return f"the writer failed on this report ({type(error).__name__})"
        return written or "the report holds no sentence"


def _gated(text: str, written: Written, *, check_region: Callable[[str], str] = lambda text: "") -> Written:
    return written if isinstance(written, str) else check_region(text) or refused(text, written) or written


def _region_known(text: str) -> str:
    about = "the report is not about the chest, the only part of the body that the embedded writer knows"
    return "" if is_about_chest(text) else about


def refused(text: str, sentences: Sequence[PlainSentence]) -> str:
    """Why sentences make no leaflet; "" if each abnormal finding is in plain words or can be asked about by name.

    >>> refused("Left effusion.", write_plain("Left effusion."))
    ''
    """
    body = [sentence for sentence in sentences if not is_heading(sentence.source)]
    if all(sentence.kept for sentence in body):
        return "no sentence of the report could be put in plain words"
    if sum(sentence.kept for sentence in body) > len(body) / 2:
        return "fewer than half of the sentences could be put in plain words"
    if unexplained(text, sentences):
        return "an abnormal finding could neither be put in plain words nor be explained"
    return ""


@dataclass(frozen=True)
class ModelWriter:
    """A language model, sentence by sentence and checked as in lay sets; what fails is the embedded writer's."""

    how: Refinement
    language: str = "en"

    @property
    def name(self) -> str:
        """The model."""
        return f"the language model {self.how.translator.signature.removeprefix('llm:').partition('|')[0]}"

    @property
    def signature(self) -> str:
        """Model, prompts, checks."""
        return self.how.signature

    @property
    def chunk(self) -> int:
        """Enough reports for a few requests."""
        return 20

    def write(self, reports: Mapping[str, str]) -> list[Written]:
        """All sentences of these reports together, each distinct one once; what fails is the embedded writer's."""
        embedded = EmbeddedWriter(self.language)
        drafts = {study: embedded.sentences(text) for study, text in reports.items()}
        ready = [draft for draft in drafts.values() if not isinstance(draft, str)]
        sources = dict.fromkeys(part.source for draft in ready for part in draft if not is_heading(part.source))
        verdicts: dict[str, Verdict] = {}

        def done(judged: Sequence[Verdict], rounds: Sequence[Round]) -> None:
            verdicts.update({verdict.sentence: verdict for verdict in judged})

        refine(list(sources), self.how, done=done)
        chosen: list[Written] = []
        for study, written in drafts.items():
            if not isinstance(written, str):
                written = tuple(_chosen(part, verdicts.get(part.source)) for part in written)
            chosen.append(_gated(reports[study], written))
        return chosen


def _chosen(part: PlainSentence, verdict: Verdict | None) -> PlainSentence:
    """The model's sentence where it passed every check; otherwise the embedded writer's."""
    if verdict is None:
        return part
    if verdict.accepted:
        return part._replace(plain=verdict.lay, glosses=(), kept=False, reasons=(), ask="")
    return part._replace(reasons=(*part.reasons, f"the language model's text was not taken: {verdict.why}"))


@dataclass(frozen=True)
class GivenWriter:
    """Plain texts that the user brings, for example corrected by the radiologist."""

    texts: Mapping[str, str]  # Id -> plain text
    by: str = "a text that was given"  # Who wrote them, in words for the page

    @property
    def name(self) -> str:
        """As the user says."""
        return self.by

    @property
    def signature(self) -> str:
        """Not ours."""
        return f"given:{self.by}"

    @property
    def chunk(self) -> int:
        """Any."""
        return 100

    def write(self, reports: Mapping[str, str]) -> list[Written]:
        """The given text of each report, sentence beside sentence where their numbers are equal."""
        return [self._one(study, text) for study, text in reports.items()]

    def _one(self, study: str, text: str) -> Written:
        if not text.strip():
            return "the report is empty"
        plain = self.texts.get(study, "").strip()
        if not plain:
            return "no plain text was given for this report"
        sentences, at = [], 0
        for source, plain_sentence in in_step(text, plain):
            start = max(0, text.find(source, at))
            at = start + len(source)
            sentences.append(PlainSentence(start, at, source, plain_sentence))
        return tuple(sentences)


def unfit(text: str) -> str:
    """Why a report cannot be written in plain words; "" if it can be tried.

    >>> unfit("  "), unfit("No effusion.")
    ('the report is empty', '')
    """
    if not text.strip():
        return "the report is empty"
    if len(text) > MAX_CHARACTERS:
        return f"the report has more than {MAX_CHARACTERS:,} characters"
    if not any(letter.isalpha() for letter in text):
        return "the report holds no word"
    return "" if looks_english(text) else "the report does not look English, which the writer reads"
