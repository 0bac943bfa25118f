"""Out of a study: files that `agree` reads, every answer, or every event; each with its provenance beside it."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from radgauge import __version__
from radgauge.core.cases import Case, Key
from radgauge.core.error_categories import BY_NUMBER
from radgauge.core.errors import InputError, UsageError
from radgauge.core.files import check_folder, make_folder, sha256_of, write_file
from radgauge.core.wording import spreadsheet_cell
from radgauge.io.judgments.generic import OWN
from radgauge.io.judgments.judgments import Judgments
from radgauge.io.judgments.rate_eval import TASKS
from radgauge.io.judgments.rexval import CANDIDATES, COUNTS, TEXTS
from radgauge.io.tables.cells import guarded
from radgauge.study.answers import Judged, asked_categories, error_counts, submitted
from radgauge.study.check import StudyCheck, require_proof
from radgauge.study.judgments import judgments_of, study_cases
from radgauge.study.radpref_form import radpref_items
from radgauge.study.store import Store

Form = Literal["table", "answers", "rexval", "radpref", "rate_eval", "events"]
FORMS: tuple[Form, ...] = ("table", "answers", "rexval", "radpref", "rate_eval", "events")
POTENTIAL = "potential"
"""Key of the field that asks for the potential errors of a sentence."""
_ORACLES = {
    "radgraph": "radgraph",
    "bertscore": "bertscore",
    "chexbert": "s_emb",
    "s_emb": "s_emb",
    "bleu": "bleu",
}


@dataclass(frozen=True, slots=True)
class Exported:
    """Result of an export: the files, number of rows or studies, notes for the reader, and the study's anchor."""

    files: tuple[Path, ...]
    rows: int
    notes: tuple[str, ...] = ()
    anchor: str = ""


def export_study(
    path: Path | str, output: Path | str, *, form: Form = "table", adjudicated: bool = False
) -> Exported:
    """Write what raters have submitted.

    Args:
        path: The file of the study.
        output: A .csv or .jsonl file for table and answers, .jsonl for events, .json for radpref, a folder for
            rexval and rate_eval.
        form: table = one row per count or rating, which `agree` reads; answers = every answer, with reasons,
            passages, times and what could not be judged; rexval, radpref and rate_eval = the layouts of
            these data sets; events = every event as it was written.
        adjudicated: In a table: the adjudicator's judgment where there is one, else the mean of the raters.
    """
    target = Path(output)
    if form not in FORMS:
        raise UsageError(f"form must be one of {', '.join(FORMS)}, got {form!r}")
    if adjudicated and form != "table":
        raise UsageError("adjudicated judgments are written as a table only")
    endings = {
        "table": (".csv", ".jsonl"),
        "answers": (".csv", ".jsonl"),
        "events": (".jsonl",),
        "radpref": (".json",),
    }
    if form in endings and target.suffix not in endings[form]:
        raise UsageError(f"{form} is written as {' or '.join(endings[form])}, got {target.name!r}")
    check_folder(target)
    proof = require_proof(path)
    writers: dict[str, Callable[[Store, Path], Exported]] = {
        "table": lambda store, to: _table(store, to, adjudicated=adjudicated),
        "answers": _answers,
        "rexval": _rexval,
        "radpref": _radpref,
        "rate_eval": _rate_eval,
        "events": _events,
    }
    with Store(path, readonly=True) as store:
        written = writers[form](store, target)
        about = provenance(store, form=form, notes=written.notes, proof=proof)
    beside = (
        target / "about.json" if form in ("rexval", "rate_eval") else target.with_name(f"{target.name}.about.json")
    )
    parent = target if form in ("rexval", "rate_eval") else target.parent
    about["files"] = {file.relative_to(parent).as_posix(): sha256_of(file) for file in written.files}
    write_file(beside, json.dumps(about, ensure_ascii=False, indent=1) + "\n")
    return Exported((*written.files, beside), written.rows, written.notes, proof.anchor)


