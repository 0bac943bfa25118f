"""Why each case got its scores, as JSON lines: one per case and metric that explains itself."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from radgauge.core.cases import Case
from radgauge.core.errors import RadgaugeError
from radgauge.core.files import replacing
from radgauge.core.progress import working
from radgauge.core.readings import Readings
from radgauge.core.scores import Results

BLOCK = 2000
"""Cases whose readings are in memory at once."""


@working("explaining")
def write_explanations(path: Path | str, cases: Sequence[Case], *, results: Results, reading: Readings) -> int:
    """Write what every metric of `results` says about every case, in their order; return the number of lines.

    A line has id, system, metric, values and notes (kind, text, positions in both texts, data).
    A case that a metric could not judge has a line with the reason and no notes, and so has one that it could not
    explain. Metrics that do not explain themselves have no lines.
    """
    lines = 0
    with replacing(path) as beside, beside.open("w", encoding="utf-8", errors="surrogatepass") as file:
        for number, case in enumerate(cases):
            if number % BLOCK == 0:
                block = reading if len(cases) <= BLOCK else reading.fork()
            for explained in explanations_of(case, results=results, reading=block):
                about = {"id": case.id, "system": case.system, **explained}
                file.write(json.dumps(about, ensure_ascii=False) + "\n")
                lines += 1
    return lines


def explanations_of(case: Case, *, results: Results, reading: Readings) -> Iterator[dict[str, Any]]:
    """Explain one case by each metric of `results`: metric, and values with notes, or why there are none."""
    real = case.with_real_references()
    for name, scores in results.judges.items():
        if (reason := scores.reasons.get(case.key)) is not None:
            yield {"metric": name, "not_judged": reason}
            continue
        try:
            explained = None if scores.metric is None else scores.metric.explain(real, reading=reading)
        except RadgaugeError:
            raise
        except Exception as error:  # one case must not cost the explanations of all others
            yield {"metric": name, "not_explained": f"explaining failed ({type(error).__name__})"}
            continue
        if explained is not None:
            values = {key: None if math.isnan(value) else value for key, value in explained.values.items()}
            yield {"metric": name, "values": values, "notes": [note.as_data() for note in explained.notes]}
