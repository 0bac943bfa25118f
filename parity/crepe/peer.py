"""Run the authors' CREPE on a seeded checkpoint; called in the environment of `environment.py` with a folder.

Their repository is no package of a registry: $RADGAUGE_CREPE names a folder that holds a copy of its `crepe/`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path


def load(folder: Path) -> Callable[[str, str], list[float]]:
    """Reference and candidate to the score and the six counts."""
    sys.path.insert(0, os.environ["RADGAUGE_CREPE"])
    import crepe

    model, tokenizer = crepe.load_model_and_tokenizer(str(folder))
    model.eval()

    def score(reference: str, candidate: str) -> list[float]:
        result = crepe.compute(model, tokenizer, reference, candidate)
        return [result["crepe_score"], *result["predicted_error_counts"]]

    return score


def main(folder: Path) -> None:
    """Read job.json (pairs of candidate and reference); write result.json: the score and six counts of each."""
    score = load(folder)
    pairs = json.loads((folder / "job.json").read_text())["pairs"]
    result = {"counts": [score(reference, candidate) for candidate, reference in pairs]}
    (folder / "result.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
