"""Events for operators: RADGAUGE_LOG=json writes a JSON object for each to standard error, never a text."""

from __future__ import annotations

import json
import logging
import os
import sys
from datetime import UTC, datetime
from typing import Any

EVENTS = logging.getLogger("radgauge.events")
"""What happened, for operators: requests, workers, parts of a run."""


def event(name: str, **fields: Any) -> None:
    """Log an event with its fields; nothing is written unless somebody listens."""
    EVENTS.info(name, extra={"fields": fields})


class JsonLines(logging.Formatter):
    """Records as JSON: time, level, event and the fields of `event`; of exceptions the kind alone."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        fields = dict(getattr(record, "fields", {}))
        if record.exc_info and record.exc_info[0] is not None:
            fields["exception"] = record.exc_info[0].__name__
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        head = {"time": time, "level": record.levelname.lower(), "event": record.getMessage()}
        return json.dumps({**head, **fields}, ensure_ascii=False)


def listen() -> None:
    """Write events to standard error if the environment asks for it; for programs, not for libraries."""
    if os.environ.get("RADGAUGE_LOG", "").lower() != "json" or EVENTS.handlers:
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    EVENTS.addHandler(handler)
    EVENTS.setLevel(logging.INFO)
    EVENTS.propagate = False
