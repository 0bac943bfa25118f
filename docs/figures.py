"""Write the figures of the documentation: `make figures`, or `python docs/figures.py DATA [NAME ...]`.

A page marks what is computed: everything between `<!-- figures:NAME -->` and `<!-- /figures -->` is written by the
function of that name here, never by hand. DATA is the folder with the development data, which is not part of the
repository; `pytest -m nightly tests/test_figures.py` tells whether the pages still say what comes out.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tempfile
import textwrap
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import radgauge as rg
from radgauge.analysis.perturb import KINDS, Delta, SensitivityStudy, evaluate, make_triples, perturb_reports
from radgauge.analysis.triple_accuracy import triple_accuracy
from radgauge.core.wording import number, p_value, share
from radgauge.encoders.text.chexbert_labels import POSITIVE, UNCERTAIN, condition_codes
from radgauge.io.case_files import read_references
from radgauge.lab.training.clusters import cluster_terms
from radgauge.lab.training.pairs import build_pairs
from radgauge.lab.training.term_reports import read_term_reports
from radgauge.lay.build import build_sets
from radgauge.lay.encoder import FindingEncoder
from radgauge.lay.refine import Refinement
from radgauge.lay.translators import EmbeddedTranslator
from radgauge.samples import sample_reports_path
from radgauge.stats import Interval
from radgauge.stats.resampling import Resampling

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "reproduce"))

from layman_rrg.plots import growth_curves  # noqa: E402  # a script's module, found by the line above
from layman_rrg.training import Size, TrainingRun, training_runs  # noqa: E402

BLOCK = re.compile(r"(<!-- figures:([\w-]+) -->\n)(.*?)(<!-- /figures -->)", re.DOTALL)
METRICS = (
    *("errors", "radcliq", "radgraph", "chexbert", "chexbert_similarity", "ratescore", "bertscore"),
    *("bleu", "rouge", "cider"),
)
RESAMPLES = 3000


def _leading(lines: Mapping[tuple[str, str], Interval], column: str) -> Interval:
    """Agreement with the rating; of counts, which are compared with counts alone, with the first of these."""
    return next(
        lines[column, target] for target in ("rating", "total", "significant") if (column, target) in lines
    )


def align_radpref(data: Path, *, resamples: int = RESAMPLES) -> str:
    """Agreement of the metrics that run anywhere with the radiologists of RadPref's development half."""
    judgments = rg.read_judgments(data / "radpref_dev" / "radpref_dev.json")
    found = rg.agree(rg.score(judgments.cases, METRICS), judgments, resamples=resamples)
    targets = {"rating": "rating", "total": "errors", "significant": "significant errors"}
    lines = {(line.column, line.target): line.correlation.interval for line in found.lines}
    columns = sorted({column for column, _ in lines}, key=lambda column: -_leading(lines, column).value)
    clusters = {each.name: each.cluster for each in found.ranking.judges} if found.ranking else {}
    rows = [
        f"| metric | {' | '.join(targets.values())} | preferred | cluster |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for column in columns:
        cells = [_cell(lines[column, t]) if (column, t) in lines else "–" for t in targets]
        preferred = share(found.preferences[column].interval.value, 0) if column in found.preferences else "–"
        rows.append(f"| `{column}` | {' | '.join(cells)} | {preferred} | {clusters.get(column, '–')} |")
    ceilings = {ceiling.target: ceiling.leave_one_out.mean for ceiling in found.ceilings}
    cells = [_cell(ceilings[target]) for target in targets]
    rows.append(f"| *one radiologist against the others* | {' | '.join(cells)} | | |")
    told = 0
    if found.ranking is not None:
        p = found.ranking.p_adjusted
        told = int((p[np.triu_indices(len(p), 1)] < 0.05).sum())
    every = len(columns) * (len(columns) - 1) // 2
    few = f"With {found.cases} reports most metrics cannot be told apart"
    said = f"{few}: {told} of {every} pairs differ after Holm's correction."
    return "\n".join([*rows, "", said]) + "\n"


NAMES = {
    "errors": "errors",
    "radcliq": "RadCliQ-v1 ↓",
    "radgraph": "RadGraph F1",
    "chexbert": "CheXbert F1",
    "ratescore": "RaTEScore",
    "bertscore": "BERTScore",
    "bleu": "BLEU-4",
    "rouge": "ROUGE-L",
}
LINES = {
    "pathology removal": "pathology removal",
    "pathology removal, against normal sentences": "pathology removal, against normal sentences",
    "location": "location",
    "severity": "severity",
    "opposite, against rewrite": "opposite",
}


def perturb_samples(_: Path, *, permutations: int = 5000, resamples: int = 1000) -> str:
    """The perturbation study of the sample reports: what was possible, means, differences, triples."""
    texts = _reports(sample_reports_path())
    study = _study(texts, permutations, resamples)
    few = {kind: count for kind, count in study.none_possible.items() if count > 3}
    listed = ", ".join(f"`{kind}` {few[kind]}" for kind in sorted(few, key=lambda kind: -few[kind]))
    heads = [NAMES[metric.judge] for metric in study.metrics]
    means = [f"| kind | n | {' | '.join(heads)} |", f"|---|---|{'---|' * len(heads)}"]
    for kind, count in study.possible.items():
        if count:
            cells = (number(metric.means[kind].value, 2) for metric in study.metrics)
            means.append(f"| `{kind}` | {count} | {' | '.join(cells)} |")
    triples = make_triples(texts).triples
    right = triple_accuracy(triples, list(NAMES))
    told = sorted(zip(NAMES.values(), right, strict=True), key=lambda each: -each[1].accuracy)
    said = ", ".join(f"{number(each.accuracy)} for {name.removesuffix(' ↓')}" for name, each in told)
    return "\n".join(
        [
            _wrapped(
                f"{len(texts)} invented reports, seed 0. *None possible* (reports): {listed}; others 3 or fewer."
            ),
            "",
            "Mean scores (embedded models where a metric has any; RadCliQ: lower is better):",
            "",
            *means,
            "",
            *_differences(study),
            "",
            "Left to harmless changes, on the scale of robustness:",
            "",
            *_robustness(study),
            "",
            _wrapped(
                f"Triples ({len(triples)} of {len(texts)}): the rewrite scores above the opposite in {said}."
            ),
            "",
        ]
    )


def perturb_indiana(data: Path, *, reports: int = 1000, permutations: int = 5000, resamples: int = 1000) -> str:
    """The same differences on findings of Indiana University."""
    every = _reports(data / "iu_xray" / "indiana_reports.csv", section="findings")
    texts = dict(list(every.items())[:reports])
    study = _study(texts, permutations, resamples)
    pairs = ", ".join(f"{NAMES[each.judge].removesuffix(' ↓')} {each.pairs:,}" for each in study.metrics)
    held = study.possible["remove_insignificant"]
    head = (
        f"The first {len(texts):,} studies with findings, seed 0; {held} of them hold an insignificant sentence."
    )
    return "\n".join([head, "", *_differences(study), "", _wrapped(f"Pairs ranked: {pairs}."), ""])


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def _reports(path: Path, section: str | None = None) -> dict[str, str]:
    found = read_references(path, section=section).cases
    return {case.id: case.references[0] for case in found if case.references and case.references[0].strip()}


def _study(texts: Mapping[str, str], permutations: int, resamples: int) -> SensitivityStudy:
    perturbations = perturb_reports(texts, seed=0)
    how = Resampling(resamples=resamples)
    return evaluate(perturbations, list(NAMES), permutations=permutations, resampling=how)


def _differences(study: SensitivityStudy) -> list[str]:
    heads = [NAMES[metric.judge].removesuffix(" ↓") for metric in study.metrics]
    rows = [f"| | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
    for key, name in LINES.items():
        found = [metric.deltas[key] for metric in study.metrics]
        if all(np.isnan(each.value) for each in found):
            continue
        rows.append(f"| {name} | {' | '.join(map(_difference, found))} |")
    right = (f"{number(m.ranked_right.value, 2)} {_bounds(m.ranked_right)}" for m in study.metrics)
    for name in ("sensitivity", "robustness"):
        values = [getattr(metric, name) for metric in study.metrics]
        rows.append(f"| {name} | {' | '.join(f'{number(v.value, 2)} {_bounds(v)}' for v in values)} |")
    rows.append(f"| ranked right | {' | '.join(right)} |")
    rows.append(f"| ties | {' | '.join(number(metric.ties, 2) for metric in study.metrics)} |")
    return rows


def _robustness(study: SensitivityStudy) -> list[str]:
    heads = [NAMES[metric.judge].removesuffix(" ↓") for metric in study.metrics]
    rows = [f"| kind | n | {' | '.join(heads)} |", f"|---|---|{'---|' * len(heads)}"]
    for kind, count in study.possible.items():
        if count and KINDS[kind].harmless:
            cells = (number(metric.kept[kind].value, 2) for metric in study.metrics)
            rows.append(f"| `{kind}` | {count} | {' | '.join(cells)} |")
    return rows


def _difference(found: Delta) -> str:
    if np.isnan(found.value):
        return "–"
    chance = "" if found.p_holm < 0.01 else f" (p {p_value(found.p_holm)})"
    return f"{number(found.value, 2)} {_bounds(found)}{chance}"


def _bounds(found: object) -> str:
    low, high = getattr(found, "low"), getattr(found, "high")  # noqa: B009
    return f"[{number(low, 2)}, {number(high, 2)}]"


def layman_collapse(data: Path) -> str:
    """How alike the reports of four public generators are."""
    names = {"cvt2distilgpt2": "CvT2DistilGPT2", "moerad": "MoERad", "hi_ia": "HI-IA", "aamn": "AAMN"}
    table = data / "iu_xray_systems" / "test590_systems.csv"
    cases = rg.read_cases(table, candidate_columns=_systems(table)).cases
    runs = training_runs(cases, resampling=Resampling(resamples=200))
    rows = [
        "| system | pairwise similarity | of the references | distinct reports | of the references | collapsed |"
    ]
    rows.append("|---|---:|---:|---:|---:|---|")
    for run in runs:
        cells = (
            names.get(run.system, run.system),
            *(number(value, 2) for value in (run.pairwise.value, run.pairwise_references)),
            *(share(run.distinct), share(run.distinct_references, 0), "yes" if run.collapsed else "no"),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _systems(table: Path) -> list[str]:
    with table.open(encoding="utf-8") as file:
        header = next(file).strip().split(",")
    return [name for name in header if name not in ("id", "uid") and not name.startswith("reference")]


def layman_sets(data: Path) -> str:
    """What the embedded writer makes of the Indiana findings."""
    texts = _reports(data / "iu_xray" / "indiana_reports.csv", section="findings")
    encoder = FindingEncoder()
    how = Refinement(EmbeddedTranslator(), ("fidelity",), encoder)
    with tempfile.TemporaryDirectory() as name:
        built = build_sets(texts, Path(name), how=how, encoder=encoder)
    reasons = ", ".join(
        f"{count} {why}" for why, count in sorted(built.reasons.items(), key=lambda each: -each[1])
    )
    said = (
        f"Findings of {built.reports:,} Indiana reports, embedded writer and fidelity: "
        f"{built.sentences:,} sentences, {built.distinct:,} distinct, {built.kept:,} kept, {built.pairs:,} "
        f"accepted ({share(built.pairs / built.kept)}; not accepted: {reasons}); all {built.translated_too:,} "
        f"near-copies were written themselves; {built.lay_reports:,} reports have a complete lay version. "
        f"Of {built.said:,} sentences {built.translated:,} "
        f"({share(built.translated / built.said)}) have a lay text."
    )
    return _wrapped(said) + "\n"


BEDS = {
    "own beds": "own: the two test beds",
    "own beds, unseen": "own: the smaller beds (`--unseen`)",
    "lay_validation": "own: varied pairs (`tests/data/lay_validation`)",
    "own triples": "own: right and wrong plain versions (`tests/data/lay_triples`)",
    "others' triples": "**others': right and wrong plain versions** (`judged/lay_triples`)",
    "held-out triples": "**others', held out, in view since a rule was chosen** (`benchmarks/held_out/third`)",
}


def layman_beds(data: Path) -> str:
    """How often lay semantics rank the same meaning above another one, on our pairs and on other people's."""
    rows = ["| pairs | same, other | semantics, lay | `layman_similarity` |", "|---|---|---|---|"]
    for name, same, other, shares in _benchmark("lay_robustness").semantics(data):
        cells = [share(each) for each in (shares["semantics"], shares["similarity"])]
        told = [f"**{each}**" if "others" in BEDS[name] else each for each in cells]
        rows.append(f"| {BEDS[name]} | {same}, {other} | {' | '.join(told)} |")
    return "\n".join(rows) + "\n"


def layman_replacement(data: Path) -> str:
    """What lay replacement does to BLEU of related and unrelated reports, and to agreement with ratings."""
    benchmark = _benchmark("lay_replacement")
    heads = ("replacement", "BLEU-4, related", "unrelated", "tau-b of BLEU-4", "tau-b of semantics")
    rows = [f"| {' | '.join(heads)} |", "|---|---:|---:|---:|---:|"]
    for line in benchmark.lines(data, benchmark.EMBEDDED):
        rows.append(f"| {line.name} | {' | '.join(f'{value:.3f}' for value in line[1:])} |")
    return "\n".join(rows) + "\n"


def layman_write(data: Path) -> str:
    """How much of abnormal Indiana reports the writer for patients writes anew, and how hard it reads."""
    found = _benchmark("layman").written(data, sample=200, seed=77)
    every, whole = (share(found.anew / of) for of in (found.sentences, found.sentences - found.masked))
    said = (
        f"{found.reports} abnormal Indiana University reports (`benchmarks/layman.py --sample 200 --seed 77`; "
        f"development: the writer was built on other samples of the same corpus): {every} of {found.sentences:,} "
        f"sentences are written anew, {whole} of those without a masked word, and "
        f"{share(found.abnormal_anew / found.abnormal)} of the {found.abnormal} that say something abnormal and "
        f"have no masked word; the Flesch-Kincaid grade of what is written falls "
        f"from {found.grade_before:.1f} to {found.grade_after:.1f}."
    )
    return _wrapped(said) + "\n"


def comet_pairs(data: Path) -> str:
    """Pairs of reports that share a cluster of terms, counted as the paper counts them (table 6, section 4)."""
    chosen = read_term_reports(data / "iu_xray" / "indiana_reports.csv", section="findings")
    clusters = cluster_terms([report.terms for report in chosen.reports], k=6, seed=0)
    found = build_pairs(chosen.reports, clusters, split="pairs", unordered=True)
    top, every = (
        ", ".join(
            share(part) for part in (found.overlap[name].none, found.overlap[name].one, found.overlap[name].more)
        )
        for name in ("kept", "all")
    )
    sizes = ", ".join(f"{len(found.splits[name].reference):,} {name}" for name in ("train", "val", "test"))
    said = (
        "IU X-ray, K = 6, TF-IDF of the terms' words, one report per distinct text, `--unordered --split pairs`: "
        f"{len(chosen.reports):,} reports, {found.scored:,} pairs share a cluster (paper: 737,014); the Top 10 % "
        f"are {found.kept:,} ({sizes}; paper: 73,691, of which 47,162, 11,791 and 14,738). Of the Top 10 % share "
        f"no word of their terms, one, more: {top} (paper: 19.8, 46.9, 33.3 %); of all {every} (paper: 34.2, "
        "31.7, 34.1 %)."
    )
    return _wrapped(said) + "\n"


def oracle_blanks(data: Path) -> str:
    """How many queries of the benchmark CheXbert labels have nothing to say about."""
    _, asked = _benchmark("oracle").build(1, 2192, data)
    texts = list(dict.fromkeys(text for _, text in asked))
    codes = np.asarray(condition_codes(texts, reading=rg.Readings(), models="embedded"))
    blank = int((~np.isin(codes, (POSITIVE, UNCERTAIN))).all(axis=1).sum())
    said = (
        f"CheXbert labels have nothing to say about many reports: {blank} of the {len(texts):,} distinct queries"
    )
    return _wrapped(f"{said} of the benchmark have no positive condition.") + "\n"


def _benchmark(name: str) -> Any:
    """The module of a benchmark."""
    place = DOCS.parent / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{name}_benchmark", place)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(place)
    benchmark = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = benchmark
    spec.loader.exec_module(benchmark)
    return benchmark


def _cell(interval: Interval) -> str:
    return f"{number(interval.value)} [{number(interval.low, 2)}, {number(interval.high, 2)}]"


def llm_cascade(data: Path) -> str:
    """What a cascade of the embedded judge and a recorded one saves and loses."""
    sys.path.insert(0, str(DOCS.parent / "benchmarks"))
    try:
        import llm_cascade as replayed
    finally:
        sys.path.pop(0)
    pairs = [pair for source in replayed.judged_twice(data).values() for pair in source]
    rows = [
        "| variant | asked at most | asked | cost saved | tau-b | lost | random |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for variant in ("rating", "findings"):
        for line in replayed.lines(pairs, 200, variant):
            rows.append(f"| `{variant}` | {' | '.join(line)} |")
    return "\n".join(rows) + "\n"


LEARNED_JUDGE = DOCS.parent / "benchmarks" / "results" / "learned_judge.json"


def learned_judge(_: Path) -> str:
    """What benchmarks/learned_judge.py last kept: judges by source, with ratings and with counts."""
    kept = json.loads(LEARNED_JUDGE.read_text(encoding="utf-8"))
    names = list(kept["pairs"])
    lines = []
    for position, target in enumerate(("rating", "total number of errors")):
        lines += (
            ["", f"Kendall's tau-b with the {target}:", ""]
            if position
            else [f"Kendall's tau-b with the {target}:", ""]
        )
        lines.append("| judge | " + " | ".join(f"{name} ({kept['pairs'][name]})" for name in names) + " | mean |")
        lines.append("|---|" + "---:|" * (len(names) + 1))
        for judge, line in kept["judges"].items():
            taus = [line[name][position] for name in names]
            lines.append(f"| {judge} | {' | '.join(f'{tau:.3f}' for tau in taus)} | {sum(taus) / len(taus):.3f} |")
    return "\n".join(lines) + "\n"


def learned_judge_wording(_: Path) -> str:
    """Where comet_embedded is strong and weak: tau with the rating by how alike the wording of a pair is."""
    kept = json.loads(LEARNED_JUDGE.read_text(encoding="utf-8"))
    lines = [
        "| ROUGE-L of the pair | source | pairs | `errors_quality` | `comet_embedded` |",
        "|---|---|---:|---:|---:|",
    ]
    for each in kept["alike"]:
        taus = " | ".join(f"{tau:.2f}" for tau in each["tau"])
        span = f"{each['from']:.2f} to {min(each['to'], 1.0):.2f}"
        lines.append(f"| {span} | {each['source']} | {each['pairs']} | {taus} |")
    return "\n".join(lines) + "\n"


PUBLISHED = DOCS.parent / "benchmarks" / "published.json"
AIMS = {
    "bertscore": ("BERTScore", 2.5),
    "chexbert": ("CheXbert", 4),
    "radgraph": ("RadGraph", 5),
    "ratescore": ("RaTEScore", 5),
    "crepe": ("CREPE", 4),
}


def published_speed(_: Path) -> str:
    """What benchmarks/published.py last kept: times, ratios, differences, peak memory and shares of a profile."""
    results = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    found = {key: each for key, each in results["metrics"].items() if "systems" in each}
    rows = [
        "| metric | systems | pairs (distinct texts) | package, s | radgauge, s | ratio | aim | products alone "
        "| by the clock | largest difference | package, MB | radgauge, MB |",
        f"|---|{'---:|' * 11}",
    ]
    notes = []
    for key, (name, aim) in AIMS.items():
        if key not in found:
            rows.append(f"| {name} | | not measured | | | | {aim} | | | | | |")
            continue
        kept = found[key]
        facts, one = kept["facts"], kept["systems"]["1"]
        for count, each in kept["systems"].items():
            mine, theirs = each["ours"], each["peer"]
            processor, clock = (theirs[kind] / mine[kind] for kind in ("processor", "clock"))
            wanted = aim if count == "1" else 1.7 * one["peer"]["processor"] / one["ours"]["processor"]
            texts = f"{facts['pairs'][count]} ({facts['distinct'][count]})"
            seconds = f"{theirs['processor']:.1f} | {mine['processor']:.1f}"
            most = processor / kept["shares"]["matrix products"]
            times = f"{seconds} | {processor:.1f} | {wanted:.1f} | {most:.1f} | {clock:.1f}"
            peaks = f"{theirs['peak']:.0f} | {mine['peak']:.0f}"
            rows.append(f"| {name} | {count} | {texts} | {times} | {each['difference']:.0e} | {peaks} |")
        notes += _profile_notes(name, kept)
    some = next(each["facts"] for each in found.values() if "facts" in each)
    machine = f"threads: {some['threads']}; {some['processor']}, {some['cores']} cores that other work shared"
    said = (
        f"Seconds of processor time without loading; {machine}. The aim for eight systems is 1.7 times the ratio "
        'of one. "Products alone" is what the ratio would be if all but our matrix products took no time. Peak '
        "memory is that of the whole process. Shares of both sides on a quarter of the pairs, under a profiler:"
    )
    return "\n".join([*rows, "", _wrapped(said), "", *notes, *_ceilings(found, results.get("products"))]) + "\n"


def _ceilings(found: dict[str, Any], products: dict[str, Any] | None) -> list[str]:
    """What the products of both sides come to, against what this processor reaches with large matrices."""
    if not products:
        return []
    rates = products["rates"]
    stored = rates["as stored"]
    peak = max(rates["squares"].values())
    shown = ", ".join(f"{stored[rows]:.0f} with {rows} rows" for rows in ("16", "64", "512", "2048"))
    known = ("squares", "as stored")
    others = [f"{name} {max(kind.values()):.0f}" for name, kind in rates.items() if name not in known]
    packed = f"; in other forms at best {', '.join(others)}" if others else ""
    said = (
        f"What the processor gives (`benchmarks/products.py`, one thread, Gflop/s, best of four, load "
        f"{products['load']:.1f}): {peak:.0f} for large square matrices; the matrices of BERT base "
        f"{shown}{packed}. Work of one system's texts, the rates at which it was done, and the ratio if our "
        "products ran at that peak and nothing else took any time:"
    )
    rows = [
        "| metric | package, Tflop | at Gflop/s | radgauge, Tflop | at Gflop/s | ratio at the peak | aim |",
        f"|---|{'---:|' * 6}",
    ]
    for key, (name, aim) in AIMS.items():
        kept = found.get(key, {})
        if not kept.get("work"):
            continue
        theirs, mine = kept["systems"]["1"]["peer"]["processor"], kept["systems"]["1"]["ours"]["processor"]
        whole, distinct = kept["work"]["all"], kept["work"]["distinct"]
        if key == "bertscore":
            whole = distinct  # the package, too, reads every distinct text once
        speeds = (
            whole / (theirs * kept["peer_shares"]["matrix products"]),
            distinct / (mine * kept["shares"]["matrix products"]),
        )
        most = theirs / (distinct / peak)
        rows.append(
            f"| {name} | {whole / 1000:.1f} | {speeds[0]:.0f} | {distinct / 1000:.1f} | {speeds[1]:.0f} "
            f"| {most:.1f} | {aim} |"
        )
    return ["", _wrapped(said), "", *rows]


def _profile_notes(name: str, kept: dict[str, Any]) -> list[str]:
    """How the time of both sides divides, threads against processes, and RadGraph's graphs, if measured."""
    told = []
    for who, shares in (("radgauge", kept["shares"]), ("package", kept.get("peer_shares", {}))):
        if not shares:
            continue
        told.append(f"{who}: " + ", ".join(f"{part} {share(value, 0)}" for part, value in shares.items()))
    lines = [f"- {name}. {'; '.join(told)}. Load average while measured: {kept['load']:.1f}."]
    if kept.get("note"):
        lines.append(f"- {name}: {kept['note']}")
    if kept.get("stages"):
        steps = ", ".join(f"{step} {share(value, 0)}" for step, value in kept["stages"].items())
        lines.append(f"- {name}, steps of radgauge: {steps}.")
    if alone := kept.get("alone"):
        steps = ", ".join(f"{step} {share(value, 0)}" for step, value in alone["stages"].items())
        lines.append(
            f"- {name}, radgauge alone on {alone['pairs']} pairs of eight systems ({alone['distinct']} distinct "
            f"texts), under a profiler: {alone['processor']:.1f} s, {alone['peak']:.0f} MB; {steps}; products "
            f"{share(alone['shares']['matrix products'], 0)}. Load average {alone['load']:.1f}."
        )
    if kept.get("ways"):
        spent = ", ".join(f"{way} {seconds:.1f} s" for way, seconds in kept["ways"].items())
        lines.append(f"- {name}, one system, by the clock: {spent}.")
    for count, each in kept["systems"].items():
        if "graphs" in each:
            held = (each["entities"] / each["graphs"], each["relations"] / each["graphs"])
            systems = "one system" if count == "1" else f"{count} systems"
            lines.append(
                f"- {name}, {systems}: {each['graphs_apart']} of {each['graphs']} "
                f"graphs differ; {held[0]:.1f} entities and {held[1]:.1f} relations a report."
            )
    return lines


RESULTS = DOCS.parent / "reproduce" / "results"


GENERATORS = RESULTS / "generator_chain.json"
GENERATORS_LAYMAN = RESULTS / "generator_chain_layman.json"
GENERATORS_CONSENSUS = RESULTS / "generator_chain_consensus.json"
GROWTH = RESULTS / "layman_figure2.json"
GROWTH_IMAGE = DOCS / "images" / "generator-growth.svg"
NOT_MEASURED = "Not measured yet with the present `errors` and `layman`.\n"
COLUMNS = {
    "professional": ("errors_quality", "layman_semantics_embedded", "layman_f1_embedded"),
    "lay": ("layman_semantics_embedded", "layman_f1_embedded", "readability_flesch_kincaid_grade"),
}
WAYS = {
    "drawn": "network, drawn",
    "first": "network, likeliest",
    "nearest": "retrieval, nearest",
}


def generator_systems(_: Path) -> str:
    """What reproduce/generator_chain.py has kept of its run with the gains headlines and errors."""
    return _generators(_kept(GENERATORS), "professional")


def generator_systems_layman(_: Path) -> str:
    """The same of the run with the gain layman, professional reports."""
    return _generators(_kept(GENERATORS_LAYMAN), "professional")


def generator_systems_lay(_: Path) -> str:
    """The same of that run's lay reports."""
    return _generators(_kept(GENERATORS_LAYMAN), "lay")


def generator_consensus(_: Path) -> str:
    """The run with consensus against the two constant reports that `score` adds as baselines."""
    found = _kept(GENERATORS_CONSENSUS)
    if not found:
        return NOT_MEASURED
    lines = {(line["system"], line["column"]): line for line in found["professional"]["systems"]}
    columns = COLUMNS["professional"][:2]
    heads = (f"`{name.removesuffix('_embedded')}` | less the template | p" for name in columns)
    rows = [f"| system | {' | '.join(heads)} |", "|---|---|---|---:|---|---|---:|"]
    for system in dict.fromkeys(system for system, _ in lines):
        cells = []
        for line in (lines[system, column] for column in columns):
            cells.append(_with_interval(line))
            cells += (
                ["", ""]
                if line["difference"] is None
                else [_apart(line["difference"]), p_value(line["p_adjusted"])]
            )
        rows.append(f"| {system} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _generators(found: Mapping[str, Any], register: str) -> str:
    if register not in found:
        return NOT_MEASURED
    columns = COLUMNS[register]
    lines = {(line["system"], line["column"]): line for line in found[register]["systems"]}
    heads = [f"`{column.removesuffix('_embedded')}`" for column in columns]
    rows = [f"| system | {' | '.join(heads)} |", f"|---|{'---|' * len(columns)}"]
    for system in dict.fromkeys(system for system, _ in lines):
        cells = [_with_interval(lines[system, column]) for column in columns]
        rows.append(f"| {system} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def generator_planned(_: Path) -> str:
    """The planned comparisons of both runs."""
    runs = [_kept(GENERATORS), _kept(GENERATORS_LAYMAN)]
    if not any(runs):
        return NOT_MEASURED
    rows = ["| generator | against | output | values | difference | p |", "|---|---|---|---|---|---:|"]
    for line in (line for run in runs for register in run.values() for line in register["planned"]):
        values = f"{line['value']:.3f} and {line['baseline_value']:.3f}"
        named = f"{line['system']} | {line['baseline']} | `{line['column'].removesuffix('_embedded')}`"
        rows.append(f"| {named} | {values} | {_apart(line['difference'])} | {p_value(line['p_holm'])} |")
    return "\n".join(rows) + "\n"


def generator_growth(_: Path) -> str:
    """Figure 2 of Layman's RRG as reproduce/layman_figure2.py last measured it."""
    found = _kept(GROWTH)
    if not found:
        return NOT_MEASURED
    known = {tuple(run["size"]): run for run in found["runs"]}
    apart = {(line["system"], line["baseline"]): line for line in found["differences"]}
    rows = ["| written by | studies | professional | lay | lay less professional |", "|---|---:|---|---|---|"]
    for way, name in WAYS.items():
        sizes = sorted({size for size, series in known if series.startswith(f"{way}, ")})
        for size in sizes:
            cells = [_growth_cell(known.get((size, f"{way}, {register}"))) for register in COLUMNS]
            line = apart.get((f"{way}, lay {size:g}", f"{way}, professional {size:g}"))
            rows.append(f"| {name} | {size:,g} | {' | '.join(cells)} | {_apart(line) if line else '–'} |")
        ends = [(f"{way}, {register} {sizes[-1]:g}", f"{way}, {register} {sizes[0]:g}") for register in COLUMNS]
        changes = [_apart(apart[pair]) if pair in apart else "–" for pair in ends]
        rows.append(f"| {name} | {sizes[-1]:,g} less {sizes[0]:,g} | {' | '.join(changes)} | |")
    return "\n".join(rows) + "\n"


def _growth_cell(run: Mapping[str, Any] | None) -> str:
    """Share with its interval; whether the reports are all alike."""
    if run is None:
        return "not measured"
    return _with_interval(run["above"]) + (" (collapsed)" if run["collapsed"] else "")


def generator_growth_image() -> str:
    """The curves of the same run as SVG: the network's drawn reports and the nearest ones."""
    runs = []
    for each in _kept(GROWTH).get("runs", []):
        size, series = each["size"]
        way, register = series.split(", ")
        if way != "first":
            intervals = ("above", "reports_above", "pairwise", "excess")
            made = {name: Interval(**each[name]) for name in intervals}
            fixed = {"size": Size(size, f"{WAYS[way]}, {register}"), "ranges": tuple(each["ranges"])}
            runs.append(TrainingRun(**{**each, **made, **fixed}))
    curves = growth_curves(runs, threshold=0.8)
    return "" if curves is None else curves.file()


def _kept(path: Path) -> dict[str, Any]:
    """What a script has kept; empty where it has not run."""
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def _apart(line: Mapping[str, float]) -> str:
    return f"{line['value']:+.3f} [{line['low']:+.3f}, {line['high']:+.3f}]"


def _with_interval(line: Mapping[str, float]) -> str:
    return f"{line['value']:.3f} [{line['low']:.3f}, {line['high']:.3f}]"


COVERAGE = DOCS.parent / "benchmarks" / "results" / "estimate_coverage.json"


def estimate_coverage(data: Path) -> str:
    """Coverage and width of the intervals of `study estimate`, as the benchmark kept them."""
    results = json.loads(COVERAGE.read_text(encoding="utf-8"))
    rows = [
        "| label | draw | tau | judged | coverage | labels alone | narrower |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for line in results["lines"]:
        facts = f"| {line['label']} | {line['design']} | {line['tau']:.1f} | {line['labels']} "
        rates = " | ".join(f"{100 * line[name]:.1f} %" for name in ("coverage", "labels_alone"))
        rows.append(f"{facts}| {rates} | {round(100 * line['narrower'])} % |")
    return "\n".join([*rows, "", f"{results['studies']} studies per line."]) + "\n"


def image_ablation(data: Path) -> str:
    """What the image contributes to VLScore with the encoder that ships (benchmarks/image_ablation.py)."""
    found = json.loads((DOCS.parent / "benchmarks" / "image_ablation.json").read_text(encoding="utf-8"))
    rows = [found["agreement"], found["own_nearer"], found["side"], *found["changes"].values()]
    pairs, in_training = found["agreement"]["n"], found["pairs_in_training"]
    lines = [
        f"{found['studies']} validation studies of Indiana University ({found['left_out']} left out: the check "
        f"refuses their pictures), {pairs} judged pairs ({in_training} of them of studies that the encoder was "
        f"trained on), images dealt {found['deals']} times.",
        "",
        "| measured | n | right images | dealt at random | one mean image | right minus random |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        dealt = f"{row['dealt']:.3f} [{row['dealt_low']:.3f}, {row['dealt_high']:.3f}]"
        apart = f"{row['difference']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}]"
        cells = (row["name"], row["n"], f"{row['right']:.3f}", dealt, f"{row['mean_image']:.3f}", apart)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join([*lines, "", found["sentence"][:1].upper() + found["sentence"][1:]]) + "\n"


FIGURES: Mapping[str, Callable[[Path], str]] = {
    "image-ablation": image_ablation,
    "align-radpref": align_radpref,
    "perturb-samples": perturb_samples,
    "perturb-indiana": perturb_indiana,
    "layman-collapse": layman_collapse,
    "layman-sets": layman_sets,
    "layman-replacement": layman_replacement,
    "layman-write": layman_write,
    "layman-beds": layman_beds,
    "oracle-blanks": oracle_blanks,
    "comet-pairs": comet_pairs,
    "llm-cascade": llm_cascade,
    "published-speed": published_speed,
    "learned-judge": learned_judge,
    "learned-judge-wording": learned_judge_wording,
    "generator-systems": generator_systems,
    "generator-systems-layman": generator_systems_layman,
    "generator-systems-lay": generator_systems_lay,
    "generator-consensus": generator_consensus,
    "generator-growth": generator_growth,
    "generator-planned": generator_planned,
    "estimate-coverage": estimate_coverage,
}


def blocks(text: str) -> dict[str, str]:
    """Name -> what the page says now."""
    return {match[2]: match[3] for match in BLOCK.finditer(text)}


def written(text: str, figures: Mapping[str, str]) -> str:
    """The page with these figures in their places."""
    return BLOCK.sub(lambda match: match[1] + figures.get(match[2], match[3]) + match[4], text)


def main(data: Path, only: Collection[str] = ()) -> None:
    """Write every page that has figures, or only the figures that are named."""
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if names := [name for name in blocks(text) if not only or name in only]:
            page.write_text(written(text, {name: FIGURES[name](data) for name in names}), encoding="utf-8")
            sys.stdout.write(f"{page.relative_to(DOCS)}: {', '.join(names)}\n")
    if (not only or "generator-growth" in only) and (image := generator_growth_image()):
        GROWTH_IMAGE.write_text(image, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else DOCS.parent.parent / "shared" / "data"), sys.argv[2:])