def provenance(store: Store, *, form: str, notes: Sequence[str], proof: StudyCheck) -> dict[str, Any]:
    """Return the origin of an export: study, design, seed, sampling, inputs, the last event and the anchor."""
    settings = {key: value for key, value in store.about.items() if key not in ("secret", "blinding", "notes")}
    people = [asdict(person) for person in store.people() if person.role != "organiser"]
    return {
        "radgauge": __version__,
        "exported": datetime.now(UTC).isoformat(timespec="seconds"),
        "form": form,
        "study": settings,
        "people": people,
        "events": proof.events,
        "last_event_hash": proof.last_hash,
        "anchor": proof.anchor,
        "notes": list(notes),
    }


def _table(store: Store, path: Path, *, adjudicated: bool) -> Exported:
    judgments = judgments_of(store, adjudicated=adjudicated)
    levels = any(field.significance for field in store.design.fields)
    levels |= any(category.significance for field in store.design.fields for category in field.categories)
    rows = list(_rows(judgments, asked_categories(store.design), levels))
    _write_rows(path, rows, guard=_reversibly)
    return Exported((path,), len(rows), judgments.notes)


def _rows(judgments: Judgments, categories: Sequence[int], levels: bool) -> Iterator[dict[str, Any]]:
    """One row per count, zeros too, and one per rating."""
    for at, case in enumerate(judgments.cases):
        head = {"id": case.id, "system": case.system}
        meta = {f"meta_{name}" if name in OWN else name: value for name, value in case.meta.items()}
        texts = {"reference": case.references[0], "candidate": case.candidate, **meta}
        for rater, scores in judgments.errors.items():
            if scores.headline[at] != scores.headline[at]:
                continue
            for number in categories:
                key = BY_NUMBER[number].key
                every = scores.column(f"errors_{key}")[at]
                grave = scores.column(f"errors_{key}_significant")[at]
                for significant, count in ((True, grave), (False, every - grave)) if levels else ((True, every),):
                    answer = {"rater": rater, "category": key, "significant": significant, "count": _short(count)}
                    yield {**head, **answer, "rating": None, **texts}
        for rater, scores in judgments.ratings.items():
            if (value := scores.headline[at]) == value:
                answer = {"rater": rater, "category": None, "significant": None, "count": None}
                yield {**head, **answer, "rating": _short(value), **texts}


def _short(value: float) -> float | int:
    return int(value) if float(value).is_integer() else float(value)


def _answers(store: Store, path: Path) -> Exported:
    cases = {case.key: case for case in study_cases(store)}
    everyone = submitted(store, roles=("rater", "adjudicator"))
    rows = [row for judgment in everyone for row in _answer_rows(store, judgment, cases)]
    _write_rows(path, rows, guard=spreadsheet_cell)
    return Exported((path,), len(rows))


def _answer_rows(store: Store, judgment: Judged, cases: Mapping[Key, Case]) -> Iterator[dict[str, Any]]:
    head = {
        "id": judgment.study,
        "case": judgment.case,
        "person": judgment.person.name,
        "role": judgment.person.role,
        "seconds": judgment.state.seconds,
        "assisted": judgment.assisted,
    }
    empty = dict.fromkeys(("sentence", "part", "value", "category", "significance", "attribute", "text", "reason"))
    names = {"": "", **judgment.systems}
    for label, reason in judgment.state.cannot_judge.items():
        yield {**head, "system": names[label], "field": "cannot_judge", **empty, "reason": reason}
    for label, fields in judgment.state.answers.items():
        for key, answer in fields.items():
            field = store.design.field(key)
            base = {**head, "system": names[label], "field": key, **empty}
            units = answer.items() if field.per == "sentence" else [(None, answer)]
            for unit, value in units:
                here = {**base, "sentence": unit}
                if field.kind == "counts":
                    for part, number in value.items():
                        yield {**here, "part": part, "value": number}
                elif field.kind == "choice":
                    chosen = judgment.systems.get(value["choice"], value["choice"])
                    yield {**here, "value": chosen, "reason": value.get("reason")}
                elif field.kind in ("marks", "missing"):
                    for entry in value:
                        yield {
                            **here,
                            **_entry_cells(entry, field.kind, cases[judgment.study, judgment.systems[label]]),
                        }
                else:
                    yield {**here, "value": value}


