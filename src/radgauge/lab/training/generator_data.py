"""Training data of a report generator: studies with images and reports, split so that nothing leaks.

No study of a patient who is watched in validation is learned from, and no study that has one of its pictures,
under whatever name. What cannot be used is counted with its reason.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.progress import working
from radgauge.core.readings import Progress
from radgauge.core.subjects import from_subject
from radgauge.encoders.image.study_numbers import Domain, StudyNumbers, study_numbers
from radgauge.io.case_files import read_references

Rows = NDArray[np.float32]
PATIENT = ("patient", "patient_id", "subject_id", "subject", "patientid")
"""Columns that name the patient."""
LEAST_TRAIN, LEAST_VALIDATION = 8, 2


@dataclass(frozen=True, eq=False)
class Studies:
    """Studies that can be learned from or watched: ids, reports and rows of numbers, in one order."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    rows: Rows

    def __len__(self) -> int:
        return len(self.ids)

    def hash(self) -> str:
        """Of ids, reports and numbers."""
        digest = hashlib.sha256("\0".join([*self.ids, *self.texts]).encode())
        digest.update(np.ascontiguousarray(self.rows).tobytes())
        return digest.hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class GeneratorData:
    """Studies to learn from and to watch, and how many of the table could not be used, by reason."""

    train: Studies  # To learn from
    validation: Studies  # To watch
    left_out: Mapping[str, int]  # Reason -> studies
    domain: Domain = "skip"  # What became of pictures that do not look like chest radiographs: skip or off
    # Of lay reports, how many of their sentences are lay, and all; the others stand as they are
    lay_sentences: tuple[int, int] = (0, 0)


@working("reading images")
def read_generator_data(
    table: Path | str,
    images: Path | str | None = None,
    *,
    section: str | None = None,
    split: str | None = None,
    validation: float | str = 0.1,
    register: str = "professional",
    size: int | None = None,
    seed: int = 0,
    cache: Path | str | None = None,
    domain: Domain = "skip",
    threads: int = 0,
    progress: Progress | None = None,
) -> GeneratorData:
    """Studies from a table of reports with pictures.

    Args:
        table: Any table of reports that radgauge reads, with a column of images.
        images: Folder that image names are relative to; None: the table's.
        section: findings, impression, both or whole.
        split: Learn from this split only.
        validation: A share of these studies that is kept for watching, whole patients, chosen by the seed; or the
            name of another split.
        register: professional, or lay: reports rewritten by the embedded plain-language writer.
        size: Learn from so many studies only, chosen by the seed; a smaller size is part of a larger one.
        seed: Chooses.
        cache: Folder for what pictures became.
        domain: Whether pictures that do not look like chest radiographs are left out (skip) or used (off).
        threads: Pictures side by side; 0 = as many as there are cores.
        progress: Told after every batch of pictures.

    Raises:
        InputError: There are too few studies with a picture and a report.
    """
    by_share = not isinstance(validation, str)
    if by_share and not 0 < float(validation) < 1:
        raise UsageError(f"the share for validation must lie between 0 and 1, got {validation}")
    if isinstance(validation, str) and validation == split:
        raise UsageError(f"training and validation must be different splits, got {validation!r} for both")
    left_out: Counter[str] = Counter()
    cases = _with_report(read_references(table, section=section, split=split, images=images).cases, left_out)
    watched: list[Case] = []
    if isinstance(validation, str):
        watched = _with_report(
            read_references(table, section=section, split=validation, images=images).cases, left_out
        )
    every = [*cases, *watched]
    study_features = study_numbers(
        [case.images for case in every], cache=cache, domain=domain, threads=threads, progress=progress
    )
    usable = [at for at, why in enumerate(study_features.reasons) if not why]
    left_out.update(kind_of_reason(why) for why in study_features.reasons if why)
    if by_share:
        share = _share([every[at] for at in usable], float(validation), seed=seed)
        watching = [at for at, in_share in zip(usable, share, strict=True) if in_share]
    else:
        watching = [at for at in usable if at >= len(cases)]
    learning = sorted(set(usable) - set(watching) - set(range(len(cases), len(every))))
    without_leaks = _without_leaks(learning, watching, every, study_features, left_out)
    if size is not None:
        if size > len(without_leaks):
            raise UsageError(
                f"size must be at most the number of training studies, got {size} of {len(without_leaks)}"
            )
        order = np.random.default_rng((seed, 1)).permutation(len(without_leaks))[:size]
        without_leaks = [without_leaks[at] for at in sorted(order.tolist())]
    if len(without_leaks) < LEAST_TRAIN or len(watching) < LEAST_VALIDATION:
        why = ", ".join(f"{number} with {reason}" for reason, number in left_out.items()) or "none"
        raise InputError(
            f"training a generator needs {LEAST_TRAIN} studies or more with a picture and a report, and "
            f"validation {LEAST_VALIDATION}; got {len(without_leaks)} and {len(watching)}; left out: {why}"
        )
    train, watched_studies = (
        _studies(part, every, study_features, register=register) for part in (without_leaks, watching)
    )
    counted = (0, 0)
    if register == "lay":
        counted = lay_share(every[at].references[0] for at in (*without_leaks, *watching))
    return GeneratorData(train, watched_studies, dict(left_out), domain, counted)


