"""Leaflets for patients: pages with the plain text of a report, what to ask the doctor about, and who signed."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from radgauge import __version__
from radgauge.core.errors import InputError, UsageError
from radgauge.core.files import make_folder, write_csv, write_file
from radgauge.core.progress import working
from radgauge.core.readings import Progress
from radgauge.core.wording import spreadsheet_cell
from radgauge.lay.gathering import digest
from radgauge.lay.leaflets.checking import check_sentences
from radgauge.lay.leaflets.leaflet import Decision, Leaflet, from_record
from radgauge.lay.leaflets.page import PageStyle, leaflet_page, side_by_side_page
from radgauge.lay.leaflets.writers import EmbeddedWriter, GivenWriter, LeafletWriter, ModelWriter
from radgauge.lay.sets import read_records

# A folder of leaflets: written, signed, and written again without losing a signature or another's files.
#
# Files: one page per report (`pages/`), both texts side by side (`side_by_side/`), leaflets.csv (a row per
# report), leaflets.jsonl (the same with every sentence), to_sign.jsonl (for a study), about.json. All hold report
# text and are for their owner only.

ABOUT, RECORDS, TABLE, TO_SIGN = "about.json", "leaflets.jsonl", "leaflets.csv", "to_sign.jsonl"
PAGES, BESIDE = "pages", "side_by_side"
COLUMNS = (
    *("id", "status", "why", "page", "side_by_side", "sentences", "kept", "check", "signed_by", "signed_at"),
    *("report", "plain"),
)
NOT_YET = "not written yet: the run was stopped"
Print = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class WrittenLeaflets:
    """Content of a folder after a run."""

    reports: int  # Rows given, and rows of the table
    written: int
    signed: int  # Of these, signed ones
    refused: int  # Of these, those that a radiologist did not release
    kept: int  # Sentences that stand in the words of the report, of all leaflets
    sentences: int
    reasons: Mapping[str, int]  # Why reports have no leaflet -> how many
    new_pages: int  # Pages that were written or changed by this run
    differing: int = 0  # Leaflets of which the independent check reads something otherwise, lost or added
    unjudged: int = 0  # Leaflets that it could not judge


@working("writing")
def write_leaflets(
    reports: Mapping[str, str],
    folder: Path,
    *,
    writer: LeafletWriter,
    style: PageStyle | None = None,
    printed: Print | None = None,
    replace_others: bool = False,
    about: Mapping[str, object] | None = None,
    progress: Progress | None = None,
) -> WrittenLeaflets:
    """Write a leaflet of every report; the same call goes on where a stopped one was.

    A signature of an earlier run stays with a report whose plain text is still the same to the letter.

    Args:
        reports: Id -> text; an empty text gets a row with the reason.
        folder: Where everything goes.
        writer: Who writes.
        style: How the pages look.
        printed: Makes a PDF of a page, if PDF files are wanted.
        replace_others: Whether leaflets of other reports in that folder may be replaced.
        about: More for about.json.
        progress: Told (what, done, total).

    Raises:
        RadgaugeError, KeyboardInterrupt: The run was stopped; the table says which reports are missing.
    """
    if not reports:
        raise InputError("there is no report to write")
    look = style or PageStyle()
    _refuse_others(folder, reports, replace_others=replace_others)
    signed = {
        leaflet.digest: leaflet.decision for leaflet in _stored_leaflets(folder) if leaflet.decision is not None
    }
    make_folder(folder)
    facts = {
        "made_by": "radgauge lay write",
        "version": __version__,
        "reports_sha256": digest(reports),
        "writer": writer.signature,
        "writer_name": writer.name,
        "style": asdict(look),
        "pdf": printed is not None,
        **(about or {}),
    }
    write_file(folder / ABOUT, json.dumps(facts, ensure_ascii=False, indent=1) + "\n")
    studies = list(reports)
    names = page_names(studies)
    finished: dict[str, Leaflet] = {}
    new = 0
    try:
        for start in range(0, len(studies), writer.chunk):
            part = {study: reports[study] for study in studies[start : start + writer.chunk]}
            for study, written in zip(part, writer.write(part), strict=True):
                if isinstance(written, str):
                    finished[study] = Leaflet(study, part[study], writer=writer.name, why=written)
                    continue
                made = Leaflet(study, part[study], written, writer.name)
                if not isinstance(writer, EmbeddedWriter):
                    made = replace(made, checked=check_sentences(written, language=look.language))
                made = replace(made, decision=signed.get(made.digest))
                finished[study] = replace(made, why=made.decision.why if made.decision else "")
                new += _write_pages(folder, names[study], finished[study], look, printed)
                if progress is not None:
                    progress("leaflets", len(finished), len(studies))
    finally:
        everything = [finished.get(study) or Leaflet(study, reports[study], why=NOT_YET) for study in studies]
        _write_tables(folder, everything, names)
        if len(finished) == len(studies):
            _remove_others(folder, {names[leaflet.id] for leaflet in everything if leaflet.sentences})
    return _summary(everything, new)


def sign_leaflets(
    folder: Path, decisions: Sequence[Decision], *, printed: Print | None = None
) -> tuple[WrittenLeaflets, list[str]]:
    """Put radiologists' decisions on the leaflets of a folder.

    A decision counts for a leaflet only if report and plain text are those that were judged, to the letter.
    Of several decisions on one leaflet a refusal counts; of several releases the last.

    Args:
        folder: What `write_leaflets` wrote.
        decisions: What was decided.
        printed: Makes a PDF of a page; needed if the folder has PDF files.

    Returns:
        What the folder holds now, and what a user should know.
    """
    facts, leaflets = read_leaflets(folder)
    style = PageStyle(**facts["style"])
    names = page_names([leaflet.id for leaflet in leaflets])
    by_id: dict[str, list[Decision]] = {}
    for judgment in decisions:
        by_id.setdefault(judgment.id, []).append(judgment)
    notes = [
        f"id {study!r} of the study is not in {folder}" for study in by_id if study not in {e.id for e in leaflets}
    ]
    after, new = [], 0
    for leaflet in leaflets:
        own_decisions = by_id.get(leaflet.id, [])
        fitting = [
            judgment
            for judgment in own_decisions
            if (judgment.report, judgment.plain) == (leaflet.report, leaflet.plain)
        ]
        if own_decisions and not fitting:
            notes.append(f"id {leaflet.id!r}: another text was judged than the leaflet has; it is not signed")
        if fitting and leaflet.sentences:
            chosen = max(fitting, key=lambda judgment: (not judgment.released, judgment.at))
            leaflet = replace(leaflet, decision=chosen, why=chosen.why)
            new += _write_pages(folder, names[leaflet.id], leaflet, style, printed)
        after.append(leaflet)
    _write_tables(folder, after, names)
    return _summary(after, new), notes


def read_leaflets(folder: Path) -> tuple[dict[str, Any], list[Leaflet]]:
    """Read a folder's settings and its leaflets."""
    try:
        facts = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        facts = {}
    if facts.get("made_by") != "radgauge lay write" or not (folder / RECORDS).is_file():
        raise InputError(f"{folder} holds no leaflets: give the folder of `radgauge lay write`")
    return facts, [from_record(record) for record in read_records(folder / RECORDS)]


