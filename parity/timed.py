"""Time the authors' packages on seeded checkpoints; called in their environment: timed.py METRIC FOLDER.

FOLDER/job.json holds `systems`, each a list of pairs, and `threads`. The package is loaded, tried on one pair,
and then called once a system, as its users do. FOLDER/result.json holds for each system seconds on the clock
and of the processor and the values, and the peak memory of the whole process in MB.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
Score = Callable[[list[str], list[str]], object]
"""Candidates and references to values."""


def bertscore(folder: Path) -> Score:
    """F1 of each pair."""
    import bert_score

    scorer = bert_score.BERTScorer(
        model_type=str(folder / "encoder"), num_layers=5, lang="en", device="cpu", nthreads=0
    )
    return lambda candidates, references: scorer.score(candidates, references)[2].tolist()


def chexbert(folder: Path) -> Score:
    """Micro F1 over the 14 conditions."""
    sys.path.insert(0, str(HERE / "chexbert"))
    from peer import load

    scorer = load(folder).F1CheXbert(device="cpu")
    return lambda candidates, references: scorer(hyps=candidates, refs=references)[2]["micro avg"]["f1-score"]


def radgraph(folder: Path) -> Score:
    """The three rewards of each pair."""
    from radgraph import F1RadGraph

    scorer = F1RadGraph(reward_level="all", model_type="radgraph", model_cache_dir=str(folder), cuda=-1)
    return lambda candidates, references: [
        [float(value) for value in each] for each in scorer(hyps=candidates, refs=references)[1]
    ]


def ratescore(folder: Path) -> Score:
    """The score of each pair."""
    from loguru import logger

    logger.disable("PyRuSH")  # it reports every token
    from RaTEScore import RaTEScore

    models = {"bert_model": str(folder / "RaTE-NER-Deberta"), "eval_model": str(folder / "BioLORD-2023-C")}
    scorer = RaTEScore(**models, use_gpu=False)
    return lambda candidates, references: [float(score) for score in scorer.compute_score(candidates, references)]


def main(metric: str, folder: Path) -> None:
    """Write result.json."""
    import torch

    job = json.loads((folder / "job.json").read_text())
    torch.set_num_threads(job["threads"])
    score = {"bertscore": bertscore, "chexbert": chexbert, "radgraph": radgraph, "ratescore": ratescore}[metric](
        folder
    )
    found = []
    with torch.no_grad():
        score(*map(list, zip(*job["systems"][0][:1], strict=True)))
        for pairs in job["systems"]:
            candidates, references = map(list, zip(*pairs, strict=True))
            started, busy = time.perf_counter(), time.process_time()
            values = score(candidates, references)
            spent = {"clock": time.perf_counter() - started, "processor": time.process_time() - busy}
            found.append({**spent, "values": values})
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    (folder / "result.json").write_text(json.dumps({"systems": found, "peak": peak}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
