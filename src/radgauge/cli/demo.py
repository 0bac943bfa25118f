"""`radgauge demo`: the main job on the bundled reports, start to end, in one command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radgauge.cli import options as o

if TYPE_CHECKING:
    from rich.console import Console

    from radgauge.cases import Case
    from radgauge.scores import Results


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("demo")(demo_cli)


def demo_cli(
    folder: Annotated[Path, typer.Option("--folder", help="Where the files of the demo go.")] = Path("demo"),
    seed: o.Seed = 0,
) -> None:
    """Judge four bundled systems, one of them careful and three not, and show what the metrics see."""
    from radgauge.case_files import read_cases
    from radgauge.cli.compare import print_comparisons
    from radgauge.cli.render import console, not_judged_notes, print_summary
    from radgauge.compare import compare
    from radgauge.reading import Readings
    from radgauge.report import build_report, write_report
    from radgauge.samples import sample_reports_path
    from radgauge.scores import score
    from radgauge.scores_file import write_scores
    from radgauge.summary import summarise

    out = console()
    case_file = read_cases(sample_reports_path())
    reading = Readings()
    results = score(case_file.cases, reading=reading)
    lines = summarise(results, seed=seed)
    studies = len({case.id for case in case_file.cases})
    systems = list(dict.fromkeys(case.system for case in case_file.cases))
    out.print(
        f"{studies} synthetic studies, {len(systems)} systems: {', '.join(systems)}. "
        "Every value with its 95 % interval; the arrow says which way is good.\n"
    )
    print_summary(out, lines)
    for note in (*not_judged_notes(lines), *o.profile_note(results)):
        out.print(f"note: {note}", soft_wrap=True)
    out.print(f"\nCould the differences to {systems[0]!r} be chance? Paired permutation tests, Holm corrected:\n")
    print_comparisons(out, compare(results, baseline=systems[0], seed=seed))
    _worst(out, case_file.cases, results)
    scores, page = folder / "scores.jsonl", folder / "report.html"
    about = {"seed": seed, "input": case_file.provenance.as_dict()}
    write_scores(scores, results, about=about)
    report = build_report(
        results,
        cases=case_file.cases,
        header=about,
        reading=reading,
        title=f"Four systems on {studies} invented studies",
        seed=seed,
    )
    size = write_report(page, report)
    out.print(f"\nA value per case and metric: {scores}")
    out.print(f"The report, every case in it:  {page.resolve()} ({size / 1e6:.1f} MB; open it in a browser)")
    out.print("\nYour turn: radgauge score YOUR.csv   (columns id, reference, candidate; `radgauge score --help`)")


def _worst(out: Console, cases: tuple[Case, ...], results: Results) -> None:
    """The case that the headline metric likes least, shown as text."""
    import numpy as np

    scores = next(iter(results.values()))
    sign = 1 if scores.higher_is_better else -1
    values = np.where(np.isnan(scores.headline), np.inf, sign * scores.headline)
    case = cases[int(values.argmin())]
    value = scores.headline[int(values.argmin())]
    out.print(f"\nThe lowest {scores.columns[0]} ({value:.3f}) is {case.system!r} on {case.id!r}:")
    out.print(f"  reference: {case.references[0]}", soft_wrap=True)
    out.print(f"  candidate: {case.candidate}", soft_wrap=True)
