"""Five published metrics against their authors' packages: same weights, same pairs, one run.

    python benchmarks/published.py --data ../shared/data [--pairs 382] [--only bertscore] [--ways] [--write]
    python benchmarks/published.py --data ../shared/data --pairs 3056 --alone [--write]

`make bench-published` also makes the authors' environment (torch first, a few minutes, 2 GB). Checkpoints are
seeded and of the published sizes (DistilRoBERTa, BERT base, DeBERTa base): time does not depend on what weights
have learned, except by the number of entities, so the scorers of RadGraph and the classifier of RaTEScore are
set to find about as many as in real reports. Once with one system, the most varied, and once with eight on the
same studies, `--pairs` pairs each (of one system there are 382, of eight 3056): the packages are called once a
system, as their users do, radgauge once for all. Every run has a process of its own, which reports seconds
without loading and its peak memory; ours and theirs alternate. Then both are profiled on a quarter of the pairs.
`--ways` also measures one and two threads and two processes on that quarter, by the clock: for a machine that does
nothing else. `--alone` profiles our side, eight systems in one run, without the packages, which would take hours.
Ratios above 1 mean that ours is faster; processor time is the fairer one on a busy machine. `--write` puts the
figures into published.json, from which `docs/figures.py` writes docs/speed.md.
"""

from __future__ import annotations

import argparse
import cProfile
import dataclasses
import json
import os
import platform
import pstats
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
from environment import peer_python, run_peer  # noqa: E402
from system_pairs import Pairs, real_pairs  # noqa: E402
from timed import peak_memory, shares_of  # noqa: E402

import radgauge as rg  # noqa: E402
from radgauge.encoders.text import chexbert_network, dygie  # noqa: E402
from radgauge.encoders.text.ratener import LABELS, RateNer  # noqa: E402
from radgauge.metrics.bertscore import BertScore  # noqa: E402
from radgauge.metrics.chexbert import Chexbert  # noqa: E402
from radgauge.metrics.crepe import Crepe  # noqa: E402
from radgauge.metrics.radgraph import RadGraph  # noqa: E402
from radgauge.metrics.ratescore import RateScore  # noqa: E402

METRICS: dict[str, Callable[[str], rg.Metric]] = {
    "bertscore": lambda folder: BertScore(models=folder, encoder="encoder", layer=5, rescale=False, empty="zero"),
    "chexbert": lambda folder: Chexbert(models=folder, empty="read"),
    "radgraph": lambda folder: RadGraph(models=folder, variant="simple"),
    "ratescore": lambda folder: RateScore(models=folder, no_entities="published"),
    "crepe": lambda folder: Crepe(models=folder),
}
STAGES: dict[str, dict[str, tuple[tuple[str, str], ...]]] = {  # of our side, by file and function
    "bertscore": {
        "tokenizer": (("token_encoder.py", "ids"),),
        "network": (("sequences.py", "vectors"),),
        "matching": (("token_vectors.py", "greedy_match"),),
    },
    "chexbert": {"tokenizer": (("chexbert_network.py", "ids"),), "network": (("sequences.py", "vectors"),)},
    "radgraph": {
        "words and pieces": (("dygie.py", "words_of"), ("dygie.py", "_tokenize")),
        "network": (("sequences.py", "vectors"),),
        "spans and relations": (("dygie.py", "_decode"),),
    },
    "ratescore": {
        "sentences": (("rush.py", "rush_sentences"),),
        "entities": (("ratener.py", "entities"),),
        "vectors of names": (("encoders.py", "encode"),),
        "matching": (("pairing.py", "type_sums"),),
    },
    "crepe": {"tokenizer": (("crepe_network.py", "encode_pairs"),), "network": (("sequences.py", "vectors"),)},
}


def stages_of(profile: cProfile.Profile, name: str) -> dict[str, float]:
    """Which share of a run each step of our side took, with all that it calls."""
    profiled = pstats.Stats(profile)
    spent: dict[tuple[str, str], float] = {}
    for (file, _, function), (_, _, _, whole, _) in profiled.stats.items():  # type: ignore[attr-defined]
        place = Path(file).name, function
        spent[place] = max(spent.get(place, 0.0), whole)
    total = profiled.total_tt  # type: ignore[attr-defined]
    found = {
        stage: sum(spent.get(place, 0.0) for place in places) / total for stage, places in STAGES[name].items()
    }
    return {**found, "all else": 1 - sum(found.values())}


