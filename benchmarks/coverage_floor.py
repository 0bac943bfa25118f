"""Coverage of the report reader on real reports and on texts that are none: why the floor lies where it lies.

    RADGAUGE_DATA=folder python benchmarks/coverage_floor.py

For each source: texts with enough content words, how many of them lie below the floor and below it by 0.1 more or
less, and how many of all its texts do not look English.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from radgauge.reader import ReportReader
from radgauge.run.screening import MIN_CONTENT_WORDS, MIN_COVERAGE
from radgauge.text.language import looks_english

DATA = Path(os.environ.get("RADGAUGE_DATA", Path(__file__).parents[2] / "shared" / "data"))
FOREIGN = Path(__file__).parents[1] / "tests" / "text" / "data" / "foreign_reports.tsv"
STEP = 0.1
PROSE = """\
Preheat the oven to 180 degrees, whisk the eggs with the sugar and fold in the flour.
The committee will meet on Thursday to discuss next year's budget for the library.
I'm sorry, but I cannot help with that request. Please provide an image of the study.
The quarterly revenue rose by eleven percent while marketing expenses fell sharply.
The painting shows a quiet harbour at dawn with fishermen mending their nets.
Dear Doctor, thank you for the invitation; unfortunately I will be on holiday that week.
As a language model I do not have access to images, however I can offer general advice.
The match ended two to one after the striker scored during the final minute of play.
Click the blue button to download the installer and accept the licence agreement.
The contract shall be governed by the laws of the state in which the seller resides.
Rain is expected in the north with strong winds and sunshine later in the afternoon.
SELECT name, price FROM products WHERE price > 100 ORDER BY price DESC LIMIT 10;"""


def columns(name: str, *wanted: str) -> list[str]:
    """Distinct texts of the columns whose names begin with one of these."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    texts = [row[column] or "" for row in rows for column in row if column.lower().startswith(wanted)]
    return list(dict.fromkeys(text for text in texts if text.strip()))


def strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def sources() -> dict[str, list[str]]:
    """Texts by source: real reports first, then what is no report in English."""
    structured = json.loads((DATA / "gpt4sr" / "structured_reports_dev.json").read_text(encoding="utf-8"))
    foreign = [line.split("\t")[1] for line in FOREIGN.read_text(encoding="utf-8").splitlines()]
    return {
        "IU X-ray": columns("iu_xray/indiana_reports.csv", "findings", "impression"),
        "mtsamples": columns("mtsamples/mtsamples_radiology.csv", "transcription"),
        "gpt4sr (structured)": list(dict.fromkeys(strings(structured))),
        "CT-RATE": columns("ct_rate/ct_rate_dev.csv", "findings", "impression", "clinical"),
        "other languages, by sentence": foreign,
        "other languages, four sentences": [" ".join(foreign[i : i + 4]) for i in range(0, len(foreign), 4)],
        "English prose": PROSE.splitlines(),
    }


def main() -> None:
    low, high = MIN_COVERAGE - STEP, MIN_COVERAGE + STEP
    print(
        f"| texts | with {MIN_CONTENT_WORDS} content words | below {low:g} | below {MIN_COVERAGE:g} (floor) |",
        end="",
    )
    print(f" below {high:g} | texts in all | not English |\n|---|--:|--:|--:|--:|--:|--:|")
    for name, texts in sources().items():
        read = ReportReader().read(texts)
        coverage = [each.coverage for each in read if each.content_words >= MIN_CONTENT_WORDS]
        below = " | ".join(str(sum(each < limit for each in coverage)) for limit in (low, MIN_COVERAGE, high))
        other = sum(not looks_english(text) for text in texts)
        print(f"| {name} | {len(coverage)} | {below} | {len(texts)} | {other} |")


if __name__ == "__main__":
    main()
