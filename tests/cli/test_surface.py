"""The size of the command line, what a screen holds, and how scores and results go on."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from command import radgauge

import radgauge as rg
from radgauge.cli import VERBS, app
from radgauge.cli.verbs import EVERYWHERE, ON_ONE_LINE, SECTIONS, first_screen

SYSTEMS = [f"model {letter}" for letter in "abcdefgh"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Eight systems in a wide table of twelve studies."""
    lines = ["study,truth," + ",".join(SYSTEMS)]
    for n in range(12):
        reference = f"Small left effusion and {n} nodules. The heart is normal in size."
        own = [reference if (n + k) % 3 else f"Right effusion and {k} masses." for k in range(len(SYSTEMS))]
        lines.append(f"s{n},{reference}," + ",".join(own))
    (tmp_path / "wide.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


WIDE = ("wide.csv", "--columns", "id=study,reference=truth", "--candidate-columns", ",".join(SYSTEMS))


def _leaves() -> list[tuple[str, Any]]:
    root: Any = typer.main.get_command(app)
    found = []
    for name in VERBS:
        verb = root.get_command(None, name)
        inner = getattr(verb, "commands", None)
        found += [(f"{name} {each}", leaf) for each, leaf in inner.items()] if inner else [(name, verb)]
    return found


def test_the_surface_stays_small() -> None:
    counts = {name: sum(p.param_type_name == "option" for p in leaf.params) for name, leaf in _leaves()}
    assert sum(counts.values()) <= 325
    assert max(counts.values()) <= 20
    assert sum(count < 12 for count in counts.values()) > 0.8 * len(counts)
    own_line = [verb for section, verbs in SECTIONS.items() if section not in ON_ONE_LINE for verb in verbs]
    assert len(own_line) <= 16
    assert len(first_screen().splitlines()) <= 60
    assert "--format" in EVERYWHERE


@pytest.mark.parametrize("verb", [name for name, _ in _leaves()])
def test_help_fits_on_a_page(verb: str, tmp_path: Path) -> None:
    done = radgauge(*verb.split(), "--help", folder=tmp_path, COLUMNS="100")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) <= 60


def test_eight_systems_fit_on_a_terminal(folder: Path) -> None:
    done = radgauge("score", *WIDE, "--no-cache", "--sampling", "resamples=20", folder=folder)
    assert done.returncode == 0, done.stderr
    assert all(system in done.stdout for system in SYSTEMS)
    assert len((done.stdout + done.stderr).splitlines()) <= 40
    everything = radgauge("score", *WIDE, "--no-cache", "--all", "--sampling", "resamples=20", folder=folder)
    assert len(everything.stdout.splitlines()) > 100


@pytest.mark.long
def test_scores_know_their_reports_and_nobody_repeats_a_column(folder: Path) -> None:
    assert (
        radgauge("score", *WIDE, "-m", "rouge,bleu", "-o", "s.jsonl", "-o", "s.csv", folder=folder).returncode == 0
    )
    assert (folder / "s.csv").is_file()
    done = radgauge("report", "s.jsonl", "-o", "a.html", "-o", "paper=t.tex", "-q", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "No texts" not in (folder / "a.html").read_text()
    assert "toprule" in (folder / "t.tex").read_text()
    why = radgauge("explain", "s.jsonl", "--id", "s3", "--system", "model a", "--json", folder=folder)
    assert json.loads(why.stdout)["candidate"]
    (folder / "wide.csv").rename(folder / "elsewhere.csv")
    moved = radgauge("report", "s.jsonl", "--reports", "elsewhere.csv", "-o", "b.html", folder=folder)
    assert moved.returncode == 0, moved.stderr
    assert "No texts" not in (folder / "b.html").read_text()


@pytest.mark.parametrize(
    ("form", "pattern"),
    [("csv", r"^metric,system"), ("md", r"^\| metric"), ("tex", r"\\begin\{tabular\}"), ("json", r"^\{")],
)
def test_a_result_in_every_format_on_stdout_and_in_files(folder: Path, form: str, pattern: str) -> None:
    radgauge("score", *WIDE, "-m", "rouge", "-o", "s.jsonl", folder=folder)
    fast = ("--sampling", "resamples=20,permutations=20")
    done = radgauge("--format", form, "compare", "s.jsonl", *fast, "-o", f"c.{form}", "-o", "c.md", folder=folder)
    assert done.returncode == 0, done.stderr
    assert re.search(pattern, done.stdout, flags=re.MULTILINE)
    assert (folder / f"c.{form}").read_text().rstrip("\n") == done.stdout.rstrip("\n")
    after = radgauge("compare", "s.jsonl", *fast, f"--format={form}", folder=folder)
    assert after.stdout == done.stdout


def test_old_names_answer_with_the_new_one(folder: Path) -> None:
    old = radgauge("score", *WIDE, "-m", "rouge", "--resamples", "20", "--seed", "3", "--json", folder=folder)
    new = radgauge("score", *WIDE, "-m", "rouge", "--sampling", "resamples=20,seed=3", "--json", folder=folder)
    assert json.loads(old.stdout)["summary"] == json.loads(new.stdout)["summary"]
    assert "--resamples is now --sampling resamples=20" in old.stderr
    wrong = radgauge("score", *WIDE, "--sampling", "resample=20", folder=folder)
    assert wrong.returncode == 2
    assert "did you mean resamples?" in wrong.stderr
    assert "level=0.95" in radgauge("score", "--sampling", "help", folder=folder).stdout


def test_results_by_output_values_and_tables() -> None:
    texts = ["No effusion.", "Small effusion. Heart is large."]
    results = rg.score(
        references=texts, candidates={"copy": texts, "half": ["No effusion.", "Clear."]}, metrics="bleu"
    )
    one = results["bleu_4"]
    assert (one.columns, one.systems) == (("bleu_4",), ("copy", "half"))
    np.testing.assert_array_equal(one.headline, results["bleu"].column("bleu_4"))
    assert results.values(system="copy")["bleu_1"] == 1
    assert rg.summarise(_only(results, "bleu_2"), resamples=0)[0].value == results.values("copy")["bleu_2"]
    with pytest.raises(rg.UsageError, match="copy"):
        results.values()
    with pytest.raises(KeyError, match="bleu_4"):
        results["bleu_5"]
    assert "toprule" in rg.summarise(results, resamples=0).to_latex()
    assert rg.compare(results, baseline="half", permutations=9).to_csv().startswith("metric,system,baseline")
    with pytest.raises(rg.UsageError, match="candidates"):
        rg.score(references=texts, predictions=texts)  # type: ignore[call-arg]


def _only(results: rg.Results, output: str) -> rg.Results:
    return rg.Results({output: results[output]})


def test_the_page_of_jobs_counts_its_own_blocks() -> None:
    page = (Path(__file__).parents[2] / "docs" / "jobs.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:a |agree).+?\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", page, re.M)
    counted = []
    for block in re.findall(r"```text\n(.+?)```", page, re.S):
        counts: list[int] = []
        for part in block.split("# now"):
            commands = [shlex.split(line) for line in part.splitlines() if line.startswith("radgauge")]
            counts += [len(commands), sum(word.startswith("-") for words in commands for word in words)]
        counted.append(tuple(map(str, counts)))
    assert rows == counted
