"""A callback for Lightning: the reports of every validation epoch, judged and logged; works over processes."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from radgauge.core.errors import InputError, UsageError
from radgauge.core.metric import Metric

Texts = Callable[[Any, Any], tuple[Sequence[str], Sequence[Any]]]
"""Takes what `validation_step` returned and the batch, gives candidates and references."""


def report_callback(
    metrics: Sequence[str | Metric] | str | Metric = "errors",
    *,
    texts: Texts | None = None,
    models: str = "embedded",
    prefix: str = "val_",
) -> Any:
    """A Callback for `Trainer(callbacks=[...])`.

    Logs the corpus value of every metric under `<prefix><column>` and the number of cases without one under
    `<prefix><metric>_not_judged`: `ModelCheckpoint(monitor="val_errors_quality", mode="max")` can choose by them.

    Args:
        metrics: Names, specifications or Metrics whose rows depend on their case alone.
        texts: Where the reports are; by default `validation_step` returns a dict with candidates and references.
        models: Profile for metrics given by name.
        prefix: Put before each name.
    """
    lightning = _lightning()
    from radgauge.lab.integrations.torchmetrics import ReportMetric  # Lightning brings torch and torchmetrics

    given = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    judges = [ReportMetric(metric, models=models) for metric in given]

    class ReportCallback(lightning.Callback):  # type: ignore[misc, name-defined]
        def on_validation_epoch_start(self, trainer: Any, pl_module: Any) -> None:
            for judge in judges:
                judge.reset()
                if pl_module.device.type != "mps":  # it has no double precision; the states stay on the processor
                    judge.to(pl_module.device)

        def on_validation_batch_end(
            self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int, dataloader_idx: int = 0
        ) -> None:
            candidates, references = (texts or _returned)(outputs, batch)
            for judge in judges:
                judge.update(list(candidates), list(references))

        def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
            for judge in judges:
                pl_module.log(f"{prefix}{judge.column}", judge.compute(), sync_dist=False)
                pl_module.log(f"{prefix}{judge.name}_not_judged", judge.lost(), sync_dist=False)

    return ReportCallback()


def _returned(outputs: Any, batch: Any) -> tuple[Sequence[str], Sequence[Any]]:
    if not isinstance(outputs, dict) or not {"candidates", "references"} <= outputs.keys():
        raise InputError("validation_step must return a dict with candidates and references, or give texts=...")
    return outputs["candidates"], outputs["references"]


def _lightning() -> Any:
    for name in ("lightning.pytorch", "pytorch_lightning"):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] != name.partition(".")[0]:
                raise
    raise UsageError("Lightning is not installed; run: pip install lightning")