def page_names(studies: Sequence[str]) -> dict[str, str]:
    """A file name for each id, safe on every system and told apart without regard to case.

    >>> page_names(["12", "a/b"])
    {'12': '12', 'a/b': 'a_b-c14cdd'}
    """
    plain = {study: re.sub(r"[^A-Za-z0-9_-]+", "_", study)[:60] for study in studies}
    often: dict[str, int] = {}
    for name in plain.values():
        often[name.lower()] = often.get(name.lower(), 0) + 1
    return {
        study: name
        if name == study and often[name.lower()] == 1 and name.lower() not in _RESERVED
        else f"{name or 'report'}-{hashlib.sha256(study.encode()).hexdigest()[:6]}"
        for study, name in plain.items()
    }


_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10))}
)


def _refuse_others(folder: Path, reports: Mapping[str, str], *, replace_others: bool) -> None:
    if replace_others or not folder.exists():
        return
    if not folder.is_dir():
        raise UsageError(f"leaflets go into a folder, but {folder} is a file")
    try:
        stored_digest = json.loads((folder / ABOUT).read_text(encoding="utf-8"))["reports_sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        stored_digest = None
    if stored_digest is None and any(path.name != "journal.jsonl" for path in folder.iterdir()):
        raise UsageError(f"{folder} holds other files; choose another folder, or write there anyway (--replace)")
    if stored_digest is not None and stored_digest != digest(reports):
        raise UsageError(
            f"{folder} holds leaflets of other reports; choose another folder, or replace them (--replace)"
        )


def _stored_leaflets(folder: Path) -> list[Leaflet]:
    """Leaflets of an earlier run, for their signatures."""
    try:
        return read_leaflets(folder)[1]
    except InputError:
        return []


def _write_pages(folder: Path, name: str, leaflet: Leaflet, style: PageStyle, printed: Print | None) -> int:
    """Write what changed of the pages of a leaflet; returns 1 if the patient's page did."""
    page = leaflet_page(leaflet, style)
    path, pdf = folder / PAGES / f"{name}.html", folder / PAGES / f"{name}.pdf"
    same = path.is_file() and path.read_text(encoding="utf-8") == page
    if not same:
        pdf.unlink(missing_ok=True)  # before the page: an old PDF beside a new page would be taken for its print
        write_file(path, page)
    if printed is not None and not pdf.is_file():
        write_file(pdf, printed(page))
    write_file(folder / BESIDE / f"{name}.html", side_by_side_page(leaflet, style))
    return int(not same)


def _write_tables(folder: Path, leaflets: Sequence[Leaflet], names: Mapping[str, str]) -> None:
    rows = []
    for leaflet in leaflets:
        name = names[leaflet.id] if leaflet.sentences else ""
        signed = leaflet.decision
        rows.append(
            (
                *(leaflet.id, leaflet.status, leaflet.why),
                *((f"{PAGES}/{name}.html", f"{BESIDE}/{name}.html") if name else ("", "")),
                *(len(leaflet.sentences), leaflet.kept, leaflet.checked.summary if leaflet.checked else ""),
                *((signed.by, signed.at) if signed else ("", "")),
                *(leaflet.report, leaflet.plain),
            )
        )
    write_csv(folder / TABLE, COLUMNS, ([spreadsheet_cell(cell) for cell in row] for row in rows))
    lines = "".join(json.dumps(leaflet.record(), ensure_ascii=False) + "\n" for leaflet in leaflets)
    write_file(folder / RECORDS, lines)
    cases = (
        {"id": leaflet.id, "reference": leaflet.report, "candidate": leaflet.plain, "system": "leaflet"}
        for leaflet in leaflets
        if leaflet.sentences
    )
    write_file(folder / TO_SIGN, "".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases))


