"""`radgauge oracle`: the highest-scoring report of a corpus by a metric, for every query."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o
from radgauge.cli.resume import keeps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from radgauge.analysis.oracle import Retrieved
    from radgauge.render.tables import Row

SHOWN = 20  # matches that a person looks at; the rest is for files


@o.command(o.app, "oracle")
def oracle_cli(
    form: o.ReportForm,
    say: o.Output,
    corpus: Annotated[Path | None, "Reports to search: a table, or a corpus as released."] = None,
    queries: Annotated[
        Path | None,
        "Reports to find matches for; not needed with --queries-split.",
    ] = None,
    metric: Annotated[
        str,
        "-m",
        "bleu2_cxr, radgraph, chexbert_similarity, bertscore, or any other.",
    ] = "bleu2_cxr",
    top: Annotated[int, typer.Option("--top", min=1, help="How many reports per query.")] = 1,
    fallback: Annotated[
        str,
        "Text to give where nothing matches; else the most frequent report.",
    ] = "",
    corpus_split: Annotated[str | None, "Search only this split, or these: train,val."] = None,
    queries_split: Annotated[str | None, "Ask only this split."] = None,
    models: o.Models = "embedded",
    jobs: o.Jobs = None,
    output: Annotated[
        Path | None,
        "-o",
        "Write all matches to this .jsonl or .csv; it serves as candidates.",
    ] = None,
) -> None:
    """Find the best-scoring report of a corpus for each query.

    Examples:

      radgauge oracle --corpus train.csv --queries test.csv -m bleu2_cxr -o oracle.jsonl

      radgauge oracle --corpus annotation.json --corpus-split train --queries-split test -m radgraph --top 5
    """
    from radgauge.analysis.oracle import Corpus, oracle
    from radgauge.analysis.oracle.files import check_matches_path, write_matches
    from radgauge.analysis.oracle.find import load_oracle_metric
    from radgauge.core.cache import Cache
    from radgauge.core.errors import UsageError

    if corpus is None:
        raise UsageError("no corpus given: use --corpus FILE, and --queries FILE or --queries-split")
    if queries is None and queries_split is None:
        raise UsageError("no queries given: use --queries FILE, or --queries-split with a corpus that has splits")
    if output is not None:
        check_matches_path(output)
    searched = form.references(corpus, split=corpus_split)
    query_side = form.references(queries or corpus, split=queries_split)
    judge = load_oracle_metric(metric, models=o.confirmed(models, [metric]))
    column = judge.columns[0]
    # Reading with the embedded rules is faster than reading a cache of large readings would be.
    reading = say.readings(no_cache=models == "embedded")
    cache = None if o.program().no_cache else Cache()
    if cache is not None:
        keeps(lambda: cache.used > 0)
    searched_corpus = Corpus.of(searched.cases)
    matches = oracle(
        searched_corpus,
        query_side.cases,
        metric=judge,
        top=top,
        fallback=fallback,
        reading=reading,
        progress=say.progress(),
        cache=cache,
        engine=o.engine(jobs),
    )
    about = {
        "metric": judge.signature(),
        "column": column,
        "top": top,
        "fallback": fallback,
        "corpus": {
            **searched.provenance.as_dict(),
            "distinct": len(searched_corpus.texts),
            "blank": searched_corpus.blank,
        },
        "queries": query_side.provenance.as_dict(),
    }
    if output is not None:
        write_matches(output, matches, system=f"oracle {column}", about=about)
    say.show({"matches": matches, **about}, *_match_blocks(matches, column))
    left_out = f", {searched_corpus.blank} blank ones left out" if searched_corpus.blank else ""
    say.notes(*searched.provenance.warnings, *query_side.provenance.warnings)
    say.notes(f"{searched_corpus.reports} reports searched, {len(searched_corpus.texts)} distinct{left_out}")
    reasons = Counter(match.note for match in matches if match.note and match.rank == 1)
    say.notes(*(f"{count} of {len(query_side.cases)} queries: {why}" for why, count in reasons.most_common()))
    if column.endswith("_embedded"):
        say.notes("columns that end in _embedded rest on embedded parts: not comparable with published numbers")
    if output is not None:
        say.tell(f"wrote {output}: {len(matches)} matches")


def _match_blocks(matches: Sequence[Retrieved], column: str) -> list[o.Block]:
    """Return the first matches and the mean of all."""
    from radgauge.analysis.oracle.find import mean_score
    from radgauge.core.wording import number, shortened
    from radgauge.render.tables import table

    rows: list[Row] = [
        (
            *(match.id, match.rank, match.corpus_id or "–", match.score, match.frequency),
            shortened(match.text, 80),
        )
        for match in matches[:SHOWN]
    ]
    first = table("query", "rank", "report", column, "times", "text", rows=rows)
    is_judged = {match.id: not math.isnan(match.score) for match in matches if match.rank == 1}
    judged = sum(is_judged.values())
    queries = f"{judged} queries" if judged == len(is_judged) else f"{judged} of {len(is_judged)} queries"
    left = f"; {len(matches) - SHOWN} more matches are not shown" if len(matches) > SHOWN else ""
    return [first, f"mean {column} of the best: {number(mean_score(list(matches)))} over {queries}{left}"]
