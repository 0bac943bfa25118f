"""Quality and speed of the embedded report reader in one table, on public data that is not part of the package.

    python benchmarks/reader.py [--data DIR] [--only LINES] [--errors N]

The folder is laid out as the project's development data; a line whose files are absent says so.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from reader_data import Line, f1, reports_of, rows_of
from reader_graphs import chexpert, radgraph

from radgauge.reader import Mention, ReportReader, compile, read_report
from radgauge.reader.assertion import assert_items, clause_starts
from radgauge.reader.compile import compile_lexicon, load_vocabulary
from radgauge.reader.lexicon import load_lexicon
from radgauge.reader.lexicon.concepts import NIH
from radgauge.reader.passes import words_of
from radgauge.reader.rate import rate_entities
from radgauge.reader.sentence import read_sentence
from radgauge.reader.vocabulary import FINDINGS, Item, Vocabulary
from radgauge.text.sentences import split_sentences
from radgauge.text.tokens import tokenize


def assertion_of(text: str, start: int, *, end: int, vocabulary: Vocabulary) -> str:
    """Return what a sentence asserts about the span [start, end), whether or not the lexicon knows its words."""
    tokens = vocabulary.spelling.tokens(text)
    inside = [
        number
        for number, (first, last) in enumerate(zip(tokens.starts, tokens.ends, strict=True))
        if last > start and first < end
    ]
    if not inside:
        return "present"
    items = [
        item
        for item in vocabulary.match(tokens, lowered=text.islower())
        if item.last <= inside[0] or item.first > inside[-1]
    ]
    target = Item(inside[0], inside[-1] + 1, "abnormality", "", "noun", ())
    items.append(target)
    items.sort(key=lambda item: item.first)
    words = words_of(items, tokens)
    status, _ = assert_items(items, words, clause_starts(items, words))
    return status[items.index(target)]


def nih_of(concept: str) -> str:
    """The NIH label of a concept: its own, else its nearest ancestor's."""
    lexicon = load_lexicon()
    for each in (concept, *lexicon.ancestors(concept)):
        if lexicon.concepts[each].nih:
            return lexicon.concepts[each].nih.removeprefix("none")
    return ""


def _is_indexed(mention: Mention) -> bool:
    """Whether a hedged finding was indexed all the same: indexers took alternatives and what is probable."""
    return mention.assertion == "uncertain" and mention.attributes.cue.lower().startswith(
        ("or", "and/or", "versus", "vs", "probabl")
    )


def labels_of(text: str) -> set[str]:
    """NIH labels that a report asserts."""
    return {
        label
        for mention in read_report(text).mentions
        if mention.kind in FINDINGS - {"open"} and (mention.assertion == "present" or _is_indexed(mention))
        if (label := nih_of(mention.concept))
    }


def nih(data: Path, errors: int) -> Iterable[Line]:
    """The 14 NIH labels against the labels NegBio was scored on."""
    reports = reports_of(data)
    hits, predicted, wanted = Counter[str](), Counter[str](), Counter[str]()
    mistakes: dict[tuple[str, str], list[str]] = defaultdict(list)
    files = sorted((data / "iu_xray").glob("labels_*.csv"))
    rows = [row for file in files for row in rows_of(file)]
    absent = {label for label in NIH if all(row[label] != "1" for row in rows)}
    for row in rows:
        uid = row["filename"].removeprefix("CXR")
        if uid not in reports:
            continue
        truth = {label for label in NIH if row[label] == "1"}
        found = labels_of(reports[uid]) - absent
        hits.update(truth & found)
        predicted.update(found)
        wanted.update(truth)
        for label in truth ^ found:
            mistakes["missed" if label in truth else "false", label].append(f"{uid}: {reports[uid]!r}")
    for (kind, label), examples in sorted(mistakes.items()):
        for example in examples[:errors]:
            print(f"    {kind} {label}: {example}", file=sys.stderr)
    precision, recall, score = f1(hits.total(), predicted.total(), wanted.total())
    yield "NIH labels, micro F1", f"{score:.3f}", f"precision {precision:.3f}, recall {recall:.3f}"
    for label in NIH:
        if label in absent:
            yield f"  {label}", "-", "no positive case in the labels, not scored"
            continue
        precision, recall, score = f1(hits[label], predicted[label], wanted[label])
        yield f"  {label}", f"{score:.3f}", f"precision {precision:.3f}, recall {recall:.3f}, n {wanted[label]}"