def _remove_others(folder: Path, names: set[str]) -> None:
    """Remove pages of reports that are no longer there: a leaflet without a row would go unnoticed."""
    for subfolder in (folder / PAGES, folder / BESIDE):
        for path in subfolder.glob("*"):
            if path.suffix in (".html", ".pdf") and path.stem not in names:
                path.unlink()


def _summary(leaflets: Sequence[Leaflet], new: int) -> WrittenLeaflets:
    written = [leaflet for leaflet in leaflets if leaflet.sentences]
    reasons: dict[str, int] = {}
    for leaflet in leaflets:
        if not leaflet.sentences:
            reasons[leaflet.why] = reasons.get(leaflet.why, 0) + 1
    return WrittenLeaflets(
        reports=len(leaflets),
        written=len(written),
        signed=sum(leaflet.status == "signed" for leaflet in written),
        refused=sum(leaflet.status == "refused" for leaflet in written),
        kept=sum(leaflet.kept for leaflet in written),
        sentences=sum(len(leaflet.sentences) for leaflet in written),
        reasons=reasons,
        new_pages=new,
        differing=sum(leaflet.checked is not None and leaflet.checked.verdict == "differs" for leaflet in written),
        unjudged=sum(
            leaflet.checked is not None and leaflet.checked.verdict == "not judged" for leaflet in written
        ),
    )


__all__ = [
    "Decision",
    "EmbeddedWriter",
    "GivenWriter",
    "Leaflet",
    "ModelWriter",
    "PageStyle",
    "WrittenLeaflets",
    "leaflet_page",
    "read_leaflets",
    "side_by_side_page",
    "sign_leaflets",
    "write_leaflets",
]
