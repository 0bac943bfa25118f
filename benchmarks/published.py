"""BERTScore, RadGraph and CheXbert against bert-score, radgraph and f1chexbert: same weights, same pairs, one run.

    python benchmarks/published.py --data ../shared/data [--pairs 500] [--systems 1] [--only bertscore]

Checkpoints are seeded and of the published sizes (DistilRoBERTa, BERT base): time does not depend on what the
weights have learned, except that RadGraph's depends on how many entities there are, so its scorers are set to
find about as many as in real reports. Peers run in an environment of their own ($RADGAUGE_PEERS, or built from
the package registry), one at a time, with as many threads as ours, and report their own seconds without
loading. Ratios above 1 mean that ours is faster; processor time is the fairer one on a busy machine.
Values of both are compared as well. With several systems of the same studies the peers are called once a system,
as their users do, and ours once for all.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "parity"))

import seeded  # noqa: E402
from environment import run_peer  # noqa: E402
from system_pairs import Pairs, real_pairs  # noqa: E402

import radgauge as rg  # noqa: E402
from radgauge.metrics.bertscore import BertScore  # noqa: E402
from radgauge.metrics.chexbert import Chexbert  # noqa: E402
from radgauge.metrics.radgraph import RadGraph  # noqa: E402
from radgauge.models.text import dygie  # noqa: E402

Times = tuple[float, float]
"""Seconds on the clock and of the processor."""


def times(found: list[dict[str, Any]]) -> Times:
    """What a peer measured of itself, over all its calls."""
    return sum(each["seconds"] for each in found), sum(each["processor"] for each in found)


def texts_of(systems: list[Pairs]) -> tuple[str, ...]:
    """All texts, with repetitions."""
    return tuple(text for pairs in systems for pair in pairs for text in pair)


def ours(metric: rg.Metric, systems: list[Pairs]) -> tuple[rg.Scores, Times]:
    """Scores and times of one call for all systems, with weights loaded and nothing read before."""
    cases = [
        rg.Case(str(i), a, (b,), system=str(n))
        for n, pairs in enumerate(systems)
        for i, (a, b) in enumerate(pairs)
    ]
    rg.score(cases[:2], [metric])
    started, spent = time.perf_counter(), time.process_time()
    scores = next(iter(rg.score(cases, [metric]).values()))
    return scores, (time.perf_counter() - started, time.process_time() - spent)


def peer(name: str, folder: Path, job: dict[str, Any]) -> dict[str, Any]:
    """What the peer found, with its own seconds."""
    (folder / "job.json").write_text(json.dumps({**job, "threads": torch.get_num_threads()}))
    run_peer(ROOT / "parity" / name / "peer.py", folder)
    found: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return found


def bertscore(folder: Path, systems: list[Pairs]) -> tuple[Times, Times, float]:
    """Times of theirs and ours, and the largest difference of a value."""
    size = dataclasses.replace(seeded.DISTIL, texts=texts_of(systems), merges=1500)
    seeded.encoder(folder / "encoder", size=size, positions=512)
    (folder / "baseline.tsv").write_text("LAYER,P,R,F\n" + "".join(f"{i},0.5,0.5,0.5\n" for i in range(7)))
    runs = {"run": {"encoder": "encoder", "layer": 5, "idf": False, "rescale": False}}
    theirs = [peer("bertscore", folder, {"pairs": pairs, "runs": runs})["run"] for pairs in systems]
    metric = BertScore(models=str(folder), encoder="encoder", layer=5, rescale=False, empty="zero")
    scores, seconds = ours(metric, systems)
    values = np.concatenate([each["values"][2] for each in theirs])
    return times(theirs), seconds, float(np.abs(scores.headline - values).max())


def chexbert(folder: Path, systems: list[Pairs]) -> tuple[Times, Times, float]:
    """The same for labels: the difference is in a system's micro F1 over 14."""
    seeded.chexbert(folder, size=dataclasses.replace(seeded.BASE, texts=texts_of(systems)))
    theirs = [peer("chexbert", folder, {"pairs": pairs, "labels": False}) for pairs in systems]
    metric = Chexbert(models=str(folder), empty="read")
    scores, seconds = ours(metric, systems)
    values = [metric.corpus_score(rows) for rows in np.split(scores.rows, len(systems))]
    apart = [abs(v - t["report_14"]["micro avg"]["f1-score"]) for v, t in zip(values, theirs, strict=True)]
    return times(theirs), seconds, max(apart)


