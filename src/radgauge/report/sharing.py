"""Scores for others: Every Eval Ever 0.3 documents, Hugging Face evaluation results, a leaderboard of files."""

from __future__ import annotations

import hashlib
import json
import math
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import radgauge
from radgauge.analysis.compare import compare
from radgauge.analysis.leading import leading_judge, ranked_systems
from radgauge.analysis.summary import Summary, summarise
from radgauge.core.choices import Correction
from radgauge.core.errors import InputError
from radgauge.core.files import make_folder, write_file
from radgauge.core.scores import Results, Scores
from radgauge.core.wording import arrow
from radgauge.io.scores_file import is_scores_file, read_scores
from radgauge.render.metric_names import metric_name
from radgauge.render.tables import Cell, Column, Row, Table, table
from radgauge.stats.ranking import significance_clusters
from radgauge.stats.resampling import USUAL, Resampling

SCHEMA = "0.3.0"
SIGNIFICANT = "errors_significant"


def every_eval_ever(
    results: Results, *, dataset: str, now: datetime | None = None, resampling: Resampling = USUAL
) -> dict[str, tuple[dict[str, Any], list[dict[str, Any]]]]:
    """System -> its document in the form of Every Eval Ever 0.3, and a row per case and metric without any text.

    A case that was not judged has no row, since the form knows no missing score; its count is in the document.

    Args:
        results: Scores.
        dataset: Name of the reports that were judged.
        now: When; by default the present.
        resampling: Of the intervals.
    """
    moment = now or datetime.now(UTC)
    lines = [line for line in summarise(results, resampling=resampling) if line.column in _headlines(results)]
    documents = {}
    for system in dict.fromkeys(line.system for line in lines):
        identifier = f"{dataset}/{system}/{int(moment.timestamp())}"
        own = [line for line in lines if line.system == system and not math.isnan(line.value)]
        rows = [row for line in own for row in _instances(results[line.judge], line, identifier)]
        documents[system] = (_document(results, own, identifier, dataset, moment, len(rows)), rows)
    return documents


def _headlines(results: Results) -> set[str]:
    return {scores.system_headline for scores in results.judges.values()} | {
        s.columns[0] for s in results.judges.values()
    }


def _document(
    results: Results, lines: Sequence[Summary], identifier: str, dataset: str, moment: datetime, rows: int
) -> dict[str, Any]:
    system = lines[0].system if lines else identifier.split("/")[1]
    unknown = {"deployment_type": "unknown", "model_availability": "unknown"}
    return {
        "schema_version": SCHEMA,
        "evaluation_id": identifier,
        "retrieved_timestamp": str(int(moment.timestamp())),
        "source_metadata": {
            "source_name": "radgauge",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "radgauge", "version": str(results.header.get("radgauge", radgauge.__version__))},
        "model_info": {"name": system, "id": system, "additional_details": unknown},
        "evaluation_results": [_result(results[line.judge], line, dataset) for line in lines],
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": _samples_path(identifier),
            "total_rows": rows,
        },
    }


def _result(scores: Scores, line: Summary, dataset: str) -> dict[str, Any]:
    bounds = scores.ranges[scores.columns.index(line.column)]
    low, high = (value if math.isfinite(value) else f"{'-' if value < 0 else ''}Infinity" for value in bounds)
    details: dict[str, Any] = {"score": line.value, "details": {"not_judged": str(line.not_judged)}}
    if not (math.isnan(line.low) or math.isnan(line.high)):
        details["uncertainty"] = {
            "confidence_interval": {
                "lower": line.low,
                "upper": line.high,
                "confidence_level": line.level,
                "method": line.method,
            },
            "num_samples": line.judged,
        }
    return {
        "evaluation_result_id": line.column,
        "evaluation_name": line.column,
        "source_data": {"dataset_name": dataset, "source_type": "other"},
        "metric_config": {
            "evaluation_description": metric_name(line.column).what,
            "metric_id": line.column,
            "metric_name": metric_name(line.column).name,
            "lower_is_better": not line.higher_is_better,
            "score_type": "continuous",
            "min_score": low,
            "max_score": high,
            "additional_details": {"signature": line.signature},
        },
        "score_details": details,
    }


