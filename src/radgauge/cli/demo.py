"""`radgauge demo`: the main job on the bundled reports, start to end, in one command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from radgauge.cli import options as o

if TYPE_CHECKING:
    from radgauge.analysis.summary import Summary
    from radgauge.core.cases import Case
    from radgauge.core.readings import Readings
    from radgauge.core.scores import Results
    from radgauge.render.terminal import Terminal


SEED = 0


@o.command(o.app, "demo")
def demo_cli(
    folder: Annotated[Path, "Where the files of the demo go."] = Path("demo"),
) -> None:
    """Judge four bundled systems and show what metrics see."""
    from radgauge.analysis.compare import compare
    from radgauge.analysis.summary import summarise
    from radgauge.analysis.tables import comparison_tables, not_judged_notes, summary_tables
    from radgauge.core.files import make_folder
    from radgauge.core.readings import Readings
    from radgauge.io.case_files import read_cases
    from radgauge.io.scores_file import write_scores
    from radgauge.render.terminal import console
    from radgauge.report import build_report, write_report
    from radgauge.run.score import score
    from radgauge.samples import sample_reports_path

    out = console()
    case_file = read_cases(sample_reports_path())
    reading = Readings()
    results = score(case_file.cases, reading=reading)
    lines = summarise(results, seed=SEED)
    studies = len({case.id for case in case_file.cases})
    systems = list(dict.fromkeys(case.system for case in case_file.cases))
    out.print(
        f"{studies} synthetic studies, {len(systems)} systems: {', '.join(systems)}. "
        "Every value with its 95 % interval; the arrow says which way is good.\n"
    )
    headlines = {scores.columns[0] for scores in results.judges.values()}
    shown = [line for line in lines if line.column in headlines]
    out.show(*summary_tables(shown))
    out.say(*(f"note: {note}" for note in (*not_judged_notes(lines), *o.profile_note(results))))
    _favourites(out, shown)
    out.print(f"\nCould the differences to {systems[0]!r} be chance? Paired permutation tests, Holm corrected:\n")
    for tables in comparison_tables(compare(results, baseline=systems[0], seed=SEED)):
        out.print(tables[0].title)
        out.show(*tables)
        out.print()
    _worst(out, case_file.cases, results, reading)
    _audit(out, case_file.cases, reading, systems[0], SEED)
    make_folder(folder)
    scores, page = folder / "scores.jsonl", folder / "report.html"
    about = {"seed": SEED, "input": case_file.provenance.as_dict()}
    write_scores(scores, results, about=about)
    report = build_report(
        results,
        cases=case_file.cases,
        header=about,
        reading=reading,
        title=f"Four systems on {studies} invented studies",
        seed=SEED,
    )
    size = write_report(page, report)
    out.print(f"\nA value per case and metric: {scores}")
    out.print(f"The report, every case in it:  {page.resolve()} ({size / 1e6:.1f} MB; open it in a browser)")
    out.print("\nYour turn: radgauge score YOUR.csv   (columns id, reference, candidate; `radgauge score --help`)")


def _favourites(out: Terminal, lines: list[Summary]) -> None:
    """Print the system that each metric puts first: metrics that disagree are the point of the demo."""
    first: dict[str, list[str]] = {}
    for column in dict.fromkeys(line.column for line in lines):
        rivals = [line for line in lines if line.column == column]
        best = max(rivals, key=lambda line: line.value if line.higher_is_better else -line.value)
        first.setdefault(best.system, []).append(column)
    out.print()
    for system, columns in first.items():
        out.say(f"{system} comes first by {', '.join(columns)}")


def _audit(out: Terminal, cases: tuple[Case, ...], reading: Readings, system: str, seed: int) -> None:
    """Print the scores that two rewards give to texts that nobody wants."""
    from radgauge.analysis.rewards.audit import audit
    from radgauge.analysis.rewards.reward import reward
    from radgauge.render.tables import Column, table

    rewards = [reward(name, name=name, reading=reading) for name in ("bleu", "errors")]
    grid = audit([case for case in cases if case.system == system], rewards, seed=SEED).grid()
    out.print(f"\nAs rewards for training: what texts get that nobody wants, beside the reports of {system!r}:\n")
    heads = [Column(name, right=index > 0) for index, name in enumerate(grid.headers)]
    out.show(table(*heads, rows=[tuple(row) for row in grid.rows]))
    out.say(*grid.notes)


def _worst(out: Terminal, cases: tuple[Case, ...], results: Results, reading: Readings) -> None:
    """The case that the first metric likes least, with its reasons."""
    import numpy as np

    scores = next(iter(results.judges.values()))
    values = np.where(np.isnan(scores.headline), np.inf, scores.oriented(scores.columns[0]))
    index = int(values.argmin())
    case = cases[index]
    out.print(f"The worst {scores.columns[0]} ({scores.headline[index]:.3f}) is {case.system!r} on {case.id!r}:")
    out.say(f"  reference: {case.references[0]}")
    out.say(f"  candidate: {case.candidate}")
    explanation = scores.metric.explain(case, reading=reading) if scores.metric is not None else None
    for note in explanation.notes if explanation is not None else ():
        out.say(f"  - {note.text}")
