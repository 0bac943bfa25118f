"""Run the attacks whose outcome SECURITY.md states, and write it there.

    python benchmarks/attacks.py [TEST ...] [--write]

The tests record what happened, whether they pass or not (`record_property`). Counts of one kind are added up; of
times, exponents and shares the highest is taken. Times are wall clock, so a busy machine makes them worse. Without
tests all run; `--write` with some replaces their rows and keeps the others.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
ATTACKS = (
    *("tests/attack/test_malformed_actions.py", "tests/attack/test_slow_clients.py", "tests/io/test_checksums.py"),
    *("tests/attack/test_forged_studies.py", "tests/attack/test_blinding.py", "tests/findings/test_flips.py"),
    "tests/attack/test_growth.py::test_comparing_the_words_of_the_grammar_is_nearly_linear",
)
COUNT = re.compile(r"(\d+) of (\d+)")
ROW = re.compile(r"^\| ([^|]+) \| (\d[\d.,]*(?: of [\d,]+)?) \|$", re.MULTILINE)
BLOCK = re.compile(r"(<!-- figures:attacks -->\n).*?(<!-- /figures -->)", re.DOTALL)


def outcomes(report: Path) -> dict[str, str]:
    """Return the recorded outcomes of a JUnit report, those of one kind as one."""
    kinds: dict[str, list[str]] = {}
    for record in ET.parse(report).iter("property"):  # pytest wrote it
        kinds.setdefault(record.attrib["name"], []).append(record.attrib["value"])
    combined = {}
    for name, values in kinds.items():
        counts = [match for value in values if (match := COUNT.fullmatch(value))]
        if counts:
            combined[name] = " of ".join(f"{sum(int(match[part]) for match in counts):,}" for part in (1, 2))
        else:
            combined[name] = f"{max(map(float, values)):.2f}"
    return combined


def main() -> int:
    """Run the attacks and print their outcomes as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", nargs="*", default=ATTACKS, help="tests to run, as pytest names them")
    parser.add_argument("--write", action="store_true", help="write the table to SECURITY.md")
    arguments = parser.parse_args()
    memory = Path("/dev/shm")  # thousands of small studies need not reach a disk
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", "", "-o", "timeout=0"]
        command += ["-o", "junit_family=xunit1"]
        command += [f"--junitxml={report}", f"--basetemp={folder}/tests", *arguments.tests]
        studies = {"RADGAUGE_STUDIES": "1000"}  # of tests/attack/test_blinding.py
        code = subprocess.run(command, cwd=ROOT, stdout=sys.stderr, env={**os.environ, **studies}).returncode
        rows = outcomes(report)
    print(table_of(rows))
    if arguments.write:
        page = ROOT / "SECURITY.md"
        text = page.read_text(encoding="utf-8")
        others = {} if arguments.tests == ATTACKS else dict(ROW.findall(text))
        table = table_of({**others, **rows})
        page.write_text(BLOCK.sub(lambda match: match[1] + table + match[2], text), encoding="utf-8")
    return code


def table_of(rows: Mapping[str, str]) -> str:
    """Return outcomes as a Markdown table."""
    lines = [f"| {name} | {outcome} |" for name, outcome in sorted(rows.items())]
    return "\n".join(["| attack | outcome |", "|---|---:|", *lines, ""])


if __name__ == "__main__":
    sys.exit(main())
