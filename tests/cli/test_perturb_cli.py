"""`radgauge perturb` as a user meets it, and the study behind it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from typer.testing import CliRunner

import radgauge as rg
from radgauge.analysis.perturb import KINDS, _pairs, evaluate, perturb_reports
from radgauge.analysis.perturb.forms import same_words
from radgauge.cli import app
from radgauge.core.errors import InputError, UsageError
from radgauge.io.case_files import read_cases, read_references
from radgauge.io.judgments.rate_eval import read_triples
from radgauge.stats.resampling import Resampling


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    file = tmp_path / "reports.csv"
    file.write_text(
        "id,report\n"
        "1,There is a small left pleural effusion. Heart size is normal. The right lung is clear.\n"
        "2,There is a large right pneumothorax. The left lung is clear. No pleural effusion.\n"
        "3,\n"
        "4,The lungs are clear. Heart size is normal. No pleural effusion.\n"
    )
    return file


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["perturb", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def probe(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["probe", "sensitivity", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_file_reads_back_as_cases(reports: Path, tmp_path: Path) -> None:
    out = tmp_path / "perturbed.jsonl"
    run(reports, "-o", out, "--kinds", "change_location,flip_negation")
    cases = {case.key: case for case in read_cases(out).cases}
    moved = cases["1", "change_location"]
    assert moved.references[0].startswith("There is a small left pleural effusion.")
    assert moved.candidate.startswith("There is a small right pleural effusion.")
    assert (moved.meta["edit_before"], moved.meta["edit_after"]) == ("left", "right")
    assert (moved.meta["edit_spans"], moved.meta["edit_significant"]) == ("17-21", "yes")
    assert moved.meta["edit_category"] == "3"
    assert ("4", "change_location") not in cases


def test_counts_what_is_not_possible_and_is_seeded(reports: Path) -> None:
    one = run(reports, "--json", "--seed", 3)
    answer = json.loads(one)
    assert answer["reports"] == 3
    assert answer["none_possible"]["change_location"] == 1
    assert one == run(reports, "--json", "--seed", 3)


def test_evaluate(reports: Path) -> None:
    answer = json.loads(probe(reports, "-m", "rouge", "--json", "--resamples", 50, "--quiet"))
    [metric] = answer["metrics"]
    assert set(metric["means"]) == set(KINDS)
    assert metric["means"]["swap_report"]["value"] < metric["means"]["unknown_word"]["value"]
    assert metric["means"]["assert"] == {"value": None, "low": None, "high": None, "n": 0}
    delta = metric["deltas"]["location"]
    assert delta["value"] == pytest.approx(
        metric["means"]["unknown_word"]["value"] - metric["means"]["change_location"]["value"]
    )
    assert 0 <= metric["ranked_right"]["value"] <= 1
    shown = probe(reports, "-m", "rouge", "--resamples", 50)
    assert "pairs ranked right" in shown
    assert "change_location" in shown


def test_deltas_have_p_values_corrected_over_the_metrics() -> None:
    texts = {str(i): f"There is a {i + 2} mm nodule in the left lung. The heart is normal." for i in range(9)}
    made = perturb_reports(texts, ["remove_pathology", "remove_normal", "unknown_word", "change_location"])
    study = evaluate(made, ["errors", "bleu"], resampling=Resampling(resamples=20), permutations=999)
    errors, bleu = (metric.deltas for metric in study.metrics)
    name = "pathology removal, against normal sentences"
    assert errors[name].both == 9
    assert errors[name].paired == pytest.approx(errors[name].value)
    assert errors[name].paired_p == 1 / 2**9  # one of the ways to swap the two values of nine reports
    assert errors[name].p == 1 / 1000  # one of 48,620 ways to deal eighteen values
    assert errors["location"].p < 0.05 < bleu["location"].p  # BLEU minds an unknown word as much
    assert errors["location"].paired_p < 0.05 < bleu["location"].paired_p
    for delta in ("location", name):
        low, high = sorted([errors[delta].p, bleu[delta].p])
        assert sorted([errors[delta].p_holm, bleu[delta].p_holm]) == pytest.approx(
            [min(2 * low, 1), min(max(2 * low, high), 1)]
        )


@dataclass(frozen=True)
class _SeesImages(rg.Metric):
    """Whether the study's own image came along: a metric that needs one."""

    name: ClassVar[str] = "sees_images"
    higher_is_better: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset({"image"})

    def measure(self, cases: Sequence[rg.Case], *, reading: rg.Readings) -> np.ndarray:
        return np.array([float(case.images[0].name == f"{case.id}.png") for case in cases]).reshape(-1, 1)


def test_images_go_with_the_changed_reports(tmp_path: Path) -> None:
    file = tmp_path / "reports.csv"
    file.write_text("id,report,image\n1,There is a small left pleural effusion.,1.png\n2,No effusion.,2.png\n")
    (tmp_path / "pictures").mkdir()
    for name in ("1.png", "2.png"):
        (tmp_path / "pictures" / name).write_bytes(b"not read here")
    out = tmp_path / "perturbed.jsonl"
    run(file, "-o", out, "--images", tmp_path / "pictures")
    found = read_cases(out).cases
    assert {case.images for case in found} == {
        (tmp_path / "pictures" / "1.png",),
        (tmp_path / "pictures" / "2.png",),
    }
    originals = {case.id: case for case in read_references(file, images=tmp_path / "pictures").cases}
    made = perturb_reports({study: case.references[0] for study, case in originals.items()})
    [metric] = evaluate(
        made, [_SeesImages()], cases=originals, resampling=Resampling(resamples=20), permutations=9
    ).metrics
    assert metric.not_judged == 0
    assert metric.means["change_location"].value == 1.0
    [blind] = evaluate(made, [_SeesImages()], resampling=Resampling(resamples=20), permutations=9).metrics
    assert blind.not_judged == len(found)


