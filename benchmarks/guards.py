"""False alarms of the reward guards and of the collapse detector on reports that people wrote.

    RADGAUGE_DATA=folder python benchmarks/guards.py

Guards: a real report stands in for a candidate, beside the report of another study as the reference; and published
systems beside the reference of their own study. Empty texts are left out. Collapse: two random halves of the
real reports, one as a system and one as its references, so that every alarm is false; and the published systems,
some of which wrote the same for everyone.
"""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from radgauge.analysis.collapse import collapse
from radgauge.analysis.rewards import Guards
from radgauge.core.cases import Case
from radgauge.core.readings import Readings

DATA = Path(os.environ.get("RADGAUGE_DATA", Path(__file__).parents[2] / "shared" / "data"))
DRAWS = 40


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def alarms(pairs: Iterable[tuple[str, str]]) -> str:
    """How many candidates the default guards would give the floor, by reason."""
    guards, reading = Guards(), Readings()
    found = Counter(
        guards.why_not(candidate, [reference], reading) for candidate, reference in pairs if candidate.strip()
    )
    total = sum(found.values())
    wrong = ", ".join(f"{why} {count}" for why, count in found.most_common() if why) or "none"
    return f"{total} | {total - found['']} ({100 * (total - found['']) / total:.2f} %) | {wrong}"


def shuffled(texts: list[str]) -> list[tuple[str, str]]:
    order = np.random.default_rng(0).permutation(len(texts))
    return [(texts[a], texts[b]) for a, b in zip(order, np.roll(order, 1), strict=True)]


def main() -> None:
    reports = rows("iu_xray/indiana_reports.csv")
    sources: dict[str, list[tuple[str, str]]] = {}
    for part in ("findings", "impression"):
        texts = [row[part] for row in reports if row[part].strip()]
        sources[f"IU X-ray {part}, reference of another study"] = shuffled(texts)
    other = [
        row["transcription"] for row in rows("mtsamples/mtsamples_radiology.csv") if row["transcription"].strip()
    ]
    sources["CT, MRI, ultrasound and others (mtsamples), reference of another study"] = shuffled(other)
    systems = {
        "iu_xray_systems/test590_systems.csv": ("cvt2distilgpt2", "moerad", "hi_ia", "aamn"),
        "iu_xray_systems/mrg_rl_test382_systems.csv": (
            *("template", "template_sentence_fusion", "qwen_dino_rag_beam3", "qwen_dino_rag_logp"),
            *("qwen_dino_rag_number", "qwen_dino_rag_number_ep0", "oracle_top20", "oracle_top50_clinical"),
        ),
    }
    for file, names in systems.items():
        table = rows(file)
        for name in names:
            sources[f"system {name}, its own reference"] = [(row[name], row["reference"]) for row in table]
    print("| candidates | judged by the guards | floor | why |\n|---|---|---|---|")
    for name, pairs in sources.items():
        print(f"| {name} | {alarms(pairs)} |", flush=True)

    print("\n| reports | studies | alarms |\n|---|---|---|")
    reading = Readings()
    for part in ("findings", "impression"):
        texts = [row[part] for row in reports if row[part].strip()]
        for number in (20, 50, 100, 400):
            rng = np.random.default_rng(number)
            wrong = 0
            for _ in range(DRAWS):
                drawn = rng.permutation(len(texts))[: 2 * number]
                cases = [
                    Case(str(at), texts[a], (texts[b],))
                    for at, (a, b) in enumerate(zip(drawn[:number], drawn[number:], strict=True))
                ]
                wrong += any(each.collapsed for each in collapse(cases, reading=reading))
            print(f"| IU X-ray {part} against others of it | {number} | {wrong} of {DRAWS} draws |", flush=True)
    for file, names in systems.items():
        table = rows(file)
        for name in names:
            cases = [
                Case(str(at), row[name], (row["reference"],)) for at, row in enumerate(table) if row[name].strip()
            ]
            (found,) = collapse(cases, reading=reading)
            about = f"{found.distinct} distinct, excess {found.excess:+.2f}"
            print(
                f"| system {name} | {found.reports} | {'alarm' if found.collapsed else 'none'} ({about}) |",
                flush=True,
            )


if __name__ == "__main__":
    main()
