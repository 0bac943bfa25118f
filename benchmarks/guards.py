"""False alarms of the reward guards and of the collapse detector on reports that people wrote.

    RADGAUGE_DATA=folder python benchmarks/guards.py

Guards: a real report is the candidate, beside itself under limits that were measured on the other half of the
reports, and beside the report of another study under guards without such limits; published systems are beside the
references of their own studies, under limits from the other half of the references. Empty texts are left out.
Attacks: what they earn of `errors` with and without guards, on published systems. Collapse: two random halves of
real reports, one as a system and one as its references, so that every alarm is false; and the published systems,
some of which wrote the same for everyone.
"""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import numpy as np

from radgauge.analysis.collapse import collapse
from radgauge.analysis.rewards import Guards, audit, reward
from radgauge.analysis.rewards.audit import REAL
from radgauge.analysis.rewards.norms import Norms
from radgauge.core.cases import Case
from radgauge.core.readings import Readings

DATA = Path(os.environ.get("RADGAUGE_DATA", Path(__file__).parents[2] / "shared" / "data"))
DRAWS = 40
ATTACKED = {
    "iu_xray_systems/test590_systems.csv": "cvt2distilgpt2",
    "iu_xray_systems/mrg_rl_test382_systems.csv": "qwen_dino_rag_beam3",
}
T = TypeVar("T")


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def alarms(pairs: Iterable[tuple[str, str]], norms: Norms | None = None) -> str:
    """How many candidates the default guards would give the floor, by reason."""
    guards, reading = Guards(), Readings()
    found = Counter(
        guards.why_not(candidate, [reference], reading, norms=norms)
        for candidate, reference in pairs
        if candidate.strip()
    )
    total = sum(found.values())
    wrong = ", ".join(f"{why} {count}" for why, count in found.most_common() if why) or "none"
    return f"{total} | {total - found['']} ({100 * (total - found['']) / total:.2f} %) | {wrong}"


def shuffled(texts: list[str]) -> list[tuple[str, str]]:
    order = np.random.default_rng(0).permutation(len(texts))
    return [(texts[a], texts[b]) for a, b in zip(order, np.roll(order, 1), strict=True)]


def halves(items: list[T]) -> list[tuple[list[T], list[T]]]:
    """The two halves, each behind the other."""
    return [(items[::2], items[1::2]), (items[1::2], items[::2])]


def print_attacks(table: list[dict[str, str]], system: str) -> None:
    """What attacks on one half earn of `errors`: no guards, guards, and limits from the other half."""
    seen, unseen = halves(table)[0]
    references = [row["reference"] for row in seen]
    cases = [
        Case(str(number), row[system], (row["reference"],), system)
        for number, row in enumerate(unseen)
        if row[system].strip()
    ]
    reading = Readings()
    rewards = [
        reward("errors", name="no guards", guards=Guards.off(), reading=reading),
        reward("errors", name="guards", reading=reading),
        reward("errors", name="and references", references=references, reading=reading),
    ]
    lines = {(line.kind, line.reward): line for line in audit(cases, rewards)}
    names = [judge.name for judge in rewards]
    print(f"\n| {system} | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    for kind in dict.fromkeys(kind for kind, _ in lines):
        cells = [f"{lines[kind, name].mean:.2f}{' !' if lines[kind, name].gamed else ''}" for name in names]
        print(f"| {kind} | {' | '.join(cells)} |", flush=True)
    lows = [f"{lines[REAL[1], name].low:.2f}" for name in names]
    print(f"| 10th percentile of its reports | {' | '.join(lows)} |", flush=True)


def main() -> None:
    reports = rows("iu_xray/indiana_reports.csv")
    ct = [row["Findings_EN"] for row in rows("ct_rate/ct_rate_dev.csv") if row["Findings_EN"].strip()]
    other = [
        row["transcription"] for row in rows("mtsamples/mtsamples_radiology.csv") if row["transcription"].strip()
    ]
    parts = {
        f"IU X-ray {part}": [row[part] for row in reports if row[part].strip()]
        for part in ("findings", "impression")
    }
    print("| candidates | judged by the guards | floor | why |\n|---|---|---|---|")
    for name, texts in {**parts, "CT (CT-RATE)": ct, "CT, MRI, ultrasound and others (mtsamples)": other}.items():
        for number, (seen, unseen) in enumerate(halves(texts), start=1):
            norms = Norms.of(seen, tail=Guards().tail)
            print(
                f"| {name}, half {number}, itself | {alarms(zip(unseen, unseen, strict=True), norms)} |",
                flush=True,
            )
    sources: dict[str, list[tuple[str, str]]] = {}
    for part, texts in parts.items():
        sources[f"{part}, reference of another study"] = shuffled(texts)
    sources["CT, MRI, ultrasound and others (mtsamples), reference of another study"] = shuffled(other)
    systems = {
        "iu_xray_systems/test590_systems.csv": ("cvt2distilgpt2", "moerad", "hi_ia", "aamn"),
        "iu_xray_systems/mrg_rl_test382_systems.csv": (
            *("template", "template_sentence_fusion", "qwen_dino_rag_beam3", "qwen_dino_rag_logp"),
            *("qwen_dino_rag_number", "qwen_dino_rag_number_ep0", "oracle_top20", "oracle_top50_clinical"),
        ),
    }
    for name, pairs in sources.items():
        print(f"| {name} | {alarms(pairs)} |", flush=True)
    for file, names in systems.items():
        table = rows(file)
        for name in names:
            for number, (seen, unseen) in enumerate(halves(table), start=1):
                norms = Norms.of([row["reference"] for row in seen], tail=Guards().tail)
                pairs = [(row[name], row["reference"]) for row in unseen]
                print(f"| system {name}, half {number}, its own reference | {alarms(pairs, norms)} |", flush=True)
        print_attacks(table, ATTACKED[file])

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