def texts_of(systems: list[Pairs]) -> tuple[str, ...]:
    """All texts, with repetitions."""
    return tuple(text for pairs in systems for pair in pairs for text in pair)


def work_of(name: str, folder: Path, systems: list[Pairs]) -> dict[str, float]:
    """Gflop of the linear layers for all texts, and for the distinct ones alone; none where sentences are read.

    Distinct ones are what our side computes, and of CheXbert's last layer the keys and values only.
    """
    metric = METRICS[name](str(folder))
    if isinstance(metric, BertScore):
        layers, last = 5.0, 5.0
        reader = metric._reader()

        def size(text: str) -> int:
            return len(reader.keys([text])[0])

    elif name == "chexbert":
        layers, last = 12.0, 11 + 1 / 6
        files = chexbert_network.chexbert_reader(str(folder))
        labeler = chexbert_network._load(files.weights, files.tokenizer, "cpu")

        def size(text: str) -> int:
            return min(len(labeler.ids(text)), chexbert_network.LIMIT - 2) + 2

    elif name == "radgraph":
        layers, last = 12.0, 12.0
        graphs = dygie.graph_reader("radgraph", models=str(folder))
        network = dygie.load_network(graphs.archive, graphs.network, graphs.vocabulary, "cpu")

        def size(text: str) -> int:
            words = dygie.words_of(text, network="radgraph")
            network._tokenize(set(words))
            return sum(len(network._pieces[word]) for word in words) + 2

    else:
        return {}
    each = 2 * 12 * seeded.BASE.hidden**2 / 1e9  # of a token in a layer
    texts = texts_of(systems)
    sizes = {text: size(text) for text in dict.fromkeys(texts)}
    return {
        "all": each * layers * sum(sizes[text] for text in texts),
        "distinct": each * last * sum(sizes.values()),
    }


def ours(name: str, folder: Path, job_file: Path) -> None:
    """Score a job in this process, with weights loaded and nothing read before; the result goes beside the job."""
    job = json.loads(job_file.read_text())
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
    scores = next(iter(rg.score(cases, [metric]).judges.values()))
    profile.disable()
    result: dict[str, Any] = {"clock": time.perf_counter() - started, "processor": time.process_time() - busy}
    result["peak"] = peak_memory()
    result["shares"] = shares_of(profile) if job["profile"] else {}
    result["stages"] = stages_of(profile, name) if job["profile"] else {}
    if name == "chexbert":
        result["values"] = [metric.corpus_score(rows) for rows in np.split(scores.rows, len(job["systems"]))]
    elif name == "radgraph":
        kinds = ("simple", "partial", "complete")
        result["values"] = [scores.column(f"radgraph_{kind}").tolist() for kind in kinds]
        texts = [text for pairs in job["systems"] for side in zip(*pairs, strict=True) for text in side]
        result["graphs"] = dygie.graph_reader("radgraph", models=str(folder)).read(texts)
    else:
        result["values"] = scores.headline.tolist()
    job_file.with_suffix(".result").write_text(json.dumps(result))


def run(name: str, folder: Path, systems: list[Pairs], *, threads: int, peer: bool, profile: bool = False) -> Any:
    """One process of ours or theirs on a job."""
    job = folder / "job.json"
    job.write_text(json.dumps({"systems": systems, "threads": threads, "profile": profile}))
    if peer:
        run_peer(ROOT / "parity" / "timed.py", folder, name)
        return json.loads((folder / "result.json").read_text())
    subprocess.run([sys.executable, __file__, "--one", name, str(folder), str(job)], check=True)
    return json.loads(job.with_suffix(".result").read_text())


def compared(name: str, folder: Path, systems: list[Pairs], *, threads: int) -> dict[str, Any]:
    """Ours and theirs on the same pairs: times, peaks, the largest difference of a value."""
    mine = run(name, folder, systems, threads=threads, peer=False)
    theirs = run(name, folder, systems, threads=threads, peer=True)
    values = [each["values"] for each in theirs["systems"]]
    graphs: dict[str, int] = {}
    if name == "radgraph":
        graphs = same_graphs(mine["graphs"], [graph for each in values for graph in each["graphs"]])
        values = [each["rewards"] for each in values]
    expected = np.array(values) if name == "chexbert" else np.concatenate(values, axis=-1)
    apart = np.abs(np.asarray(mine["values"]) - expected)
    spent = {kind: sum(each[kind] for each in theirs["systems"]) for kind in ("clock", "processor")}
    return {
        "ours": {kind: mine[kind] for kind in ("clock", "processor", "peak")},
        "peer": {**spent, "peak": theirs["peak"]},
        "difference": float(apart.max()),
        "beyond": int((apart > 1e-5).sum()),
        "values": int(apart.size),
        **graphs,
    }


