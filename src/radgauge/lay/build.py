"""Build lay data sets from reports: a sentence-level and a report-level one.

Zhao et al., Layman's RRG (2024), section 3.1: split, leave out near-copies, translate, refine. A report is the
lay texts of its sentences. Every sentence is translated itself; where a translation costs money, a near-copy takes
the lay text of the sentence that was kept if both say the same by the strict check in both directions.
`build_reports` translates and checks reports as a whole instead, as algorithm 1 has it.

Files in the folder: sentences.tsv (the sentence set, as metric `layman` reads it), sentences.jsonl (every sentence
with its verdict), reports.jsonl, rounds.csv, trace.jsonl (every text of every round), build.json; for going on
journal.jsonl, kept.npz, verdicts.jsonl.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from radgauge.core.errors import InputError
from radgauge.core.files import make_folder, write_file
from radgauge.core.progress import working
from radgauge.core.readings import Progress
from radgauge.encoders.text.encoders import Encoder
from radgauge.lay.checks import same_statement, unfaithful
from radgauge.lay.dedupe import Deduplicated, deduplicate, distinct_sentences, normal_sentence
from radgauge.lay.gathering import Gathering, digest, refuse_other_reports
from radgauge.lay.refine import Refinement, Round, Verdict
from radgauge.lay.sets import Entry, is_heading, rejected_pairs, write_report_set, write_sets
from radgauge.run.executors import HERE, Engine
from radgauge.text.sentences import sentences_of

DEDUPLICATED = "kept.npz"


@dataclass(frozen=True)
class Built:
    """Outcome of a build."""

    reports: int
    sentences: int
    distinct: int
    kept: int  # Those that are not near-copies of another
    pairs: int  # Accepted pairs in the sentence set
    reused: int  # Near-copies that take the lay text of a kept sentence, for the reports
    translated_too: int  # Near-copies that had to be translated on their own
    lay_reports: int  # Reports with a whole lay version
    said: int  # Sentences of the reports, each as often as it is said, without headings and masked words
    translated: int  # Those of them with an accepted lay text, their own or a near-copy's
    rounds: tuple[Round, ...]  # The acceptance curve of the kept sentences
    reasons: Mapping[str, int]  # Why kept sentences are not in the set -> how many
    rejected: int  # Pairs left out because a person rejected them
    stopped: str  # Why the run ended early; "" if it did not


@working("building")
def build_sets(
    reports: Mapping[str, str],
    folder: Path,
    *,
    how: Refinement,
    encoder: Encoder,
    threshold: float = 0.8,
    report_level: bool = True,
    about: Mapping[str, object] | None = None,
    replace_set: bool = False,
    progress: Progress | None = None,
    engine: Engine = HERE,
) -> Built:
    """Build both sets, or go on with a folder where a run was stopped.

    Args:
        reports: Id -> text.
        folder: Where everything goes.
        how: Translator and checks.
        encoder: For leaving out near-copies.
        threshold: Greatest cosine of two kept sentences.
        report_level: Also build the report-level set.
        about: More for build.json.
        replace_set: Whether a set of other reports in that folder may be replaced.
        progress: Told (what, done, total).
        engine: Where sentences are encoded to find near-copies.

    Raises:
        RadgaugeError, KeyboardInterrupt: The run was stopped; the files hold what was finished, and the same call
            goes on from there.
    """
    split = {study: sentences_of(text) for study, text in reports.items()}
    occurrences = [
        sentence
        for report_sentences in split.values()
        for sentence in report_sentences
        if not is_heading(sentence)
    ]
    times = Counter(map(normal_sentence, occurrences))
    distinct = distinct_sentences(occurrences)
    if not distinct:
        raise InputError("the reports hold no sentence with a word in it")
    make_folder(folder)
    if not replace_set:
        refuse_other_reports(folder, reports)
    sentences = list(distinct.values())
    unique = _unique(
        sentences, folder / DEDUPLICATED, encoder=encoder, threshold=threshold, progress=progress, engine=engine
    )
    entries: dict[int, Entry] = {}
    course = Gathering(how, progress)

    def run(indices: Sequence[int], what: str, *, in_set: bool) -> None:
        def take(start: int, verdicts: Sequence[Verdict]) -> None:
            for index, verdict in zip(indices[start : start + len(verdicts)], verdicts, strict=True):
                entries[index] = Entry(in_set, times[normal_sentence(verdict.sentence)], **asdict(verdict))

        course.run([sentences[index] for index in indices], what, take=take, counted=in_set)

    with course.until_stopped():
        run(unique.kept.tolist(), "kept sentences", in_set=True)
        if report_level:
            more = _not_reused(sentences, unique, entries, times, reuse=not how.translator.is_free)
            run(more, "other sentences", in_set=False)
    rejected = rejected_pairs(folder)
    written = write_sets(folder, list(entries.values()), reports if report_level else {}, rejected)
    rounds = course.write_rounds(folder)
    built = Built(
        reports=len(reports),
        sentences=len(occurrences),
        distinct=len(distinct),
        kept=len(unique.kept),
        pairs=written.pairs,
        reused=sum(bool(entry.same_as) for entry in entries.values()),
        translated_too=sum(not (entry.in_set or entry.same_as) and entry.round > 0 for entry in entries.values()),
        lay_reports=written.lay_reports,
        said=written.said,
        translated=written.translated,
        rounds=tuple(rounds),
        reasons=_reasons(entries.values()),
        rejected=sum(entry.is_rejected(rejected) for entry in entries.values() if entry.accepted and entry.in_set),
        stopped=course.stopped,
    )
    dedupe = f"dedupe:{threshold:g}@{encoder.signature}"
    course.close(folder, {**(about or {}), **asdict(built)}, signature=dedupe, reports=reports)
    return built


def _unique(
    sentences: Sequence[str],
    path: Path,
    *,
    encoder: Encoder,
    threshold: float,
    progress: Progress | None,
    engine: Engine,
) -> Deduplicated:
    """De-duplicated sentences; a run on the same sentences takes what the first one found."""
    key = digest({"encoder": encoder.signature, "threshold": repr(threshold), "all": "\n".join(sentences)})
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            if str(stored["key"]) == key:
                return Deduplicated(stored["kept"], stored["copy_of"])
    except FileNotFoundError:
        pass
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise InputError(f"{path} cannot be read ({error}); remove it, it will be made again") from None
    deduplicated = deduplicate(sentences, encoder=encoder, threshold=threshold, progress=progress, engine=engine)
    buffer = io.BytesIO()
    np.savez(buffer, key=np.array(key), kept=deduplicated.kept, copy_of=deduplicated.copy_of)
    write_file(path, buffer.getvalue())
    return deduplicated


def _not_reused(
    sentences: Sequence[str],
    unique: Deduplicated,
    entries: dict[int, Entry],
    times: Mapping[str, int],
    *,
    reuse: bool,
) -> list[int]:
    """Give near-copies the lay text of a kept sentence that says the same; returns the indices of the others."""
    others = []
    for index, kept_index in enumerate(unique.copy_of.tolist()):
        if kept_index == index:
            continue
        sentence = sentences[index]
        count = times[normal_sentence(sentence)]
        original = entries.get(kept_index)
        if kept_index < 0:  # only marks of what was removed: nothing to translate
            entries[index] = Entry(False, count, sentence, sentence, True, 0, None, "")
        elif reuse and original is not None and original.accepted and _serves(sentence, original):
            entries[index] = Entry(
                False, count, sentence, original.lay, True, original.round, None, "", original.sentence
            )
        else:
            others.append(index)
    return others


def _serves(sentence: str, original: Entry) -> bool:
    return same_statement(sentence, original.sentence) and not unfaithful(sentence, original.lay)


def _reasons(entries: Iterable[Entry]) -> dict[str, int]:
    """Why kept sentences were not accepted, without the particulars."""
    counts: Counter[str] = Counter()
    for entry in entries:
        if entry.in_set and not entry.accepted:
            counts[entry.why.partition(" (")[0]] += 1
    return dict(counts.most_common())


@dataclass(frozen=True)
class BuiltReports:
    """Outcome of a build."""

    reports: int
    distinct: int
    lay_reports: int  # Reports with an accepted lay version that nobody rejected
    rounds: tuple[Round, ...]  # The acceptance curve of the distinct reports
    reasons: Mapping[str, int]  # Why distinct reports have none -> how many
    stopped: str  # Why the run ended early; "" if it did not


@working("building")
def build_reports(
    reports: Mapping[str, str],
    folder: Path,
    *,
    how: Refinement,
    about: Mapping[str, object] | None = None,
    replace_set: bool = False,
    progress: Progress | None = None,
) -> BuiltReports:
    """Translate and refine whole reports, or go on with a folder where a run was stopped.

    Args:
        reports: Id -> text.
        folder: Where everything goes.
        how: Translator and checks; of a language model, with prompts for reports (`lay_prompts("report")`).
        about: More for build.json.
        replace_set: Whether a set of other reports in that folder may be replaced.
        progress: Told (what, done, total).

    Raises:
        RadgaugeError, KeyboardInterrupt: The run was stopped; the files hold what was finished, and the same call
            goes on from there.
    """
    texts = {study: " ".join(text.split()) for study, text in reports.items()}
    items = [text for text in dict.fromkeys(texts.values()) if sentences_of(text)]
    if not items:
        raise InputError("the reports hold no sentence with a word in it")
    make_folder(folder)
    if not replace_set:
        refuse_other_reports(folder, reports)
    verdicts: dict[str, Verdict] = {}
    course = Gathering(how, progress)

    def take(start: int, batch: Sequence[Verdict]) -> None:
        verdicts.update({verdict.sentence: verdict for verdict in batch})

    with course.until_stopped():
        course.run(items, "reports", take=take)
    rows = [_row(study, reports[study], verdicts.get(text)) for study, text in texts.items()]
    _, lay_reports = write_report_set(folder, rows, rejected_pairs(folder))
    rounds = course.write_rounds(folder)
    reasons = Counter(verdict.why.partition(" (")[0] for verdict in verdicts.values() if not verdict.accepted)
    built = BuiltReports(
        reports=len(reports),
        distinct=len(items),
        lay_reports=lay_reports,
        rounds=tuple(rounds),
        reasons=dict(reasons.most_common()),
        stopped=course.stopped,
    )
    course.close(folder, {**(about or {}), **asdict(built)}, signature="unit:report", reports=reports)
    return built


def _row(study: str, text: str, verdict: Verdict | None) -> dict[str, object]:
    if verdict is None:
        why = "the report is not translated yet" if sentences_of(text) else "the report holds no sentence"
        return {"id": study, "report": text, "lay": None, "why": why, "round": 0, "similarity": None}
    return {
        "id": study,
        "report": text,
        "lay": verdict.lay if verdict.accepted else None,
        "why": verdict.why,
        "round": verdict.round,
        "similarity": verdict.similarity,
    }
