"""Run bert-score on a seeded encoder; called in its own environment with a folder as argument."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main(folder: Path) -> None:
    """Read job.json (pairs, runs); write result.json: P, R, F of every pair for every run."""
    import bert_score

    job = json.loads((folder / "job.json").read_text())
    hyps, refs = [pair[0] for pair in job["pairs"]], [pair[1] for pair in job["pairs"]]
    result = {}
    for name, run in job["runs"].items():
        started = time.perf_counter()
        scorer = bert_score.BERTScorer(
            model_type=str(folder / run["encoder"]),
            num_layers=run["layer"],
            idf=run["idf"],
            idf_sents=refs if run["idf"] else None,
            lang="en",
            rescale_with_baseline=run["rescale"],
            baseline_path=str(folder / "baseline.tsv"),
            device="cpu",
            nthreads=0,
        )
        loaded, spent = time.perf_counter(), time.process_time()
        values = scorer.score(hyps, refs)
        done, spent = time.perf_counter(), time.process_time() - spent
        result[name] = {
            "values": [each.tolist() for each in values],
            "seconds": done - loaded,
            "processor": spent,
            "loading": loaded - started,
        }
    (folder / "result.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
