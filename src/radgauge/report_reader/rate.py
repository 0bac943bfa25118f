from __future__ import annotations
from typing import NamedTuple
from radgauge.report_reader.reading import ReportReading
class RateEntity(NamedTuple):
    name: str
    type: str
    assertion: str
    start: int
    end: int
def rate_entities(reading: ReportReading) -> list[RateEntity]:
    out=[]
    for m in reading.mentions:
        if m.kind=="anatomy": t="Anatomy"
        elif m.kind=="normality": t="Non-Abnormality"
        else:
            t="Disease" if m.kind=="disease" else "Abnormality"
            if m.assertion=="absent": t="Non-"+t
        out.append(RateEntity(m.text,t,m.assertion,m.start,m.end))
    return out
