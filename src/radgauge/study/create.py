"""Making a study: cases from reports, who sees what in which order, and the file that holds it."""

from __future__ import annotations

import hmac
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np

from radgauge.core.cases import Case, Key
from radgauge.core.error_categories import BY_KEY
from radgauge.core.errors import ImageError, InputError, MissingExtra, UsageError
from radgauge.core.readings import Readings
from radgauge.core.scores import Results
from radgauge.images.web import web_picture
from radgauge.metrics.errors import Errors
from radgauge.study import people, schema
from radgauge.study.check import check_study
from radgauge.study.design import Design
from radgauge.study.design_file import load_design
from radgauge.study.people import Person
from radgauge.study.sampling import Sample, sample_studies
from radgauge.study.schema import plain_json
from radgauge.text.sentences import split_sentences

# What radgauge's own reader would mark, for studies that offer raters assistance.
#
# Off unless asked for: a rater who has seen a suggestion is no independent rater. With assistance on half of the
# cases a study measures the difference.


def suggestions(cases: Sequence[Case], design: Design) -> dict[Key, list[dict[str, Any]]]:
    """(id, system) -> what the metric `errors` found, in words and places.

    Each is {"category": key of the kind of error, "significance": "significant" or "insignificant", "text": one
    sentence, "candidate_spans": [...], "reference_spans": [...]}; spans are of characters. Only categories that
    the design asks about are suggested, all of them where it has categories of its own.
    """
    metric = Errors()
    reading = Readings()
    category_keys = {category.key for field in design.fields for category in field.categories} & BY_KEY.keys()
    suggested: dict[Key, list[dict[str, Any]]] = {}
    for case in cases:
        explained = metric.explain(case, reading=reading) if case.candidate.strip() else None
        notes = explained.notes if explained is not None else ()
        suggested[case.key] = [
            {
                "category": note.data["category_key"],
                "significance": "significant" if note.data["significant"] else "insignificant",
                "text": note.text,
                "candidate_spans": [list(span) for span in note.candidate_spans],
                "reference_spans": [list(span) for span in note.reference_spans],
            }
            for note in notes
            if "category_key" in note.data and note.data["category_key"] in (category_keys or BY_KEY)
        ]
    return suggested


Assistance = Literal["none", "half", "all"]
MOST_CANDIDATES = 26
_BLINDING = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class NewStudy:
    """A study that was made."""

    path: Path
    people: tuple[Person, ...]  # Everyone in it
    tokens: Mapping[str, str]  # Person id -> token. They are told here and nowhere else.
    sample: Sample
    assigned: Mapping[str, int]  # Person id -> number of real cases
    anchor: str  # What proves later that the study is this one (`check_study`)
    notes: tuple[str, ...] = ()  # What the organiser should know


@dataclass(frozen=True, slots=True)
class _Study:
    id: str
    reference: str
    candidates: Mapping[str, str]
    images: tuple[Path, ...]
    meta: Mapping[str, str] = field(default_factory=dict)