def _entry_cells(entry: Mapping[str, Any], kind: str, case: Case) -> dict[str, Any]:
    source = case.candidate if kind == "marks" else case.references[0]
    passage = source[entry["start"] : entry["end"]] if "start" in entry else None
    span = f"{entry['start']}-{entry['end']}" if "start" in entry else None
    return {
        "sentence": entry.get("unit"),
        "part": span,
        **{name: entry.get(name) for name in ("category", "significance", "attribute")},
        "text": entry.get("text") or passage,
        "reason": entry.get("note"),
    }


def _events(store: Store, path: Path) -> Exported:
    events = store.events()
    write_file(path, "".join(json.dumps(asdict(event), ensure_ascii=False) + "\n" for event in events))
    return Exported((path,), len(events))


def _rexval(store: Store, folder: Path) -> Exported:
    """The two files of ReXVal, for studies whose systems are its four metric oracles."""
    design = store.design
    field = design.used_as("errors")
    categories = asked_categories(design)
    if (
        field is None
        or not set(categories) <= set(range(1, 7))
        or {level.key for level in field.significance}
        != {
            "significant",
            "insignificant",
        }
    ):
        raise InputError(
            "the layout of ReXVal holds counts in its six categories, significant or not; the design "
            f"{design.name} asks for something else; write a table"
        )
    cases = study_cases(store)
    names = _oracle_names(sorted({case.system for case in cases}))
    studies = list(dict.fromkeys(case.id for case in cases))
    texts: dict[Key, Case] = {(case.id, names[case.system]): case for case in cases}
    absent = [(study, name) for study in studies for name in CANDIDATES if (study, name) not in texts]
    if absent:
        raise InputError(f"study {absent[0][0]!r} has no candidate of {absent[0][1]}; ReXVal has all four")
    judged = list(submitted(store))
    raters = {person.name: place for place, person in enumerate(store.people(role="rater"))}
    rows = []
    for judgment in judged:
        for label, system in judgment.able().items():
            counts: dict[tuple[int, bool], int] = {}
            for category, significant, number in error_counts(design, judgment.state, label):
                counts[category, significant] = counts.get((category, significant), 0) + number
            rows += [
                {
                    "study_number": studies.index(judgment.study),
                    "candidate_type": names[system],
                    "error_category": category,
                    "clinically_significant": significant,
                    "rater_index": raters[judgment.person.name],
                    "num_errors": counts.get((category, significant), 0),
                }
                for category in range(1, 7)
                for significant in (True, False)
            ]
    if not rows:
        raise InputError(f"{store.path.name}: no case has been submitted yet")
    make_folder(folder)
    head = [
        {
            "study_id": study,
            "gt_report": texts[study, CANDIDATES[0]].references[0],
            **{name: texts[study, name].candidate for name in CANDIDATES},
        }
        for study in studies
    ]
    _write_rows(folder / TEXTS, head)
    _write_rows(folder / COUNTS, rows)
    named = tuple(f"{name} stands for {system}" for system, name in names.items() if name != system)
    return Exported((folder / TEXTS, folder / COUNTS), len(rows), named)


def _oracle_names(systems: Sequence[str]) -> dict[str, str]:
    """System -> which of ReXVal's four candidates it is, by the metric in its name."""
    names = {
        system: next((name for word, name in _ORACLES.items() if word in system.lower()), "") for system in systems
    }
    if sorted(names.values()) != sorted(CANDIDATES):
        raise InputError(
            f"the layout of ReXVal has the candidates {', '.join(CANDIDATES)}; this study has "
            f"{', '.join(systems)}; write a table"
        )
    return names


def _radpref(store: Store, path: Path) -> Exported:
    items, notes = radpref_items(store)
    write_file(path, json.dumps(items, ensure_ascii=False, indent=1) + "\n")
    return Exported((path,), len(items), notes)


