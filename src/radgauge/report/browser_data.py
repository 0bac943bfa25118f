"""Data of the case browser: texts, values, percentiles, reasons, notes, and what radiologists said.

The page must stay small enough to mail. Cases are compressed, and where even that does not fit, first the less
telling explanations and then studies are left out, and the page says so. All statistics use all cases, whatever
the browser holds.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from radgauge.core.cases import MISSING, Case, Key
from radgauge.core.error_categories import CATEGORIES
from radgauge.core.progress import working
from radgauge.core.readings import Readings
from radgauge.core.scores import Results
from radgauge.core.wording import number
from radgauge.io.judgments import Judgments
from radgauge.render.metric_names import metric_name
from radgauge.report.notes import KINDS, TELLING, explain_case
from radgauge.report.standing import percentiles

ROOM = 2_300_000
"""Bytes for the cases: with styles and plots the page stays under 3 MB."""

PROBED = 4
"""Studies that tell how much room all explanations would take."""


@dataclass(frozen=True, slots=True)
class BrowserData:
    """The cases as the page's script reads them."""

    packed: str  # JSON, compressed (gzip), as base64 text
    case_numbers: Mapping[Key, int]  # Key of each case in the browser -> its number there
    cases: int  # How many cases there are in all
    studies: int  # How many studies there are in all
    studies_shown: int  # How many studies the browser holds
    texts: bool  # True if texts are there
    all_notes: bool  # True if every explanation is there; otherwise only the most telling ones


def browser_data(
    results: Results,
    *,
    cases: Sequence[Case],
    judgments: Judgments | None,
    first: Sequence[str],
    reading: Readings,
    most_cases: int,
    seed: int,
    room: int = ROOM,
) -> BrowserData:
    """Pack the cases.

    Args:
        results: Scores of all cases.
        cases: The cases with their texts, any order; those without scores are not shown.
        judgments: What radiologists said, if they did.
        first: Studies that must be in, however little room there is.
        reading: For the explanations.
        most_cases: How many cases at most.
        seed: Which studies are taken when there are too many.
        room: Bytes at most.
    """
    keys = results.keys_of_cases
    rows_of: dict[str, list[int]] = {}
    for row, (study, _) in enumerate(keys):
        rows_of.setdefault(study, []).append(row)
    text_of = {case.key: case for case in cases}
    packer = _Packer(results, text_of, judgments, reading)
    studies: list[str] = []
    count = 0
    for study in _order(list(rows_of), first, len(keys) > most_cases, seed):
        if count + len(rows_of[study]) > most_cases and studies:
            break
        studies.append(study)
        count += len(rows_of[study])
    room = room * 3 // 4  # base64 takes four characters for three bytes
    with working("explaining cases") as tell, reading.open_cache():
        chosen = {study: packer.study(study, rows_of[study]) for study in studies[:PROBED]}
        # explanations of every metric cost several times those that stay when there is no room for all
        probe = len(zlib.compress(_dense(list(chosen.values())), 9)) / max(len(chosen), 1)
        all_notes = probe * len(studies) <= room
        for done, study in enumerate(studies[PROBED:], start=PROBED + 1):
            chosen[study] = packer.study(study, rows_of[study], every=all_notes)
            tell("explaining cases", done, len(studies))
    fitting = _fitting(chosen, room=room) if all_notes else set()
    if len(fitting) < len(chosen):
        chosen = {study: _telling(packed) for study, packed in chosen.items()}
        fitting, all_notes = _fitting(chosen, room=room), False
    shown = [chosen[study] for study in rows_of if study in fitting]
    case_numbers: dict[Key, int] = {}
    systems = packer.systems
    for packed in shown:
        for case in packed["c"]:
            case_numbers[packed["i"], systems[case[0]]] = len(case_numbers)
    text = _dense({**packer.head(), "studies": shown})
    return BrowserData(
        base64.b64encode(gzip.compress(text, 9, mtime=0)).decode(),
        case_numbers,
        len(keys),
        len(rows_of),
        len(shown),
        bool(text_of),
        all_notes,
    )


