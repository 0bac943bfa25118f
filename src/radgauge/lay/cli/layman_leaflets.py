"""`radgauge lay write` and `sign`: plain texts of reports, and leaflets for patients."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from radgauge.cli import options as o
from radgauge.cli.lines import echo
from radgauge.cli.resume import keeps
from radgauge.lay.cli.layman_build import Prompts
from radgauge.lay.cli.options import layman
from radgauge.lay.leaflets import PageStyle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from radgauge.lay.leaflets import WrittenLeaflets
    from radgauge.lay.leaflets.writers import LeafletWriter


@o.command(layman, "write")
def write_cli(
    form: o.ReportForm,
    say: o.Output,
    report: Annotated[
        Path | None,
        typer.Argument(help="One report as text ('-' or nothing: standard input), or a table of reports with -o."),
    ] = None,
    check: Annotated[bool, "Also say what the plain text loses, adds or changes, to stderr."] = False,
    output: Annotated[Path | None, "-o", "Folder for a leaflet of each report."] = None,
    writer: Annotated[
        Literal["embedded", "llm", "given"],
        "embedded: offline; llm: the server of --llm; given: column candidate or plain.",
    ] = "embedded",
    page: Annotated[PageStyle, "Language and leaflets"] = PageStyle(),
    pdf: Annotated[bool, "Leaflets also as PDF, if a browser is installed."] = False,
    replace: Annotated[bool, "Replace leaflets of other reports there."] = False,
    words: Annotated[Prompts, "Prompts of --writer llm"] = Prompts(),
    llm: o.Llm = o.LlmSettings(batch=50),
) -> None:
    """Write a report in plain language, or a leaflet for the patient of each report of a table, offline.

    Leaflets are drafts, and say so on every page, until a radiologist signs them: `radgauge lay sign`.

    Examples:

      radgauge lay write report.txt

      echo "No pneumothorax." | radgauge lay write --check

      radgauge lay write reports.csv -o leaflets/ --page large=yes,paper=letter --pdf
    """
    if output is None:
        _one_report(report, page.language, check=check)
        return
    from radgauge.lay.leaflets import write_leaflets
    from radgauge.llm import BudgetReached
    from radgauge.render.printing import browser, pdf_printer

    if pdf:
        browser()
    texts, plain_texts = _table(report, form, required=writer == "given")
    about = {"source": report.name if report is not None else "standard input", "section": form.section or "whole"}
    with ExitStack() as stack:
        chosen = _writer(writer, plain_texts, page.language, words, llm, output, stack, say)
        keeps(lambda: (output / "leaflets.csv").is_file())
        try:
            written = write_leaflets(
                texts,
                output,
                writer=chosen,
                style=page,
                printed=stack.enter_context(pdf_printer(of="leaflet")) if pdf else None,
                replace_others=replace,
                about=about,
                progress=say.progress(),
            )
        except BudgetReached as error:
            echo(f"note: {error}; what is finished is in {output}; a larger max_cost goes on there", err=True)
            return
    _print_summary(written, output, say)


@o.command(layman, "sign")
def sign_cli(
    folder: Annotated[Path, typer.Argument(help="Folder of `radgauge lay write`.")],
    study: Annotated[Path, typer.Argument(help="A study of its to_sign.jsonl with the design lay, answered.")],
    say: o.Output,
) -> None:
    """Put the signatures of radiologists on leaflets: who released a text in a study, and when.

    A signature holds for the very text that was judged. What was not released stays marked, with the reason.

    Examples:

      radgauge study new leaflets/to_sign.jsonl --design lay --rater "Dr Ada Example" -o sign.sqlite

      radgauge study serve sign.sqlite

      radgauge lay sign leaflets sign.sqlite
    """
    from radgauge.core.subjects import from_subject
    from radgauge.lay.leaflets import Decision, read_leaflets, sign_leaflets
    from radgauge.render.printing import pdf_printer

    facts, _ = read_leaflets(folder)
    decisions = [Decision(**fields) for fields in from_subject("study", "signing:study_decisions")(study)]
    with ExitStack() as stack:
        printed = stack.enter_context(pdf_printer(of="leaflet")) if facts.get("pdf") else None
        signed, notes = sign_leaflets(folder, decisions, printed=printed)
    say.notes(*notes)
    _print_summary(signed, folder, say)


def _one_report(path: Path | None, language: str, *, check: bool) -> None:
    from radgauge.core.cases import Case
    from radgauge.core.readings import Readings
    from radgauge.lay.metrics.lay_fidelity import LayFidelity
    from radgauge.lay.plain_sentences import plain_text, write_plain

    text = o.report_text(path)
    lay = plain_text(write_plain(text, language=language))
    echo(lay)
    if not check:
        return
    explained = LayFidelity().explain(Case("report", lay, (text,)), reading=Readings())
    if explained is None or not explained.notes:
        echo("nothing that can be checked was read", err=True)
        return
    echo(f"lay_fidelity {explained.values['lay_fidelity']:.3f}", err=True)
    for note in explained.notes:
        if note.kind != "matched":
            echo(note.text, err=True)


def _table(path: Path | None, form: o.ReportForm, *, required: bool) -> tuple[dict[str, str], dict[str, str]]:
    """Id -> report of every row, the empty ones too, and id -> plain text, if that is wanted and there."""
    from radgauge.cli.stdin import standing_in
    from radgauge.core.errors import InputError
    from radgauge.io.tables.sources import FORMATS

    if path is not None and str(path) != "-" and FORMATS.get(path.suffix.lower(), "txt") == "txt":
        return {path.stem: o.report_text(path)}, {}
    texts: dict[str, str] = {}
    plain: dict[str, str] = {}
    with standing_in(path if path is not None else Path("-")) as file:
        assert file is not None
        for case in form.references(file).cases:
            text = case.references[0] if case.references else ""
            if texts.setdefault(case.id, text) != text:
                raise InputError(f"{file.name}: a report must have one text, but those of id {case.id!r} differ")
            if plain_text := case.meta.get("plain", "").strip():
                plain[case.id] = plain_text
        if required and not plain:
            plain = {case.id: case.candidate for case in form.versions(file)}
    return texts, plain


def _writer(
    kind: str,
    plain_texts: Mapping[str, str],
    language: str,
    words: Prompts,
    llm: o.LlmSettings,
    out: Path,
    stack: ExitStack,
    say: o.Output,
) -> LeafletWriter:
    from radgauge.core.errors import UsageError
    from radgauge.lay.leaflets import EmbeddedWriter, GivenWriter, ModelWriter

    if kind == "embedded":
        return EmbeddedWriter(language)
    if kind == "given":
        if not plain_texts:
            raise UsageError(
                "--writer given needs plain texts in the column candidate or plain; the table has none"
            )
        return GivenWriter(plain_texts)
    if language != "en":
        raise UsageError("--writer llm writes English only; its checks read no other language")
    from radgauge.cli.language_model import CostLine, open_model, usage_text
    from radgauge.lay.checks import FIDELITY, LLM
    from radgauge.lay.encoder import FindingEncoder
    from radgauge.lay.refine import Refinement
    from radgauge.lay.translators import LlmTranslator

    model, journal = stack.enter_context(open_model(out / "journal.jsonl", llm))
    translator = LlmTranslator(
        model,
        journal,
        FindingEncoder(),
        words.of("sentence"),
        batch=llm.batch,
        parallel=llm.parallel,
        retry_failed=llm.retry_failed,
        progress=None if say.quiet else CostLine(model),
    )
    stack.callback(lambda: echo(f"note: {usage_text(model.usage)}", err=True))
    return ModelWriter(Refinement(translator, (FIDELITY, LLM), FindingEncoder(), checker=translator))


def _print_summary(result: WrittenLeaflets, folder: Path, say: o.Output) -> None:
    if say.as_json:
        say.show(result)
    else:
        echo(
            f"{result.written} of {result.reports} reports have a leaflet: {result.signed} signed, "
            f"{result.refused} not released, {result.written - result.signed - result.refused} to be signed; "
            f"{result.kept} of {result.sentences} sentences stand in the words of the report"
        )
        if result.differing or result.unjudged:
            echo(
                f"the independent check reads {result.differing} of {result.written} plain texts otherwise and "
                f"could not judge {result.unjudged}: column check, and side_by_side/ for what it found"
            )
        for why, count in result.reasons.items():
            echo(f"no leaflet: {count} because {why}")
    say.tell(f"wrote {folder}: pages/, side_by_side/, leaflets.csv")
