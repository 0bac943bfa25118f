"""`radgauge study`: ask radiologists about reports: make a study, look after it, take the answers out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from radgauge.cli import options as o
from radgauge.cli.exit_codes import TROUBLE

if TYPE_CHECKING:
    from radgauge.study import Field, NewStudy

study = o.subjects("study")

StudyFile = Annotated[Path, typer.Argument(help="The file of the study.")]


@o.command(study, "new")
def new_cli(
    source: o.CaseSource,
    say: o.Output,
    output: Annotated[Path, "-o", "The file of the study; it must be new."] = Path("study.sqlite"),
    design: Annotated[
        str,
        "-d",
        "A shipped design (`radgauge study designs`), or your own TOML file.",
    ] = "errors",
    raters: Annotated[int, typer.Option("--raters", min=1, help="How many raters.")] = 2,
    rater: Annotated[list[str] | None, "Name of a rater, instead of --raters. Repeatable."] = None,
    adjudicator: Annotated[
        list[str] | None,
        "Name of one who sees the others' answers and decides. Repeatable.",
    ] = None,
    number: Annotated[
        int | None, typer.Option("--number", "-n", min=1, help="Studies to draw; all without it.")
    ] = None,
    by: Annotated[
        str | None,
        "Draw by this column of the reports; with --scores by one of theirs, or by disagreement of metrics.",
    ] = None,
    equal: Annotated[bool, "As many studies of each stratum, not in proportion."] = False,
    scores: Annotated[
        Path | None,
        "A scores file of the reports: strata are the worst tenth, the next three tenths and the rest.",
    ] = None,
    before: Annotated[
        Path | None, "With --scores: those of an earlier release; strata are by how much worse it has become."
    ] = None,
    shared: Annotated[
        int | None,
        typer.Option("--shared", min=0, help="Studies that every rater sees; all without it."),
    ] = None,
    raters_per_case: Annotated[
        int, typer.Option("--raters-per-case", min=1, help="Raters of each study that is not shared.")
    ] = 1,
    assistance: Annotated[
        Literal["none", "half", "all"],
        "Offer what radgauge's reader would mark, on no, half or all cases.",
    ] = "none",
    no_images: Annotated[bool, "Raters see texts alone, whatever the design shows."] = False,
    title: Annotated[str | None, "Heading of the study."] = None,
    days: Annotated[float, "How long the raters' links are valid."] = 90,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="Repeats sample and division among raters; blinding is always random."),
    ] = None,
) -> None:
    """Make a study from reports: draw studies, blind the candidates, assign them to raters.

    Examples:

      radgauge study new reports.csv --raters 3 -n 50 --shared 20

      radgauge study new --references truth.csv --candidates a=a.csv --candidates b=b.csv --design preference

      radgauge study new reports.csv --scores scores.jsonl --by errors_significant --equal -n 100
    """
    from radgauge.io.scores_file import read_scores
    from radgauge.study.create import new_study

    cases = source.cases()
    made = new_study(
        output,
        cases.cases,
        design=design,
        raters=rater or raters,
        adjudicators=adjudicator or (),
        number=number,
        by=by,
        equal=equal,
        scores=read_scores(scores) if scores is not None else None,
        before=read_scores(before) if before is not None else None,
        images=not no_images,
        shared=shared,
        raters_per_case=raters_per_case,
        assistance=assistance,
        seed=seed,
        days=days,
        title=title,
        provenance=cases.provenance.as_dict(),
    )
    say.notes(*cases.provenance.warnings, *made.notes)
    if say.as_json:
        o.print_json(made)
        return
    _print_made(made, days)


def _print_made(made: NewStudy, days: float) -> None:
    from radgauge.render.tables import Column, table
    from radgauge.render.terminal import console

    out = console()
    out.say(f"{made.path}: {len(made.sample.studies)} studies")
    rows = [
        (person.name, person.role, made.assigned.get(person.id), made.tokens[person.id]) for person in made.people
    ]
    out.show(table("who", "role", Column("cases", right=True), "token", rows=rows))
    out.say(
        f"Each token is one person's key for {days:g} days, shown only now. `radgauge study serve` prints an "
        "address: ADDRESS/join#TOKEN is that person's link (`study serve --links` makes new links for everybody, "
        "`study token` a new token for one).",
        "Without a server: radgauge study sheet, which needs no tokens",
        f"anchor: {made.anchor} (note it outside the file; `study check --anchor` proves the study against it)",
    )


@o.command(study, "designs")
def designs_cli(
    design: Annotated[str | None, typer.Argument(help="Show this one: a name, or a TOML file to check.")] = None,
    output: Annotated[Path | None, "-o", "Write the design as TOML, to put in your own words."] = None,
    as_json: o.AsJson = False,
) -> None:
    """List the shipped designs, or show one; a design of your own is checked.

    Examples:

      radgauge study designs

      radgauge study designs rexval -o replication.toml
    """
    from radgauge.core.errors import UsageError
    from radgauge.core.files import write_file
    from radgauge.render.tables import table
    from radgauge.render.terminal import console
    from radgauge.study.design_file import design_text, load_design, shipped_designs

    if output is not None:
        if design is None or output.exists():
            raise UsageError("--output takes a new file, and the name of the design to write")
        write_file(output, design_text(design))
    chosen = [load_design(name) for name in ([design] if design else shipped_designs())]
    if as_json:
        o.print_json([{**item.as_dict(), "version": item.version} for item in chosen])
        return
    out = console()
    if design is None:
        out.show(table("design", "title", "asks", rows=[(d.name, d.title, ", ".join(d.keys)) for d in chosen]))
        return
    shown = chosen[0]
    out.say(f"{shown.name} ({shown.version}): {shown.title}", shown.source, "", shown.instructions, "")
    rows = [(item.key, item.kind, item.per, item.title, _answers_of(item)) for item in shown.fields]
    out.show(table("field", "kind", "per", "question", "answers", rows=rows))


def _answers_of(field: Field) -> str:
    """What can be answered, in short."""
    if field.categories:
        levels = ", ".join(level.key for level in field.levels(field.categories[0].key))
        return ", ".join(category.key for category in field.categories) + (f" x {levels}" if levels else "")
    if field.options or field.candidates:
        return ", ".join(
            [*(["a candidate"] if field.candidates else []), *(category.key for category in field.options)]
        )
    return f"{field.minimum:g} to {field.maximum:g}" if field.kind in ("rating", "number") else "a list"


@o.command(study, "check")
def check_cli(
    file: StudyFile,
    anchor: Annotated[
        str | None, "An anchor that new, check, backup or export printed: the study must continue it."
    ] = None,
    as_json: o.AsJson = False,
) -> None:
    """Replay every event and prove that the state is what the events give.

    Only an anchor that was noted outside the file, or a key in RADGAUGE_STUDY_KEY, shows what somebody changed who
    can write the file.
    """
    from radgauge.cli.lines import echo
    from radgauge.render.terminal import console
    from radgauge.study.check import check_study

    result = check_study(file, anchor=anchor)
    if as_json:
        o.print_json(result)
    elif result.problems:
        console().say(*result.problems)
    else:
        echo(
            f"{file}: {result.events} events replayed to {result.states} states, each as it is kept; "
            f"last event {result.last_hash[:12] or 'none'}"
        )
        if anchor is not None:
            echo(f"it continues the anchor; {result.events - int(anchor.partition('.')[0])} events came after it")
        echo(f"anchor: {result.anchor}")
    if result.problems:
        raise typer.Exit(TROUBLE)


@o.command(study, "export")
def export_cli(
    file: StudyFile,
    say: o.Output,
    output: Annotated[
        Path,
        "-o",
        ".csv or .jsonl, .json for radpref, a folder for rexval.",
    ] = Path("judgments.csv"),
    form: Annotated[
        Literal["table", "answers", "rexval", "radpref", "events"],
        "-f",
        "table, rexval and radpref are read by `radgauge agree`.",
    ] = "table",
    adjudicated: Annotated[bool, "The adjudicator's judgment where there is one, else the mean."] = False,
) -> None:
    """Write what raters have submitted, and how it came about beside it.

    Examples:

      radgauge study export study.sqlite -o judgments.csv

      radgauge study export study.sqlite -o rexval/ --form rexval
    """
    from radgauge.cli.lines import echo
    from radgauge.study.export import export_study

    written = export_study(file, output, form=form, adjudicated=adjudicated)
    say.notes(*written.notes)
    if say.as_json:
        o.print_json(written)
        return
    echo(f"wrote {', '.join(str(path) for path in written.files)}: {written.rows} rows")
    echo(f"anchor: {written.anchor}", err=True)


@o.command(study, "token")
def token_cli(
    file: StudyFile,
    person: Annotated[
        str | None, typer.Argument(help="Id or name of a person; without it all tokens are listed.")
    ] = None,
    revoke: Annotated[bool, "Make the person's tokens invalid."] = False,
    add: Annotated[
        Literal["rater", "adjudicator", "organiser"] | None,
        "The person is new: an adjudicator gets every case that several raters see.",
    ] = None,
    days: Annotated[float, "How long the new token is valid."] = 90,
    as_json: o.AsJson = False,
) -> None:
    """Make a new token for a person, revoke the old ones, or list who has one.

    Examples:

      radgauge study token study.sqlite "Rater 1" --revoke

      radgauge study token study.sqlite "Dr Chief" --add adjudicator
    """
    from radgauge.cli.lines import echo
    from radgauge.core.errors import UsageError
    from radgauge.render.tables import table
    from radgauge.render.terminal import console
    from radgauge.study import Store

    if person is None and (revoke or add):
        raise UsageError("name the person whose token is meant")
    if revoke and add:
        raise UsageError("revoke a token, or add a person; not both")
    with Store(file) as store:
        if person is None:
            listed = store.tokens()
            if as_json:
                o.print_json(listed)
                return
            rows = [(row.person, row.created, row.expires, row.revoked or "no") for row in listed]
            console().show(table("who", "made", "valid until", "revoked", rows=rows))
            return
        if add:
            person = store.add_person(person, role=add).id
        if revoke:
            number = store.revoke_tokens(person)
            o.print_json({"revoked": number}) if as_json else echo(f"{number} tokens are no longer valid")
            return
        token = store.new_token(person, days=days)
        o.print_json({"person": person, "token": token}) if as_json else echo(token)


@o.command(study, "backup")
def backup_cli(
    file: StudyFile,
    target: Annotated[Path, typer.Argument(help="The copy; it must be new.")],
) -> None:
    """Copy a study while it runs; the copy is checked."""
    from radgauge.cli.lines import echo
    from radgauge.core.errors import InputError
    from radgauge.study import Store
    from radgauge.study.check import check_study

    with Store(file) as store:
        store.backup(target)
    result = check_study(target)
    if result.problems:
        raise InputError(f"{target} was written and does not prove itself: {result.problems[0]}")
    echo(f"wrote {target}: {result.events} events, checked")
    echo(f"anchor: {result.anchor}")


@o.command(study, "sheet")
def sheet_cli(
    file: StudyFile,
    folder: Annotated[Path, typer.Option("--output", "-o", help="Folder of the sheets.")] = Path("sheets"),
    rater: Annotated[list[str] | None, "Only for this rater, by name or id. Repeatable."] = None,
) -> None:
    """Write a form for each rater, to be filled in a browser without a server.

    Examples:

      radgauge study sheet study.sqlite -o sheets

      radgauge study collect study.sqlite answers-rater-1.json answers-rater-2.json
    """
    from radgauge.cli.lines import echo
    from radgauge.study.sheet import write_sheets

    for written in write_sheets(file, folder, people=rater):
        echo(f"wrote {written}")


@o.command(study, "collect")
def collect_cli(
    file: StudyFile,
    sheets: Annotated[list[Path], typer.Argument(help="Files that the forms have saved.")],
    as_json: o.AsJson = False,
) -> None:
    """Take filled sheets into the study, with the checks of the page; twice is as good as once."""
    from radgauge.render.tables import Column, table
    from radgauge.render.terminal import console
    from radgauge.study.sheet import collect

    collected = collect(file, sheets)
    if as_json:
        o.print_json(collected)
    else:
        numbers = [Column(name, right=True) for name in ("changed", "submitted", "open")]
        rows = [(row.file, row.person, row.changed, row.submitted, row.open) for row in collected]
        console().show(table("sheet", "rater", *numbers, rows=rows))
        console(stderr=True).say(*(f"{row.file}: {problem}" for row in collected for problem in row.problems))
    if any(row.problems for row in collected):
        raise typer.Exit(TROUBLE)
