"""Nothing leaves the machine: verbs run in a network namespace without routes, under a tracer, and open no socket.

One process runs all verbs one after the other, with every extra that is installed, so that a library that reports
home later than at its first use is seen too. A verb that is not listed here fails the test.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import term_corpus
import typer.main
from dicom_file import write_dicom
from tracing import network_tracer

import radgauge
from radgauge.cli import VERBS, app

pytestmark = pytest.mark.process

DRIVER = """
import os, sys
from pathlib import Path
from typer.testing import CliRunner
from radgauge.cli import VERBS, app
for module in ("transformers", "huggingface_hub", "optuna", "openai", "sklearn", "pyarrow", "torch"):
    try:
        __import__(module)
    except ImportError:
        pass
for line in Path(sys.argv[1]).read_text().splitlines():
    arguments = line.split("\\t")
    if arguments[1:2] == ["import-check"]:  # a person says that all pairs match
        check = Path(arguments[3])
        head, *rows = check.read_text().splitlines()
        check.write_text("\\n".join([head, *(row.removesuffix(",,") + ",yes," for row in rows)]) + "\\n")
    done = CliRunner().invoke(app, arguments)
    print(f"{' '.join(arguments[:2])}\\t{done.exit_code}", flush=True)
    if done.exit_code and done.exception and not isinstance(done.exception, SystemExit):
        print(repr(done.exception), file=sys.stderr)
