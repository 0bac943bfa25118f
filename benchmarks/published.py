"""BERTScore, CheXbert, RadGraph and RaTEScore against their authors' packages: same weights, same pairs, one run.

    python benchmarks/published.py --data ../shared/data [--pairs 382] [--only bertscore] [--write]

`make bench-published` also makes the authors' environment (torch first, a few minutes, 3 GB). Checkpoints are
seeded and of the published sizes (DistilRoBERTa, BERT base, DeBERTa base): time does not depend on what weights
have learned, except by the number of entities, so the scorers of RadGraph and the classifier of RaTEScore are
set to find about as many as in real reports. Once with one system, the most varied, and once with eight on the
same studies, `--pairs` pairs each: the packages are called once a system, as their users do, radgauge once for
all. Every run has a process of its own, which reports seconds without loading and its peak memory; ours and
theirs alternate. Ratios above 1 mean that ours is faster; processor time is the fairer one on a busy machine.
`--write` puts the figures into published.json, from which `docs/figures.py` writes docs/speed.md.
"""

from __future__ import annotations

import argparse
import cProfile
import dataclasses
import json
import os
import platform
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_suffix(".json")
sys.path[:0] = [str(ROOT / "parity"), str(ROOT / "parity" / "ratescore")]

import checkpoints  # noqa: E402
import seeded  # noqa: E402
from environment import run_peer  # noqa: E402
from system_pairs import Pairs, real_pairs  # noqa: E402

import radgauge as rg  # noqa: E402
from radgauge.metrics.bertscore import BertScore  # noqa: E402
from radgauge.metrics.chexbert import Chexbert  # noqa: E402
from radgauge.metrics.radgraph import RadGraph  # noqa: E402
from radgauge.metrics.ratescore import RateScore  # noqa: E402
from radgauge.models.text import dygie  # noqa: E402
from radgauge.models.text.ratener import LABELS, RateNer  # noqa: E402

METRICS: dict[str, Callable[[str], rg.Metric]] = {
    "bertscore": lambda folder: BertScore(
        models=folder, encoder="encoder", layer=5, rescale=False, empty="zero"
    ),
    "chexbert": lambda folder: Chexbert(models=folder, empty="read"),
    "radgraph": lambda folder: RadGraph(models=folder, variant="simple"),
    "ratescore": lambda folder: RateScore(models=folder, no_entities="published"),
}
AIMS = {"bertscore": 2.5, "chexbert": 4.0, "radgraph": 5.0, "ratescore": 5.0}
PARTS = {  # of a profile, by the name of the function
    "matrix products": ("torch._C._nn.linear", "method 'matmul'", "built-in method torch.matmul"),
    "attention": ("scaled_dot_product_attention", "_by_distance", "index_select"),
    "other tensor work": ("torch", "Tensor"),
    "tokenizer": ("tokenizers.Tokenizer", "tokenization_"),
}


def texts_of(systems: list[Pairs]) -> tuple[str, ...]:
    """All texts, with repetitions."""
    return tuple(text for pairs in systems for pair in pairs for text in pair)


def ours(name: str, folder: Path) -> None:
    """Score the job of a folder in this process, with weights loaded and nothing read before; print the result."""
    job = json.loads((folder / "job.json").read_text())
    torch.set_num_threads(job["threads"])
    metric = METRICS[name](str(folder))
    cases = [
        rg.Case(str(i), a, (b,), system=str(n))
        for n, pairs in enumerate(job["systems"])
        for i, (a, b) in enumerate(pairs)
    ]
    rg.score(cases[:1], [metric])
    profile = cProfile.Profile()
    started, busy = time.perf_counter(), time.process_time()
    if job["profile"]:
        profile.enable()
    scores = next(iter(rg.score(cases, [metric]).values()))
    profile.disable()
    spent = {"clock": time.perf_counter() - started, "processor": time.process_time() - busy}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if name == "chexbert":
        values = [metric.corpus_score(rows) for rows in np.split(scores.rows, len(job["systems"]))]
    elif name == "radgraph":
        values = [scores.column(f"radgraph_{kind}").tolist() for kind in ("simple", "partial", "complete")]
    else:
        values = scores.headline.tolist()
    shares = shares_of(profile) if job["profile"] else {}
    (folder / "result.json").write_text(json.dumps({**spent, "peak": peak, "values": values, "shares": shares}))


