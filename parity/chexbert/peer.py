"""Run f1chexbert on a seeded checkpoint; called in its own environment with a folder as argument."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def load(folder: Path):
    """The package, prepared for a seeded checkpoint."""
    import transformers

    # The package asks the hub for bert-base-uncased by name; the seeded folder answers instead.
    local = str(folder / "bert-base-uncased")
    for cls in (transformers.BertTokenizer, transformers.AutoConfig):
        original = cls.from_pretrained
        cls.from_pretrained = staticmethod(lambda name, *a, _load=original, **k: _load(local, *a, **k))
    from f1chexbert import f1chexbert as package

    package.CACHE_DIR = str(folder)
    # It passes lists of arrays, which current scikit-learn refuses; the numbers are the same as a matrix.
    for name in ("classification_report", "accuracy_score", "_check_targets"):
        setattr(package, name, with_matrices(getattr(package, name)))
    return package


def main(folder: Path) -> None:
    """Read job.json (pairs); write result.json: labels, embeddings, reports of both label sets."""
    import numpy as np
    import pandas as pd
    import torch

    job = json.loads((folder / "job.json").read_text())
    package = load(folder)
    started = time.perf_counter()
    scorer = package.F1CheXbert(device="cpu")
    loaded, spent = time.perf_counter(), time.process_time()
    hyps, refs = [pair[0] for pair in job["pairs"]], [pair[1] for pair in job["pairs"]]
    with torch.no_grad():
        accuracy, exact, all_14, five = scorer(hyps=hyps, refs=refs)
    done, spent = time.perf_counter(), time.process_time() - spent
    result = {
        "accuracy": float(accuracy),
        "exact": np.asarray(exact).tolist(),
        "report_14": all_14,
        "report_5": five,
        "seconds": done - loaded,
        "processor": spent,
        "loading": loaded - started,
    }
    texts = list(dict.fromkeys([*hyps, *refs, *job.get("more", [])]))
    result["labels"] = {text: scorer.get_label(text.strip(), mode="classification") for text in texts}
    result["embeddings"] = {text: embedding(scorer, text, package, pd, torch) for text in texts}
    (folder / "result.json").write_text(json.dumps(result, default=float))


def with_matrices(function):
    """The same function, given matrices for lists of arrays."""
    import numpy as np

    def called(*texts, **named):
        truth = {key: np.array(value) if key in ("y_true", "y_pred") else value for key, value in named.items()}
        return function(*[np.array(each) for each in texts], **truth)

    return called


def embedding(scorer, text, package, pd, torch) -> list[float]:
    """First position of the last layer, as the released CheXbert similarity uses it."""
    ids = torch.LongTensor(package.tokenize(pd.Series([text]), scorer.tokenizer))
    with torch.no_grad():
        return scorer.model.bert(ids, attention_mask=torch.ones_like(ids).float())[0][0, 0].tolist()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
