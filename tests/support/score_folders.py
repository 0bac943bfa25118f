"""Results in memory as a folder of parts, as a run leaves it."""

from __future__ import annotations

from pathlib import Path

import radgauge
from radgauge.core.errors import InputError
from radgauge.core.files import make_folder
from radgauge.core.scores import Results
from radgauge.io.score_folder import Manifest, digest_of, fingerprint_of, part_name, part_of, write_part
from radgauge.io.scores_records import header_of


def write_score_folder(
    folder: Path | str, results: Results, *, divided: int = 16, kind: str = "jsonl"
) -> Manifest:
    """Write results that are in memory as a folder of parts, which must not be there yet."""
    place = Path(folder)
    if place.exists():
        raise InputError(f"{place} is there already; name a new folder")
    make_folder(place)
    keys = results.keys_of_cases
    judges = header_of(results, {})["judges"]
    for about in judges.values():
        del about["not_judged"]
        about.pop("truncated", None)
    fingerprint = fingerprint_of({"judges": judges, "keys": digest_of(keys), "divided": divided})
    parts = []
    for number in range(divided):
        chosen = [at for at, (study, _) in enumerate(keys) if part_of(study, divided) == number]
        if chosen:
            taken = Results(
                {name: scores.take(chosen) for name, scores in results.judges.items()},
                {name: [column[at] for at in chosen] for name, column in results.meta.items()},
            )
            parts.append(write_part(place / part_name(number, kind), taken, rows=chosen, fingerprint=fingerprint))
    manifest = Manifest(
        radgauge=radgauge.__version__,
        complete=True,
        fingerprint=fingerprint,
        input=dict(results.header.get("input", {})),
        judges=judges,
        settings={},
        kind=kind,
        divided=divided,
        cases=len(keys),
        parts=tuple(parts),
    )
    manifest.write(place)
    return manifest
