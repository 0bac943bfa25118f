"""`radgauge agree` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.core.errors import UsageError
from radgauge.core.wording import signed

FAST = ("-m", "rouge", "--sampling", "resamples=20", "--no-cache", "--quiet")


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["agree", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def counted(tmp_path: Path) -> Path:
    """Group x has fewer omissions than y, but more significant ones."""
    lines = ["id,system,reference,candidate,rater,category,significant,count"]
    counts = {("x", True): 2, ("x", False): 0, ("y", True): 0, ("y", False): 5}
    for study in range(12):
        for (group, significant), count in counts.items():
            candidate = "No effusion." if (study + (group == "x")) % 3 else "Clear lungs."
            for rater in "ab":
                wobble = count + study % 2
                lines.append(f"{study},{group},No effusion.,{candidate},{rater},2,{significant},{wobble}")
    file = tmp_path / "counts.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_failure_modes_show_the_errors_that_were_asked_for(counted: Path) -> None:
    shown = run("-j", counted, *FAST, "--failure-modes", "--target", "significant")
    assert "failure modes, significant errors of 12 studies" in shown
    assert "failure modes, total errors" not in shown
    (row,) = [line.split() for line in shown.splitlines() if line.startswith("omission ")]
    assert row[1:5] == ["x", "y", "2.500", "0.500"]


def test_failure_modes_of_both_targets_are_kept_apart_in_json(counted: Path) -> None:
    found = json.loads(run("-j", counted, *FAST, "--failure-modes", "--json"))["failure_modes"]
    assert list(found) == ["total", "significant"]
    worse = {
        target: {m["first"] for m in part["modes"] if m["two_sample"]["significant"]}
        for target, part in found.items()
    }
    assert worse == {"total": {"y"}, "significant": {"x"}}


def test_a_target_named_twice_is_shown_once(counted: Path) -> None:
    lines = json.loads(run("-j", counted, *FAST, "-t", "2", "-t", "omission", "--json"))["alignment"]["lines"]
    assert [line["target"] for line in lines] == ["omission"]


def test_every_correlation_has_a_p_value(counted: Path) -> None:
    (line,) = json.loads(run("-j", counted, *FAST, "-t", "total", "--json"))["alignment"]["lines"]
    assert 0 < line["correlation"]["p"] <= 1
    header = next(
        row.split() for row in run("-j", counted, *FAST, "-t", "total").splitlines() if "interval" in row
    )
    assert header[header.index("interval") :] == [
        *["interval", "p", "n", "without", "copies", "preferred", "calibrated", "best", "of", "N"]
    ]


@pytest.fixture
def by_modality(tmp_path: Path) -> Path:
    """CT: the better text has the better rating; MR: the worse one has; one case of US, one of nothing."""
    lines = ["id,reference,candidate,rater,rating,modality"]
    texts = ("No effusion.", "No large effusion.", "There is an effusion.", "Clear lungs.")
    for study in range(8):
        for modality, sign in (("CT", -1), ("MR", 1)):
            lines.append(
                f"{modality}{study},No effusion.,{texts[study % 4]},a,{5 + sign * (study % 4)},{modality}"
            )
    lines += ["us,No effusion.,No effusion.,a,3,US", "none,No effusion.,No effusion.,a,3,"]
    file = tmp_path / "ratings.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_agreement_by_a_column(by_modality: Path) -> None:
    found = json.loads(run("-j", by_modality, *FAST, "--by", "modality", "--json"))["by"]
    value = {name: part["lines"][0]["correlation"]["interval"]["value"] for name, part in found["parts"].items()}
    assert value == {"CT": pytest.approx(1.0), "MR": pytest.approx(-1.0)}
    assert (found["too_few"], found["unknown"]) == ({"US": 1}, 1)
    shown = run("-j", by_modality, *FAST, "--by", "modality")
    assert "modality = CT: 8 cases" in shown
    with pytest.raises(UsageError, match="no judged case has a column 'scanner'"):
        run("-j", by_modality, *FAST, "--by", "scanner")


def test_a_one_sided_test_has_half_the_p_value(by_modality: Path) -> None:
    def p(*more: str) -> float:
        options = ("-m", "rouge", "-m", "bleu:variant=cxr", "--pairs", "--correction", "none", "--json")
        (pair,) = json.loads(run("-j", by_modality, *FAST[2:], *options, *more))["alignment"]["pairs"]
        return float(pair["tests"][0]["test"]["p"])

    assert p("--one-sided") == pytest.approx(p() / 2)


def test_mine_against_the_others_as_a_table_for_a_paper(counted: Path, tmp_path: Path) -> None:
    source = tmp_path / "words.py"
    source.write_text(
        "def overlap(candidate, reference):\n    return len(set(candidate.split()) & set(reference.split()))\n"
    )
    arguments = ("-j", counted, *FAST, "-m", "bleu", "-m", f"{source}:overlap", "-t", "total", "--mine", "overlap")
    found = json.loads(run(*arguments, "-o", tmp_path / "mine.tex", "--json"))["alignment"]["pairs"]
    assert [(pair["first"], pair["second"]) for pair in found] == [("overlap", "rouge_l"), ("overlap", "bleu_4")]
    tex = (tmp_path / "mine.tex").read_text()
    rows = [line.split(" & ")[:2] for line in tex.splitlines() if line.startswith("overlap & ")]
    pairs = [row for row in rows if "\\_" in row[1]]  # beside the agreement of each metric
    assert pairs == [["overlap", "rouge\\_l"], ["overlap", "bleu\\_4"]]
    difference = found[0]["difference"]["interval"]["value"]
    assert f" & {signed(difference)} & " in tex
    assert "\\toprule" in tex


def test_mine_must_be_an_output_and_a_file_has_a_format(counted: Path, tmp_path: Path) -> None:
    for more, message in ((("-o", tmp_path / "x.docx"), ".tex"), (("--mine", "lenght"), "rouge_l")):
        done = CliRunner().invoke(app, ["agree", str(counted), *FAST, "-t", "total", *map(str, more)])
        assert done.exit_code != 0
        assert message in (done.output + str(done.exception))