def test_the_study_as_a_page(reports: Path, tmp_path: Path) -> None:
    page = tmp_path / "study.html"
    shown = probe(reports, "-m", "rouge", "-m", "bleu", "--resamples", 20, "--html", page)
    assert "p, corrected over metrics" in shown
    text = page.read_text(encoding="utf-8")
    assert "<b>3</b> reports" in text
    assert "reports.csv" in text
    assert "change_location (2)" in text


def test_many_metrics_are_printed_in_full(reports: Path) -> None:
    names = ("rouge", "bleu", "cider", "errors", "ratescore")
    asked = [part for name in names for part in ("-m", name)]
    shown = probe(reports, *asked, "--resamples", 20, "--permutations", 9)
    assert shown.count("pairs ranked right") == 2  # four metrics abreast
    assert "…" not in shown


FORMS = ("bullets", "key_value", "other_voice", "abbreviate", "move_section", "reorder")
TEXTS = {
    str(number): f"FINDINGS: The heart is normal. There is a {number + 2} mm nodule in the right lower lobe. "
    "No effusion is seen.\nIMPRESSION: Nodule without effusion."
    for number in range(4)
}


def _exact(candidate: str, reference: str) -> float:
    return float(candidate == reference)


def _words(candidate: str, reference: str) -> float:
    return float(same_words(candidate, reference))


def _constant(candidate: str, reference: str) -> float:
    return 0.5


def test_sensitivity_and_robustness_of_metrics_that_notice_everything_words_alone_and_nothing() -> None:
    made = perturb_reports(TEXTS, [*FORMS, "change_location", "change_measurement"])
    assert not made.none_possible["change_location"]
    assert not any(made.none_possible[kind] for kind in FORMS)
    study = evaluate(made, [_exact, _words, _constant], resampling=Resampling(resamples=20), permutations=9)
    exact, words, constant = study.metrics
    assert (exact.sensitivity.value, exact.robustness.value) == (1, 0)
    assert (words.sensitivity.value, words.robustness.value) == (1, 1)
    assert np.isnan([constant.sensitivity.value, constant.robustness.value]).all()
    assert {kind: value.value for kind, value in words.kept.items()} == {
        **dict.fromkeys(FORMS, 1.0),
        **dict.fromkeys(("change_location", "change_measurement"), 0.0),
    }
    assert {key[1] for scores in study.results.judges.values() for key in scores.keys} >= {"copy"}


def test_pairs_by_hand() -> None:
    table = np.array([[0.2, 0.5, 0.2, np.nan], [0.9, 0.1, np.nan, 0.3]])
    significant = np.array([[True, False, False, True], [True, False, False, True]])
    right, ties, pairs = _pairs(table, significant)
    assert right.tolist() == [[1, 0, 0, 0], [0, 0, 0, 0]]  # 0.2 < 0.5; 0.9 > 0.1; 0.3 > 0.1
    assert ties.tolist() == [[1, 0, 0, 0], [0, 0, 0, 0]]
    assert pairs.tolist() == [[2, 0, 0, 0], [1, 0, 0, 1]]


def test_removing_the_finding_ranks_below_an_unknown_word() -> None:
    texts = {str(i): f"There is a {i + 2} mm nodule in the left lung. The heart is normal." for i in range(4)}
    made = perturb_reports(texts, ["remove_pathology", "unknown_word"])
    [rouge] = evaluate(made, ["rouge"], resampling=Resampling(resamples=20)).metrics
    assert rouge.ranked_right.value == 1.0
    assert rouge.pairs == 4


def test_triples(reports: Path, tmp_path: Path) -> None:
    out = tmp_path / "triples.jsonl"
    run(reports, "--triples", "-o", out)
    triples = read_triples(out)
    assert len(triples) == 3
    assert all(len(set(triple[1:])) == 3 for triple in triples)
    assert json.loads(run(reports, "--triples", "--json"))["triples"][0]["id"] == triples[0].id


def test_messages(reports: Path, tmp_path: Path) -> None:
    def fails(*arguments: object) -> None:
        CliRunner().invoke(app, ["perturb", *map(str, arguments)], catch_exceptions=False)

    with pytest.raises(UsageError, match="nothing to do: name a file with -o"):
        fails(reports)
    with pytest.raises(UsageError, match="--triples does not go with --kinds"):
        fails(reports, "--triples", "--kinds", "swap", "--json")
    with pytest.raises(UsageError, match=r"triples are written as .jsonl, got triples.csv"):
        fails(reports, "--triples", "-o", tmp_path / "triples.csv")
    blank = tmp_path / "blank.csv"
    blank.write_text("id,report\n1,\n")
    with pytest.raises(InputError, match=r"blank.csv: no report with text"):
        fails(blank, "--json")
    double = tmp_path / "double.csv"
    double.write_text("id,reference,candidate,system\n1,Clear lungs.,a,x\n1,No effusion.,b,y\n")
    with pytest.raises(InputError, match="'1' differ"):
        fails(double, "--json")
    with pytest.raises(InputError, match="no report could be perturbed"):
        evaluate(perturb_reports({"1": "xyz"}))
