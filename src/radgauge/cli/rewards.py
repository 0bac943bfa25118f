"""`radgauge probe rewards`: what a reward can be gamed with."""

from __future__ import annotations

from typing import Annotated

import typer

from radgauge.cli import options as o
from radgauge.cli.probe import probe


@o.command(probe, "rewards")
def audit_cli(
    source: o.CaseSource,
    say: o.ReadingOutput,
    metric: Annotated[
        list[str] | None,
        "-m",
        "A metric to audit as a reward; or bleu,errors. Repeatable.",
    ] = None,
    system: Annotated[str | None, "Whose reports are the real ones; needed if there are several."] = None,
    floor: Annotated[
        float, typer.Option("--floor", max=0.0, help="What a text gets that cannot be judged.")
    ] = -1.0,
    seed: o.Seed = 0,
) -> None:
    """What rewards give to texts that nobody wants: templates, negations, salads, orders to the judge, inventions.

    Word order and length of reports are measured on the references of the file if thirty or more differ.

    Examples:

      radgauge probe rewards reports.csv -m bleu,errors

      radgauge probe rewards reports.csv -m errors --system ours --json
    """
    from radgauge.analysis.rewards.audit import audit
    from radgauge.analysis.rewards.norms import MIN_REFERENCES
    from radgauge.analysis.rewards.reward import reward
    from radgauge.core.errors import UsageError
    from radgauge.core.registry import specs
    from radgauge.render.tables import Column, table
    from radgauge.render.terminal import console

    cases = source.cases().cases
    systems = list(dict.fromkeys(case.system for case in cases))
    if system is None and len(systems) > 1:
        raise UsageError(f"the file has {len(systems)} systems; choose one with --system: {', '.join(systems)}")
    if system is not None and system not in systems:
        raise UsageError(f"there is no system {system!r}; there are: {', '.join(systems)}")
    chosen = [case for case in cases if system is None or case.system == system]
    reading = say.readings()
    names = [spec for each in metric or ["bleu", "errors"] for spec in specs(each)]
    references = [text for case in cases for text in case.references if text.strip()]
    norms = references if len(set(references)) >= MIN_REFERENCES else None
    rewards = [reward(name, floor=floor, references=norms, reading=reading, name=name) for name in names]
    found = audit(chosen, rewards, seed=seed)
    if say.as_json:
        o.print_json({"audit": list(found), "floor": floor, "seed": seed})
        return
    shown = found.grid()
    heads = [Column(name, right=place > 0) for place, name in enumerate(shown.headers)]
    console().show(table(*heads, rows=[tuple(row) for row in shown.rows]))
    say.notes(
        *shown.notes, *(() if norms else (f"no limits from references: fewer than {MIN_REFERENCES} differ",))
    )