def negex(data: Path, errors: int) -> Iterable[Line]:
    """Negation of marked concepts in clinical sentences."""
    vocabulary = load_vocabulary()
    table: Counter[tuple[bool, bool]] = Counter()
    shown = 0
    for file in sorted((data / "negex").glob("*.txt")):
        with file.open(encoding="latin-1", newline="") as handle:
            for row in csv.DictReader(handle, delimiter="\t"):
                sentence, concept = row["Sentence"], row["Concept"].strip()
                where = re.search(r"\s+".join(map(re.escape, concept.upper().split())), sentence)
                where = where or re.search(r"\s+".join(map(re.escape, concept.split())), sentence, re.IGNORECASE)
                if where is None:
                    found = False
                else:
                    start, end = next(
                        (span for span in split_sentences(sentence) if span[0] <= where.start() < span[1]),
                        (0, len(sentence)),
                    )
                    start = min(start, where.start())
                    found = (
                        assertion_of(
                            sentence[start:end],
                            where.start() - start,
                            end=where.end() - start,
                            vocabulary=vocabulary,
                        )
                        == "absent"
                    )
                truth = row["Negation"].strip() == "Negated"
                table[truth, found] += 1
                if truth != found and shown < errors:
                    shown += 1
                    print(
                        f"    negex {'missed' if truth else 'false'}: {concept!r}: {sentence!r}", file=sys.stderr
                    )
    hits, total = table[True, True], table.total()
    _, _, score = f1(hits, hits + table[False, True], hits + table[True, False])
    yield "negation, accuracy (negex)", f"{(hits + table[False, False]) / total:.3f}", f"n {total}"
    yield "negation, F1 of negated", f"{score:.3f}", f"missed {table[True, False]}, false {table[False, True]}"


def radpref(data: Path, errors: int) -> Iterable[Line]:
    """Share of the findings listed for each report that the reading of the report contains."""
    lexicon = load_lexicon()
    hits = total = unread = 0
    for file in sorted(data.glob("radpref*/*.json")):
        for case in json.loads(file.read_text()):
            for prefix in ("ground_truth", "C1", "C2"):
                report = read_report(case[f"{prefix}_report"])
                seen = {m.concept for m in report.mentions if m.assertion != "absent" and m.kind != "anatomy"}
                related = seen | {each for concept in seen for each in lexicon.ancestors(concept)}
                for finding in case[f"{prefix}_findings"]:
                    wanted = {
                        mention.concept
                        for mention in read_report(finding).mentions
                        if mention.kind != "anatomy" and mention.assertion != "absent"
                    }
                    total += 1
                    found = any(concept in related or seen & set(lexicon.ancestors(concept)) for concept in wanted)
                    hits += found
                    unread += not wanted
                    if not found and errors:
                        print(f"    radpref missed {finding!r} read as {sorted(wanted)}", file=sys.stderr)
    yield "findings read (radpref), recall", f"{hits / total:.3f}", f"n {total}, not read at all {unread}"