def _instances(scores: Scores, line: Summary, identifier: str) -> list[dict[str, Any]]:
    """One row per judged case; `is_correct` means no significant error, and is false where nobody counts them."""
    values = scores.column(line.column)
    faults = scores.column(SIGNIFICANT) if SIGNIFICANT in scores.columns else None
    return [
        {
            "schema_version": SCHEMA,
            "evaluation_id": identifier,
            "model_id": line.system,
            "evaluation_name": line.column,
            "evaluation_result_id": line.column,
            "sample_id": study,
            "sample_hash": None,
            "interaction_type": "single_turn",
            "input": {"raw": "", "reference": []},
            "output": {"raw": []},
            "messages": None,
            "answer_attribution": [],
            "evaluation": {
                "score": float(values[row]),
                "is_correct": faults is not None and float(faults[row]) == 0,
            },
            "metadata": {
                "texts": "left out",
                "is_correct": "no significant error" if faults is not None else "unset",
            },
        }
        for row, (study, system) in enumerate(scores.keys)
        if system == line.system and not math.isnan(values[row])
    ]


def hugging_face(
    results: Results, *, dataset: str, now: datetime | None = None, resampling: Resampling = USUAL
) -> dict[str, str]:
    """System -> `.eval_results` of a model on the Hugging Face hub, as YAML; arguments as `every_eval_ever`."""
    date = (now or datetime.now(UTC)).date().isoformat()
    files: dict[str, list[str]] = {}
    for line in summarise(results, resampling=resampling):
        if line.column not in _headlines(results) or math.isnan(line.value):
            continue
        interval = (
            "" if math.isnan(line.low) else f"{100 * line.level:g} % interval {line.low:.4g} to {line.high:.4g}, "
        )
        note = (
            f"{interval}{line.judged} judged, {line.not_judged} not; "
            f"{'higher' if line.higher_is_better else 'lower'} is better; {line.signature}"
        )
        files.setdefault(line.system, []).append(
            f"- dataset:\n    id: {json.dumps(dataset)}\n    task_id: {json.dumps(line.column)}\n"
            f"  value: {line.value!r}\n  date: {json.dumps(date)}\n"
            f"  source:\n    name: {json.dumps(f'radgauge {radgauge.__version__}')}\n"
            f"  notes: {json.dumps(note, ensure_ascii=False)}\n"
        )
    return {system: "".join(entries) for system, entries in files.items()}


def write_export(folder: Path, results: Results, *, form: str, dataset: str) -> list[Path]:
    """Write one document per system: `form` is eee (JSON and JSON lines) or hf (YAML)."""
    written = []
    if form == "hf":
        for system, text in hugging_face(results, dataset=dataset).items():
            write_file(path := folder / f"{_safe(system)}.yaml", text)
            written.append(path)
        return written
    for document, rows in every_eval_ever(results, dataset=dataset).values():
        samples = folder / document["detailed_evaluation_results"]["file_path"]
        make_folder(samples.parent)
        path = samples.with_name(samples.name.replace("_samples.jsonl", ".json"))
        write_file(path, json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False))
        write_file(samples, "".join(f"{json.dumps(row, allow_nan=False)}\n" for row in rows))
        written += [path, samples]
    return written


def _samples_path(identifier: str) -> str:
    """Path of the rows of a document in the collection; the same identifier gives the same path."""
    dataset, system, _ = identifier.rsplit("/", 2)
    name = uuid.UUID(bytes=hashlib.sha256(identifier.encode()).digest()[:16], version=4)
    return f"data/{_safe(dataset)}/unknown/{_safe(system)}/{name}_samples.jsonl"


def _safe(name: str) -> str:
    return (
        "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name).lstrip(".") or "system"
    )


