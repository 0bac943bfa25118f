"""Why each case got its scores, as JSON lines: one per case and metric that explains itself."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

from radgauge.cases import Case
from radgauge.errors import RadgaugeError
from radgauge.files import replacing
from radgauge.reading import Readings
from radgauge.scores import Results


def write_explanations(path: Path | str, cases: Sequence[Case], *, results: Results, reading: Readings) -> int:
    """Write what every metric of `results` says about every case, in their order; return the number of lines.

    A line has id, system, metric, values and notes (kind, text, positions in both texts, data).
    A case that a metric could not judge has a line with the reason and no notes, and so has one that it could not
    explain. Metrics that do not explain themselves have no lines.
    """
    lines = 0
    with replacing(path) as beside, beside.open("w", encoding="utf-8", errors="surrogatepass") as file:
        for case in cases:
            real = case.with_real_references()
            for name, scores in results.items():
                about = {"id": case.id, "system": case.system, "metric": name}
                if (reason := scores.reasons.get(case.key)) is not None:
                    file.write(json.dumps({**about, "not_judged": reason}, ensure_ascii=False) + "\n")
                    lines += 1
                    continue
                try:
                    explained = None if scores.metric is None else scores.metric.explain(real, reading=reading)
                except RadgaugeError:
                    raise
                except Exception as error:  # one case must not cost the explanations of all others
                    why = f"explaining failed ({type(error).__name__})"
                    file.write(json.dumps({**about, "not_explained": why}, ensure_ascii=False) + "\n")
                    lines += 1
                    continue
                if explained is None:
                    continue
                values = {key: None if math.isnan(value) else value for key, value in explained.values.items()}
                notes = [note.as_data() for note in explained.notes]
                file.write(json.dumps({**about, "values": values, "notes": notes}, ensure_ascii=False) + "\n")
                lines += 1
    return lines