def entities(data: Path, errors: int) -> Iterable[Line]:
    """RaTE entities against sentences annotated after the guide."""
    for group in ("all", "iu", "mtsamples"):
        exact, overlap = np.zeros(3), np.zeros(3)
        per_type: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
        asserted = matched = 0
        for file in sorted(data.glob("entities*/*.json")):
            for case in json.loads(file.read_text()):
                if group not in ("all", case["source"]):
                    continue
                truth = [(e["text"], e["type"], e["assertion"]) for e in case["entities"]]
                found = [(e.name, e.type, e.assertion) for e in rate_entities(read_report(case["sentence"]))]
                wanted, got = Counter(t[:2] for t in truth), Counter(f[:2] for f in found)
                both = wanted & got
                exact += (both.total(), got.total(), wanted.total())
                for (_, kind), count in both.items():
                    per_type[kind][0] += count
                for counts, place in ((got, 1), (wanted, 2)):
                    for (_, kind), count in counts.items():
                        per_type[kind][place] += count
                words = [Counter((w, t[1]) for t in side for w in _words(t[0])) for side in (truth, found)]
                overlap += ((words[0] & words[1]).total(), words[1].total(), words[0].total())
                states = {t[:2]: t[2] for t in truth}
                for name, kind, state in found:
                    if (name, kind) in states:
                        matched += 1
                        asserted += states[name, kind] == state
                if wanted != got and errors and group == "all":
                    print(
                        f"    entities {case['sentence']!r}\n      missed {sorted((wanted - got).elements())}\n"
                        f"      false  {sorted((got - wanted).elements())}",
                        file=sys.stderr,
                    )
        if not exact[2]:
            continue
        names = {"all": "", "iu": ", chest X-ray", "mtsamples": ", other modalities"}
        precision, recall, score = f1(*exact)
        yield (
            f"RaTE entities{names[group]}, exact F1",
            f"{score:.3f}",
            f"precision {precision:.3f}, recall {recall:.3f}",
        )
        precision, recall, score = f1(*overlap)
        yield (
            f"RaTE entities{names[group]}, token F1",
            f"{score:.3f}",
            f"precision {precision:.3f}, recall {recall:.3f}",
        )
        yield f"  assertion accuracy{names[group]}", f"{asserted / matched:.3f}", f"n {matched}"
        if group == "all":
            for kind, counts in sorted(per_type.items()):
                precision, recall, score = f1(*counts)
                yield (
                    f"  {kind}",
                    f"{score:.3f}",
                    f"precision {precision:.3f}, recall {recall:.3f}, n {counts[2]:.0f}",
                )


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def coverage(data: Path, errors: int) -> Iterable[Line]:
    """Share of content words that the reader knows."""
    vocabulary = load_vocabulary()
    texts = {
        "IU X-ray": list(reports_of(data).values()),
        "mtsamples": [row["transcription"] for row in rows_of(data / "mtsamples" / "mtsamples_radiology.csv")],
    }
    for name, reports in texts.items():
        known, unknown = 0, Counter[str]()
        for report in reports:
            for start, end in split_sentences(report):
                for item in vocabulary.match(tokenize(report[start:end]), lowered=False):
                    if item.role == "unknown":
                        unknown[item.value] += 1
                    elif item.role not in (
                        "number",
                        "mark",
                        "mask",
                        "comma",
                        "colon",
                        "semicolon",
                        "bracket",
                    ):
                        known += item.last - item.first
        frequent = " ".join(word for word, _ in unknown.most_common(errors or 12))
        yield f"words known, {name}", f"{known / (known + unknown.total()):.3f}", f"unknown: {frequent}"


def speed(data: Path, errors: int) -> Iterable[Line]:
    """Distinct reports per second on one core, without and with the readings of sentences kept."""
    reports = sorted(set(filter(None, reports_of(data).values())))
    words = sum(len(report.split()) for report in reports) / len(reports)
    reader = ReportReader()
    reader.read(reports[:50])
    vocabulary = load_vocabulary()
    began = time.process_time()
    for report in reports:
        for start, end in split_sentences(report):
            read_sentence(report[start:end], vocabulary)
    plain = len(reports) / (time.process_time() - began)
    vocabulary.sentences.clear()
    began = time.process_time()
    reader.read(reports)
    cold = len(reports) / (time.process_time() - began)
    began = time.process_time()
    reader.read(reports)
    warm = len(reports) / (time.process_time() - began)
    yield "distinct reports per second", f"{plain:,.0f}", f"no sentence kept; {words:.0f} words per report"
    yield "  sentences kept, first pass", f"{cold:,.0f}", f"{len(reports)} IU reports"
    yield "  sentences kept, second pass", f"{warm:,.0f}", ""
    began = time.process_time()
    compile._load.__wrapped__(())
    kept = time.process_time() - began
    began = time.process_time()
    compile_lexicon.__wrapped__(load_lexicon())
    fresh = time.process_time() - began
    yield (
        "lexicon load, ms",
        f"{1000 * kept:.0f}",
        f"{len(load_lexicon())} concepts; compiling anew {1000 * fresh:.0f}",
    )


LINES: dict[str, Callable[[Path, int], Iterable[Line]]] = {
    each.__name__: each for each in (nih, negex, radgraph, chexpert, radpref, entities, coverage, speed)
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=default, help="folder with the data")
    parser.add_argument("--only", nargs="*", choices=tuple(LINES), default=tuple(LINES))
    parser.add_argument("--errors", type=int, default=0, help="mistakes to show per line, on stderr")
    arguments = parser.parse_args()
    for name in arguments.only:
        try:
            for label, value, note in LINES[name](arguments.data, arguments.errors):
                print(f"{label:44} {value:>9}  {note}")
        except FileNotFoundError as error:
            print(f"{name:44} {'-':>9}  no file {error.filename}")


if __name__ == "__main__":
    main()
