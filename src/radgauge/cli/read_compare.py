"""`radgauge read --compare`: two reports side by side, every difference in one sentence."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.text import Text

    from radgauge.core.metric import Explanation, Span

STYLES = {
    "missing": "bold red",
    "added": "bold magenta",
    "contradicted": "bold red",
    "changed": "bold yellow",
    "matched": "green",
}
WORDS = {
    "missing": "missed",
    "added": "added",
    "contradicted": "denied",
    "changed": "changed",
    "matched": "agreed",
}


def compare_texts(reference: str, candidate: str, *, lexicon: Path | None = None) -> Explanation:
    """What the errors metric finds between two reports."""
    from radgauge.core.cases import Case
    from radgauge.core.errors import InputError
    from radgauge.core.readings import Readings
    from radgauge.metrics.errors import Errors

    metric = Errors(lexicon=str(lexicon) if lexicon is not None else "")
    for name, text in (("reference", reference), ("candidate", candidate)):
        if not text.strip():
            raise InputError(f"the {name} is empty: there is nothing to compare")
    case = Case("compared", candidate, (reference,))
    reading = Readings()
    explained = metric.explain(case, reading=reading)
    if explained is None or math.isnan(explained.values["errors_quality"]):
        raise InputError(metric.why_not(case, reading=reading))
    return explained


def as_data(explained: Explanation, *, reference: str, candidate: str) -> dict[str, Any]:
    """The comparison as plain dictionaries."""
    return {
        "reference": reference,
        "candidate": candidate,
        "values": dict(explained.values),
        "notes": [note.as_data() for note in explained.notes],
    }


def show_comparison(explained: Explanation, *, reference: str, candidate: str) -> None:
    """Both texts with colours, then the sentences."""
    from rich.text import Text

    from radgauge.core.wording import number
    from radgauge.render.tables import Cell, Column, table
    from radgauge.render.terminal import console

    out = console()
    out.print(Text("reference", style="dim"))
    out.print(_coloured(reference, [(note.kind, note.reference_spans) for note in explained.notes]))
    out.print(Text("\ncandidate", style="dim"))
    out.print(_coloured(candidate, [(note.kind, note.candidate_spans) for note in explained.notes]))
    out.print()
    rows = [
        (
            Cell(WORDS.get(note.kind, note.kind), style=STYLES.get(note.kind, "")),
            note.text,
            "" if (cost := note.data.get("cost")) is None else number(cost),
        )
        for note in explained.notes
    ]
    if rows:
        out.show(table("", Column("what", fold=True), Column("weight", right=True), rows=rows))
    else:
        out.print("no finding in either report")
    values = explained.values
    out.say(
        f"\nquality {number(values['errors_quality'])} (1 = no error, about 0 = a normal template, "
        f"-1 = misleading); {values['errors_total']:.0f} errors, "
        f"{values['errors_significant']:.0f} clinically significant"
    )


def _coloured(text: str, spans: list[tuple[str, tuple[Span, ...]]]) -> Text:
    from rich.text import Text

    shown = Text(text.rstrip("\n"))
    for kind, places in reversed(spans):
        for start, end in places:
            shown.stylize(STYLES.get(kind, ""), start, end)
    return shown
