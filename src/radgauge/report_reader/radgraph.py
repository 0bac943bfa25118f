"""A reading as a RadGraph-schema graph, in the published JSON form."""

from __future__ import annotations

import re
from typing import Any

from radgauge.report_reader.reading import ReportReading

TOKEN = re.compile(r"[/,:.!?()]|[^\s/,:.!?()]+")


def radgraph_graph(reading: ReportReading) -> dict[str, Any]:
    return {"text": "", "entities": {}}