def lay_texts(texts: Iterable[str]) -> list[str]:
    """Reports in plain language; a sentence that the writer does not dare to write anew stands as it is."""
    return [_lay_text(text)[0] for text in texts]


def lay_share(texts: Iterable[str]) -> tuple[int, int]:
    """Number of sentences of the reports that `lay_texts` rewrites, and of all sentences."""
    counts = [_lay_text(text)[1:] for text in texts]
    return sum(lay for lay, _ in counts), sum(every for _, every in counts)


@lru_cache(maxsize=1 << 14)
def _lay_text(text: str) -> tuple[str, int, int]:
    """A report, how many of its sentences are lay, and how many it has."""
    written = from_subject("lay", "plain_sentences:write_plain")(text)
    return (
        from_subject("lay", "plain_sentences:mixed_text")(written),
        sum(not report.kept for report in written),
        len(written),
    )


def patient_of(case: Case) -> str:
    """The patient of a study, or the study itself where no column names one."""
    named = {name.lower(): value for name, value in case.meta.items()}
    return next((f"patient {named[name]}" for name in PATIENT if named.get(name)), f"study {case.id}")


def kind_of_reason(why: str) -> str:
    """A reason without the name of the file, to count by."""
    for end, kind in (("is named", "no picture named"), ("not there", "a picture that is not there")):
        if why.endswith(end):
            return kind
    return "a picture that cannot be used"


def _with_report(cases: Sequence[Case], left_out: Counter[str]) -> list[Case]:
    with_text = [replace(case, references=(case.references[0].strip(),)) for case in cases if case.references]
    non_empty = [case for case in with_text if case.references[0]]
    if len(non_empty) < len(cases):
        left_out["no report"] += len(cases) - len(non_empty)
    return non_empty


def _share(cases: Sequence[Case], share: float, *, seed: int) -> list[bool]:
    """Choose the validation studies: complete patients, drawn until the share is reached."""
    patients = list(dict.fromkeys(map(patient_of, cases)))
    counts = Counter(map(patient_of, cases))
    target, chosen, number = max(LEAST_VALIDATION, round(share * len(cases))), set(), 0
    for at in np.random.default_rng((seed, 0)).permutation(len(patients)).tolist():
        if number >= target:
            break
        chosen.add(patients[at])
        number += counts[patients[at]]
    return [patient_of(case) in chosen for case in cases]


def _without_leaks(
    learning: Sequence[int],
    watching: Sequence[int],
    every: Sequence[Case],
    study_features: StudyNumbers,
    left_out: Counter[str],
) -> list[int]:
    patients = {patient_of(every[at]) for at in watching}
    pictures = {picture for at in watching for picture in study_features.pictures[at]}
    remaining = []
    for at in learning:
        if patient_of(every[at]) in patients:
            left_out["a patient of the validation studies"] += 1
        elif pictures.intersection(study_features.pictures[at]):
            left_out["a picture of the validation studies"] += 1
        else:
            remaining.append(at)
    return remaining


def _studies(
    part: Sequence[int], every: Sequence[Case], study_features: StudyNumbers, *, register: str
) -> Studies:
    texts = [every[at].references[0] for at in part]
    return Studies(
        tuple(every[at].id for at in part),
        tuple(lay_texts(texts) if register == "lay" else texts),
        study_features.rows[list(part)],
    )
