"""`compute_metrics` for the Trainer of transformers: token ids in, corpus values out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from radgauge.metric import Metric, sums
from radgauge.reading import Readings
from radgauge.scores import score


def compute_metrics(
    tokenizer: Any, metrics: Sequence[str | Metric] | str | Metric = "errors", *, models: str = "embedded"
) -> Callable[[Any], dict[str, float]]:
    """A function for `Trainer(compute_metrics=...)`; use `predict_with_generate=True`, so that it gets reports.

    Its answer has the corpus value of every metric and `<metric>_not_judged`, the number of cases without one.

    Args:
        tokenizer: Turns ids into texts; the ids -100 are padding.
        metrics: As in `radgauge.score`.
        models: Profile for metrics given by name.
    """
    reading = Readings()

    def judge(predicted: Any) -> dict[str, float]:
        ids = predicted.predictions[0] if isinstance(predicted.predictions, tuple) else predicted.predictions
        ids = np.asarray(ids)
        if ids.ndim == 3:  # logits of a run without generation
            ids = ids.argmax(axis=-1)
        candidates, references = (_texts(tokenizer, each) for each in (ids, np.asarray(predicted.label_ids)))
        results = score(
            references=references,
            candidates=candidates,
            metrics=metrics,
            models=models,
            reading=reading,
            progress=False,
        )
        found: dict[str, float] = {}
        for scores in results.values():
            found[scores.columns[0]] = float(scores.corpus_scores(*sums(scores.rows))[0])
            found[f"{scores.judge}_not_judged"] = float(np.isnan(scores.headline).sum())
        return found

    return judge


def _texts(tokenizer: Any, ids: np.ndarray[Any, Any]) -> list[str]:
    padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
    texts: list[str] = tokenizer.batch_decode(np.where(ids < 0, padding, ids), skip_special_tokens=True)
    return texts
