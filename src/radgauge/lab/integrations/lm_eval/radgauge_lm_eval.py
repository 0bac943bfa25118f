"""Functions for a task of lm-evaluation-harness; the YAML beside this file shows how a task names them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from radgauge.core.readings import Readings
from radgauge.run.score import score

_reading = Readings()


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """errors_quality of one document whose field `reference` is what the radiologist wrote; NaN = not judged."""
    scored = score(
        references=[doc["reference"]], candidates=[results[0]], metrics="errors", reading=_reading, progress=False
    )
    return {"errors_quality": float(scored["errors"].headline[0])}


def mean_of_judged(values: Sequence[float]) -> float:
    """The mean of what was judged; NaN if nothing was."""
    judged = [value for value in values if not math.isnan(value)]
    return sum(judged) / len(judged) if judged else math.nan