def same_graphs(mine: list[Any], theirs: list[Any]) -> dict[str, int]:
    """How many graphs there are, how many of them are not the same, and what is in them."""
    entities = [entity for graph in theirs for entity in graph["entities"].values()]
    return {
        "graphs": len(theirs),
        "graphs_apart": sum(a != b for a, b in zip(mine, theirs, strict=True)),
        "entities": len(entities),
        "relations": sum(len(entity["relations"]) for entity in entities),
    }


def ways(name: str, folder: Path, pairs: Pairs) -> dict[str, float]:
    """Seconds by the clock with one thread, two threads, and two processes of a thread each (ours)."""
    found = {}
    for threads in (1, 2):
        told = "one thread" if threads == 1 else "two threads"
        found[told] = run(name, folder, [pairs], threads=threads, peer=False)["clock"]
        theirs = run(name, folder, [pairs], threads=threads, peer=True)["systems"]
        found[f"package, {told}"] = sum(each["clock"] for each in theirs)
    halves, started = [], []
    for number in (0, 1):
        job = folder / f"half{number}.json"
        job.write_text(json.dumps({"systems": [pairs[number::2]], "threads": 1, "profile": False}))
        halves.append(job)
        command = [sys.executable, __file__, "--one", name, str(folder), str(job)]
        started.append(subprocess.Popen(command))
    if any(process.wait() for process in started):
        raise SystemExit(f"{name}: a process failed")
    found["two processes"] = max(json.loads(job.with_suffix(".result").read_text())["clock"] for job in halves)
    return found


def alone(name: str, folder: Path, systems: list[Pairs], threads: int) -> dict[str, Any]:
    """Our side on many pairs, under a profiler."""
    load = os.getloadavg()[0]
    found = run(name, folder, systems, threads=threads, peer=False, profile=True)
    kept = {kind: found[kind] for kind in ("clock", "processor", "peak", "shares", "stages")}
    kept["pairs"], kept["distinct"] = sum(map(len, systems)), len(set(texts_of(systems)))
    kept["load"] = max(load, os.getloadavg()[0])
    print(
        f"{name:10} {len(systems)} systems, {kept['pairs']} pairs ({kept['distinct']} distinct texts), ours "
        f"alone: {kept['processor']:.1f} s ({kept['clock']:.1f} by the clock, {kept['peak']:.0f} MB)\n"
        f"  {told_shares(kept['shares'])}\n  by step: {told_shares(kept['stages'])}\n  load {kept['load']:.1f}",
        flush=True,
    )
    return kept


def told_shares(shares: dict[str, float]) -> str:
    """For a line of the output."""
    return ", ".join(f"{part} {share:.0%}" for part, share in shares.items())


