"""For the Trainer of transformers: `compute_metrics` (token ids in, values out), and a callback that generates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from radgauge.core.errors import require
from radgauge.core.metric import Metric
from radgauge.core.readings import Readings
from radgauge.lab.integrations.held_out import HeldOut, values_of
from radgauge.run.score import score


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
        candidates, references = (
            _texts(tokenizer, ids_of_side) for ids_of_side in (ids, np.asarray(predicted.label_ids))
        )
        results = score(
            references=references,
            candidates=candidates,
            metrics=metrics,
            models=models,
            reading=reading,
            progress=False,
        )
        return values_of(results)

    return judge


def _texts(tokenizer: Any, ids: np.ndarray[Any, Any]) -> list[str]:
    padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
    texts: list[str] = tokenizer.batch_decode(np.where(ids < 0, padding, ids), skip_special_tokens=True)
    return texts


def report_callback(held_out: HeldOut, generate: Callable[[Any], Sequence[str]], *, prefix: str = "eval_") -> Any:
    """A TrainerCallback: at every evaluation the model writes the held-out reports, and their values are logged.

    The values join those of the evaluation, so that `metric_for_best_model="errors_quality"` can choose by them,
    and the trainer's history.

    Args:
        held_out: The references and metrics.
        generate: Takes the model and gives one report per study, in the order of the references.
        prefix: Put before each name.
    """
    transformers = require("transformers", extra="models")

    class ReportCallback(transformers.TrainerCallback):  # type: ignore[misc, name-defined]
        def on_evaluate(
            self, args: Any, state: Any, control: Any, model: Any = None, metrics: Any = None, **more: Any
        ) -> None:
            if not state.is_world_process_zero:
                return
            training = model.training
            model.eval()
            scores = held_out.judge(generate(model), step=state.global_step)
            model.train(training)
            named = {f"{prefix}{name}": value for name, value in scores.items()}
            if metrics is not None:
                metrics.update(named)
            state.log_history.append({"step": state.global_step, "epoch": state.epoch, **named})

    return ReportCallback()