def _rate_eval(store: Store, folder: Path) -> Exported:
    """RaTE-Eval's tasks 1 (sentences: 1 - errors / potential errors, mean of the raters) and 2 (rated reports)."""
    errors = store.design.used_as("errors")
    potential = next((field for field in store.design.fields if field.key == POTENTIAL), None)
    if errors is None or errors.kind != "counts" or errors.per != "sentence" or potential is None:
        raise InputError(
            f"the layout of RaTE-Eval needs errors and {POTENTIAL} errors per sentence; the design "
            f"{store.design.name} asks for something else; write a table"
        )
    cases = study_cases(store)
    sentences: dict[tuple[Key, int], list[float]] = {}
    n_impossible = 0
    for judgment in submitted(store):
        for label, system in judgment.able().items():
            answers = judgment.state.answers.get(label, {})
            counts = answers.get(errors.key, {})
            for unit, n_potential in answers.get(POTENTIAL, {}).items():
                n_errors = sum(counts.get(unit, {}).values())
                if n_errors > n_potential:
                    n_impossible += 1
                    continue
                at = ((judgment.study, system), int(unit))
                sentences.setdefault(at, []).append(1 - n_errors / n_potential)
    texts = {case.key: case for case in cases}
    spans = _sentence_spans(store)
    by_sentence = []
    for (key, unit), scores in sorted(sentences.items()):
        start, end = spans[key][unit]
        candidate = texts[key].candidate[start:end]
        by_sentence.append((key[0], texts[key].references[0], candidate, sum(scores) / len(scores)))
    if not by_sentence:
        raise InputError(f"{store.path.name}: no sentence with {POTENTIAL} errors has been submitted yet")
    rated = judgments_of(store).mean_ratings().headline.tolist() if store.design.used_as("rating") else []
    by_report = [
        (case.id, case.references[0], case.candidate, rating)
        for case, rating in zip(cases, rated, strict=False)
        if not math.isnan(rating)
    ]
    files = [
        *_write_task(folder / TASKS["sentence"], by_sentence),
        *(_write_task(folder / TASKS["paragraph"], by_report) if by_report else ()),
    ]
    notes = (
        (f"{n_impossible} answers left out: more errors than potential errors in the sentence",)
        if n_impossible
        else ()
    )
    return Exported(tuple(files), len(by_sentence) + len(by_report), notes)


def _sentence_spans(store: Store) -> dict[Key, list[tuple[int, int]]]:
    """Return start and end of every sentence of every candidate, as the raters saw them."""
    with store._reading() as connection:
        rows = connection.execute(
            "SELECT c.id, k.system, k.sentences FROM cases c "
            'JOIN candidates k ON k."case" = c.key WHERE c.training IS NULL'
        ).fetchall()
    return {(study, system): [(start, end) for start, end in json.loads(spans)] for study, system, spans in rows}


def _write_task(folder: Path, rows: Sequence[tuple[str, str, str, float]]) -> tuple[Path, ...]:
    """Write references and candidates by study, and one rating per candidate in their order."""
    make_folder(folder)
    references = {study: reference for study, reference, *_ in rows}
    candidates: dict[str, list[str]] = {}
    for study, _, candidate, _ in rows:
        candidates.setdefault(study, []).append(candidate)
    files = (folder / "gt_report_test.json", folder / "similar_report_test.json", folder / "rate_test.csv")
    for file, content in zip(files, (references, candidates), strict=False):
        write_file(file, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    _write_rows(files[2], [{"id": study, "rate": rating} for study, *_, rating in rows])
    return files


def _reversibly(value: object) -> object:
    """A cell that no spreadsheet runs, and that reads as it was in a table of judgments."""
    return guarded(value) if isinstance(value, str) else value


def _write_rows(
    path: Path, rows: Sequence[Mapping[str, Any]], *, guard: Callable[[object], object] = lambda value: value
) -> None:
    """Records as CSV or JSON lines; in CSV `guard` keeps spreadsheets from running texts."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    if path.suffix == ".jsonl":
        write_file(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
        return
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(names)
    for row in rows:
        cells = ["" if row.get(name) is None else row[name] for name in names]
        writer.writerow([guard(content) for content in cells])
    write_file(path, stream.getvalue())
