"""Lines of the reader's benchmark that compare with values of the published models: RadGraph, CheXbert."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from reader_data import Line, f1, rows_of
from scipy.stats import spearmanr

from radgauge.reader import chexpert_labels, radgraph_graph, read_report


def _graph_sets(text: str) -> tuple[set[object], set[object]]:
    """Entity and relation sets as Yu et al. compare them."""
    entities = radgraph_graph(read_report(text))["entities"]
    names = {key: (entity["tokens"], entity["label"]) for key, entity in entities.items()}
    relations = {
        (names[key], names[target], kind)
        for key, entity in entities.items()
        for kind, target in entity["relations"]
    }
    return set(names.values()), relations


def _overlap(first: set[object], second: set[object]) -> float:
    return f1(len(first & second), len(first), len(second))[2]


def _rewards(text: str) -> tuple[set[object], set[object], set[object]]:
    """Items of the simple, partial and complete F1RadGraph rewards."""
    entities = radgraph_graph(read_report(text))["entities"]
    simple: set[object] = set()
    partial: set[object] = set()
    complete: set[object] = set()
    for entity in entities.values():
        name = (entity["tokens"], entity["label"])
        simple.add(name)
        partial.add((*name, True) if entity["relations"] else name)
        if not entity["relations"]:
            complete.add(name)
        for kind, target in entity["relations"]:
            complete.add((entity["tokens"].lower(), entity["label"], kind, entities[target]["tokens"].lower()))
    return simple, partial, complete


def _agreement(ours: Sequence[float], published: Sequence[float]) -> tuple[str, str]:
    a, b = np.asarray(ours), np.asarray(published)
    rank = spearmanr(a, b).statistic if len(set(ours)) > 1 else float("nan")
    return (
        f"{rank:.3f}",
        f"mean absolute difference {np.abs(a - b).mean():.3f}, means {a.mean():.3f} / {b.mean():.3f}",
    )


def radgraph(data: Path, errors: int) -> Iterable[Line]:
    """RadGraph F1 from our graphs against values computed with the real model."""
    folder = data / "iu_xray_systems"
    systems = rows_of(folder / "test590_systems.csv")
    scores = rows_of(folder / "moerad_report_scores.csv")
    ours, entity_f1, relation_f1 = [], [], []
    texts = [systems[int(score["study_id"])]["reference"] for score in scores]  # its number is the row there
    for text, score in zip(texts, scores, strict=True):
        reference, candidate = _graph_sets(text), _graph_sets(score["report"])
        entity_f1.append(_overlap(reference[0], candidate[0]))
        relation_f1.append(_overlap(reference[1], candidate[1]))
        ours.append((entity_f1[-1] + relation_f1[-1]) / 2)
    published = [float(score["radgraph_combined"]) for score in scores]
    yield ("RadGraph F1, Spearman (moerad)", *_agreement(ours, published))
    order = np.argsort(-np.abs(np.asarray(ours) - np.asarray(published)))
    for index in order[:errors]:
        print(
            f"    radgraph ours {ours[index]:.3f} ({entity_f1[index]:.3f}, {relation_f1[index]:.3f}) published "
            f"{published[index]:.3f}\n      {texts[index]}\n      {scores[index]['report']}",
            file=sys.stderr,
        )
    path = folder / "published_values" / "manual_template_target_b4rouge__clinical_metrics.json"
    items = json.loads(path.read_text())["radgraph"]["per_item"]
    rows = {row["uid"]: row for row in rows_of(folder / "mrg_rl_test382_systems.csv")}
    names = ("rg_e", "rg_er", "rg_bar_er")
    found: list[list[float]] = [[], [], []]
    for uid in items:
        reference, candidate = _rewards(rows[uid]["reference"]), _rewards(rows[uid]["template"])
        for values, first, second in zip(found, reference, candidate, strict=True):
            values.append(_overlap(first, second))
    for name, values in zip(names, found, strict=True):
        yield (f"  template system, {name}", *_agreement(values, [items[uid][name] for uid in items]))
    differences = np.abs(np.asarray(found[0]) - np.asarray([items[uid]["rg_e"] for uid in items]))
    for index in np.argsort(-differences)[:errors]:
        uid = list(items)[index]
        values = f"ours {found[0][index]:.3f} published {items[uid]['rg_e']:.3f}"
        print(f"    template {values}: {rows[uid]['reference']}", file=sys.stderr)


def chexpert(data: Path, errors: int) -> Iterable[Line]:
    """Positive CheXpert labels of the references against the counts of the real CheXbert."""
    folder = data / "iu_xray_systems"
    path = folder / "published_values" / "manual_template_target_b4rouge__clinical_metrics.json"
    published = json.loads(path.read_text())["chexbert"]["per_label"]
    ours: Counter[str] = Counter()
    for row in rows_of(folder / "mrg_rl_test382_systems.csv"):
        labels = chexpert_labels(read_report(row["reference"]))
        ours.update(name for name, state in labels.items() if state == "positive")
    theirs = {name: counts["tp"] + counts["fn"] for name, counts in published.items()}
    difference = sum(abs(ours[name] - count) for name, count in theirs.items())
    each = ", ".join(f"{name} {ours[name]}/{count}" for name, count in theirs.items())
    share = difference / sum(theirs.values())
    yield "CheXpert positives, difference of counts", f"{share:.3f}", f"ours/CheXbert: {each}"