"""

# A DICOM file, as the verbs import pydicom their own way: by itself it imports requests, which opens a socket.
PICTURES = ("p0.png", "p1.png", "p2.dcm")
REPORTS = "id,reference,candidate,system,image\n" + "".join(
    f"{n},{reference},{candidate},{system},{PICTURES[n % 3]}\n"
    for n, (reference, candidate) in enumerate(
        [
            ("The heart is enlarged. There is a small left pleural effusion.", "Cardiomegaly. No effusion."),
            ("The lungs are clear. No pneumothorax.", "The lungs are clear."),
            ("Right lower lobe opacity concerning for pneumonia.", "Left lower lobe opacity."),
            ("Mild pulmonary edema. The heart size is normal.", "Mild edema with normal heart size."),
        ]
        * 3
    )
    for system in ("a", "b")
)

RATINGS = "id,system,reference,candidate,rater,rating,category,count\n" + "".join(
    f"{study},{system},{reference},{candidate},{rater},{(7 * place + number) % 5 / 4},"
    f"omission,{(3 * place + number) % 4}\n"
    for place, (study, reference, candidate, system, _) in enumerate(
        line.split(",") for line in REPORTS.splitlines()[1:]
    )
    for number, rater in enumerate(("r1", "r2"))
)
TRIPLES = "".join(
    f'{{"id": "{number}", "original": "Small effusion.", "rewrite": "A small effusion.", "opposite": "Clear."}}\n'
    for number in range(3)
)

# What each verb is run with; R the reports, F a folder of its own.
RUNS = {
    "score": "R/reports.csv -m bleu -m rouge -m errors -m ratescore -m vlscore:domain=off --images R "
    "-o R/scores.jsonl",
    "explain": "R/reports.csv --id 1 --system a",
    "compare": "R/scores.jsonl --resamples 50 --permutations 50",
    "diff": "R/scores.jsonl R/scores.jsonl --resamples 50 --permutations 50",
    "report": "R/reports.csv -o R/report.html -m bleu --resamples 50",
    "oracle": "--corpus R/reports.csv --queries R/reports.csv -m bleu2_cxr",
    "probe sensitivity": "R/reports.csv -m bleu --resamples 20 --permutations 20",
    "lay write": "R/reports.csv -o R/leaflets",
    "lay score": "R/reports.csv",
    "lay build": "R/reports.csv --out R/sets",
    "lay export-check": "R/sets -n 2 -o R/check.csv",
    "lay import-check": "R/sets R/check.csv",
    "study new": "R/leaflets/to_sign.jsonl --design lay -o R/study.sqlite --raters 2 -n 4",
    "study designs": "",
    "study check": "R/study.sqlite",
    "study export": "R/study.sqlite -o R/answers.jsonl --form answers",
    "study token": "R/study.sqlite",
    "study sheet": "R/study.sqlite -o R/sheets",
    "study collect": "R/study.sqlite R/sheets/rater-1.html",
    "lay sign": "R/leaflets R/study.sqlite",
    "study plan": "R/ratings.csv -t rating --simulations 50 --studies 10 --raters 2",
    "study estimate": "R/ratings.csv -t rating --scores R/scores.jsonl -c bleu_4 --simple-random",
    "study status": "R/study.sqlite",
    "study backup": "R/study.sqlite R/backup.sqlite",
    "agree": "--judgments R/ratings.csv -m bleu --resamples 20",
    "probe triples": "R/triples.jsonl -m bleu",
    "probe behaviour": "-m bleu",
    "probe image": "R/reports.csv --images R -m vlscore:domain=off --deals 2 --resamples 20",
    "perturb": "R/reports.csv -o R/perturbed.jsonl",
    "board": "R/ -o R/board.html",
    "export": "R/scores.jsonl -o R/export",
    "rescore": "R/scores.jsonl -o R/again.jsonl",
    "config": "",
    "fit errors": "-j R/ratings.csv -t total -o R/errors.json",
    "fit radcliq": "-j R/ratings.csv -m bleu -m rouge --resamples 20 -o R/radcliq.json",
    "fit ratescore": "-j R/ratings.csv -t total --trials 3 --resamples 20 -o R/ratescore.json",
    "fit vlscore": "R/reports.csv --images R -m vlscore:domain=off -o R/vlscore.json",
    "train pairs": "R/corpus.csv -o R/pairs --share 0.3 --clusters 3",
    "train estimator": "R/pairs -o R/estimator --epochs 1 --hidden-sizes 8",
    "train generator": "R/reports.csv --images R -o R/generator --kind retrieval --domain off",
    "generate": "R/generator R/reports.csv --images R -o R/candidates.jsonl --choose first",
    "train instructions": "R/reports.csv --images R -o R/instructions.jsonl",
    "train ner": "R/reports.csv --annotate -o R/annotated.json",
    "train image-text": "R/reports.csv --images R -o R/encoder --size 32 --validation 0.25",
    "probe rewards": "R/reports.csv -m bleu --system a",
    "read": "R/text.txt",
    "models list": "",
    "models fetch": "chexbert",
    "models verify": "",
    "metrics": "",
    "cache info": "",
    "cache clear": "",
    "demo": "",
}
LISTENING = {"serve", "study serve"}
"""Verbs that listen, on this machine alone unless told otherwise: tests/study/server/test_processes.py and
tests/study/web/test_serve.py trace them."""
REFUSED = {"models fetch": 1, "study collect": 1}  # RADGAUGE_OFFLINE is set; nobody has filled the form


def _verbs() -> set[str]:
    found = set()
    program = typer.main.get_command(app)
    for name in VERBS:
        command = program.get_command(None, name)  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        found |= {name} if inner is None else {f"{name} {each}" for each in inner}
    return found


def test_every_verb_is_run() -> None:
    assert _verbs() == RUNS.keys() | LISTENING


def test_no_verb_opens_a_socket(tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="needs the extra image")
    pytest.importorskip("pydicom", reason="needs the extra image")
    log = tmp_path / "calls.txt"
    tracer = network_tracer(log, before=("unshare", "--net", "--map-root-user"))
    from PIL import Image

    (tmp_path / "reports.csv").write_text(REPORTS)
    (tmp_path / "text.txt").write_text("There is a small left pleural effusion.\n")
    (tmp_path / "ratings.csv").write_text(RATINGS)
    (tmp_path / "triples.jsonl").write_text(TRIPLES)
    with (tmp_path / "corpus.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, ["id", "report", "terms"])
        table.writeheader()
        table.writerows(term_corpus.rows())
    written = [row for row in term_corpus.rows() if row["report"]]
    scored = "".join(f"{row['id']},{row['report']},{row['report']}\n" for row in written)
    (tmp_path / "corpus_scored.csv").write_text(f"id,reference,candidate\n{scored}")
    for number, name in enumerate(PICTURES):
        noise = Image.effect_noise((64, 64), 40 + number)
        if name.endswith(".dcm"):
            write_dicom(tmp_path / name, np.asarray(noise))
        else:
            noise.save(tmp_path / name)
    lines = [
        "\t".join([*verb.split(), *(each.replace("R/", f"{tmp_path}/") for each in given.split())]).replace(
            "--images\tR", f"--images\t{tmp_path}"
        )
        for verb, given in RUNS.items()
    ]
    (tmp_path / "runs.txt").write_text("\n".join(lines))
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(radgauge.__file__).parents[1]),
        "RADGAUGE_OFFLINE": "1",
        "RADGAUGE_CACHE": str(tmp_path / "cache"),
        "HOME": str(tmp_path),
    }
    done = subprocess.run(
        [*tracer, sys.executable, "-c", DRIVER, str(tmp_path / "runs.txt")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    codes = dict(line.rsplit("\t", 1) for line in done.stdout.splitlines() if "\t" in line)
    assert len(codes) == len(RUNS), done.stderr[-2000:]
    wanted = {
        " ".join(line.split("\t")[:2]): str(REFUSED.get(verb, 0)) for verb, line in zip(RUNS, lines, strict=True)
    }
    wrong = {verb: code for verb, code in codes.items() if code != wanted[verb]}
    assert not wrong, done.stderr[-2000:]
    traced = log.read_text(errors="replace").splitlines()
    assert any("AF_UNIX" in line for line in traced)  # the tracer was there; looking up a user's name asks locally
    calls = [line for line in traced if "AF_INET" in line]  # a look-up of a host's name opens one too
    assert not calls, calls[:5]


def test_the_tracer_sees_a_look_up(tmp_path: Path) -> None:
    log = tmp_path / "calls.txt"
    code = "import socket; socket.socket(socket.AF_INET).close()"
    subprocess.run([*network_tracer(log), sys.executable, "-c", code], check=True)
    assert "AF_INET" in log.read_text()
