"""What a sample costs through each adapter, as the table of docs/integrations.md.

    python benchmarks/integrations.py [--samples 400]

Run it in the environment of `make test-integrations`; what is not installed is left out. Candidates are new in
every round, references are not: that is how trainers ask. Time is processor time, the best of three rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import itertools
import math
import random
import sys
import time
from collections.abc import Callable

from radgauge.analysis.rewards import for_openrlhf, for_trl, for_verl, for_verl_batch
from radgauge.analysis.rewards.reward import reward
from radgauge.lab.integrations import lm_eval_folder

METRICS = ("rouge", "bleu", "errors")
FINDINGS = ("effusion", "opacity", "nodule", "atelectasis", "edema", "pneumothorax", "consolidation", "fracture")
Judge = Callable[[list[str], list[str]], object]


def reports(count: int, seed: int) -> list[str]:
    """Reports of some sentences, hardly two alike."""
    rng = random.Random(seed)
    return [
        " ".join(
            f"{rng.choice(('Small', 'Large', 'Mild'))} {rng.choice(('left', 'right'))} {rng.choice(FINDINGS)} of "
            f"{rng.randint(1, 999)} mm."
            for _ in range(rng.randint(2, 5))
        )
        + " The heart is normal in size."
        for _ in range(count)
    ]


def adapters(metric: str) -> dict[str, Judge]:
    """What is installed, as functions of candidates and references."""
    judge = reward(metric)
    trl, verl, batch = for_trl(judge), for_verl(judge), for_verl_batch(judge)
    found: dict[str, Judge] = {
        "`reward(...)`, a list": judge,
        "TRL": lambda texts, references: trl(completions=texts, reference=references),
        "verl, one by one": lambda texts, references: [
            verl("data", text, reference) for text, reference in zip(texts, references, strict=True)
        ],
        "verl, in batches": lambda texts, references: batch(["data"] * len(texts), texts, references),
    }
    if importlib.util.find_spec("torch"):
        openrlhf = for_openrlhf(judge)
        found["OpenRLHF, one by one"] = lambda texts, references: [
            openrlhf([text], [""], [reference]) for text, reference in zip(texts, references, strict=True)
        ]
    if importlib.util.find_spec("torchmetrics"):
        from radgauge.lab.integrations.lightning import ReportMetric

        found["torchmetrics, batches of 16"] = _torchmetrics(ReportMetric(metric))
    if importlib.util.find_spec("evaluate"):
        found["Hugging Face evaluate"] = _evaluate(metric)
    if importlib.util.find_spec("inspect_ai"):
        found["Inspect"] = _inspect(metric)
    if metric == "errors":
        sys.path.insert(0, lm_eval_folder())
        import radgauge_lm_eval

        found["lm-eval task"] = lambda texts, references: [
            radgauge_lm_eval.process_results({"reference": reference}, [text])
            for text, reference in zip(texts, references, strict=True)
        ]
    return found


def _torchmetrics(judge: object) -> Judge:
    def run(texts: list[str], references: list[str]) -> object:
        for start in range(0, len(texts), 16):
            judge.update(texts[start : start + 16], references[start : start + 16])  # type: ignore[attr-defined]
        return judge.compute()  # type: ignore[attr-defined]

    return run


def _evaluate(metric: str) -> Judge:
    import evaluate

    from radgauge.lab.integrations import evaluate_folder

    module = evaluate.load(evaluate_folder())
    return lambda texts, references: module.compute(predictions=texts, references=references, metric=metric)


def _inspect(metric: str) -> Judge:
    from inspect_ai.model import ModelName, ModelOutput
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

    from radgauge.lab.integrations.inspect import report_score

    judge = report_score(metric)

    async def all_of(texts: list[str], references: list[str]) -> None:
        for text, reference in zip(texts, references, strict=True):
            output = ModelOutput.from_content("mockllm/model", text)
            state = TaskState(ModelName("mockllm/model"), 1, 1, "", [], output=output)
            await judge(state, Target(reference))

    return lambda texts, references: asyncio.run(all_of(texts, references))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--samples", type=int, default=400)
    count = options.parse_args().samples
    references = reports(count, 0)
    seeds = itertools.count(1)
    costs: dict[str, dict[str, float]] = {}
    for metric in METRICS:
        for name, run in adapters(metric).items():
            run(reports(count, next(seeds)), references)
            best = math.inf
            for _ in range(3):
                texts = reports(count, next(seeds))
                began = time.process_time()
                run(texts, references)
                best = min(best, time.process_time() - began)
            costs.setdefault(name, {})[metric] = best / count * 1000
    print("| through | " + " | ".join(f"`{metric}`" for metric in METRICS) + " |")
    print("|---|" + "---|" * len(METRICS))
    for name, of_metric in costs.items():
        cells = [f"{of_metric[metric]:.2f}" if metric in of_metric else "" for metric in METRICS]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
