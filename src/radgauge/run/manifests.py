"""The manifest of a run: whose folder it is while it lasts, and what is in it at the end."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import radgauge
from radgauge.core.errors import InputError
from radgauge.core.storage import Store
from radgauge.io.case_files.read import Provenance
from radgauge.io.case_files.sections import section_notes
from radgauge.io.records import Counted
from radgauge.io.score_folder import MANIFEST, Manifest, Part, is_score_folder, part_name, read_manifest
from radgauge.io.tables.column_names import shown_names
from radgauge.run.buckets import Split
from radgauge.run.streams import sources_of, table_notes
from radgauge.run.work import Checked, Plan


class Sums:
    """Counts of all parts."""

    def __init__(self) -> None:
        self.judges: dict[str, Any] = {}
        self.texts: dict[tuple[str, str], Counted] = {}
        self.headings: dict[tuple[str, str], Counted] = {}
        self.images: dict[str, None] = {}
        self.studies = 0
        self.looked: list[str] = []
        self.checksums: list[str] = []

    def add(self, part: Checked) -> None:
        """Those of one more part, in the order of their numbers."""
        for name, about in part.judges.items():
            before = self.judges.setdefault(name, {**about, "judged": 0, "rows": 0})
            before["judged"] += about["judged"]
            before["rows"] = max(before["rows"], about["rows"])
        for totals, notes in ((self.texts, part.texts), (self.headings, part.headings)):
            for note in notes:
                key = (note.before, note.what)
                totals[key] = totals[key] + note if key in totals else note
        self.images.update(dict.fromkeys(part.images))
        self.studies += part.studies
        self.checksums.append(part.checksum)

    def notes(self, cases: int) -> list[str]:
        """List warnings about the texts of all cases."""
        texts = sorted(self.texts.values(), key=lambda note: note.first)
        return [
            *section_notes(list(self.headings.values())),
            *(str(replace(note, total=cases)) for note in texts),
            *(f"{note} (in one of the parts)" for note in list(self.images)[:1]),
            *self.looked,
        ]


def complete_manifest(
    plan: Plan, settings: Mapping[str, Any], split: Split, expected: Mapping[int, tuple[int, str]], summed: Sums
) -> Manifest:
    """The manifest of a run whose parts are all there and checked."""
    cases = sum(count for count, _ in expected.values())
    notes = [note for table in plan.tables for note in table_notes(table)]
    first = plan.tables[0]
    if len(plan.tables) == 1:
        if not first.roles.references:
            notes.append(
                f"{first.name} has no reference column; its columns: {shown_names(first.columns)}; "
                "name it with columns={'reference': NAME}"
            )
        if summed.studies * len(split.systems) != cases:
            notes.append(
                f"not every system has every study: {cases} cases of {summed.studies} studies and "
                f"{len(split.systems)} systems"
            )
    elif (left_out := split.rows[0] - summed.studies) > 0:
        notes.append(f"{left_out} of {split.rows[0]} studies were left out: no system has reported them")
    provenance = Provenance(
        sources=tuple(
            replace(source, rows=rows if len(table.sources) == 1 else 0, notes=())
            for table, rows in zip(plan.tables, split.rows, strict=True)
            for source in table.sources
        ),
        columns={table.name: table.roles.as_dict() for table in plan.tables},
        section=plan.spec.section,
        split=settings["split"],
        studies=summed.studies,
        systems=tuple(split.systems),
        cases=cases,
        warnings=(*notes, *summed.notes(cases)),
        spec=plan.spec,
    )
    parts = tuple(
        Part(part_name(number, plan.kind), *expected[number], checksum)
        for number, checksum in zip(sorted(expected), summed.checksums, strict=True)
    )
    return Manifest(
        radgauge=radgauge.__version__,
        complete=True,
        fingerprint=plan.fingerprint,
        input=provenance.as_dict(),
        judges=summed.judges,
        settings=settings,
        kind=plan.kind,
        divided=split.divided,
        cases=cases,
        parts=parts,
    )


def begun_manifest(
    plan: Plan, settings: Mapping[str, Any], signatures: Mapping[str, str], divided: int
) -> Manifest:
    """The manifest of a run that begins: whose folder it is."""
    return Manifest(
        radgauge=radgauge.__version__,
        complete=False,
        fingerprint=plan.fingerprint,
        input={"sources": [asdict(source) for source in sources_of(plan.tables)]},
        judges={name: {"signature": signature} for name, signature in signatures.items()},
        settings=settings,
        kind=plan.kind,
        divided=divided,
        cases=0,
        parts=(),
    )


def write_manifest(plan: Plan, manifest: Manifest) -> None:
    """Write it to the folder, or to the store that the parts go to."""
    manifest.write(plan.folder)
    if plan.store is not None:
        plan.store.put(plan.folder / MANIFEST, MANIFEST)


def older_manifest(folder: Path, store: Store | None = None) -> Manifest | None:
    """The manifest of a folder, or of the store instead; None for a new or an empty one.

    Raises:
        InputError: It is no folder, holds other files, or its manifest is damaged.
    """
    if store is not None:
        names = store.names()
        if MANIFEST in names:
            with tempfile.TemporaryDirectory(prefix="radgauge-") as temporary:
                store.get(MANIFEST, Path(temporary) / MANIFEST)
                return read_manifest(temporary, finished=False)
        if names:
            raise InputError(f"{store.url} holds other files ({names[0]}) and no {MANIFEST}; name a new folder")
        return None
    if not folder.exists():
        return None
    if not folder.is_dir():
        raise InputError(f"{folder} is a file; scores in parts need a folder")
    if is_score_folder(folder):
        return read_manifest(folder, finished=False)
    other = next((entry.name for entry in folder.iterdir() if not entry.name.startswith(".")), None)
    if other is not None:
        raise InputError(f"{folder} holds other files ({other}) and no {MANIFEST}; name a new folder")
    return None


def check_same(folder: str, older: Manifest, plan: Plan, settings: Mapping[str, Any], divided: int) -> None:
    """Refuse a folder that another run has begun, and say what differs."""
    if older.fingerprint == plan.fingerprint:
        return
    signatures = {metric.columns[0]: metric.signature() for metric in plan.metrics}
    recorded = {str(about.get("signature")) for about in older.judges.values()}
    hashes = [source.sha256 for source in sources_of(plan.tables)]
    differs = []
    if [source.get("sha256") for source in older.input.get("sources", ())] != hashes:
        differs.append("other reports")
    if set(signatures.values()) != recorded:
        changed = next((name for name, signature in signatures.items() if signature not in recorded), "")
        differs.append(
            f"other metrics ({changed} was not there with this signature)" if changed else "more metrics"
        )
    if dict(older.settings) != dict(settings):
        odd = next((key for key in settings if older.settings.get(key) != settings[key]), "")
        differs.append(f"another setting ({odd})")
    if (older.divided, older.kind) != (divided, plan.kind):
        differs.append(f"another division ({older.divided} parts of {older.kind})")
    what = ", ".join(differs) or "other columns or encodings"
    raise InputError(
        f"{folder} holds the scores of another run: {what}. Runs are not mixed: name a new folder, or remove it"
    )
