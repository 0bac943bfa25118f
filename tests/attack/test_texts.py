"""No text makes a reader, the lay writer, a perturbation or a metric raise, and every case is accounted for.

`make test` tries some hundred texts; `make fuzz` as many as RADGAUGE_FUZZ says. A failure names its seed.
"""

from __future__ import annotations

import random
import traceback
from collections.abc import Callable

import numpy as np
import pytest
from hostile_texts import hostile_text

from radgauge.analysis.perturb import KINDS, Corpus, perturb
from radgauge.core.cases import Case
from radgauge.core.clean import clean
from radgauge.core.readings import Readings
from radgauge.core.registry import load, metric_names
from radgauge.findings.claims import findings_of
from radgauge.findings.findings import knowledge_for
from radgauge.lay.lay_reader import LayReader
from radgauge.lay.plain_sentences import mixed_text, plain_text, write_plain
from radgauge.reader import ReportReader, load_lexicon, radgraph_graph, rate_entities, read_report
from radgauge.run.score import score
from radgauge.text.language import looks_english
from radgauge.text.mimic_sections import split_mimic_sections
from radgauge.text.rush import rush_sentences
from radgauge.text.sections import choose_section, split_sections
from radgauge.text.sentences import split_sentences
from radgauge.text.tokenizers import TOKENIZERS, TokenReader, locate
from radgauge.text.tokens import tokenize
from radgauge.text.words import has_words

pytestmark = pytest.mark.long

BATCH = 200
EXPENSIVE = ("meteor", "vlscore", "layman")
"""Metrics that start Java, need pictures or search a sentence set: a tenth of the texts."""


def _spans_are_inside(text: str) -> None:
    for spans in (split_sentences(text), rush_sentences(text)):
        assert all(0 <= start <= end <= len(text) for start, end in spans)
        assert spans == sorted(spans)
    for section in (*split_sections(text), *split_mimic_sections(text)):
        assert 0 <= section.start <= section.end <= len(text)
    found = tokenize(text)
    assert [text[a:b] for a, b in zip(found.starts, found.ends, strict=True)] == list(found.texts)


def _words(text: str) -> None:
    for name, split in TOKENIZERS.items():
        locate(text, split(text))
        TokenReader(name, stemmer=True).read([text])
    looks_english(text)
    has_words(text)
    for section in ("findings", "impression", "both", "whole"):
        choose_section(text, section)


def _read(text: str) -> None:
    reading = read_report(text)
    assert [text[each.start : each.end] for each in reading.mentions] == [each.text for each in reading.mentions]
    reader = ReportReader()
    assert reader.unpack(reader.pack(reading, text), text) == reading
    rate_entities(reading)
    radgraph_graph(reading)
    findings_of(reading, knowledge_for(load_lexicon()))


def _lay(text: str) -> None:
    written = write_plain(text)
    if clean(text).text == text:
        assert [" ".join(text[each.start : each.end].split()) for each in written] == [
            each.source for each in written
        ]
    assert len(plain_text(written)) >= 0
    assert all(each.source in mixed_text(written) for each in written if each.kept)
    LayReader().read([text])


CORPUS = Corpus.of(["The lungs are clear. The heart is normal. No effusion.", "Small left effusion. Clear lungs."])


def _perturb(text: str) -> None:
    for kind in KINDS:
        done = perturb(text, kind, rng=np.random.default_rng(0), corpus=CORPUS)
        if done is not None:
            assert done.text != text
            for edit in done.edits:
                assert text[edit.span[0] : edit.span[1]] == edit.before
                assert done.text[edit.result_span[0] : edit.result_span[1]] == edit.after


ATTACKED: dict[str, tuple[Callable[[str], None], int]] = {
    "spans": (_spans_are_inside, 1000),
    "words": (_words, 1000),
    "reader": (_read, 1000),
    "lay writer and lay reader": (_lay, 400),
    "perturbations": (_perturb, 100),
}
"""What is attacked, and with how many texts in every run of the tests."""


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", ATTACKED)
def test_no_text_makes_it_raise(name: str, fuzz_seed: int, fuzz_count: int) -> None:
    attack, few = ATTACKED[name]
    failed: dict[str, int] = {}
    for seed in range(fuzz_seed, fuzz_seed + (fuzz_count or few)):
        try:
            attack(hostile_text(random.Random(seed)))
        except Exception:  # every distinct failure is worth knowing, not only the first
            failed.setdefault(traceback.format_exc(limit=-2), seed)
    assert failed == {}


@pytest.mark.nightly
@pytest.mark.parametrize("name", ATTACKED)
def test_thousands_of_lines_are_read(name: str) -> None:
    if name == "perturbations":
        pytest.skip("reads the text hundreds of times; test_growth holds it to linear time")
    ATTACKED[name][0]("No effusion.\n" * (100_000 if name == "words" else 10_000))


def _whole(rng: random.Random) -> str:
    """A hostile text without half characters, which are refused where cases come in."""
    return hostile_text(rng).encode("utf-8", "replace").decode()


@pytest.mark.timeout(0)
@pytest.mark.parametrize(
    "name", [name for name in metric_names() if name not in ("vlscore", "spice", "medcon", "crepe")]
)
def test_no_text_costs_a_metric_its_run(
    name: str, fuzz_seed: int, fuzz_count: int, request: pytest.FixtureRequest
) -> None:
    if name in ("llm_errors", "green_llm", "crimson_llm"):
        request.getfixturevalue("judging")
    if name == "meteor" and not fuzz_count:
        pytest.skip("starts Java; part of `make fuzz`")
    metric = load(name)
    count = (fuzz_count or 200) // (10 if name in EXPENSIVE else 1)
    reading = Readings()
    for start in range(fuzz_seed, fuzz_seed + max(count, 1), BATCH):
        rng = random.Random(start)
        cases = [
            Case(str(start + i), _whole(rng), tuple(_whole(rng) for _ in range(rng.randint(1, 2))))
            for i in range(min(BATCH, count))
        ]
        scores = score(cases, metric, reading=reading.fork())[name]
        assert len(scores.values) == len(cases)
        assert not np.isinf(scores.values).any()
        unexplained = set(scores.reasons) ^ {
            key for key, value in zip(scores.keys, scores.headline, strict=True) if np.isnan(value)
        }
        assert unexplained == set()
        failed = {key: why for key, why in scores.reasons.items() if "failed on this case" in why}
        assert failed == {}, f"texts of random.Random({start})"
