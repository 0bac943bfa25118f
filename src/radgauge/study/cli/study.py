"""`radgauge study`: ask radiologists about reports: make a study, look after it, take the answers out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from radgauge.cli import options as o
from radgauge.cli.exit_codes import TROUBLE
from radgauge.cli.lines import echo
from radgauge.core.errors import InputError, UsageError
from radgauge.core.files import write_file
from radgauge.render.tables import Column, table
from radgauge.render.terminal import console

if TYPE_CHECKING:
    from radgauge.study import Field

study = o.subjects("study")

DAYS = 90
"""Validity of the raters' links."""


@dataclass(frozen=True, slots=True)
class DrawSettings:
    """Sampling of studies and division among raters."""

    by: Annotated[
        str | None, "A column of the reports; with --scores one of theirs, or by disagreement of metrics."
    ] = None
    equal: Annotated[bool, "As many studies of each stratum, not in proportion."] = False
    before: Annotated[
        Path | None, "With --scores: those of an earlier release; strata are by how much worse it has become."
    ] = None
    raters_per_case: Annotated[int, "Raters of each study that is not shared."] = 1
    seed: Annotated[int | None, "Repeats sample and division among raters; blinding is always random."] = None


@dataclass(frozen=True, slots=True)
class PageSettings:
    """Page of the raters."""

    title: Annotated[str | None, "Heading of the study."] = None
    assistance: Annotated[
        Literal["none", "half", "all"], "Offer what radgauge's reader would mark, on no, half or all cases."
    ] = "none"
    no_images: Annotated[bool, "Texts alone, whatever the design shows."] = False


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
    draw: Annotated[DrawSettings, "How studies are drawn and divided"] = DrawSettings(),
    scores: Annotated[
        Path | None,
        "A scores file of the reports: strata are the worst tenth, the next three tenths and the rest.",
    ] = None,
    shared: Annotated[
        int | None,
        typer.Option("--shared", min=0, help="Studies that every rater sees; all without it."),
    ] = None,
    page: Annotated[PageSettings, "What raters see"] = PageSettings(),
) -> None:
    """Make a study from reports: draw studies, blind the candidates, assign them to raters.

    Examples:

      radgauge study new reports.csv --raters 3 -n 50 --shared 20

      radgauge study new --references truth.csv --candidates a=a.csv --candidates b=b.csv --design preference

      radgauge study new reports.csv --scores scores.jsonl --draw by=errors_significant,equal=yes -n 100
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
        by=draw.by,
        equal=draw.equal,
        scores=read_scores(scores) if scores is not None else None,
        before=read_scores(draw.before) if draw.before is not None else None,
        images=not page.no_images,
        shared=shared,
        raters_per_case=draw.raters_per_case,
        assistance=page.assistance,
        seed=draw.seed,
        days=DAYS,
        title=page.title,
        provenance=cases.provenance.as_dict(),
    )
    say.notes(*cases.provenance.warnings, *made.notes)
    rows = [(each.name, each.role, made.assigned.get(each.id), made.tokens[each.id]) for each in made.people]
    say.show(
        made,
        f"{made.path}: {len(made.sample.studies)} studies",
        table("who", "role", Column("cases", right=True), "token", rows=rows),
        f"Each token is one person's key for {DAYS} days, shown only now. `radgauge study serve` prints an "
        "address: ADDRESS/join#TOKEN is that person's link (`study serve --links` makes new links for everybody, "
        "`study token` a new token for one).",
        "Without a server: radgauge study sheet, which needs no tokens",
        f"anchor: {made.anchor} (note it outside the file; `study check --anchor` proves the study against it)",
    )


@o.command(study, "designs")
def designs_cli(
    design: Annotated[str | None, typer.Argument(help="Show this one: a name, or a TOML file to check.")] = None,
    output: Annotated[Path | None, "-o", "Write the design as TOML, to put in your own words."] = None,
    say: o.Output = o.Output(),
) -> None:
    """List the shipped designs, or show one; a design of your own is checked.

    Examples:

      radgauge study designs

      radgauge study designs rexval -o replication.toml
    """
    from radgauge.study.design_file import design_text, load_design, shipped_designs

    if output is not None:
        if design is None or output.exists():
            raise UsageError("--output takes a new file, and the name of the design to write")
        write_file(output, design_text(design))
    chosen = [load_design(name) for name in ([design] if design else shipped_designs())]
    data = [{**each.as_dict(), "version": each.version} for each in chosen]
    if design is None:
        rows = [(each.name, each.title, ", ".join(each.keys)) for each in chosen]
        say.show(data, table("design", "title", "asks", rows=rows))
        return
    (one,) = chosen
    fields = [(each.key, each.kind, each.per, each.title, _answers_of(each)) for each in one.fields]
    heading = (f"{one.name} ({one.version}): {one.title}", one.source, "", one.instructions, "")
    say.show(data, *heading, table("field", "kind", "per", "question", "answers", rows=fields))


def _answers_of(field: Field) -> str:
    """Summarize the possible answers."""
    if field.categories:
        levels = ", ".join(level.key for level in field.levels(field.categories[0].key))
        return ", ".join(each.key for each in field.categories) + (f" x {levels}" if levels else "")
    if field.options or field.candidates:
        return ", ".join([*(["a candidate"] if field.candidates else []), *(each.key for each in field.options)])
    return f"{field.minimum:g} to {field.maximum:g}" if field.kind in ("rating", "number") else "a list"


@o.command(study, "check")
def check_cli(
    file: StudyFile,
    anchor: Annotated[
        str | None, "An anchor that new, check, backup or export printed: the study must continue it."
    ] = None,
    say: o.Output = o.Output(),
) -> None:
    """Replay every event and prove that the state is what the events give.

    Only an anchor that was noted outside the file, or a key in RADGAUGE_STUDY_KEY, shows what somebody changed who
    can write the file.
    """
    from radgauge.study.check import check_study

    found = check_study(file, anchor=anchor)
    lines = [
        f"{file}: {found.events} events replayed to {found.states} states, each as it is kept; "
        f"last event {found.last_hash[:12] or 'none'}"
    ]
    if anchor is not None and not found.problems:
        lines.append(
            f"it continues the anchor; {found.events - int(anchor.partition('.')[0])} events came after it"
        )
    say.show(found, *(found.problems or [*lines, f"anchor: {found.anchor}"]))
    if found.problems:
        raise typer.Exit(TROUBLE)


@o.command(study, "export")
def export_cli(
    file: StudyFile,
    say: o.Output,
    output: Annotated[
        Path,
        "-o",
        ".csv or .jsonl, .json for radpref, a folder for rexval and rate_eval.",
    ] = Path("judgments.csv"),
    form: Annotated[
        Literal["table", "answers", "rexval", "radpref", "rate_eval", "events"],
        "-f",
        "table, rexval, radpref and rate_eval are read by `radgauge agree`.",
    ] = "table",
    adjudicated: Annotated[bool, "The adjudicator's judgment where there is one, else the mean."] = False,
) -> None:
    """Write what raters have submitted, and how it came about beside it.

    Examples:

      radgauge study export study.sqlite -o judgments.csv

      radgauge study export study.sqlite -o rexval/ --form rexval
    """
    from radgauge.study.export import export_study

    written = export_study(file, output, form=form, adjudicated=adjudicated)
    say.notes(*written.notes)
    say.show(written, f"wrote {', '.join(str(each) for each in written.files)}: {written.rows} rows")
    if not say.as_json:
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
    say: o.Output = o.Output(),
) -> None:
    """Make a new token for a person, revoke the old ones, or list who has one.

    Examples:

      radgauge study token study.sqlite "Rater 1" --revoke

      radgauge study token study.sqlite "Dr Chief" --add adjudicator
    """
    from radgauge.study import Store

    if person is None and (revoke or add):
        raise UsageError("name the person whose token is meant")
    if revoke and add:
        raise UsageError("revoke a token, or add a person; not both")
    with Store(file) as store:
        if person is None:
            listed = store.tokens()
            rows = [(each.person, each.created, each.expires, each.revoked or "no") for each in listed]
            say.show(listed, table("who", "made", "valid until", "revoked", rows=rows))
            return
        if add:
            person = store.add_person(person, role=add).id
        if revoke:
            number = store.revoke_tokens(person)
            say.show({"revoked": number}, f"{number} tokens are no longer valid")
            return
        token = store.new_token(person, days=days)
        say.show({"person": person, "token": token}, token)


@o.command(study, "backup")
def backup_cli(
    file: StudyFile,
    target: Annotated[Path, typer.Argument(help="The copy; it must be new.")],
) -> None:
    """Copy a study while it runs; the copy is checked."""
    from radgauge.study import Store
    from radgauge.study.check import check_study

    with Store(file) as store:
        store.backup(target)
    found = check_study(target)
    if found.problems:
        raise InputError(f"{target} was written and does not prove itself: {found.problems[0]}")
    echo(f"wrote {target}: {found.events} events, checked")
    echo(f"anchor: {found.anchor}")


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
    from radgauge.study.sheet import write_sheets

    for written in write_sheets(file, folder, people=rater):
        echo(f"wrote {written}")


@o.command(study, "collect")
def collect_cli(
    file: StudyFile,
    sheets: Annotated[list[Path], typer.Argument(help="Files that the forms have saved.")],
    say: o.Output = o.Output(),
) -> None:
    """Take filled sheets into the study, with the checks of the page; twice is as good as once."""
    from radgauge.study.sheet import collect

    found = collect(file, sheets)
    numbers = [Column(name, right=True) for name in ("changed", "submitted", "open")]
    rows = [(each.file, each.person, each.changed, each.submitted, each.open) for each in found]
    say.show(found, table("sheet", "rater", *numbers, rows=rows))
    if not say.as_json:
        console(stderr=True).say(*(f"{each.file}: {problem}" for each in found for problem in each.problems))
    if any(each.problems for each in found):
        raise typer.Exit(TROUBLE)
