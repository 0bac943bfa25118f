"""No text of any shape takes more than nearly linear time: doubling a text at most about doubles its cost.

Every reader and every metric is timed on each shape of text at two sizes, four times apart, both above the
longest sentence that is read as one. The exponent is that of the power law through both times: 1 is linear, 2 is
quadratic. Time is processor time, the best of several.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pytest
from hostile_texts import GRAMMAR, SHAPES
from lay_entries import knowing_readings

from radgauge.analysis.perturb import KINDS, make
from radgauge.analysis.perturb import report as perturbed
from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.core.registry import load, metric_names
from radgauge.findings.claims import findings_of
from radgauge.findings.findings import knowledge_for
from radgauge.lay.check.reading import _matches as everyday_sentences
from radgauge.lay.lay_reader import LayReader
from radgauge.lay.plain_sentences import write_plain
from radgauge.reader import ReportReading, load_lexicon, radgraph_graph, rate_entities, read_report
from radgauge.reader.compile import load_vocabulary
from radgauge.text import tokens
from radgauge.text.language import looks_english
from radgauge.text.mimic_sections import split_mimic_sections
from radgauge.text.ngrams import count_ngrams
from radgauge.text.readability import _syllables, readability
from radgauge.text.rush import rush_sentences
from radgauge.text.sections import split_sections
from radgauge.text.sentences import split_sentences
from radgauge.text.tokenizers import TOKENIZERS, TokenReader, locate

pytestmark = pytest.mark.nightly

MOST = 1.5  # 1.3 on a quiet core; caches of a shared one add up to 0.2 at the larger size, and squares stand out
QUIET = 1.3
"""Exponent up to which a first measurement is believed."""
TIMES = 4
NEGLIGIBLE = 0.02
"""Seconds for the longer text below which nothing is measured: the clock is too coarse, and two seconds for a text
ten times as long, if the cost were quadratic, would still end."""

Subject = Callable[[str], object]


@pytest.fixture(autouse=True)
def _without_garbage_collection() -> Iterator[None]:
    """Its cost is that of everything the process holds, whatever is measured."""
    gc.disable()
    yield
    gc.enable()


Prepared = Callable[[str], Callable[[], object]]
"""Takes a text, does what is not to be timed, and returns what is."""


def _proposals(kind: str) -> Prepared:
    def prepare(text: str) -> Callable[[], object]:
        report = perturbed._read(text)
        return lambda: make._proposals(report, kind, rng=np.random.default_rng(0), corpus=None)

    return prepare


def _view(of_reading: Callable[[ReportReading], object]) -> Prepared:
    def prepare(text: str) -> Callable[[], object]:
        reading = read_report(text)
        return lambda: of_reading(reading)

    return prepare


def _words(text: str) -> object:
    return [split(text) for split in TOKENIZERS.values()]


def _stems(text: str) -> object:
    return TokenReader("alphanumeric", stemmer=True).read([text])


def _places(text: str) -> object:
    return locate(text, TOKENIZERS["words"](text.lower()))


def _indices(text: str) -> object:
    return readability(text) if any(character.isalnum() for character in text) else None


READERS: dict[str, Subject] = {
    "split_sentences": split_sentences,
    "split_sections": split_sections,
    "split_mimic_sections": split_mimic_sections,
    "rush_sentences": rush_sentences,
    "tokenize": tokens.tokenize,
    "tokenizers": _words,
    "stems": _stems,
    "locate": _places,
    "n-grams": lambda text: count_ngrams([tuple(text.split())], order=4),
    "looks_english": looks_english,
    "readability": _indices,
    "read_report": read_report,
    "lay reader": lambda text: LayReader().read([text]),
    "write_plain": write_plain,
}
VIEWS: dict[str, Prepared] = {
    "findings_of": _view(lambda reading: findings_of(reading, knowledge_for(load_lexicon()))),
    "rate_entities": _view(rate_entities),
    "radgraph_graph": _view(radgraph_graph),
    **{f"perturb {kind}": _proposals(kind) for kind in KINDS if kind not in ("normal_report", "swap_report")},
}


def _forget() -> None:
    """Nothing that was read before may help."""
    load_vocabulary().sentences.clear()
    everyday_sentences.cache_clear()
    load_vocabulary().spelling._found.clear()
    tokens._KNOWN.clear()
    _syllables.cache_clear()


def _seconds(run: Callable[[], object], *, best_of: int) -> float:
    best = math.inf
    for _ in range(best_of):
        _forget()
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


def exponent(make_run: Callable[[int], Callable[[], object]], *, size: int) -> float:
    """The exponent of the cost between `size` and `TIMES * size`; a first suspicion is measured again."""
    small, large = make_run(size), make_run(TIMES * size)
    found = math.inf
    for best_of in (1, 3, 5):
        long = _seconds(large, best_of=best_of)
        if long < NEGLIGIBLE:
            return 0.0
        short = max(_seconds(small, best_of=2 * best_of), NEGLIGIBLE / TIMES)
        found = min(found, math.log(long / short) / math.log(TIMES))
        if found <= QUIET:
            break
    return found


def _too_steep(prepare: Prepared, *, size: int, shapes: Iterable[str] = SHAPES) -> dict[str, float]:
    prepare("A small left effusion. The heart is normal in size.")()
    found = {}
    for name in shapes:
        shape = SHAPES[name]
        steepness = exponent(lambda n, shape=shape: prepare(shape(n)), size=size)
        if steepness > MOST:
            found[name] = round(steepness, 2)
    return found


@pytest.mark.parametrize("name", READERS)
def test_reading_is_nearly_linear_in_every_shape_of_text(name: str) -> None:
    assert _too_steep(lambda text: lambda: READERS[name](text), size=5000) == {}


@pytest.mark.parametrize("name", VIEWS)
def test_what_is_made_of_a_reading_is_nearly_linear_in_every_shape_of_text(name: str) -> None:
    assert _too_steep(VIEWS[name], size=5000) == {}


ALL_PAIRS = ("bertscore", "ratescore", "radcliq")
"""Metrics that compare every word or entity of one text with every one of the other, by their published definition
(RadCliQ contains BERTScore). Memory is bounded by blocks, time by `score(longest=...)`."""
SENTENCES = ("short sentences", "lines", "unlike sentences", "unlike normal sentences", "full stops and blanks")
"""Shapes for `layman`, which looks up each sentence in a set; what it reads them with is timed above on all."""
NOT_RUN = ("meteor", "vlscore", "spice", "medcon", "crepe", "llm_errors", "green_llm", "crimson_llm")
METRICS = [name for name in metric_names() if name not in NOT_RUN]
"""METEOR's and SPICE's time is that of a Java program, a language model's that of its server (its checks are timed
below); MEDCON needs the UMLS. Of VLScore the side of the text is timed below, without pictures."""


def _judging(name: str) -> Prepared:
    metric = load(name)
    fresh = knowing_readings if name == "layman" else Readings  # what the set costs would hide what the text costs

    def prepare(text: str) -> Callable[[], object]:
        # Both have a finding at every size, so that no step from none to some passes for growth.
        case = Case("1", text + " A nodule.", (text + " A nodule. Normal.",))
        return lambda: metric.measure([case], reading=fresh())

    return prepare


@pytest.mark.parametrize("name", METRICS)
def test_judging_is_nearly_linear_in_every_shape_of_text(name: str) -> None:
    shapes = SENTENCES if name == "layman" else SHAPES
    steep = _too_steep(_judging(name), size=4500, shapes=shapes)
    most = 2.1 if name in ALL_PAIRS else MOST
    assert {shape: value for shape, value in steep.items() if value > most} == {}


@pytest.mark.parametrize("name", ["errors", "lay_fidelity"])
@pytest.mark.parametrize("seed", [0, 1], ids=["the same text", "texts that differ"])
def test_comparing_the_words_of_the_grammar_is_nearly_linear(
    name: str, seed: int, record_property: Callable[[str, object], None]
) -> None:
    metric = load(name)

    def prepare(shape: str, size: int) -> Callable[[], object]:
        case = Case(
            "1", GRAMMAR[shape](size, seed) + " A nodule.", (GRAMMAR[shape](size, 0) + " A nodule. Normal.",)
        )
        return lambda: metric.measure([case], reading=Readings())

    prepare("devices", 100)()
    steep = {shape: exponent(lambda size, shape=shape: prepare(shape, size), size=25_000) for shape in GRAMMAR}
    record_property(f"growth exponent of {name} on {len(GRAMMAR)} shapes of its own words", max(steep.values()))
    assert {shape: round(value, 2) for shape, value in steep.items() if value > MOST} == {}


def test_embedding_a_text_for_vlscore_is_nearly_linear_in_every_shape_of_text() -> None:
    pytest.importorskip("PIL", reason="needs the extra image")
    encoder = load("vlscore").image_text
    assert _too_steep(lambda text: lambda: encoder.embed_texts([text]), size=4500) == {}


def test_checking_a_language_models_answer_is_nearly_linear_in_every_shape_of_text() -> None:
    from scripted_judge import findings_answer

    from radgauge.metrics.llm_errors.findings import judgment_faults
    from radgauge.metrics.llm_errors.pairs import Pair, Text

    def prepare(text: str) -> Callable[[], object]:
        lines = [line.partition("] ")[2] for line in Text(text).numbered.splitlines()]
        answer = findings_answer(lines, lines)
        return lambda: judgment_faults(answer, Pair(Text(text), Text(text)))

    assert _too_steep(prepare, size=4500) == {}
