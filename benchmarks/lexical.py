"""BLEU, ROUGE and CIDEr against sacreBLEU, rouge-score and pycocoevalcap: the same texts, the same run.

    python benchmarks/lexical.py --data ../shared/data

Three times for ours: `run` is everything from records to values (what a user waits for), `fresh` is reading
and comparing ready cases, `warm` is comparing alone, when another metric has read the texts before. The peers
are timed from ready lists of strings, their objects built beforehand, so `fresh` is the fair comparison.
Ratios above 1 mean that ours is faster. Without the data, reports are put together from sentences.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.metric import Metric, sums
from radgauge.core.readings import Readings
from radgauge.metrics.bleu import Bleu
from radgauge.metrics.cider import Cider
from radgauge.metrics.rouge import Rouge
from radgauge.run.contract import REPORTS
from radgauge.run.score import score

Records = dict[str, list[dict[str, str]]]


@dataclass(frozen=True)
class Rival:
    """A peer and our metric with the settings that make it the same quantity."""

    name: str
    metric: Metric
    run: Callable[[list[str], list[str]], Any]
    """Candidates and references to (corpus value, values per case or None)."""


def sacrebleu(tokenize: str) -> Callable[[list[str], list[str]], Any]:
    from sacrebleu.metrics import BLEU
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    bleu = BLEU(lowercase=True, tokenize=tokenize, force=True)

    def run(candidates: list[str], references: list[str]) -> Any:
        for cached in (Tokenizer13a, TokenizerRegexp):  # else its second run would not tokenise
            cached.__call__.cache_clear()
        return bleu.corpus_score(candidates, [references]).score / 100, None

    return run


def rouge_score(candidates: list[str], references: list[str]) -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL", "rouge1", "rouge2"])
    found = [scorer.score(r, c)["rougeL"].fmeasure for c, r in zip(candidates, references, strict=True)]
    return float(np.mean(found)), found


def coco(name: str) -> Callable[[list[str], list[str]], Any]:
    import importlib

    module = importlib.import_module(f"pycocoevalcap.{name.lower()}.{name.lower()}")
    scorer = module.Bleu(4) if name == "Bleu" else getattr(module, name)()

    def run(candidates: list[str], references: list[str]) -> Any:
        gts = {i: [text] for i, text in enumerate(references)}
        res = {i: [text] for i, text in enumerate(candidates)}
        with contextlib.redirect_stdout(io.StringIO()):
            corpus, each = scorer.compute_score(gts, res)
        return (corpus[3], each[3]) if name == "Bleu" else (corpus, each)

    return run


def rivals() -> list[Rival]:
    as_is = {"tokenizer": "whitespace", "lowercase": False, "empty": "zero"}
    return [
        Rival("sacrebleu 13a", Bleu(tokenizer="13a", empty="zero"), sacrebleu("13a")),
        Rival("sacrebleu none", Bleu(tokenizer="whitespace", empty="zero"), sacrebleu("none")),
        Rival("pycocoevalcap BLEU", Bleu(smoothing="coco", **as_is), coco("Bleu")),
        Rival("rouge-score L,1,2", Rouge(empty="zero"), rouge_score),
        Rival("pycocoevalcap ROUGE-L", Rouge(variant="coco", lowercase=False, empty="zero"), coco("Rouge")),
        Rival("pycocoevalcap CIDEr", Cider(**as_is), coco("Cider")),
    ]


def best(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    times, result = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return min(times), result


def compare(rival: Rival, systems: Records, repeats: int) -> list[str]:
    """One line of the table: seconds over all systems, ratios, largest differences."""
    metric = rival.metric
    peer = run = fresh = warm = difference = corpus_difference = 0.0
    for records in systems.values():
        candidates = [record["candidate"] for record in records]
        references = [record["reference"] for record in records]
        seconds, (corpus, each) = best(lambda c=candidates, r=references: rival.run(c, r), repeats)
        peer += seconds
        cases = [Case(record["id"], record["candidate"], (record["reference"],)) for record in records]
        known = Readings()
        run += best(lambda r=records: score(r, metric), repeats)[0]
        seconds, rows = best(lambda c=cases: values(metric, c, Readings()), repeats)
        fresh += seconds
        values(metric, cases, known)
        warm += best(lambda c=cases, k=known: values(metric, c, k), repeats)[0]
        ours = float(metric.corpus_scores(*sums(rows))[0])
        corpus_difference = max(corpus_difference, abs(ours - corpus))
        if each is not None:
            difference = max(difference, float(np.abs(metric.case_scores(rows)[:, 0] - each).max()))
        else:
            difference = float("nan")
    ratios = [f"{peer / ours:.1f}x" for ours in (run, fresh, warm)]
    return [
        rival.name,
        f"{peer:.3f}",
        *(f"{ours:.3f}" for ours in (run, fresh, warm)),
        *ratios,
        f"{corpus_difference:.0e}",
        "-" if np.isnan(difference) else f"{difference:.0e}",
    ]


def together(metric: Metric, systems: Records, repeats: int) -> float:
    """All systems in one run: references are read once."""
    cases = [
        Case(record["id"], record["candidate"], (record["reference"],), system)
        for system, records in systems.items()
        for record in records
    ]
    return best(lambda: values(metric, cases, Readings()), repeats)[0]


def values(metric: Metric, cases: list[Case], reading: Readings) -> Any:
    rows = metric.measure(cases, reading=reading)
    metric.case_scores(rows)
    metric.corpus_scores(*sums(rows))
    return rows


def load(path: Path, *, study: str) -> Records:
    with path.open(newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    systems = [name for name in table[0] if name != study and not name.startswith("reference")]
    return {
        system: [
            {"id": f"{i}", "candidate": row[system], "reference": row["reference"]} for i, row in enumerate(table)
        ]
        for system in systems
    }


def made_up(studies: int, systems: int) -> Records:
    rng = random.Random(0)
    sentences = [part.strip() + "." for text in REPORTS for part in text.split(".") if part.strip()]

    def report() -> str:
        return " ".join(rng.choices(sentences, k=rng.randint(3, 8)))

    references = [report() for _ in range(studies)]
    return {
        f"system {s}": [{"id": str(i), "candidate": report(), "reference": r} for i, r in enumerate(references)]
        for s in range(systems)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder with iu_xray_systems/")
    parser.add_argument("--repeats", type=int, default=3, help="the best of so many runs counts")
    args = parser.parse_args()
    folder = args.data / "iu_xray_systems"
    if folder.is_dir():
        sets = {
            "IU X-ray test, 4 generators (candidates repeat themselves)": load(
                folder / "test590_systems.csv", study="id"
            ),
            "IU X-ray, 8 systems of MRG_RL (up to 279 distinct candidates each)": load(
                folder / "mrg_rl_test382_systems.csv", study="uid"
            ),
        }
    else:
        sets = {f"reports put together from sentences ({folder} is not there)": made_up(590, 4)}
    headings = ["peer", "peer s", "run s", "fresh s", "warm s", "run", "fresh", "warm", "corpus diff", "case diff"]
    for title, systems in sets.items():
        size = sum(map(len, systems.values()))
        print(f"\n{title}: {size} pairs, best of {args.repeats}")
        lines = [headings, *(compare(rival, systems, args.repeats) for rival in rivals())]
        widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
        for line in lines:
            print(
                "  ".join(
                    cell.rjust(w) if i else cell.ljust(w)
                    for i, (cell, w) in enumerate(zip(line, widths, strict=True))
                )
            )
        for metric in (Bleu(), Rouge(), Cider()):
            print(
                f"all systems in one run, {metric.name} defaults: {together(metric, systems, args.repeats):.3f} s"
            )


if __name__ == "__main__":
    main()
