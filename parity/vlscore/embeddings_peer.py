"""Run vlscore-cxr on seeded embeddings; called in its own environment with a folder as argument."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

CASES, WIDTH, SEED, NORM = 40, 768, 7, 2000.0


def vectors() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Images, references and candidates; some candidates are copies of the reference, others nearly so."""
    rng = np.random.default_rng(SEED)
    image, reference, candidate = (rng.normal(0, 1.2, (CASES, WIDTH)) for _ in range(3))
    candidate[:5] = reference[:5]
    candidate[5:10] = reference[5:10] + 1e-3 * candidate[5:10]
    candidate[10:12] *= 4
    return image, reference, candidate


def main(folder: Path) -> None:
    """Write result.json."""
    from vlscore.core import triangle_vlscore  # what VLscore.compute_from_embeddings calls

    scores = triangle_vlscore(*vectors(), norm=NORM)
    found = {"cases": CASES, "width": WIDTH, "seed": SEED, "norm": NORM, "scores": scores.tolist()}
    (folder / "result.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
