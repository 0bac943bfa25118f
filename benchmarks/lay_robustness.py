"""Own test beds and other people's pairs side by side: lay semantics, and the check of lay texts (lay_fidelity).

Own: the two beds of `layman robustness`, its smaller ones, tests/data/lay_validation, tests/data/lay_triples.
Others': judged/lay_triples.jsonl of the shared data (professional text, right and subtly wrong plain version, by a
writer who has not seen this code); held_out/third/lay_triples.jsonl (the same kind, unseen before
its first run).

Run: python benchmarks/lay_robustness.py [--data ../shared/data] [--only fidelity]
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.lay.metrics.lay_fidelity import LayFidelity
from radgauge.lay.metrics.layman import Layman

sys.path.insert(0, str(Path(__file__).parents[1] / "reproduce"))

from layman_rrg.robustness import BEDS, UNSEEN, _share_above, pairs_of  # found by the line above

TESTS = Path(__file__).parents[1] / "tests" / "data"
HELD_OUT = Path(__file__).parent / "held_out" / "third" / "lay_triples.jsonl"
Pairs = tuple[Sequence[Case], Sequence[Case]]


def _cases(pairs: Sequence[Sequence[str]]) -> list[Case]:
    return [Case(str(number), pair[0], (pair[1],)) for number, pair in enumerate(pairs)]


def _rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter="\t"))[1:]


def _triples(data: Path) -> dict[str, list[tuple[str, str, str]]]:
    files = (data / "judged" / "lay_triples.jsonl", HELD_OUT)
    others, held_out = (
        [
            (x["professional"], x["right"], x["wrong"])
            for x in map(json.loads, path.read_text(encoding="utf-8").splitlines())
        ]
        for path in files
    )
    own = [(row[1], row[2], row[3]) for row in _rows(TESTS / "lay_triples" / "own.tsv")]
    return {"own triples": own, "others' triples": others, "held-out triples": held_out}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", choices=("fidelity", "semantics"), default=None)
    chosen = parser.parse_args()
    if chosen.only != "semantics":
        _fidelity(_triples(chosen.data))
    if chosen.only != "fidelity":
        for name, same, other, shares in semantics(chosen.data):
            told = ", ".join(f"{key} {share:.1%}" for key, share in shares.items())
            print(f"same above other, {name} ({same} and {other}): {told}")


def _fidelity(triples: dict[str, list[tuple[str, str, str]]]) -> None:
    metric = LayFidelity()
    for name, rows in triples.items():
        right, wrong = (
            metric.case_scores(metric.measure(_cases([(row[n], row[0]) for row in rows]), reading=Readings()))[
                :, 0
            ]
            for n in (1, 2)
        )
        print(
            f"lay_fidelity, {name} ({len(rows)}): right passes {int((right == 1).sum())}, right above wrong "
            f"{int((right > wrong).sum())}, right not judged {int(np.isnan(right).sum())}, wrong passes "
            f"{int((wrong == 1).sum())}, wrong not judged {int(np.isnan(wrong).sum())}"
        )
    rows = _rows(TESTS / "lay_validation" / "simplifications.tsv")
    values = metric.case_scores(metric.measure(_cases([(row[1], row[0]) for row in rows]), reading=Readings()))[
        :, 0
    ]
    is_right = np.array([row[2] == "yes" for row in rows])
    print(
        f"lay_fidelity, lay_validation: right passes {int((values[is_right] == 1).sum())} "
        f"of {int(is_right.sum())}, wrong does not pass {int((values[~is_right] != 1).sum())} "
        f"of {int((~is_right).sum())}, not judged {int(np.isnan(values).sum())}"
    )


def semantics(data: Path) -> list[tuple[str, int, int, dict[str, float]]]:
    """For each set its name, how many pairs of each kind, and the share of couples with the same meaning above."""
    validation = TESTS / "lay_validation"
    sets: dict[str, Pairs] = {
        "own beds": (pairs_of(BEDS[0]), pairs_of(BEDS[1])),
        "own beds, unseen": (pairs_of(UNSEEN[0]), pairs_of(UNSEEN[1])),
        "lay_validation": (
            _cases(_rows(validation / "same_meaning.tsv")),
            _cases(_rows(validation / "other_meaning.tsv")),
        ),
    }
    for name, rows in _triples(data).items():
        sets[name] = _cases([(row[1], row[0]) for row in rows]), _cases([(row[2], row[0]) for row in rows])
    metric = Layman()
    places = {name: metric.columns.index(f"layman_{name}_embedded") for name in ("semantics", "similarity")}
    found = []
    for name, (same, other) in sets.items():
        values = [metric.case_scores(metric.measure(bed, reading=Readings())) for bed in (same, other)]
        shares = {key: _share_above(values[0][:, at], values[1][:, at]) for key, at in places.items()}
        found.append((name, len(same), len(other), shares))
    return found


if __name__ == "__main__":
    main()
