"""Values of every case as tables in experiment trackers; the run is yours, and none is started here.

Report texts go along only if you pass the cases: a tracker on another machine would get them.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from radgauge.core.cases import Case
from radgauge.core.errors import InputError
from radgauge.core.scores import Results
from radgauge.lab.integrations.held_out import values_of


class Log(Protocol):
    """Logs results: corpus values, or those that `HeldOut.judge` returns, and the values of every case."""

    def __call__(
        self, results: Results, step: int | None = None, values: Mapping[str, float] | None = None
    ) -> None:
        """Log at a step."""


def wandb_table(run: Any, *, name: str = "radgauge", cases: Sequence[Case] | None = None) -> Log:
    """A function that logs results to a run of Weights & Biases: corpus values, and a table `<name>/cases`.

    Args:
        run: What `wandb.init` returned.
        name: Put before every name.
        cases: With their texts in the table.
    """

    def log(results: Results, step: int | None = None, values: Mapping[str, float] | None = None) -> None:
        columns = _columns(results, cases)
        rows = [list(row) for row in zip(*columns.values(), strict=True)]
        table = importlib.import_module("wandb").Table(columns=list(columns), data=rows)
        logged = {f"{name}/{key}": value for key, value in (values or values_of(results)).items()}
        run.log({**logged, f"{name}/cases": table}, **({} if step is None else {"step": step}))

    return log


def mlflow_table(
    run: Any, *, name: str = "radgauge", cases: Sequence[Case] | None = None, client: Any = None
) -> Log:
    """A function that logs results to a run of MLflow: corpus values, and a table `<name>_cases_<step>.json`.

    Args:
        run: What `mlflow.start_run` or `MlflowClient.create_run` returned.
        name: Put before every name.
        cases: With their texts in the table.
        client: An MlflowClient; by default one of the usual tracking server.
    """

    def log(results: Results, step: int | None = None, values: Mapping[str, float] | None = None) -> None:
        tracking = client if client is not None else importlib.import_module("mlflow").MlflowClient()
        number = run.info.run_id
        for key, value in (values or values_of(results)).items():
            if value == value:  # MLflow has no value for what could not be judged
                tracking.log_metric(number, f"{name}/{key}", value, step=step or 0)
        tracking.log_table(number, _columns(results, cases), f"{name}_cases_{step or 0}.json")

    return log


def _columns(results: Results, cases: Sequence[Case] | None) -> dict[str, list[Any]]:
    columns = results.to_dict()
    if cases is None:
        return columns
    if [case.key for case in cases] != list(results.keys_of_cases):
        raise InputError("cases must be those that were scored, in their order")
    texts = {
        "reference": ["\n\n".join(case.references) for case in cases],
        "candidate": [case.candidate for case in cases],
    }
    return {**columns, **texts}
