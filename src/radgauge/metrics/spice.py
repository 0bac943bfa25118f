"""SPICE: tuples of objects, attributes and relations that a caption shares with its references.

Anderson et al. (2016), SPICE: semantic propositional image caption evaluation, ECCV. Made for captions of photos;
the RaTEScore paper has it among its baselines. The field means the authors' Java program, which the package
pycocoevalcap carries without the two jars of Stanford CoreNLP 3.6.0 that it needs; this metric drives that program
with the jars that the user names, or fails.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.errors import ModelError, require
from radgauge.core.files import sha256_of
from radgauge.core.metric import Metric, Rows
from radgauge.core.parsing import parse_json
from radgauge.core.readings import Readings
from radgauge.metrics._meteor_java import java
from radgauge.text.words import has_words

JARS = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")
PARTS = ("f", "pr", "re")
MAX_WORDS = 2_000
"""Words: the parser's time and memory grow fast with the length of a sentence."""


@dataclass(frozen=True)
class SpiceReader:
    """Reads a candidate together with its references, because the program compares them in one step.

    A "text" is a JSON list, candidate first, so that results are kept in the reading cache.
    """

    jars: str
    batch_size: ClassVar[int] = 512  # the program loads its parser for every batch

    @property
    def signature(self) -> str:
        """The program and the parser's models by their content."""
        return f"spice-1.0|{sha256_of(jar_files(self.jars)[1])[:12]}"

    def read(self, texts: Sequence[str]) -> list[Rows]:
        """F, precision and recall of each group of texts; NaN where the program gives none."""
        groups = [json.loads(text) for text in texts]
        command = spice_command(self.jars)
        with tempfile.TemporaryDirectory(prefix="radgauge-spice-") as name:
            request, made = Path(name, "in.json"), Path(name, "out.json")
            items = [{"image_id": n, "test": group[0], "refs": group[1:]} for n, group in enumerate(groups)]
            request.write_text(json.dumps(items), encoding="utf-8")
            done = subprocess.run(
                [*command, str(request), "-out", str(made), "-subset", "-silent"],
                cwd=name,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
            if done.returncode or not made.is_file():
                messages = done.stderr.decode("utf-8", "replace").strip().splitlines()
                reason = messages[0][:200] if messages else f"exit code {done.returncode}"
                raise ModelError(f"SPICE's Java program ended before it answered: {reason}")
            answers = parse_json(made.read_text(encoding="utf-8"))
        return _rows(answers, len(groups))

    def pack(self, reading: Rows, text: str) -> bytes:
        """Little-endian doubles."""
        return reading.astype("<f8").tobytes()

    def unpack(self, packed: bytes, text: str) -> Rows:
        """The values from `pack`."""
        if len(packed) != 8 * len(PARTS):
            raise ValueError(f"{len(PARTS)} values must be {8 * len(PARTS)} bytes, got {len(packed)}")
        return np.frombuffer(packed, dtype="<f8").astype(np.float64)


@dataclass(frozen=True)
class Spice(Metric):
    """SPICE of each case against all its references; the value of a set is the mean, as in pycocoevalcap."""

    name: ClassVar[str] = "spice"
    higher_is_better: ClassVar[bool] = True
    english_only: ClassVar[bool] = True
    extra: ClassVar[str] = "meteor"
    summary: ClassVar[str] = (
        "objects, attributes and relations of captions (SPICE 1.0; needs Java and CoreNLP's jars)"
    )
    one_range: ClassVar[bool] = True

    jars: str = ""  # Folder with stanford-corenlp-3.6.0.jar and stanford-corenlp-3.6.0-models.jar

    @property
    def columns(self) -> tuple[str, ...]:
        """F, precision, recall."""
        return ("spice", "spice_precision", "spice_recall")

    def parts(self) -> Mapping[str, str]:
        """The program and the parser."""
        return {"program": "spice-1.0", "parser": SpiceReader(self.jars).signature if self.jars else "none"}

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """F, precision and recall by the program."""
        jar_files(self.jars)  # before any text is read
        rows = np.full((len(cases), len(PARTS)), np.nan)
        able = [n for n, case in enumerate(cases) if not _why_not(case)]
        texts = [
            json.dumps([cases[n].candidate, *(text for text in cases[n].references if has_words(text))])
            for n in able
        ]
        for n, values in zip(able, reading.of(SpiceReader(self.jars), texts), strict=True):
            rows[n] = values
        return rows

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Name the side without words, or say that no tuple was found."""
        return _why_not(case) or "SPICE found no objects, attributes or relations"


def _why_not(case: Case) -> str:
    if not has_words(case.candidate):
        return "empty candidate" if not case.candidate.strip() else "candidate has no words"
    if not any(has_words(text) for text in case.references):
        return "reference has no words"
    if any(len(text.split()) > MAX_WORDS for text in (case.candidate, *case.references)):
        return f"too long for SPICE (over {MAX_WORDS:,} words)"
    return ""


def jar_files(folder: str) -> tuple[Path, Path]:
    """The two jars of CoreNLP."""
    if not folder:
        raise ModelError(
            "SPICE needs two jars of Stanford CoreNLP 3.6.0 (stanford-corenlp-full-2015-12-09.zip), which no "
            f"package carries: name the folder that holds {JARS[0]} and {JARS[1]}, spice:jars=FOLDER"
        )
    first, second = (Path(folder).expanduser() / name for name in JARS)
    for file in (first, second):
        if not file.is_file():
            raise ModelError(f"spice: {folder} must hold {file.name}, and it is not there")
    return first, second


def spice_command(jars: str) -> list[str]:
    """Command that starts the program; says what is missing if there is none."""
    package = require("pycocoevalcap", extra="meteor")
    folders = [Path(folder) / "spice" for folder in package.__path__]
    home = next((folder for folder in folders if (folder / "spice-1.0.jar").is_file()), None)
    if home is None:
        raise ModelError(f"pycocoevalcap has no spice-1.0.jar (looked in {folders[0]}); install it anew")
    path = [str(home / "spice-1.0.jar"), str(home / "lib" / "*"), *map(str, jar_files(jars))]
    return [java("SPICE 1.0"), "-Xmx8G", "-cp", os.pathsep.join(path), "edu.anu.spice.SpiceScorer"]


def _rows(answers: Any, count: int) -> list[Rows]:
    """The program's answers in the order of the questions: [{"image_id": n, "scores": {"All": {"f": ...}}}]."""
    try:
        scores = {int(item["image_id"]): item["scores"]["All"] for item in answers}
        return [np.array([_number(scores[n][part]) for part in PARTS]) for n in range(count)]
    except (KeyError, TypeError, ValueError):
        raise ModelError("SPICE's answer is not in the form that the program writes") from None


def _number(value: object) -> float:
    number = float(value) if isinstance(value, (int, float)) else math.nan
    return number if math.isfinite(number) else math.nan