def shares_of(profile: cProfile.Profile) -> dict[str, float]:
    """How the time of a run divides; a function counts for the first part that knows its name."""
    found = dict.fromkeys([*PARTS, "Python"], 0.0)
    for (file, _, function), (_, _, own, _, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        name = f"{file} {function}"
        part = next((part for part, marks in PARTS.items() if any(mark in name for mark in marks)), "Python")
        found[part] += own
    total = sum(found.values())
    return {part: seconds / total for part, seconds in found.items()}


def run(name: str, folder: Path, systems: list[Pairs], *, threads: int, peer: bool, profile: bool = False) -> Any:
    """One process of ours or theirs on a job."""
    (folder / "job.json").write_text(json.dumps({"systems": systems, "threads": threads, "profile": profile}))
    if peer:
        run_peer(ROOT / "parity" / "timed.py", folder, name)
    else:
        subprocess.run([sys.executable, __file__, "--one", name, str(folder)], check=True)
    return json.loads((folder / "result.json").read_text())


def compared(name: str, folder: Path, systems: list[Pairs], *, threads: int) -> dict[str, Any]:
    """Ours and theirs on the same pairs: times, peaks, the largest difference of a value."""
    mine = run(name, folder, systems, threads=threads, peer=False)
    theirs = run(name, folder, systems, threads=threads, peer=True)
    values = [each["values"] for each in theirs["systems"]]
    if name == "chexbert":
        expected = np.array(values)
    else:
        expected = np.concatenate([np.asarray(each) for each in values], axis=-1)
    apart = np.abs(np.asarray(mine["values"]) - expected)
    spent = {kind: sum(each[kind] for each in theirs["systems"]) for kind in ("clock", "processor")}
    return {
        "ours": {kind: mine[kind] for kind in ("clock", "processor", "peak")},
        "peer": {**spent, "peak": theirs["peak"]},
        "difference": float(apart.max()),
        "beyond": int((apart > 1e-5).sum()),
        "values": int(apart.size),
    }


def build(name: str, folder: Path, texts: tuple[str, ...]) -> None:
    """The seeded checkpoints of a metric."""
    if name == "bertscore":
        size = dataclasses.replace(seeded.DISTIL, texts=texts, merges=1500)
        seeded.encoder(folder / "encoder", size=size, positions=512)
    elif name == "chexbert":
        seeded.chexbert(folder, size=dataclasses.replace(seeded.BASE, texts=texts))
    elif name == "radgraph":
        size = dataclasses.replace(seeded.BASE, texts=texts)
        shifts = calibrated(folder / "trial", size, texts[:: max(len(texts) // 40, 1)])
        with_pruner(seeded.radgraph(folder, size=size, shifts=shifts))
    else:
        words = checkpoints.words_of(texts)
        checkpoints.build_encoder(folder / "BioLORD-2023-C", words=words, size=checkpoints.BASE)
        ner = checkpoints.build_ner(folder / "RaTE-NER-Deberta", words=words, size=checkpoints.BASE)
        with_entities(ner, texts[:: max(len(texts) // 40, 1)])


def with_entities(folder: Path, texts: tuple[str, ...]) -> None:
    """Set the biases of a tagger so that every label occurs and about four tokens in ten are of an entity."""
    from safetensors.torch import load_file, save_file

    from radgauge.models.text import ratener

    network = ratener._load(str(folder), "cpu")
    state = load_file(folder / "model.safetensors")
    weight = state["classifier.weight"]
    ids = network.tokenizer(list(texts), truncation=True, max_length=512)["input_ids"]
    logits = torch.cat(network.encoder.vectors(ids)) @ weight.T
    bias = -logits.mean(dim=0)
    none = LABELS.index("O")
    others = [at for at in range(len(LABELS)) if at != none]
    ahead = (logits + bias)[:, others].max(dim=1).values - logits[:, none]
    bias[none] = ahead.quantile(0.6)
    state["classifier.bias"] = bias
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    ratener._load.cache_clear()
    found = [entity.type for each in RateNer(str(folder)).read(texts[:20]) for entity in each]
    print(f"  {len(found) / 20:.1f} entities a report of {len(set(found))} types", flush=True)


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


def told(name: str, systems: int, found: dict[str, Any]) -> str:
    """A line of the table."""
    mine, theirs = found["ours"], found["peer"]
    clock, processor = (theirs[kind] / mine[kind] for kind in ("clock", "processor"))
    sides = (
        f"{who} {side['processor']:7.1f} s ({side['clock']:.1f} by the clock, {side['peak']:.0f} MB)"
        for who, side in (("peer", theirs), ("ours", mine))
    )
    return (
        f"{name:10} {systems} system{'s' if systems > 1 else ' '}: {'  '.join(sides)}  "
        f"ratio {processor:.1f} ({clock:.1f})  largest difference {found['difference']:.1e}, "
        f"{found['beyond']} of {found['values']} values beyond 1e-5"
    )


def main() -> None:
    """Print a line per metric and number of systems, and the shares of a profile."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--pairs", type=int, default=382, help="In each run; eight systems share them.")
    parser.add_argument("--only", choices=list(METRICS), action="append")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--checkpoints", type=Path, help="Keep the seeded checkpoints here for the next run.")
    parser.add_argument("--write", action="store_true", help="Keep the figures for the documentation.")
    parser.add_argument("--one", nargs=2, metavar=("METRIC", "FOLDER"), help="Our side of a run.")
    options = parser.parse_args()
    if options.one:
        ours(options.one[0], Path(options.one[1]))
        return
    jobs = {count: real_pairs(options.data, options.pairs, count) for count in (1, 8)}
    facts = {
        "pairs": {count: sum(map(len, systems)) for count, systems in jobs.items()},
        "distinct": {count: len(set(texts_of(systems))) for count, systems in jobs.items()},
        "threads": options.threads,
        "cores": os.cpu_count(),
        "processor": processor_name(),
        "torch": torch.__version__,
    }
    print(facts)
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"metrics": {}}
    for name in options.only or METRICS:
        with tempfile.TemporaryDirectory() as temporary:
            folder = (options.checkpoints or Path(temporary)) / name
            if not (folder / "built").exists():
                build(name, folder, texts_of(real_pairs(options.data, 382 * 8, 8)))
                (folder / "built").touch()
            load = os.getloadavg()[0]
            found = {str(n): compared(name, folder, jobs[n], threads=options.threads) for n in jobs}
            some = [pairs[: max(len(pairs) // 4, 1)] for pairs in jobs[1]]
            shares = run(name, folder, some, threads=options.threads, peer=False, profile=True)["shares"]
        for count, each in found.items():
            print(told(name, int(count), each), flush=True)
        print("  " + ", ".join(f"{part} {share:.0%}" for part, share in shares.items()), flush=True)
        load = max(load, os.getloadavg()[0])
        print(f"  load average {load:.1f} on {os.cpu_count()} cores", flush=True)
        kept["metrics"][name] = {"systems": found, "shares": shares, "load": load, "facts": facts}
        if options.write:
            RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


def processor_name() -> str:
    """As the system names it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    found = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return found or platform.processor()


if __name__ == "__main__":
    main()