def build(name: str, folder: Path, texts: tuple[str, ...]) -> None:
    """The seeded checkpoints of a metric."""
    if name == "bertscore":
        size = dataclasses.replace(seeded.DISTIL, texts=texts, merges=1500)
        seeded.encoder(folder / "encoder", size=size, positions=512)
    elif name == "chexbert":
        seeded.chexbert(folder, size=dataclasses.replace(seeded.BASE, texts=texts))
    elif name == "crepe":
        seeded.crepe(folder, size=dataclasses.replace(seeded.BASE, texts=texts))
    elif name == "radgraph":
        size = dataclasses.replace(seeded.BASE, texts=texts)
        shifts = calibrated(folder / "trial", size, texts[:: max(len(texts) // 40, 1)])
        as_if_trained(seeded.radgraph(folder, size=size, shifts=shifts))
    else:
        words = checkpoints.words_of(texts)
        checkpoints.build_encoder(folder / "BioLORD-2023-C", words=words, size=checkpoints.BASE)
        ner = checkpoints.build_ner(folder / "RaTE-NER-Deberta", words=words, size=checkpoints.BASE)
        with_entities(ner, texts[:: max(len(texts) // 40, 1)])


def with_entities(folder: Path, texts: tuple[str, ...]) -> None:
    """Set the biases of a tagger so that every label occurs and about four tokens in ten are of an entity."""
    from safetensors.torch import load_file, save_file

    from radgauge.encoders.text import ratener

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
    """Biases of the scorers that make 6 spans in a hundred entities and relate 8 pairs of entities in a hundred.

    That is about 20 entities and 10 relations in a report of 45 words, as RadGraph finds in reports of this kind.
    """
    shifts: list[tuple[float, ...]] = [(0.0,) * 4, (0.0,) * 3]
    for stage, share in ((0, 0.06), (1, 0.08)):
        place = as_if_trained(seeded.radgraph(folder, size=size, shifts=shifts))
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


def as_if_trained(place: Path) -> Path:
    """Make decisions depend on words, as in a trained network; a seeded one says the same of a whole report.

    Attention is damped, without which the words of a report come out alike, and the pruner sees what the entity
    scorer sees: drawn apart, it may drop all entities. Neither changes how much there is to compute.
    """
    state = torch.load(place / "weights.th", weights_only=True)
    for name in state:
        if name.endswith("attention.output.dense.weight"):
            state[name] *= 0.1
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
    graphs = ""
    if "graphs" in found:
        graphs = (
            f"; {found['graphs_apart']} of {found['graphs']} graphs differ, "
            f"{found['entities'] / found['graphs']:.1f} entities and "
            f"{found['relations'] / found['graphs']:.1f} relations a report"
        )
    return (
        f"{name:10} {systems} system{'s' if systems > 1 else ' '}: {'  '.join(sides)}  "
        f"ratio {processor:.1f} ({clock:.1f})  largest difference {found['difference']:.1e}, "
        f"{found['beyond']} of {found['values']} values beyond 1e-5{graphs}"
    )


def main() -> None:
    """Print a line per metric and number of systems, and the shares of a profile."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--pairs", type=int, default=382, help="In each run; eight systems share them.")
    parser.add_argument("--eight", type=int, help="Other than --pairs for the run of eight systems.")
    parser.add_argument("--only", choices=list(METRICS), action="append")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--checkpoints", type=Path, help="Keep the seeded checkpoints here for the next run.")
    parser.add_argument("--write", action="store_true", help="Keep the figures for the documentation.")
    parser.add_argument("--ways", action="store_true", help="Also threads against processes, by the clock.")
    parser.add_argument("--alone", action="store_true", help="Profile our side only, eight systems.")
    parser.add_argument("--one", nargs=3, metavar=("METRIC", "FOLDER", "JOB"), help="Our side of a run.")
    options = parser.parse_args()
    if options.one:
        ours(options.one[0], Path(options.one[1]), Path(options.one[2]))
        return
    if not options.alone:
        peer_python()  # made now, so that nothing is measured while packages are installed
    sizes = {1: options.pairs, 8: options.eight or options.pairs}
    jobs = {count: real_pairs(options.data, pairs, count) for count, pairs in sizes.items()}
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
            if options.alone:
                kept["metrics"].setdefault(name, {})["alone"] = alone(name, folder, jobs[8], options.threads)
                if options.write:
                    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
                continue
            found = {str(n): compared(name, folder, jobs[n], threads=options.threads) for n in jobs}
            some = [pairs[: max(len(pairs) // 4, 1)] for pairs in jobs[1]]
            both = {"ours": False, "peer": True}
            profiles = {
                who: run(name, folder, some, threads=options.threads, peer=peer, profile=True)
                for who, peer in both.items()
            }
            work = work_of(name, folder, jobs[1])
            clocks = ways(name, folder, some[0]) if options.ways else {}
        for count, each in found.items():
            print(told(name, int(count), each), flush=True)
        for who, profiled in profiles.items():
            print(f"  {who}: {told_shares(profiled['shares'])}", flush=True)
        print(f"  ours, by step: {told_shares(profiles['ours']['stages'])}", flush=True)
        if clocks:
            print(
                "  by the clock: " + ", ".join(f"{way} {spent:.1f} s" for way, spent in clocks.items()), flush=True
            )
        load = max(load, os.getloadavg()[0])
        print(f"  load average {load:.1f} on {os.cpu_count()} cores", flush=True)
        held = kept["metrics"].get(name, {})
        kept["metrics"][name] = {
            **({"alone": held["alone"]} if "alone" in held else {}),
            "systems": found,
            "work": work,
            "shares": profiles["ours"]["shares"],
            "stages": profiles["ours"]["stages"],
            "peer_shares": profiles["peer"]["shares"],
            "ways": clocks,
            "load": load,
            "facts": facts,
        }
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
