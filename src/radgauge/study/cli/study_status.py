"""`radgauge study status`: how far a study is, how well its raters agree, and where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.core.wording import interval, number
from radgauge.render.tables import Column, table
from radgauge.study.cli.study import StudyFile, study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from radgauge.study.overview import Agreeing, AssistanceEffect, Disagreement, Progress


@o.command(study, "status")
def status_cli(
    file: StudyFile,
    say: o.Output = o.Output(),
    most: Annotated[int, typer.Option("--cases", min=0, help="Cases on which raters differ most to list.")] = 10,
) -> None:
    """Progress, time, agreement so far, and the cases on which raters are furthest apart."""
    from radgauge.study import Store
    from radgauge.study.overview import agreement_so_far, assistance_effects, disagreements, progress

    with Store(file, readonly=True) as store:
        people = progress(store)
        agreeing = agreement_so_far(store)
        apart = disagreements(store, max_items=most)
        effects = assistance_effects(store)
    listed = [{**_plain(each), "pairs": _pairs(each)} for each in agreeing]
    blocks = [_progress_table(people)]
    blocks += _agreement_blocks(agreeing) if agreeing else []
    blocks += _disagreement_blocks(apart) if apart else []
    blocks += _effect_blocks(effects) if effects else []
    data = {"progress": people, "agreement": listed, "disagreements": apart, "assistance": effects}
    say.show(data, *blocks)


def _plain(found: Agreeing) -> dict[str, object]:
    return {
        "question": found.question,
        "cases": found.cases,
        "icc": found.icc,
        "alpha": found.alpha,
        "kappa": found.kappa,
    }


def _pairs(found: Agreeing) -> list[dict[str, object]]:
    return [
        {"first": first, "second": second, "kappa": kappa.value, "equal": found.same[first, second]}
        for (first, second), kappa in found.pairs.items()
    ]


def _practice(person: Progress) -> str:
    right, of = person.practice
    return ("none" if not of else f"{right} of {of} right") if person.trained else "open"


def _progress_table(people: Sequence[Progress]) -> o.Block:
    heads = [Column(name, right=True) for name in ("done", "of", "cannot judge", "median time", "hours")]
    rows = [
        (
            *(each.name, each.role, _practice(each), each.submitted, each.assigned),
            *(each.cannot_judge, f"{number(each.median_seconds, 0)} s", number(each.seconds / 3600, 1)),
        )
        for each in people
    ]
    return table("who", "role", "practice", *heads, rows=rows)


def _agreement_blocks(agreeing: Sequence[Agreeing]) -> list[o.Block]:
    rows = [
        (
            each.question,
            each.cases,
            number(each.icc.value) if each.icc is not None else "",
            number(each.alpha.value),
            interval(each.alpha.interval.low, each.alpha.interval.high),
            number(each.kappa),
        )
        for each in agreeing
    ]
    heads = ("cases", "ICC(2,1)", "alpha")
    right = [Column(name, right=True) for name in heads]
    blocks: list[o.Block] = ["\nagreement so far, on what at least two have submitted:"]
    blocks.append(table("question", *right, "interval", Column("mean kappa", right=True), rows=rows))
    for each in agreeing:
        pairs = ", ".join(f"{a} and {b} {number(kappa.value)}" for (a, b), kappa in each.pairs.items())
        blocks.append(f"kappa on {each.question}: {pairs}")
    return blocks


def _disagreement_blocks(apart: Sequence[Disagreement]) -> list[o.Block]:
    rows = [
        (
            each.study,
            each.system,
            each.spread,
            ", ".join(f"{who} {value:g}" for who, value in each.answers.items()),
        )
        for each in apart
    ]
    made = table("study", "system", Column("range", right=True), "answers", rows=rows)
    return [f"\nfurthest apart on {apart[0].question}:", made]


def _effect_blocks(effects: Sequence[AssistanceEffect]) -> list[o.Block]:
    rows = [
        (
            *(each.question, each.assisted, each.alone, each.difference.value),
            interval(each.difference.low, each.difference.high),
        )
        for each in effects
    ]
    heads = [Column(name, right=True) for name in ("with", "without", "difference")]
    made = table("question", *heads, "interval", rows=rows)
    return ["\nwith radgauge's suggestions in view, and without:", made]
