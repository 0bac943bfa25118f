"""Time the authors' packages on seeded checkpoints; called in their environment: timed.py METRIC FOLDER.

FOLDER/job.json holds `systems`, each a list of pairs, `threads`, and whether to `profile`. The package is loaded,
tried on one pair, and then called once a system, as its users do. FOLDER/result.json holds for each system seconds
on the clock and of the processor, the values and (RadGraph) the graphs; how the time divides, if profiled; and the
peak memory of the whole process in MB. What measures is shared with our side, benchmarks/published.py.
"""

from __future__ import annotations

import cProfile
import json
import pstats
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
Score = Callable[[list[str], list[str]], object]
"""Candidates and references to values."""
PARTS = {  # of a profile, by the name of the function
    "matrix products": (
        *("torch._C._nn.linear", "method 'matmul'", "method torch.matmul", "method torch.bmm"),
        "method torch.addmm",
    ),
    "attention": ("scaled_dot_product_attention", "_by_distance", "index_select", "method torch.gather"),
    "other tensor work": ("torch.", "'torch", "Tensor"),
    "tokenizer": ("tokenizers.Tokenizer", "tokenization_"),
}


def shares_of(profile: cProfile.Profile) -> dict[str, float]:
    """How the time of a run divides; a function counts for the first part that knows its name."""
    found = dict.fromkeys([*PARTS, "Python"], 0.0)
    for (file, _, function), (_, _, own, _, _) in pstats.Stats(profile).stats.items():
        name = function if file == "~" else f"{Path(file).name} {function}"
        part = next((part for part, marks in PARTS.items() if any(mark in name for mark in marks)), "Python")
        found[part] += own
    total = sum(found.values())
    return {part: seconds / total for part, seconds in found.items()}


def peak_memory() -> float:
    """MB of this process at most; a new program starts with the peak of the one that started it in `getrusage`."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(each for each in status.read_text().splitlines() if each.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


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
    """Three lists of rewards, and all graphs, candidates first."""
    from radgraph import F1RadGraph

    scorer = F1RadGraph(reward_level="all", model_type="radgraph", model_cache_dir=str(folder), cuda=-1)

    def score(candidates: list[str], references: list[str]) -> object:
        _, rewards, mine, theirs = scorer(hyps=candidates, refs=references)
        graphs = [{"text": each["text"], "entities": each["entities"]} for each in (*mine, *theirs)]
        return {"rewards": [[float(value) for value in each] for each in rewards], "graphs": graphs}

    return score


def ratescore(folder: Path) -> Score:
    """The score of each pair."""
    from loguru import logger

    logger.disable("PyRuSH")  # it reports every token
    from RaTEScore import RaTEScore

    models = {"bert_model": str(folder / "RaTE-NER-Deberta"), "eval_model": str(folder / "BioLORD-2023-C")}
    scorer = RaTEScore(**models, use_gpu=False)
    return lambda candidates, references: [float(score) for score in scorer.compute_score(candidates, references)]


def crepe(folder: Path) -> Score:
    """The sum of the counts of each pair; the package scores one pair per call."""
    sys.path.insert(0, str(HERE / "crepe"))
    from peer import load

    score = load(folder)
    return lambda candidates, references: [
        score(reference, candidate)[0] for candidate, reference in zip(candidates, references, strict=True)
    ]


def main(metric: str, folder: Path) -> None:
    """Write result.json."""
    import torch

    job = json.loads((folder / "job.json").read_text())
    torch.set_num_threads(job["threads"])
    scorers = {"bertscore": bertscore, "chexbert": chexbert, "radgraph": radgraph, "ratescore": ratescore}
    score = {**scorers, "crepe": crepe}[metric](folder)
    found = []
    profile = cProfile.Profile()
    with torch.no_grad():
        score(*map(list, zip(*job["systems"][0][:1], strict=True)))
        for pairs in job["systems"]:
            candidates, references = map(list, zip(*pairs, strict=True))
            started, busy = time.perf_counter(), time.process_time()
            if job["profile"]:
                profile.enable()
            values = score(candidates, references)
            profile.disable()
            spent = {"clock": time.perf_counter() - started, "processor": time.process_time() - busy}
            found.append({**spent, "values": values})
    shares = shares_of(profile) if job["profile"] else {}
    result = {"systems": found, "peak": peak_memory(), "shares": shares}
    (folder / "result.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
