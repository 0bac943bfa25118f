"""Score ranges, growth with training data, and collapse."""

from __future__ import annotations

import numpy as np
import pytest
from layman_rrg.plots import growth_curves, range_bars
from layman_rrg.tables import training_table
from layman_rrg.training import Size, share_differences, training_runs
from result_page import leaflet

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.lay.encoder import FindingEncoder
from radgauge.stats.resampling import Resampling

REFERENCES = [
    "Small left pleural effusion. Heart is normal.",
    "Right pneumothorax. Rib fracture on the right.",
    "Cardiomegaly. Pulmonary edema.",
    "The lungs are clear. No pleural effusion.",
    "Left lower lobe pneumonia. Scoliosis.",
]
SAME = "The lungs are clear. No pneumothorax."


def _cases(system: str, texts: list[str]) -> list[Case]:
    return [
        Case(str(k), text, (ref,), system) for k, (text, ref) in enumerate(zip(texts, REFERENCES, strict=True))
    ]


def test_copies_reach_everything_and_a_template_collapses() -> None:
    copy, template = training_runs(
        [*_cases("copy", REFERENCES), *_cases("template", [SAME] * 5)],
        sizes={"copy": Size(50000), "template": Size(5000)},
        resampling=Resampling(resamples=200),
    )[::-1]
    assert copy.above.value == 1
    assert copy.reports_above.value == 1
    assert template.reports_above.value == 0  # no report of the template says what its reference says
    assert copy.ranges == (0.0,) * 9 + (1.0,)
    assert copy.excess.value == pytest.approx(0)
    assert not copy.collapsed
    assert copy.distinct == 1
    assert template.pairwise.value == pytest.approx(1)
    assert template.variance == pytest.approx(0, abs=1e-9)
    assert template.distinct == 0.2
    assert template.collapsed
    assert template.above.value == pytest.approx(1 / 10)  # "the lungs are clear", once
    assert template.above.low <= template.above.value <= template.above.high


def test_pairwise_similarity_by_comparing_all() -> None:
    (run,) = training_runs(_cases("copy", REFERENCES), resampling=Resampling(resamples=50))
    vectors = FindingEncoder().encode(REFERENCES).astype(np.float64)
    products = (vectors @ vectors.T)[np.triu_indices(5, 1)]
    assert run.pairwise.value == pytest.approx(products.mean())
    assert run.variance == pytest.approx(products.var())
    assert run.pairwise_references == pytest.approx(products.mean())
    assert run.size is None


def test_every_pair_counts_pairs_of_sentences() -> None:
    closest, every = (
        training_runs(_cases("copy", REFERENCES), every_pair=pairs, resampling=Resampling(resamples=50))[0]
        for pairs in (False, True)
    )
    assert (closest.sentences, every.sentences) == (10, 20)
    assert every.above.value == pytest.approx(0.5)


def test_reports_without_sentences_are_counted() -> None:
    (run,) = training_runs(_cases("gaps", ["", "...", *REFERENCES[2:]]), resampling=Resampling(resamples=50))
    assert (run.reports, run.not_judged) == (3, 2)


def test_differences_are_drawn_by_study() -> None:
    half = [text.split(". ")[0] + ". Something else entirely." for text in REFERENCES]
    gaps = ["", *REFERENCES[1:]]
    cases = [*_cases("copy", REFERENCES), *_cases("half", half), *_cases("gaps", gaps)]
    some = Resampling(resamples=100)
    apart, same, part = share_differences(
        cases, [("copy", "half"), ("copy", "copy"), ("half", "gaps")], resampling=some
    )
    assert apart.value == pytest.approx(0.5)
    assert (apart.low, apart.high) == (pytest.approx(0.5), pytest.approx(0.5))  # half of every report: no spread
    assert (same.value, same.low, same.high, same.n) == (0, 0, 0, 5)
    assert (part.n, part.missing) == (4, 1)  # the study without a report counts for neither
    assert part.value == pytest.approx(-0.5)
    runs = {run.system: run.above.value for run in training_runs(cases, resampling=some)}
    assert apart.value == pytest.approx(runs["copy"] - runs["half"])
    with pytest.raises(InputError, match="no report of 'c' is among the cases"):
        share_differences(cases, [("copy", "c")])
    with pytest.raises(InputError, match="'copy' and 'blank' have no judged study in common"):
        share_differences([*cases, *_cases("blank", [""] * 5)], [("copy", "blank")])


def test_what_cannot_be_used() -> None:
    cases = _cases("a", REFERENCES) + _cases("b", REFERENCES)
    with pytest.raises(InputError, match="a size is given for 'c'"):
        training_runs(cases, sizes={"c": Size(1)})
    with pytest.raises(InputError, match="system 'b' has no training size"):
        training_runs(cases, sizes={"a": Size(1)})
    with pytest.raises(InputError, match="system 'a'"):
        training_runs(cases[:1])
    with pytest.raises(UsageError, match="threshold must be above 0 and at most 1, got 2"):
        training_runs(cases, threshold=2)


def test_pictures_and_page() -> None:
    cases = [*_cases("raw_5k", [SAME] * 5), *_cases("lay_5k", REFERENCES), *_cases("lay_10k", REFERENCES)]
    sizes = {"raw_5k": Size(5000, "raw"), "lay_5k": Size(5000, "lay"), "lay_10k": Size(10000, "lay")}
    runs = training_runs(cases, sizes=sizes, resampling=Resampling(resamples=50))
    bars, curves = range_bars(runs, threshold=0.8), growth_curves(runs, threshold=0.8)
    assert curves is not None
    assert "5k training examples" in bars.file()
    assert "raw (collapsed at every size)" in curves.body
    assert growth_curves(training_runs(cases, resampling=Resampling(resamples=50)), threshold=0.8) is None
    page = leaflet("<b>Title", [training_table(runs, threshold=0.8)], plots=[bars, curves], notes=["a & b"])
    assert "&lt;b&gt;Title" in page
    assert "a &amp; b" in page
    assert page.count("<svg") == 2
