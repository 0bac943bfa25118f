"""What the verbs leave behind: no word of a report but in files asked for by name, all for the owner only."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from radgauge.cli import app

pytestmark = pytest.mark.long

NAME = "Quibblewick"
REFERENCES = [
    f"Mrs. {NAME} has a small left pleural effusion. Heart size is normal.",
    f"No pneumothorax in {NAME}. There is mild cardiomegaly.",
    f"Right lower lobe pneumonia, {NAME} was informed. No effusion.",
    f"Lungs are clear. {NAME.upper()} has a pacemaker.",
]
VERBS = {
    "score": "score cases.csv -o asked/scores.jsonl --explain asked/why.jsonl --resamples 20 -m bleu -m errors "
    "-m ratescore -m radgraph -m chexbert",
    "compare": "score cases.csv -o asked/s.jsonl -m bleu -m errors && compare asked/s.jsonl --resamples 20",
    "report": "report cases.csv -o asked/report.html -m bleu -m errors --resamples 20",
    "agree": "score cases.csv -o asked/scores.jsonl -m bleu && agree asked/scores.jsonl --judgments ratings.csv",
    "probe triples": "probe triples triples.jsonl -m bleu -m errors",
    "oracle": "oracle --corpus reports.csv --queries reports.csv -m bleu2_cxr -o asked/matches.jsonl",
    "perturb": "perturb reports.csv -o asked/perturbed.jsonl",
    "lay write": "lay write report.txt --check",
    "lay score": "lay score cases.csv --resamples 20",
    "lay build": "lay build reports.csv --out asked/sets",
    "fit errors": "fit errors -j judged.csv -t rating -o asked/errors.json",
    "fit ratescore": "fit ratescore -j judged.csv --trials 2 --resamples 20 -t rating -o asked/ratescore.json",
    "train ner": "train ner reports.csv --annotate -o asked/annotated.json",
    "demo": "demo",
    "read": "read report.txt",
    "read graphs": "read one_system.csv --graphs asked/graphs.json",
    "models": "models list",
    "metrics": "metrics",
    "cache info": "cache info",
    "a bad file": "score no_header.csv -m bleu",
}
BAD = {"a bad file"}


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine of its own, where whatever is made is open to everybody unless it is closed."""
    for variable in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "RADGAUGE_CACHE"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
        (tmp_path / variable.lower()).mkdir()
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    rows = [
        f's{number},{system},"{text}","{text if system == "a" else "Clear lungs."}"'
        for system in "ab"
        for number, text in enumerate(REFERENCES)
    ]
    Path("cases.csv").write_text("\n".join(["id,system,reference,candidate", *rows]) + "\n")
    texts = "".join(f's{number},"{text}"\n' for number, text in enumerate(REFERENCES))
    Path("reports.csv").write_text(f"id,report\n{texts}")
    Path("one_system.csv").write_text("\n".join(["id,system,reference,candidate", *rows[:4]]) + "\n")
    Path("report.txt").write_text(REFERENCES[0])
    Path("no_header.csv").write_text(texts)
    ratings = [f"s{n},{system},r1,{n + (system == 'b')}" for system in "ab" for n in range(4)]
    Path("ratings.csv").write_text("\n".join(["id,system,rater,rating", *ratings]) + "\n")
    judged = [f"j{place}{row[2:]},r1,{place / 8}" for place, row in enumerate(rows)]
    Path("judged.csv").write_text("\n".join(["id,system,reference,candidate,rater,rating", *judged]) + "\n")
    triple = {"original": REFERENCES[0], "rewrite": REFERENCES[0] + " ", "opposite": f"{NAME} has no effusion."}
    Path("triples.jsonl").write_text("".join(json.dumps({"id": str(n), **triple}) + "\n" for n in range(3)))
    given = set(work.iterdir())
    before = os.umask(0)
    yield tmp_path
    os.umask(before)
    for path in given:
        path.unlink()


@pytest.mark.parametrize("verb", VERBS)
def test_a_name_from_a_report_stays_in_the_files_asked_for(sandbox: Path, verb: str) -> None:
    (sandbox / "work" / "asked").mkdir(exist_ok=True)
    given = {path for path in sandbox.rglob("*") if path.is_file()}
    folders = {path for path in sandbox.rglob("*") if path.is_dir()}
    for command in VERBS[verb].split(" && "):
        done = CliRunner().invoke(app, command.split())
        assert (done.exit_code == 0) is (verb not in BAD), (done.output, done.exception)
    if verb in BAD:
        assert NAME not in str(done.exception)
    made = [path for path in sandbox.rglob("*") if path.is_file() and path not in given]
    asked = sandbox / "work" / "asked"
    for path in made:
        content = path.read_bytes().lower()
        if not path.is_relative_to(asked):
            assert NAME.lower().encode() not in content, path
            assert NAME.lower().encode("utf-16-le") not in content, path
        assert path.stat().st_mode & 0o077 == 0, path
    for path in sandbox.rglob("*"):
        if path.is_dir() and path not in folders:
            assert path.stat().st_mode & 0o077 == 0, path
    if "asked/" in VERBS[verb]:
        assert [path for path in made if path.is_relative_to(asked)]
    assert NAME not in (done.stderr if verb != "lay write" else "")


def test_the_lock_of_a_run_into_a_folder_is_for_its_owner_only(sandbox: Path) -> None:
    Path("reports.csv").write_text(f"id,reference,candidate\n1,{REFERENCES[0]},Clear lungs.\n")
    folder = sandbox / "work" / "scores"
    folder.mkdir(mode=0o755)
    lock = folder / ".lock"
    lock.touch(mode=0o644)  # of an earlier version
    done = CliRunner().invoke(app, ["score", "reports.csv", "-m", "bleu", "-o", f"{folder}/"])
    assert done.exit_code == 0, done.output
    assert lock.stat().st_mode & 0o077 == 0
