"""Run the radgraph package on a seeded archive; called in its own environment with a folder as argument."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main(folder: Path) -> None:
    """Read job.json (network, pairs); write result.json: graphs of every text and the three rewards."""
    import torch

    job = json.loads((folder / "job.json").read_text())
    from radgraph import F1RadGraph

    started = time.perf_counter()
    scorer = F1RadGraph(reward_level="all", model_type=job["network"], model_cache_dir=str(folder), cuda=-1)
    loaded, spent = time.perf_counter(), time.process_time()
    hyps, refs = [pair[0] for pair in job["pairs"]], [pair[1] for pair in job["pairs"]]
    with torch.no_grad():
        mean, rewards, mine, theirs = scorer(hyps=hyps, refs=refs)
    done, spent = time.perf_counter(), time.process_time() - spent
    result = {
        "mean": [float(value) for value in mean],
        "rewards": [[float(value) for value in each] for each in rewards],
        "seconds": done - loaded,
        "processor": spent,
        "loading": loaded - started,
    }
    result |= {"candidate_graphs": mine, "reference_graphs": theirs}
    if job.get("long"):
        with torch.no_grad():
            result["long_graph"] = scorer.radgraph([job["long"]])["0"]
    (folder / "result.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
