"""The figures of the RadCliQ paper: what is drawn is what was computed."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from yu_figures import agreement_figure, failure_figure, main, progress_figure, rater_figure

import radgauge as rg
from radgauge.analysis.failure_modes import failure_modes
from radgauge.core.cases import Case
from radgauge.core.errors import InputError
from radgauge.io.judgments.judgments import Judgments, error_scores
from radgauge.io.scores_file import write_scores
from radgauge.render.svg import Plot
from radgauge.stats import icc

GROUPS = ("bleu", "radgraph")
STUDIES = 20
RATERS = 3


@pytest.fixture(scope="module")
def judgments() -> Judgments:
    """Two groups; the first makes far more false findings, the second omits as much."""
    texts = ("No effusion. Heart normal.", "Small effusion. Heart enlarged.", "Edema. No effusion seen.")
    cases = tuple(
        Case(f"s{n}", texts[(n + place) % 3], (texts[n % 3],), group)
        for n in range(STUDIES)
        for place, group in enumerate(GROUPS)
    )
    rng = np.random.default_rng(0)
    counts = [
        (case.key, str(rater), category, significant, float(rng.poisson(2.5 if case.system == "bleu" else 0.3)))
        if category == 1
        else (case.key, str(rater), category, significant, float(rng.poisson(0.4)))
        for case in cases
        for rater in range(RATERS)
        for category in (1, 2)
        for significant in (True, False)
    ]
    keys = tuple(case.key for case in cases)
    return Judgments("invented", cases, error_scores(counts, keys=keys, signature="test"))


def words(plot: Plot) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(plot.file()).iter() if text.tag.endswith("text")]


def test_a_panel_per_metric_and_target_with_the_coefficient(judgments: Judgments) -> None:
    results = rg.score(judgments.cases, ["bleu:variant=cxr", "rouge"])
    found = rg.agree(results, judgments, resamples=20)
    plot = agreement_figure(results, judgments, found, names={"bleu": "BLEU oracle"})
    said = words(plot)
    for line in found.lines:
        assert any(text.startswith(f"τ-b = {line.correlation.value:.3f} [") for text in said), line
    assert {"BLEU oracle", "radgraph"} <= set(said)  # the legend
    dots = plot.body.count('class="c0 dot"') + plot.body.count('class="c1 dot"')
    assert dots == len(results) * 2 * len(judgments.cases)


def test_bars_are_means_and_only_what_differs_is_marked(judgments: Judgments) -> None:
    found = failure_modes(judgments, targets=["significant", "total"])
    plot = failure_figure(found)
    said = words(plot)
    for part in found:
        for mode in part.modes:
            if mode.category != "total":
                assert f"{mode.mean_first:.2f}" in said
    marked = [text for text in said if text in ("*", "†", "*†")]
    expected = [
        mode
        for part in found
        for mode in part.modes
        if mode.category != "total" and (mode.two_sample.significant or mode.paired.significant)
    ]
    assert len(marked) == len(expected) == 2  # false findings, in both targets
    assert all(mode.category == "false_finding" and mode.first == "bleu" for mode in expected)
    assert any("as published" in text for text in said)


def test_a_dot_for_every_rater_and_study(judgments: Judgments) -> None:
    plot = rater_figure(judgments)
    assert len(re.findall(r'class="c\d dot"', plot.body)) == STUDIES * len(GROUPS) * RATERS
    values = np.stack([scores.column("errors_total") for scores in judgments.errors.values()], axis=1)
    own = values[[case.system == "radgraph" for case in judgments.cases]]
    assert any(text.startswith(f"ICC(2,1) {icc(own).interval.value:.3f} [") for text in words(plot))
    alone = Judgments("one", judgments.cases, {"0": judgments.errors["0"]})
    with pytest.raises(InputError, match="needs two or more, there are 1"):
        rater_figure(alone)


def test_progress_is_the_improvement_in_percent(judgments: Judgments) -> None:
    results = rg.score(judgments.cases, ["bleu:variant=cxr"])
    lines = rg.compare(results, baseline="bleu", percent=True, resamples=20, permutations=20)
    [line] = lines
    assert line.improvement is not None
    assert f"{line.improvement.value:+.1f} %" in words(progress_figure(lines))
    with pytest.raises(InputError, match="compared with a baseline in percent"):
        progress_figure(rg.compare(results, baseline="bleu", resamples=20, permutations=20))


def test_from_the_command_line(tmp_path: Path) -> None:
    rows = ["id,system,reference,candidate"]
    rows += [
        f"{n},{s},No effusion.,{t}" for n in range(6) for s, t in (("a", "No effusion."), ("b", "Edema here."))
    ]
    file = tmp_path / "r.csv"
    file.write_text("\n".join(rows), encoding="utf-8")
    write_scores(tmp_path / "s.jsonl", rg.score(rg.read_cases(file).cases, ["bleu:variant=cxr"]))
    main(["progress", str(tmp_path / "s.jsonl"), "-o", str(tmp_path), "--resamples", "20"])
    ElementTree.fromstring((tmp_path / "progress.svg").read_text(encoding="utf-8"))
    judged = ["id,system,reference,candidate,rater,category,significant,count"]
    judged += [
        f"{n},{s},No effusion.,{t},{r},{c},{g},{(n + r + c) % 3}"
        for n in range(6)
        for s, t in (("a", "No effusion."), ("b", "Edema here."))
        for r in (0, 1)
        for c in (1, 2)
        for g in (True, False)
    ]
    ratings = tmp_path / "judged.csv"
    ratings.write_text("\n".join(judged), encoding="utf-8")
    folder = tmp_path / "figures"
    main(["judgments", str(ratings), "-m", "bleu:variant=cxr", "-o", str(folder), "--resamples", "20"])
    names = {"agreement.svg", "failure-modes.svg", "raters-total.svg", "raters-significant.svg"}
    assert {each.name for each in folder.iterdir()} == names
