"""Lay versions of several models and prompts on several corpora, in two tables."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from layman_rrg.cli_studies import OutputFile, about, layman, publish
from radgauge.cli import options as o
from radgauge.cli.lines import echo
from radgauge.cli.resume import keeps
from radgauge.core.files import make_folder, sha256_of, write_file
from radgauge.lay.cli.layman_build import SENTENCES_OF_A_REPORT
from radgauge.lay.cli.options import LayText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from radgauge.core.cases import Case
    from radgauge.llm.numbered import Outcome
    from radgauge.llm.prompts import Prompt

EMBEDDED = "embedded"


@o.command(layman, "grid")
def grid_cli(
    corpora: Annotated[
        list[str],
        typer.Argument(help="FILE or NAME=FILE; lay versions in its column candidate are measured as they are."),
    ],
    form: o.ReportForm,
    lay: LayText,
    say: o.Output,
    model: Annotated[
        list[str] | None,
        "Who writes: 'embedded', or a model of the server of RADGAUGE_LLM_URL. Repeatable.",
    ] = None,
    prompt: Annotated[
        list[str] | None, "plain, examples, or a TOML file of your own; each with each model. Repeatable."
    ] = None,
    work: Annotated[Path, "Folder for what the models answer; a stopped run goes on there."] = Path("lay_grid"),
    models: o.Models = "embedded",
    meteor: Annotated[bool, "METEOR too; it needs Java and the extra."] = False,
    output: OutputFile = None,
    llm: o.Llm = o.LlmSettings(batch=50),
    sampling: o.Sampling = o.Resampling(),
) -> None:
    """Models, prompts and corpora side by side: how right, how near, how easy lay versions are (tables 10, 11).

    Examples:

      layman.py grid mimic=mimic.csv padchest=padchest.csv --model embedded -o tables/

      layman.py grid mimic.csv --model small --model large --prompt plain --prompt examples --llm max_cost=5

      layman.py grid versions.csv        # lay versions that you have: id, system, reference, candidate
    """
    from layman_rrg.grid import lay_grid
    from layman_rrg.tables import grid_tables
    from radgauge.core.errors import UsageError

    named = [_named(each) for each in corpora]
    if len({name for name, _ in named}) < len(named):
        raise UsageError("corpora must have different names; name them: NAME=FILE")
    found: dict[str, list[Case]] = {}
    for name, path in named:
        found[name] = list(form.versions(path))
        originals = form.originals(path) if model else {}
        asked = _versions(name, originals, model or [], prompt or ["plain"], work, llm, say)
        for writer, texts in asked.items():
            found[name] += [
                replace(originals[study], candidate=each.value, system=writer) for study, each in texts.items()
            ]
        if not found[name]:
            raise UsageError(f"{path.name} holds no lay versions; name a writer (--model embedded)")
    judges = ["chexbert", "radgraph"]
    grid = lay_grid(
        found,
        layman=lay.metric(),
        models=o.confirmed(models, judges),
        meteor=meteor,
        reading=say.readings(),
        resampling=sampling.at_least(0),
    )
    notes = [
        f"{line.corpus}, {line.writer}: {line.without} of {line.reports} reports have no lay version: in no value"
        for line in grid.lines
        if line.without
    ]
    notes += [
        f"{line.corpus}: all values are of the {line.compared} reports of which every writer has a lay version"
        for line in {line.corpus: line for line in grid.lines if line.compared}.values()
        if any(other.without for other in grid.lines if other.corpus == line.corpus)
    ]
    publish(
        grid_tables(grid),
        title="Lay versions by model, prompt and corpus",
        notes=notes,
        output=output,
        say=say,
        about=about(grid.signatures, sampling.seed, None)
        | {"input": [{"name": path.name, "sha256": sha256_of(path)} for _, path in named]},
    )


def _named(text: str) -> tuple[str, Path]:
    """Name and file of a corpus."""
    name, sign, rest = text.partition("=")
    return (name, Path(rest)) if sign and not Path(text).exists() else (Path(text).stem, Path(text))


def _versions(
    corpus: str,
    originals: dict[str, Case],
    models: Sequence[str],
    prompts: Sequence[str],
    work: Path,
    llm: o.LlmSettings,
    say: o.Output,
) -> dict[str, dict[str, Outcome]]:
    """Writer -> id -> lay version; of a language model, with each prompt."""
    from layman_rrg.grid import lay_versions
    from radgauge.cli.language_model import CostLine, open_model, usage_text
    from radgauge.lay.encoder import FindingEncoder
    from radgauge.lay.translators import EmbeddedTranslator, LlmTranslator

    reports = {study: case.references[0] for study, case in originals.items()}
    found: dict[str, dict[str, Outcome]] = {}
    for name in models:
        if name == EMBEDDED:
            found[EMBEDDED] = lay_versions(reports, EmbeddedTranslator())
            continue
        make_folder(work)
        keeps(lambda: any(work.iterdir()))
        with open_model(work / "journal.jsonl", llm, name=name) as (asked, journal):
            try:
                for prompt in prompts:
                    translator = LlmTranslator(
                        asked,
                        journal,
                        FindingEncoder(),
                        _prompts(prompt),
                        batch=max(1, llm.batch // SENTENCES_OF_A_REPORT),
                        parallel=llm.parallel,
                        retry_failed=llm.retry_failed,
                        progress=None if say.quiet else CostLine(asked),
                    )
                    found[f"{name} + {Path(prompt).stem}"] = lay_versions(reports, translator)
            finally:
                echo(f"note: {usage_text(asked.usage)}", err=True)
    if any(name != EMBEDDED for name in models):
        rows = (
            {"id": study, "system": writer, "reference": reports[study], "candidate": each.value, "why": each.why}
            for writer, texts in found.items()
            for study, each in texts.items()
        )
        write_file(work / f"{corpus}.jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return found


def _prompts(name: str) -> dict[str, Prompt]:
    from radgauge.core.errors import UsageError
    from radgauge.lay.prompts import Style, lay_prompts

    if name in get_args(Style):
        return lay_prompts("report", cast("Style", name))
    if not Path(name).is_file():
        raise UsageError(f"--prompt must be plain, examples or a TOML file, got {name!r}")
    return lay_prompts("report", own=Path(name))
