"""Every registered metric, ours and those of installed packages, keeps the contract."""

from __future__ import annotations

import atexit
import functools
import importlib.util
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lay_entries import knowing_readings

from radgauge.core.cases import Case
from radgauge.core.errors import MissingExtra, ModelError
from radgauge.core.metric import Metric
from radgauge.core.readings import Readings
from radgauge.core.registry import load, metric_names
from radgauge.run.contract import CHECKS, REPORTS, Bench

VARIANTS = (
    *("bleu:variant=cxr", "bleu:smoothing=coco", "bleu:empty=zero", "bleu:tokenizer=13a,lowercase=no"),
    *("bertscore:rescale=no,empty=zero", "bertscore:idf=yes", "chexbert:uncertain=class,per_condition=yes"),
    *(
        "chexbert:uncertain=ignore,blank=ignore,absent=skip",
        "chexbert:empty=read",
        "chexbert_similarity:empty=read",
    ),
    *("radgraph:variant=complete,case=2026-07", "radgraph:empty=zero", "radcliq:version=preprint"),
    *("radcliq:version=v0,inverse=yes", "radcliq:empty=published"),
    *("rouge:variant=coco", "rouge:stemmer=yes", "rouge:empty=zero", "cider:empty=zero"),
    *("ratescore:weights=short,penalty=paper", "ratescore:preset=2024,no_entities=published"),
    *("vlscore:similarity=sphere,views=best,domain=off", "vlscore:similarity=image_cosine,domain=off"),
    "vlscore:similarity=cosine,domain=off",
)
ASK_A_SERVER = ("llm_errors", "green_llm", "crimson_llm")
"""Held to the contract with a server on this machine, in its own tests."""
DRAWN = {"vlscore": "vlscore:domain=off"}
"""Drawn pictures are no chest radiographs, which it would refuse to judge."""
PUBLISHED_ONLY = ("crepe",)
"""Has no embedded counterpart and needs a checkpoint."""
SPECS = (
    *(DRAWN.get(name, name) for name in metric_names() if name not in (*ASK_A_SERVER, *PUBLISHED_ONLY)),
    *VARIANTS,
)


@functools.cache
def drawn_images() -> tuple[Path, ...]:
    """Two pictures, as a study with two views has; they show nothing."""
    from PIL import Image

    folder = Path(tempfile.mkdtemp(prefix="radgauge-contract-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    rows, columns = np.mgrid[0:96, 0:80] / 96
    for name, shift in (("frontal", 0.0), ("lateral", 1.5)):
        grey = 128 + 100 * np.sin(7 * rows + shift) * np.cos(5 * columns - shift)
        Image.fromarray(grey.astype(np.uint8)).save(folder / f"{name}.png")
    return (folder / "frontal.png", folder / "lateral.png")


@functools.cache
def bench_of(spec: str) -> Bench | str:
    """The metric ready for checks, or why it cannot run here."""
    metric = load(spec)
    images: tuple[Path, ...] = ()
    if "image" in metric.needs:
        if importlib.util.find_spec("PIL") is None:
            return "the extra 'image' is not installed"
        images = drawn_images()
    bench = Bench(metric, images, knowing_readings() if metric.name == "layman" else Readings())
    try:
        bench.score(bench.cases(REPORTS[:2]))
    except (MissingExtra, ModelError) as error:
        return str(error)
    return bench


def bench_or_skip(spec: str) -> Bench:
    bench = bench_of(spec)
    if isinstance(bench, str):
        pytest.skip(f"{spec}: {bench}")
    return bench


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS.keys())
@pytest.mark.parametrize("spec", SPECS)
def test_contract(spec: str, check, monkeypatch: pytest.MonkeyPatch) -> None:
    if spec == "layman":
        monkeypatch.setattr("radgauge.run.contract.Readings", knowing_readings)
    check(bench_or_skip(spec))


texts = st.text(max_size=30) | st.lists(
    st.sampled_from(["no", "effusion", "left", ".", "XXXX", "", "\n", "2.5", "Heart", "胸"]), max_size=12
).map(" ".join)


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(pairs=st.lists(st.tuples(texts, st.lists(texts, max_size=3)), max_size=6))
def test_rows_in_are_rows_out(spec: str, pairs: list[tuple[str, list[str]]]) -> None:
    bench = bench_or_skip(spec)
    cases = [Case(str(i), candidate, tuple(references)) for i, (candidate, references) in enumerate(pairs)]
    scores = bench.score(cases)
    assert scores.values.shape == (len(cases), len(bench.metric.columns))
    assert scores.keys == tuple(case.key for case in cases)
    assert not np.isinf(scores.values).any()
    assert set(scores.reasons) == {
        key for key, value in zip(scores.keys, scores.headline, strict=True) if np.isnan(value)
    }


def test_different_settings_have_different_signatures() -> None:
    metrics: list[Metric] = [load(spec) for spec in SPECS]
    assert len({metric.signature() for metric in metrics}) == len(metrics)