def radgraph(folder: Path, systems: list[Pairs]) -> tuple[Times, Times, float]:
    """The same for graphs: the difference is in the rewards per pair."""
    texts = texts_of(systems)
    size = dataclasses.replace(seeded.BASE, texts=texts)
    shifts = calibrated(folder / "trial", size, texts[:: max(len(texts) // 100, 1)])
    with_pruner(seeded.radgraph(folder, size=size, shifts=shifts))
    job = {"network": "radgraph", "graphs": False}
    theirs = [peer("radgraph", folder, {**job, "pairs": pairs}) for pairs in systems]
    metric = RadGraph(models=str(folder), variant="simple")
    scores, seconds = ours(metric, systems)
    names = ("simple", "partial", "complete")
    mine = np.array([scores.column(f"radgraph_{name}") for name in names])
    items = metric.items(texts, reading=rg.Readings())
    words = sum(len(dygie.words_of(text, network="radgraph")) for text in texts)
    print(f"  distinct entities per word: {sum(len(each.entities) for each in items) / words:.2f}")
    apart = np.abs(mine - np.concatenate([each["rewards"] for each in theirs], axis=1)).max(axis=0)
    print(f"  pairs whose rewards differ by more than 1e-9: {(apart > 1e-9).sum()} of {len(apart)}")
    return times(theirs), seconds, float(apart.max())


def calibrated(folder: Path, size: seeded.Size, texts: tuple[str, ...]) -> list[tuple[float, ...]]:
    """Biases that leave about one span in twenty an entity (a third of the words) and one pair in ten related."""
    shifts: list[tuple[float, ...]] = [(0.0,) * 4, (0.0,) * 3]
    for stage, share in ((0, 0.05), (1, 0.1)):
        place = with_pruner(seeded.radgraph(folder, size=size, shifts=shifts))
        network = dygie.load_network.__wrapped__(str(place), "radgraph", str(folder), "cpu")
        seen: list[Any] = []
        plain = network._with_null

        def watched(logits: Any, wanted: int = stage + 2, plain: Any = plain, seen: list[Any] = seen) -> Any:
            if logits.dim() == wanted:
                seen.append(logits.reshape(-1, logits.shape[-1]))
            return plain(logits)

        network._with_null = watched
        network.graphs([dygie.words_of(text, network="radgraph") for text in texts])
        logits = torch.cat(seen)
        # Rounded, because a quantile is the score of some span, whose decision would then be a tie.
        shifts[stage] = tuple(round(x, 2) for x in logits.quantile(1 - share / logits.shape[1], dim=0).tolist())
    return shifts


def with_pruner(place: Path) -> Path:
    """Let the pruner see what the entity scorer sees, as in a trained network: drawn apart, it may drop all."""
    state = torch.load(place / "weights.th", weights_only=True)
    for name in [name for name in state if name.startswith("_relation._mention_pruners.")]:
        entity = name.replace("_relation._mention_pruners.", "_ner._ner_scorers.").replace("._scorer.", ".")
        weight = state[entity.replace("relation_labels", "ner_labels")]
        state[name] = weight.mean(dim=0, keepdim=True) if "_scorer.1." in name else weight
    torch.save(state, place / "weights.th")
    return place


def main() -> None:
    """Print a table of ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--systems", type=int, default=1, help="Share the pairs among this many systems.")
    parser.add_argument("--only", choices=["bertscore", "chexbert", "radgraph"])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    systems = real_pairs(options.data, options.pairs, options.systems)
    texts = texts_of(systems)
    print(
        f"{len(texts) // 2} pairs of {len(systems)} systems, {len(set(texts))} distinct texts of {len(texts)}, "
        f"{options.threads} threads"
    )
    runs = {"bertscore": bertscore, "chexbert": chexbert, "radgraph": radgraph}
    for name in [options.only] if options.only else runs:
        with tempfile.TemporaryDirectory() as temporary:
            theirs, mine, difference = runs[name](Path(temporary), systems)
        print(f"{name}: largest difference {difference:.1e}")
        for what, peer_time, own_time in zip(("clock", "processor"), theirs, mine, strict=True):
            line = (
                f"  {what:9} peer {peer_time:8.1f} s   ours {own_time:8.1f} s   ratio {peer_time / own_time:6.1f}"
            )
            print(line, flush=True)


if __name__ == "__main__":
    main()
