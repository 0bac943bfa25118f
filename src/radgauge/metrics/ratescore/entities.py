"""RaTE entities of reports, from the embedded reader."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from radgauge.core.readings import Readings
from radgauge.core.signature import component
from radgauge.encoders.text.ratener import Entity
from radgauge.reader import ReportReader, rate_entities


@dataclass(frozen=True)
class EmbeddedEntities:
    """The report reader's RaTE view as a persistent reader.

    It asks `Readings` for the reports, so that metrics which read the same reports share the work.
    """

    reading: Readings = field(compare=False)
    reports: ReportReader = field(default_factory=ReportReader)

    @property
    def signature(self) -> str:
        """Version of the view, and the reader's signature."""
        return f"{component('rate-entities')}:{self.reports.signature}"

    def read(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """Entities in text order."""
        return [
            tuple(Entity(each.name, each.type.upper(), each.start, each.end) for each in rate_entities(report))
            for report in self.reading.of(self.reports, texts)
        ]

    def pack(self, reading: tuple[Entity, ...], text: str) -> bytes:
        """Return the entities as JSON."""
        return json.dumps(reading).encode()

    def unpack(self, packed: bytes, text: str) -> tuple[Entity, ...]:
        """Return the entities that `pack` wrote."""
        return tuple(Entity(*each) for each in json.loads(packed))
