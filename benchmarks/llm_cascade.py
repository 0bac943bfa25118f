"""What a cascade saves and loses: `errors` first, a language model where it is in doubt. A replay, not a run.

    python benchmarks/llm_cascade.py [--data DIR] [--draws N]

Pairs that two language-model judges have judged, blind to each other, are replayed: the recorded verdict of one
judge stands for the answer of the model, the other judge's rating is what is tested against; then the other way
round. The cascade is that of `llm_errors:ask=cascade`: the same doubt, the same order, the same scales.

For `rating` the recorded rating is the answer. For `findings` it is the recorded errors, by category and
significance; a recording lists no findings without error, so the weight of the reference's findings is taken from
the embedded reader. The pairs were seen while `errors` was developed, and its weights were fitted to their ratings
among others: these are development figures, kind to the embedded judge. The data is not part of the package.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from judged_data import CATEGORY, DATA, json_lines, system_texts
from numpy.typing import NDArray

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.findings.error import Error
from radgauge.findings.profile import Arithmetic, Profile
from radgauge.findings.rules import SIGNIFICANT, TIERS
from radgauge.findings.weights import load_weights
from radgauge.metrics.errors import COLUMNS, Errors
from radgauge.metrics.llm_errors import LlmErrors
from radgauge.metrics.llm_errors.cascade import doubts, most_doubtful
from radgauge.metrics.llm_errors.findings import SLIGHT
from radgauge.stats.coefficients import association

SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
Array = NDArray[np.float64]


class Twice(NamedTuple):
    """A pair of reports with the verdicts of two judges."""

    case: Case
    verdicts: tuple[Mapping[str, Any], Mapping[str, Any]]


def judged_twice(data: Path = DATA) -> dict[str, list[Twice]]:
    """Source -> the pairs that two judges judged."""
    folder, texts = data / "judged", system_texts(data)
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in json_lines(folder / "iu_pairs.jsonl"):
        found.setdefault((row["id"], row["system"]), []).append(row)
    iu = [
        Twice(Case(study, texts[study][system], (texts[study]["reference"],), system), (rows[0], rows[1]))
        for (study, system), rows in found.items()
        if len(rows) == 2
    ]
    second = {(row["id"], row["cand"]): row for row in json_lines(folder / "written_second_judge.jsonl")}
    written = []
    for row in json_lines(folder / "written_chest.jsonl"):
        if (other := second.get((row["id"], row["cand"]))) is not None:
            meta = {name: row[name] for name in ("age", "indication") if row.get(name)}
            case = Case(row["id"], row["candidate"], (row["reference"],), row["cand"], meta=meta)
            written.append(Twice(case, (row, other)))
    return {"iu_pairs": iu, "written_chest": written}


def replayed_quality(verdict: Mapping[str, Any], embedded: Profile, arithmetic: Arithmetic) -> float:
    """The value of a recorded verdict by the arithmetic of `errors`."""
    errors, inexact = [], list[tuple[int, bool, float]]()
    for each in verdict["errors"]:
        tier = TIERS.index(each["significance"])
        if each["category"] == "descriptor":
            inexact.append((tier, False, 1.0 if tier in SIGNIFICANT else SLIGHT))
        else:
            category = CATEGORY[each["category"]] - 1
            errors.append(Error(category, tier in SIGNIFICANT, tier, False, False, None, None))
    return arithmetic.quality(Profile(tuple(errors), embedded.tiers, tuple(inexact), 0.0))


class Replay(NamedTuple):
    """One source, one judge replayed, the other one the truth."""

    embedded: Array
    replayed: Array
    truth: Array
    doubt: Array
    sizes: Array  # characters of each question

    def mixed(self, chosen: Sequence[int]) -> Array:
        """Values of a cascade that asks about these cases."""
        values = self.embedded.copy()
        values[list(chosen)] = self.replayed[list(chosen)]
        return values

    def agreement(self, chosen: Sequence[int]) -> float:
        """tau-b of these values with the other judge's rating."""
        return association(self.mixed(chosen), self.truth, kind="kendall_b")


def replay(pairs: Sequence[Twice], which: int, variant: Literal["findings", "rating"]) -> Replay:
    """Replay one judge's verdicts."""
    metric, reading = Errors(), Readings()
    cases = [pair.case for pair in pairs]
    rows = metric.measure(cases, reading=reading)
    profiles = metric.profiles(cases, reading=reading)
    arithmetic = Arithmetic(load_weights())
    if variant == "findings":
        replayed = [
            np.nan if profile is None else replayed_quality(pair.verdicts[which], profile, arithmetic)
            for pair, profile in zip(pairs, profiles, strict=True)
        ]
    else:  # on the scale of the quality
        replayed = [(pair.verdicts[which]["rating"] - 3.0) / 2.0 for pair in pairs]
    asker = LlmErrors(variant=variant)
    questions = [asker.questions(case) for case in cases]
    return Replay(
        rows[:, 0],
        np.array(replayed),
        np.array([float(pair.verdicts[1 - which]["rating"]) for pair in pairs]),
        doubts(rows[:, 0], rows[:, COLUMNS.index("errors_coverage")], [case.id for case in cases]),
        np.array([sum(len(q.system) + len(q.user) for q in each) for each in questions], dtype=np.float64),
    )


def lines(pairs: Sequence[Twice], draws: int, variant: Literal["findings", "rating"]) -> list[tuple[str, ...]]:
    """Share asked, cost, agreement by doubt and at random; means over both judges replayed."""
    both = [replay(pairs, which, variant) for which in (0, 1)]
    rng = np.random.default_rng(0)
    found = []
    full = np.mean([each.agreement(range(len(pairs))) for each in both])
    for share in SHARES:
        chosen = [most_doubtful(each.doubt, share) for each in both]
        asked = np.mean([len(each) for each in chosen])
        cost = np.mean([each.sizes[own].sum() / each.sizes.sum() for each, own in zip(both, chosen, strict=True)])
        tau = np.mean([each.agreement(own) for each, own in zip(both, chosen, strict=True)])
        at_random = np.mean(
            [
                each.agreement(rng.permutation(len(pairs))[: int(asked)])
                for each in both
                for _ in range(draws if 0 < asked < len(pairs) else 1)
            ]
        )
        found.append((share, asked, 1 - cost, tau, full - tau, at_random))
    return [
        (f"{s:.0%}", f"{a:.0f}", f"{c:.0%}", f"{t:.3f}", f"{d:+.3f}", f"{r:.3f}") for s, a, c, t, d, r in found
    ]


def main(data: Path, draws: int) -> None:
    heads = ("at most", "asked", "cost saved", "tau-b", "lost", "random")
    sources = judged_twice(data)
    sources["both"] = [pair for pairs in sources.values() for pair in pairs]
    for variant in ("rating", "findings"):
        for name, pairs in sources.items():
            studies = len({pair.case.id for pair in pairs})
            print(f"\n{variant}, {name}: {len(pairs)} pairs of {studies} studies, replayed")
            for line in (heads, *lines(pairs, draws, variant)):
                print("".join(f"{cell:>12}" for cell in line))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--draws", type=int, default=200, help="random choices of cases, for comparison")
    chosen = parser.parse_args()
    main(chosen.data, chosen.draws)
