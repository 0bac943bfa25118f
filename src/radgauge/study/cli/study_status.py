"""`radgauge study status`: how far a study is, how well its raters agree, and where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.core.wording import interval, number
from radgauge.study.cli.study import StudyFile, study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from radgauge.render.terminal import Terminal
    from radgauge.study.overview import Agreeing, AssistanceEffect, Disagreement, Progress


@o.command(study, "status")
def status_cli(
    file: StudyFile,
    as_json: o.AsJson = False,
    most: Annotated[int, typer.Option("--cases", min=0, help="Cases on which raters differ most to list.")] = 10,
) -> None:
    """Progress, time, agreement so far, and the cases on which raters are furthest apart."""
    from radgauge.render.terminal import console
    from radgauge.study import Store
    from radgauge.study.overview import agreement_so_far, assistance_effects, disagreements, progress

    with Store(file, readonly=True) as store:
        people = progress(store)
        agreeing = agreement_so_far(store)
        apart = disagreements(store, max_items=most)
        effects = assistance_effects(store)
    if as_json:
        listed = [{**_plain(agreement), "pairs": _pairs(agreement)} for agreement in agreeing]
        o.print_json({"progress": people, "agreement": listed, "disagreements": apart, "assistance": effects})
        return
    out = console()
    _print_progress(out, people)
    if agreeing:
        _print_agreement(out, agreeing)
    if apart:
        _print_apart(out, apart)
    if effects:
        _print_effects(out, effects)


def _plain(agreement: Agreeing) -> dict[str, object]:
    return {
        "question": agreement.question,
        "cases": agreement.cases,
        "icc": agreement.icc,
        "alpha": agreement.alpha,
        "kappa": agreement.kappa,
    }


def _pairs(agreement: Agreeing) -> list[dict[str, object]]:
    return [
        {"first": first, "second": second, "kappa": kappa.value, "equal": agreement.same[first, second]}
        for (first, second), kappa in agreement.pairs.items()
    ]


def _practice(person: Progress) -> str:
    right, of = person.practice
    return ("none" if not of else f"{right} of {of} right") if person.trained else "open"


def _print_progress(out: Terminal, people: Sequence[Progress]) -> None:
    from radgauge.render.tables import Column, table

    heads = [Column(name, right=True) for name in ("done", "of", "cannot judge", "median time", "hours")]
    rows = [
        (
            *(person.name, person.role, _practice(person), person.submitted, person.assigned),
            *(person.cannot_judge, f"{number(person.median_seconds, 0)} s", number(person.seconds / 3600, 1)),
        )
        for person in people
    ]
    out.show(table("who", "role", "practice", *heads, rows=rows))


def _print_agreement(out: Terminal, agreeing: Sequence[Agreeing]) -> None:
    from radgauge.render.tables import Column, table

    rows = [
        (
            row.question,
            row.cases,
            number(row.icc.value) if row.icc is not None else "",
            number(row.alpha.value),
            interval(row.alpha.interval.low, row.alpha.interval.high),
            number(row.kappa),
        )
        for row in agreeing
    ]
    heads = ("cases", "ICC(2,1)", "alpha")
    out.print("\nagreement so far, on what at least two have submitted:")
    right = [Column(name, right=True) for name in heads]
    out.show(table("question", *right, "interval", Column("mean kappa", right=True), rows=rows))
    for row in agreeing:
        pairs = ", ".join(f"{a} and {b} {number(kappa.value)}" for (a, b), kappa in row.pairs.items())
        out.say(f"kappa on {row.question}: {pairs}")


def _print_apart(out: Terminal, apart: Sequence[Disagreement]) -> None:
    from radgauge.render.tables import Column, table

    rows = [
        (
            row.study,
            row.system,
            row.spread,
            ", ".join(f"{who} {value:g}" for who, value in row.answers.items()),
        )
        for row in apart
    ]
    out.say(f"\nfurthest apart on {apart[0].question}:")
    out.show(table("study", "system", Column("range", right=True), "answers", rows=rows))


def _print_effects(out: Terminal, effects: Sequence[AssistanceEffect]) -> None:
    from radgauge.render.tables import Column, table

    rows = [
        (
            *(effect.question, effect.assisted, effect.alone, effect.difference.value),
            interval(effect.difference.low, effect.difference.high),
        )
        for effect in effects
    ]
    out.print("\nwith radgauge's suggestions in view, and without:")
    heads = [Column(name, right=True) for name in ("with", "without", "difference")]
    out.show(table("question", *heads, "interval", rows=rows))
