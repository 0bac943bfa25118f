"""Run the authors' RaTEScore on seeded checkpoints; called in its own environment by run.py."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(folder: Path) -> None:
    """Read job.json, write result.json: entities of every report, scores under both matrices."""
    from loguru import logger

    logger.disable("PyRuSH")  # it reports every token
    from RaTEScore import RaTEScore
    from RaTEScore.score import run_ner
    from RaTEScore.utils import sentence_split

    job = json.loads((folder / "job.json").read_text())
    candidates, references = [pair[0] for pair in job["pairs"]], [pair[1] for pair in job["pairs"]]
    result: dict[str, object] = {"scores": {}}
    for matrix in ("long", "short"):
        scorer = RaTEScore(
            bert_model=job["ner"], eval_model=job["encoder"], use_gpu=False, affinity_matrix=matrix, batch_size=1
        )
        result["scores"][matrix] = [float(each) for each in scorer.compute_score(candidates, references)]
    arguments = (scorer.idx2label, scorer.tokenizer, scorer.model, scorer.device, 1)
    result["candidate_entities"] = run_ner(candidates, *arguments)
    result["reference_entities"] = run_ner(references, *arguments)
    result["candidate_sentences"] = [sentence_split([text])[0] for text in candidates]
    result["reference_sentences"] = [sentence_split([text])[0] for text in references]
    (folder / "result.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