def gather(folder: Path) -> Results:
    """The scores of all files of a folder as one: the metrics that all have, on the studies that all judged.

    Raises:
        InputError: No scores; signatures or studies differ; a system occurs twice.
    """
    files = sorted(
        path for path in folder.iterdir() if path.suffix in (".jsonl", ".parquet") and is_scores_file(path)
    )
    if not files:
        raise InputError(f"{folder} holds no scores files (.jsonl or .parquet of `radgauge score -o`)")
    parts = {path.name: read_scores(path) for path in files}
    first, *others = parts.items()
    shared = [name for name in first[1] if all(name in results for _, results in others)]
    if not shared:
        raise InputError(f"the {len(files)} scores files in {folder} have no metric in common")
    owners: dict[str, str] = {}
    studies = {study for study, _ in first[1].keys_of_cases}
    for name, results in parts.items():
        for judge in shared:
            _check_signature(judge, first, (name, results))
        if {study for study, _ in results.keys_of_cases} != studies:
            raise InputError(f"{first[0]} and {name} judge different studies; a leaderboard needs the same")
        for system in results[shared[0]].systems:
            if owners.setdefault(system, name) != name:
                raise InputError(f"the system {system!r} is in {owners[system]} and in {name}; name it once")
    return Results({judge: _stacked([results[judge] for results in parts.values()]) for judge in shared}, {}, {})


def _check_signature(judge: str, first: tuple[str, Results], other: tuple[str, Results]) -> None:
    one, two = first[1][judge].signature, other[1][judge].signature
    if one != two:
        raise InputError(
            f"{judge} has another signature in {first[0]} than in {other[0]}; such values are not comparable; "
            f"score them alike (radgauge rescore)\n  {one}\n  {two}"
        )


def _stacked(parts: Sequence[Scores]) -> Scores:
    return replace(
        parts[0],
        keys=tuple(key for scores in parts for key in scores.keys),
        rows=np.vstack([scores.rows for scores in parts]),
        values=np.vstack([scores.values for scores in parts]),
        reasons={key: why for scores in parts for key, why in scores.reasons.items()},
        truncated=frozenset().union(*(scores.truncated for scores in parts)),
    )


def leaderboard(
    results: Results,
    *,
    correction: Correction = "holm",
    resampling: Resampling = USUAL,
    permutations: int = 10_000,
) -> Table:
    """Systems in the order of the leading metric, in clusters: systems of one cluster are not told apart.

    From the top, a cluster ends before the first system that is significantly worse than any of its members.
    """
    judge = leading_judge(results)
    column = judge.system_headline
    order = ranked_systems(judge, judge.systems)
    adjusted = np.ones((len(order), len(order)))
    for i, one in enumerate(order[:-1]):
        for line in compare(
            results, baseline=one, correction=correction, permutations=permutations, resampling=resampling
        ):
            if line.column == column and line.system in order[i + 1 :]:
                adjusted[i, order.index(line.system)] = adjusted[order.index(line.system), i] = line.result.p_shown
    clusters = significance_clusters(adjusted)
    lines = {(line.system, line.column): line for line in summarise(results, resampling=resampling)}
    columns = list(dict.fromkeys([column, *(scores.columns[0] for scores in results.judges.values())]))
    rows: list[Row] = [
        (str(cluster), system, *(_cell(lines.get((system, c))) for c in columns))
        for system, cluster in zip(order, clusters, strict=True)
    ]
    directions = {line.column: line.higher_is_better for line in lines.values()}
    heads = [Column(f"{metric_name(c).name} {arrow(directions[c])}", right=True) for c in columns]
    return table(
        Column("cluster", right=True),
        "system",
        *heads,
        key="leaderboard",
        title="Leaderboard",
        rows=rows,
        note=f"Order and clusters by {metric_name(column).name}: systems of one cluster do not differ "
        f"significantly (paired permutation tests, {correction}). "
        f"Brackets: {100 * resampling.level:.3g} % intervals.",
    )


def _cell(line: Summary | None) -> Cell:
    if line is None or math.isnan(line.value):
        return Cell("–")
    small = "" if math.isnan(line.low) else f"[{line.low:.3f}, {line.high:.3f}]"
    return Cell(f"{line.value:.3f}", small, value=line.value)


def board_page(results: Results, *, title: str = "Leaderboard") -> str:
    """The leaderboard as one static page: the table, and the signature behind every column."""
    from radgauge.report.page import templates

    return (
        templates()
        .get_template("board.html.j2")
        .render(
            title=title,
            board=leaderboard(results),
            signatures={name: scores.signature for name, scores in results.judges.items()},
            studies=len({study for study, _ in results.keys_of_cases}),
            systems=len({system for _, system in results.keys_of_cases}),
            version=radgauge.__version__,
            css=_style(),
        )
    )


def _style() -> str:
    from radgauge.render.page import page_style

    return page_style()