def new_study(
    path: Path | str,
    cases: Sequence[Case],
    *,
    design: str | Path | Design = "errors",
    raters: int | Sequence[str] = 2,
    adjudicators: Sequence[str] = (),
    number: int | None = None,
    by: str | None = None,
    equal: bool = False,
    scores: Results | None = None,
    before: Results | None = None,
    images: bool = True,
    shared: int | None = None,
    raters_per_case: int = 1,
    assistance: Assistance = "none",
    seed: int | None = None,
    blinding: str | None = None,
    days: float = 90,
    title: str | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> NewStudy:
    """Make the file of a study.

    Args:
        path: The file; it must not be there yet.
        cases: Reports of one or several systems, with references and images.
        design: Name of a shipped design, path of a TOML file, or a Design.
        raters: How many, or their names.
        adjudicators: Names of those who see the others' answers and decide; they get every case of several raters.
        number: Studies to draw; None = all.
        by: Column to draw by; with `scores` one of theirs, or "disagreement".
        equal: As many of each stratum, not in proportion.
        scores: Scores of the reports, whose worst tenth, next three tenths and rest are strata.
        before: Scores of an earlier release: strata are then by how much worse a study has become.
        images: Whether raters see the images, if the design shows any.
        shared: Studies that every rater sees; None = all. The others are divided among the raters.
        raters_per_case: How many raters see each study that is not shared.
        assistance: Whether raters are offered what radgauge's reader would mark: on no case, on half of each
            rater's cases (drawn at random, so that the study can measure whether it biases), or on all.
        seed: Draws the sample and divides it among the raters; random unless given, and kept in the file.
        blinding: 64 hexadecimal digits behind the keys of cases, their order for each rater and the order of
            candidates. Random unless given, and kept in the file alone: whoever knows it knows which system
            wrote what. With `seed` it makes the same study again.
        days: How long the tokens are valid.
        title: Heading of the study.
        provenance: How the cases were read.
    """
    plan = design if isinstance(design, Design) else load_design(design)
    if not images:
        plan = replace(plan, show_images=False)
    names = [f"Rater {n}" for n in range(1, raters + 1)] if isinstance(raters, int) else list(raters)
    if not names:
        raise UsageError("a study needs at least one rater")
    if assistance not in ("none", "half", "all"):
        raise UsageError(f"assistance must be none, half or all, got {assistance!r}")
    if plan.assistance and assistance == "none":
        assistance = "all"
    seed = secrets.randbits(63) if seed is None else seed
    blinding = secrets.token_hex(32) if blinding is None else blinding
    if not _BLINDING.fullmatch(blinding):
        raise UsageError("blinding must have 64 hexadecimal digits, as a study keeps them")
    draw, divide = (np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(2))
    shuffle = np.random.default_rng(int(blinding, 16))  # never `seed`: raters could try every short one
    sample = sample_studies(cases, rng=draw, number=number, by=by, equal=equal, scores=scores, before=before)
    studies, notes = _studies(cases, sample, plan)
    together = len(studies) if shared is None else shared
    if not 0 <= together <= len(studies):
        raise UsageError(f"the shared part must have 0 to {len(studies)} studies, got {together}")
    if not 1 <= raters_per_case <= len(names):
        raise UsageError(f"raters per case must be 1 to {len(names)}, got {raters_per_case}")
    keys = [_case_key(blinding, study.id) for study in studies]
    seen = _who_sees(len(studies), together, len(names), raters_per_case, divide)
    shown = [_as_case(study, system) for study in studies for system in study.candidates]
    hints = suggestions(shown, plan) if assistance != "none" else {}
    key = schema.key_from_environment()
    file = Path(path)
    connection = schema.create(file)
    try:
        connection.execute("BEGIN IMMEDIATE")
        about = {
            "title": title or plan.title,
            "design": plan.as_dict(),
            "design_version": plan.version,
            "seed": seed,
            "blinding": blinding,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "id": secrets.token_hex(8),
            "secret": secrets.token_hex(32),
            "key": schema.fingerprint(key),
            "assistance": assistance,
            "sampling": {
                "number": len(studies),
                "by": by,
                "equal": equal,
                "scores": scores is not None,
                "before": before is not None,
                "strata": {name: asdict(part) for name, part in sample.strata.items()},
                "shared": together,
            },
            "raters_per_case": raters_per_case,
            "provenance": dict(provenance or {}),
            "notes": [*notes, *sample.notes],
            "radgauge": _version(),
        }
        schema.write_about(connection, about)
        for name, study in zip(keys, studies, strict=True):
            _write_case(connection, name, study, plan, _drawn_as(sample, study.id), hints)
        training = _write_training(connection, plan)
        organiser = people.add(connection, "Organiser", role="organiser")
        who = [people.add(connection, name, role="rater") for name in names]
        for index, person in enumerate(who):
            own = [at for at in range(len(studies)) if index in seen[at]]
            order = [own[at] for at in shuffle.permutation(len(own))]
            helped = (
                set(shuffle.permutation(order)[: len(order) // 2].tolist()) if assistance == "half" else set(order)
            )
            rows = [
                (person.id, n, name, plain_json(listed), 0, 0) for n, (name, listed) in enumerate(training.items())
            ]
            for position, at in enumerate(order):
                systems = list(studies[at].candidates)
                shuffled = [systems[n] for n in shuffle.permutation(len(systems))]
                assisted = int(assistance != "none" and at in helped)
                everyone = int(len(seen[at]) == len(who))
                rows.append((person.id, position, keys[at], plain_json(shuffled), everyone, assisted))
            connection.executemany("INSERT INTO assignments VALUES (?, ?, ?, ?, ?, ?)", rows)
        deciding = [people.add(connection, name, role="adjudicator") for name in adjudicators]
        now = datetime.now(UTC)
        everybody = (organiser, *who, *deciding)
        tokens = {person.id: people.new_token(connection, person.id, days=days, now=now) for person in everybody}
        schema.write_about(connection, {"content": schema.content_hash(connection, key=key)})
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        for leftover in (file, file.with_name(file.name + "-wal"), file.with_name(file.name + "-shm")):
            leftover.unlink(missing_ok=True)
        raise
    connection.close()
    assigned = {person.id: sum(index in raters_of for raters_of in seen) for index, person in enumerate(who)}
    return NewStudy(file, everybody, tokens, sample, assigned, check_study(file).anchor, (*notes, *sample.notes))


def _version() -> str:
    from radgauge import __version__

    return __version__


def _case_key(blinding: str, study: str) -> str:
    """Name of a case for raters: it says nothing of the study, nor of where in the sample it was drawn."""
    return "c" + hmac.new(bytes.fromhex(blinding), study.encode("utf-8"), "sha256").hexdigest()[:16]


def _studies(cases: Sequence[Case], sample: Sample, plan: Design) -> tuple[list[_Study], list[str]]:
    """The drawn studies in their order, with the candidates of all systems."""
    grouped: dict[str, list[Case]] = {}
    for case in cases:
        grouped.setdefault(case.id, []).append(case)
    usable, notes = [], []
    absent = blank = 0
    for study in sample.studies:
        members = grouped[study]
        references = {tuple(case.with_real_references().references) for case in members}
        if len(references) > 1:
            raise InputError(f"study {study!r}: its systems come with different references; there must be one")
        reference = "\n\n".join(references.pop())
        there = {case.system: case.candidate for case in members if not case.missing}
        absent += len(members) - len(there)
        if not there:
            raise InputError(f"study {study!r} has no candidate; leave it out of the reports")
        if len(there) > MOST_CANDIDATES:
            raise InputError(
                f"study {study!r} has {len(there)} candidates; at most {MOST_CANDIDATES} can be shown"
            )
        if any(field.candidates for field in plan.fields) and len(there) < 2:
            raise InputError(f"study {study!r} has one candidate; the design {plan.name} compares at least two")
        blank += plan.show_reference and not reference.strip()
        images = tuple(dict.fromkeys(image for case in members for image in case.images))
        meta = {name: value for case in members for name, value in case.meta.items()}
        usable.append(_Study(study, reference, there, images, meta))
    if absent:
        notes.append(f"{absent} candidates were not supplied and are not shown")
    if blank:
        notes.append(f"{blank} of {len(usable)} studies have no reference to show")
    if not plan.show_images:
        return [replace(study, images=()) for study in usable], notes
    problems = {image: why for study in usable for image in study.images if (why := _image_problem(image))}
    if problems:
        first, why = next(iter(problems.items()))
        number = sum(len(study.images) for study in usable)
        notes.append(
            f"{len(problems)} of {number} images cannot be read; raters do not see them. First {first.name}: {why}"
        )
        usable = [
            replace(study, images=tuple(image for image in study.images if image not in problems))
            for study in usable
        ]
    return usable, notes


def _image_problem(path: Path) -> str:
    """Why raters could not see an image; "" if they can."""
    try:
        web_picture(path, max_size=32)
    except (ImageError, MissingExtra, OSError) as error:
        return str(error)
    return ""


def _as_case(study: _Study, system: str) -> Case:
    return Case(study.id, study.candidates[system], (study.reference,), system)


def _who_sees(studies: int, together: int, raters: int, per_case: int, rng: np.random.Generator) -> list[set[int]]:
    """For each study the raters who see it; loads differ by at most one."""
    seen: list[set[int]] = [set(range(raters)) for _ in range(together)]
    load = np.zeros(raters)
    for _ in range(studies - together):
        chosen = np.lexsort((rng.permutation(raters), load))[:per_case]
        load[chosen] += 1
        seen.append({int(rater) for rater in chosen})
    return seen


def _drawn_as(sample: Sample, study: str) -> dict[str, str]:
    """Columns that go with a case into every export: with them estimates can be weighted."""
    stratum = sample.stratum[study]
    return {"stratum": stratum, "probability": repr(sample.strata[stratum].probability)}


def _write_case(
    connection: Any,
    key: str,
    study: _Study,
    plan: Design,
    drawn_as: Mapping[str, str],
    hints: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]],
) -> None:
    lowered = {name.lower(): value for name, value in study.meta.items()}
    context = {name: lowered[name.lower()] for name in plan.context if lowered.get(name.lower(), "").strip()}
    row = (key, study.id, study.reference, _spans(study.reference), json.dumps(context, ensure_ascii=False))
    images = json.dumps([str(image.absolute()) for image in study.images])
    meta = plain_json({**study.meta, **drawn_as})
    connection.execute("INSERT INTO cases VALUES (?, ?, ?, ?, ?, ?, ?, NULL)", (*row, images, meta))
    for system, text in study.candidates.items():
        hint = plain_json(list(hints.get((study.id, system), ())))
        connection.execute(
            "INSERT INTO candidates VALUES (?, ?, ?, ?, ?)", (key, system, text, _spans(text), hint)
        )


def _write_training(connection: Any, plan: Design) -> dict[str, list[str]]:
    """Training cases under keys of their own; their candidates are called by number."""
    keys: dict[str, list[str]] = {}
    for number, example in enumerate(plan.training, start=1):
        key = f"t{number:02d}"
        systems = [str(n) for n in range(1, len(example.candidates) + 1)]
        answers = {system: dict(answer) for system, answer in zip(systems, example.answers, strict=True)}
        expected = {"answers": {"": dict(example.case_answers or {}), **answers}, "feedback": example.feedback}
        row = (key, f"training {number}", example.reference, _spans(example.reference), "{}", "[]", "{}")
        connection.execute("INSERT INTO cases VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*row, plain_json(expected)))
        for system, text in zip(systems, example.candidates, strict=True):
            shown = (key, system, text, _spans(text), "[]")
            connection.execute("INSERT INTO candidates VALUES (?, ?, ?, ?, ?)", shown)
        keys[key] = systems
    return keys


def _spans(text: str) -> str:
    return json.dumps(split_sentences(text))
