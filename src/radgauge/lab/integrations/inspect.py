"""A scorer for Inspect: `--scorer radgauge/report_score`; what cannot be judged is unscored, with the reason."""

from __future__ import annotations

from typing import Any

from radgauge.core.errors import require
from radgauge.core.readings import Readings
from radgauge.core.registry import load
from radgauge.run.score import score

inspect_scorer = require("inspect_ai.scorer", extra="integrations")


@inspect_scorer.scorer(metrics=[inspect_scorer.mean(), inspect_scorer.stderr()])  # type: ignore[untyped-decorator]
def report_score(metric: str = "errors", models: str = "embedded") -> Any:
    """The headline of a radgauge metric, one value per sample; the target holds the references."""
    judge = load(metric, models=models)
    reading = Readings()

    async def judged(state: Any, target: Any) -> Any:
        candidate = state.output.completion
        references = list(target) if not isinstance(target, str) else [target]
        results = score(
            references=[references], candidates=[candidate], metrics=judge, reading=reading, progress=False
        )
        scores = next(iter(results.judges.values()))
        if scores.reasons:
            return inspect_scorer.Score.unscored(explanation=next(iter(scores.reasons.values())))
        return inspect_scorer.Score(value=float(scores.headline[0]), answer=candidate)

    return judged
