"""`radgauge oracle`: the report of a corpus that a metric likes best, for every query."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from radgauge.studies.oracle import Match

SHOWN = 20  # matches that a person looks at; the rest is for files


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("oracle")(oracle_cli)


def oracle_cli(
    corpus: Annotated[
        Path | None, typer.Option("--corpus", help="Reports to search: a table, or a corpus as released.")
    ] = None,
    queries: Annotated[
        Path | None, typer.Option("--queries", help="Reports to find matches for; without it, the corpus file.")
    ] = None,
    metric: Annotated[
        str,
        typer.Option("--metric", "-m", help="bleu2_cxr, radgraph, chexbert_similarity, bertscore, or any other."),
    ] = "bleu2_cxr",
    top: Annotated[int, typer.Option("--top", min=1, help="How many reports per query.")] = 1,
    fallback: Annotated[
        str,
        typer.Option("--fallback", help="Text to give where nothing matches; else the most frequent report."),
    ] = "",
    corpus_split: Annotated[str | None, typer.Option("--corpus-split", help="Search only this split.")] = None,
    queries_split: Annotated[str | None, typer.Option("--queries-split", help="Ask only this split.")] = None,
    section: o.Section = None,
    columns: o.Columns = None,
    encoding: o.Encoding = None,
    models: o.Models = "embedded",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write all matches to this .jsonl or .csv; it serves as candidates."),
    ] = None,
    text: Annotated[bool, typer.Option("--text/--no-text", help="With or without the reports.")] = True,
    no_cache: o.NoCache = False,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Find the best-scoring report of a corpus for every query, exactly.

    Examples:

      radgauge oracle --corpus train.csv --queries test.csv -m bleu2_cxr -o oracle.jsonl

      radgauge oracle --corpus annotation.json --corpus-split train --queries-split test -m radgraph --top 5
    """
    from radgauge.cli.progress import bars
    from radgauge.cli.render import console
    from radgauge.errors import UsageError
    from radgauge.io.case_files import read_references
    from radgauge.io.tables.columns import parse_columns
    from radgauge.studies.oracle import Corpus, oracle
    from radgauge.studies.oracle.files import check_matches_path, write_matches
    from radgauge.studies.oracle.find import load_oracle_metric

    if corpus is None:
        raise UsageError("no corpus given: use --corpus FILE, and --queries FILE or --queries-split")
    if queries is None and queries_split is None:
        raise UsageError("no queries given: use --queries FILE, or --queries-split with a corpus that has splits")
    if output is not None:
        check_matches_path(output)
    named = parse_columns(columns) if columns else None
    searched = read_references(corpus, section=section, columns=named, encoding=encoding, split=corpus_split)
    asked = read_references(
        queries or corpus, section=section, columns=named, encoding=encoding, split=queries_split
    )
    judge = load_oracle_metric(metric, models=models)
    # Reading with the embedded rules is faster than reading a cache of large readings would be.
    reading = o.open_readings(no_cache=no_cache or models == "embedded", quiet=quiet)
    place = Corpus.of(searched.cases)
    matches = oracle(
        place,
        asked.cases,
        metric=judge,
        top=top,
        fallback=fallback,
        reading=reading,
        progress=None if quiet else bars(),
    )
    about = {
        "metric": judge.signature(),
        "column": judge.columns[0],
        "top": top,
        "fallback": fallback,
        "corpus": {**searched.provenance.as_dict(), "distinct": len(place.texts), "blank": place.blank},
        "queries": asked.provenance.as_dict(),
    }
    if output is not None:
        write_matches(output, matches, system=f"oracle {judge.columns[0]}", text=text, about=about)
    if as_json:
        shown = matches if text else [{**_plain(match), "text": None} for match in matches]
        typer.echo(o.to_json({"matches": shown, **about}))
        return
    print_matches(console(), matches, judge.columns[0], text=text)
    if quiet:
        return
    err = console(stderr=True)
    notes = [*searched.provenance.warnings, *asked.provenance.warnings]
    notes.append(
        f"{place.reports} reports searched, {len(place.texts)} distinct"
        + (f", {place.blank} blank ones left out" if place.blank else "")
    )
    notes += [f"{count} of {len(asked.cases)} queries: {why}" for why, count in _reasons(matches).items()]
    if judge.columns[0].endswith("_embedded"):
        notes.append("columns that end in _embedded rest on embedded parts: not comparable with published numbers")
    for note in notes:
        err.print(f"note: {note}", soft_wrap=True)
    if output is not None:
        err.print(f"wrote {output}: {len(matches)} matches", soft_wrap=True)


def print_matches(out: Console, matches: Sequence[Match], column: str, *, text: bool) -> None:
    """The first matches and the mean of all."""
    from radgauge.cli.render import number, plain_table
    from radgauge.studies.oracle.find import mean_score

    table = plain_table("query", "rank", "report", column, "times", *(["text"] if text else []), right=(1, 3, 4))
    for match in matches[:SHOWN]:
        cut = " ".join(match.text.split())
        table.add_row(
            match.id,
            str(match.rank),
            match.corpus_id or "–",
            number(match.score),
            str(match.frequency),
            *([cut if len(cut) <= 80 else f"{cut[:79]}…"] if text else []),
        )
    out.print(table)
    queries = len({match.id for match in matches})
    left = f"; {len(matches) - SHOWN} more matches are not shown" if len(matches) > SHOWN else ""
    out.print(f"mean {column} of the best: {number(mean_score(list(matches)))} over {queries} queries{left}")


def _reasons(matches: Sequence[Match]) -> dict[str, int]:
    from collections import Counter

    return dict(Counter(match.note for match in matches if match.note and match.rank == 1).most_common())


def _plain(match: Match) -> dict[str, object]:
    import dataclasses

    return dataclasses.asdict(match)
