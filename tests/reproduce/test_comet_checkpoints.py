"""Checkpoints against established metrics, and the sample of a reader study."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from comet_checkpoints import cases_of_pairs, correlate_checkpoints
from comet_checkpoints import main as print_ranks
from comet_sample_study import corpus_id, report_kind, sample_study, write_sample
from comet_sample_study import main as draw_sample

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.io.corpora.studies import Study


def system_cases(reports, *, system: str = "one") -> list[Case]:
    return [
        Case(report.id, reports[(at * 7) % len(reports)].text, (report.text,), system=system)
        for at, report in enumerate(reports)
    ]


def test_positive_means_agreement(reports) -> None:
    table = correlate_checkpoints(
        {"one": system_cases(reports)}, ["embedded"], metrics=("errors", "radcliq:version=preprint")
    )
    assert table.columns == ("errors_quality", "radcliq_preprint_embedded")
    (row,) = table.rows
    assert (row.group, row.cases, row.checkpoint) == ("one", len(reports), "embedded")
    assert row.spearman[0] > 0.6  # what the estimator predicts
    assert row.spearman[1] > 0.2  # where lower is better
    assert set(table.signatures) == {*table.columns, "embedded"}


def test_metrics_that_cannot_run_are_left_out_with_the_reason(reports) -> None:
    table = correlate_checkpoints(
        {"one": system_cases(reports)}, ["embedded"], metrics=("bleu", "chexbert_similarity"), models="published"
    )
    assert table.columns == ("bleu_4",)
    assert "chexbert_similarity" in table.absent
    assert table.absent["chexbert_similarity"]


def test_three_cases_at_least(reports) -> None:
    with pytest.raises(UsageError, match="at least three cases, 'one' has 2"):
        correlate_checkpoints({"one": system_cases(reports)[:2]}, ["embedded"], metrics=("bleu",))


def test_pairs_become_cases(tmp_path: Path) -> None:
    lines = "".join(f"ref {n},cand {n},{n}\n" for n in range(20))
    (tmp_path / "p.csv").write_text(f"src,mt,score\n{lines}", encoding="utf-8")
    some = cases_of_pairs(tmp_path / "p.csv", limit=5, seed=1)
    assert len(some) == 5
    assert all(case.candidate == case.references[0].replace("ref", "cand") for case in some)
    assert len(cases_of_pairs(tmp_path / "p.csv")) == 20


def studies_of(reports) -> list[Study]:
    return [
        Study(
            report.id,
            {"findings": report.text, "impression": ""},
            labels=(*report.terms, "extra") if not report.normal else ("normal",),
        )
        for report in reports
    ]


def test_a_sample_has_the_wanted_mixture_from_three_strata(reports, tmp_path: Path) -> None:
    sample = sample_study(system_cases(reports), studies_of(reports), per_stratum=15, abnormal=8, normal=2, seed=3)
    assert [each.normal for each in sample.cases].count(False) == 8
    assert len(sample.cases) == sample.counts["sampled"] == 10
    assert sample.counts["drawn"] == 45
    best = [each.radcliq for each in sample.cases if each.stratum == "best"]
    worst = [each.radcliq for each in sample.cases if each.stratum == "worst"]
    assert max(best) < min(worst)
    again = sample_study(system_cases(reports), studies_of(reports), per_stratum=15, abnormal=8, normal=2, seed=3)
    assert again == sample
    write_sample(tmp_path / "s.csv", sample)
    with (tmp_path / "s.csv").open(encoding="utf-8") as stream:
        assert [row["id"] for row in csv.DictReader(stream)] == [each.case.id for each in sample.cases]


@pytest.mark.parametrize(
    ("labels", "impression", "kind"),
    [
        (("normal",), "", "normal"),
        (("Cardiomegaly", "Edema"), "Mild failure.", "abnormal"),
        (("Cardiomegaly",), "Mild failure.", ""),  # no second term
        (("Cardiomegaly", "No Indexing"), "Mild failure.", ""),
        (("Cardiomegaly", "Edema"), "Stable. No acute  cardiopulmonary abnormality identified.", ""),
        ((), "", ""),
    ],
)
def test_filters_of_appendix_a(labels: tuple[str, ...], impression: str, kind: str) -> None:
    assert report_kind(Study("1", {"impression": impression}, labels=labels)) == kind


def test_ids_of_the_field_are_understood() -> None:
    known = {"38": Study("38", {}), "x": Study("x", {})}
    assert [corpus_id(name, known) for name in ("38", "CXR38_IM-1911", "CXR38", "x", "CXR39_IM-1")] == [
        *("38", "38", "38", "x"),
        None,
    ]


def test_what_cannot_be_sampled_is_said(reports) -> None:
    cases, studies = system_cases(reports), studies_of(reports)
    with pytest.raises(InputError, match="80 abnormal reports are wanted and "):
        sample_study(cases, studies)
    with pytest.raises(InputError, match="first: 's0'"):
        sample_study(cases, studies[1:])
    both = [*cases, *system_cases(reports, system="two")]
    with pytest.raises(UsageError, match="several systems; choose one: one, two"):
        sample_study(both, studies)
    with pytest.raises(UsageError, match="there is no system 'three'; there are: one, two"):
        sample_study(both, studies, system="three")
    with pytest.raises(InputError, match="at least three cases with both texts, got 2"):
        sample_study(cases[:2], studies)


def test_the_scripts_print_ranks_and_write_a_sample(
    reports, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (tmp_path / "systems.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "reference", "a", "b"])
        for at, report in enumerate(reports):
            writer.writerow([report.id, report.text, reports[(at * 5) % len(reports)].text, reports[0].text])
    columns = ["--candidate-columns", "a", "b"]
    print_ranks(["--systems", str(tmp_path / "systems.csv"), *columns, "-m", "bleu"])
    assert "b (systems)" in capsys.readouterr().out
    with (tmp_path / "indiana.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["uid", "MeSH", "findings", "impression"])
        writer.writerows([study.id, "; ".join(study.labels), "x", ""] for study in studies_of(reports))
    words = [str(tmp_path / "systems.csv"), "--terms", str(tmp_path / "indiana.csv"), "--system", "a", *columns]
    draw_sample([*words, "--abnormal", "3", "--normal", "2", "--output", str(tmp_path / "study.csv")])
    assert "sampled: 5" in capsys.readouterr().out
    assert (tmp_path / "study.csv").read_text(encoding="utf-8").count("\n") == 6