def _dense(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _fitting(studies: Mapping[str, dict[str, Any]], *, room: int) -> set[str]:
    """The studies, from the first on, that compress into this many bytes; always at least one."""
    squeeze, used = zlib.compressobj(9), 0
    fitting: set[str] = set()
    for study, packed in studies.items():
        used += len(squeeze.compress(_dense(packed))) + len(squeeze.flush(zlib.Z_SYNC_FLUSH))
        if used > room and fitting:
            break
        fitting.add(study)
    return fitting


def _telling(study: dict[str, Any]) -> dict[str, Any]:
    cases = []
    for case in study["c"]:
        telling_notes = {name: notes for name, notes in case[5].items() if name in TELLING}
        cases.append([*case[:5], telling_notes, *case[6:]])
    return {**study, "c": cases}


def script_safe(text: str) -> str:
    """JSON that cannot end the script element it stands in, whatever the reports say.

    >>> script_safe('"</script>"')
    '"\\\\u003c/script\\\\u003e"'
    """
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _order(studies: list[str], first: Sequence[str], sampled: bool, seed: int) -> list[str]:
    if sampled:
        studies = [studies[i] for i in np.random.default_rng(seed).permutation(len(studies))]
    present = set(studies)
    return list(dict.fromkeys([*(study for study in first if study in present), *studies]))


class _Packer:
    """Turns studies into plain lists; remembers what they share (reasons)."""

    def __init__(
        self,
        results: Results,
        text_of: Mapping[Key, Case],
        judgments: Judgments | None,
        reading: Readings,
    ) -> None:
        self.results, self.text_of, self.reading = results, text_of, reading
        self.systems = list(dict.fromkeys(system for _, system in results.keys_of_cases))
        self.percentiles = percentiles(results)
        self.reasons: dict[str, int] = {}
        self.human = _human_lines(judgments) if judgments is not None else {}
        self.scores = list(results.judges.values())

    def head(self) -> dict[str, Any]:
        """Data that all cases share."""
        return {
            "kinds": KINDS,
            "errors": [[category.key, category.title] for category in CATEGORIES],
            "systems": self.systems,
            "reasons": list(self.reasons),
            "judges": [
                {
                    "n": scores.judge,
                    "l": metric_name(scores.columns[0]).name,
                    "c": scores.columns,
                    "u": [int(up) for up in scores.directions],
                }
                for scores in self.scores
            ],
        }

    def study(self, study: str, rows: Sequence[int], *, every: bool = True) -> dict[str, Any]:
        """One study with its references and every system's case."""
        keys = self.results.keys_of_cases
        with_text = [self.text_of[keys[row]] for row in rows if keys[row] in self.text_of]
        references = list(with_text[0].with_real_references().references) if with_text else []
        same = all(list(case.with_real_references().references) == references for case in with_text)
        meta = {
            k: v
            for k, v in (with_text[0].meta if with_text else {}).items()
            if v and k != MISSING and len(v) <= 200
        }
        return {
            "i": study,
            "r": references,
            "m": meta,
            "c": [self._case(row, self.text_of.get(keys[row]), own=not same, every=every) for row in rows],
        }

    def _case(self, row: int, case: Case | None, *, own: bool, every: bool) -> list[Any]:
        key = self.results.keys_of_cases[row]
        values = [[_short(value) for value in scores.values[row]] for scores in self.scores]
        reasons = {
            number: self.reasons.setdefault(scores.reasons[key], len(self.reasons))
            for number, scores in enumerate(self.scores)
            if key in scores.reasons
        }
        rounded = [None if math.isnan(p) else round(float(p)) for p in self.percentiles[row]]
        notes = explain_case(case, self.results, reading=self.reading, every=every) if case is not None else {}
        packed: list[Any] = [
            self.systems.index(key[1]),
            case.candidate if case is not None else None,
            values,
            rounded,
            reasons,
            notes,
            self.human.get(key, []),
        ]
        if own and case is not None:
            packed.append(list(case.with_real_references().references))
        return packed


def _short(value: float) -> float | None:
    return None if math.isnan(value) else float(f"{value:.4g}")


def _human_lines(judgments: Judgments) -> dict[Key, list[list[str]]]:
    """Key -> [what, mean, single raters]."""
    lines: dict[Key, list[list[str]]] = {}
    sources = []
    if judgments.ratings:
        sources.append(("rating", judgments.mean_ratings(), judgments.ratings, "rating"))
    if judgments.errors:
        mean = judgments.mean_errors()
        sources += [
            ("errors", mean, judgments.errors, "errors_total"),
            ("significant errors", mean, judgments.errors, "errors_significant"),
        ]
    for what, mean, raters, column in sources:
        for row, key in enumerate(mean.keys):
            singles = [f"{scores.column(column)[row]:g}" for scores in raters.values()]
            value = number(float(mean.column(column)[row]), 2)
            lines.setdefault(key, []).append([what, value, ", ".join(singles) if len(singles) > 1 else ""])
    return lines
