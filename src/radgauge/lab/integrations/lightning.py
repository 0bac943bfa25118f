"""A callback for Lightning: the reports of every validation epoch, judged and logged; works over processes."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from radgauge.core.errors import InputError, UsageError, require
from radgauge.core.metric import Metric, sums
from radgauge.core.readings import Readings
from radgauge.core.registry import load
from radgauge.run.score import score

# A torchmetrics class: sums and rows as states, so that it works over batches and processes.

torch = require("torch", extra="models")
torchmetrics = require("torchmetrics", extra="integrations")


class ReportMetric(torchmetrics.Metric):  # type: ignore[misc, name-defined]
    """A radgauge metric on generated reports; `compute` is its corpus value.

    Args:
        metric: A name, a specification or a Metric whose rows depend on their case alone.
        models: Profile for a metric given by name.
        options: For torchmetrics.

    States: `totals` and `counts` (sums over judged cases), `not_judged` (a count) and `values` (the headline of
    every case in the order of updates, NaN where it was not judged). Texts are not kept.
    """

    full_state_update = False
    is_differentiable = False

    def __init__(self, metric: str | Metric = "errors", *, models: str = "embedded", **options: Any) -> None:
        super().__init__(**options)
        self._judge = load(metric, models=models) if isinstance(metric, str) else metric
        if not self._judge.independent:
            raise UsageError(f"{self._judge.name} judges a case by the others of its run; score them together")
        self._reading = Readings()
        width = self._judge.measure((), reading=self._reading).shape[1]
        self.add_state("totals", torch.zeros(width, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("counts", torch.zeros(width, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("not_judged", torch.zeros((), dtype=torch.int64), dist_reduce_fx="sum")
        self.add_state("values", [], dist_reduce_fx="cat")

    @property
    def higher_is_better(self) -> bool:
        """The metric's direction."""
        return self._judge.higher_is_better

    @property
    def name(self) -> str:
        """Of the metric."""
        return self._judge.name

    @property
    def column(self) -> str:
        """The output that `compute` gives."""
        return self._judge.columns[0]

    def lost(self) -> float:
        """Number of cases that could not be judged, over all processes once `compute` has been called."""
        with self.sync_context(should_sync=self._to_sync, should_unsync=True):
            return float(self.not_judged)

    def update(self, candidates: Sequence[str], references: Sequence[str | Sequence[str]]) -> None:
        """Judge a batch."""
        results = score(
            references=references,
            candidates=candidates,
            metrics=self._judge,
            reading=self._reading,
            progress=False,
        )
        scores = next(iter(results.judges.values()))
        totals, counts = sums(scores.rows)
        self.totals += torch.from_numpy(totals).to(self.totals)
        self.counts += torch.from_numpy(counts).to(self.counts)
        self.not_judged += int(np.isnan(scores.headline).sum())
        self.values.append(torch.from_numpy(scores.headline.copy()).to(self.totals.device))

    def compute(self) -> Any:
        """The corpus value of everything judged so far; NaN if nothing was."""
        scores = self._judge.corpus_scores(self.totals.cpu().numpy(), self.counts.cpu().numpy())
        return torch.tensor(float(scores[0]), dtype=torch.float64)


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

    chosen = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    judges = [ReportMetric(metric, models=models) for metric in chosen]

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
