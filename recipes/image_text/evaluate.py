"""Figures of an image-text encoder's model card, from the Indiana University chest X-rays.

    python recipes/image_text/evaluate.py FOLDER [--encoder FILE] [--split val]

FOLDER is what prepare.py wrote. Prints retrieval, the separation of own from other reports (all studies, abnormal
ones), by views, what the number of views changes, false alarms of the check of pictures, findings recognised by
sentences, sides, what VLScore makes of changed reports, and speed.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy import stats

from radgauge.analysis.perturb import perturb_reports, perturbed_cases
from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.encoders.image.embedded_image_text import EmbeddedImageText, unit
from radgauge.encoders.image.picture_side import SIGNS
from radgauge.encoders.text.report_claims import claims
from radgauge.images import grey
from radgauge.lab.training.image_text import view_points
from radgauge.lab.training.image_text_data import PicturedReport, read_material
from radgauge.lab.training.image_text_figures import Matching, auroc, matching, mean_by_study
from radgauge.metrics._triangle import triangle_area
from radgauge.metrics.vlscore import VLScore
from radgauge.reader import ReportReader, load_lexicon
from radgauge.run.score import score

LEAST = 8  # studies that must state a finding for it to have a row
KINDS = ("remove_pathology", "remove_insignificant", "remove_normal", "change_location", "change_severity")
KINDS += ("unknown_word", "normal_report", "flip_negation", "add_finding", "swap_report", "paraphrase", "reorder")


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", default="")
    parser.add_argument("--split", default="val")
    given = parser.parse_args()
    material = read_material(given.data / "studies.jsonl", given.data / "images", validation=given.split)
    studies = material.train if given.split == "train" else material.validation
    encoder = EmbeddedImageText(given.encoder)
    constants = ", ".join(f"{name} {value:.4f}" for name, value in encoder.constants.items())
    print(f"{encoder.name}; C {constants}; {len(studies)} studies of {given.split}")
    pictures = [grey(path) for study in studies for path in study.images]
    owners = np.repeat(np.arange(len(studies)), [len(study.images) for study in studies])
    rows = encoder.look(pictures)
    vectors = rows[:, : -len(SIGNS)]
    images = unit(mean_by_study(vectors, owners, studies=len(studies)))
    reports = encoder.embed_texts([study.texts[0] for study in studies])
    said = [claims(each) for each in ReportReader().read([study.texts[0] for study in studies])]
    abnormal = np.array(["+finding" in each for each in said])
    for name, chosen in (("all", abnormal | True), ("abnormal", abnormal), ("normal", ~abnormal)):
        _print(name, matching(images[chosen], reports[chosen]))
    points = view_points(rows[:, :-1], owners, len(studies))
    for name, (each, mine) in points.items():
        _print(name, matching(each, reports[mine]))
    _intervals(images, reports, abnormal)
    _numbers_of_views(points, reports, encoder.constants)
    _domain(encoder, pictures, rows)
    _sides(encoder, images, said)
    _findings(encoder, images, said)
    _perturbations(studies, given.encoder)
    _speed(encoder, pictures[: 2 * (len(pictures) // 2)], [study.texts[0] for study in studies])


def _print(name: str, found: Matching) -> None:
    print(
        f"{name:9} n {found.studies:4}  AUROC {found.auroc:.3f}  picture to report R@1/5/10 {found.recall_1:.3f} "
        f"{found.recall_5:.3f} {found.recall_10:.3f} median {found.median_rank:g}  report to picture "
        f"{found.text_recall_1:.3f} {found.text_recall_5:.3f} {found.text_recall_10:.3f} "
        f"median {found.text_median_rank:g}"
    )


def _intervals(images: np.ndarray, reports: np.ndarray, abnormal: np.ndarray) -> None:
    """Studies are resampled; pairs of a study with itself are own, all others other."""
    rng = np.random.default_rng(0)
    for name, chosen in (("all", np.arange(len(images))), ("abnormal", np.flatnonzero(abnormal))):
        near = images[chosen] @ reports[chosen].T
        found = []
        for _ in range(500):
            drawn = rng.integers(len(chosen), size=len(chosen))
            part = near[np.ix_(drawn, drawn)]
            found.append(auroc(np.diag(part), part[drawn[:, None] != drawn[None, :]]))
        low, high = np.quantile(found, [0.025, 0.975])
        print(f"AUROC {name}: 95 % interval {low:.3f} to {high:.3f} (500 resamples of the studies)")


def _numbers_of_views(
    points: Mapping[str, tuple[np.ndarray, np.ndarray]], reports: np.ndarray, constants: Mapping[str, float]
) -> None:
    """VLScore of the same candidates (50 other studies' reports each) with one view and with both."""
    both = points["frontal+lateral"][1]
    own = reports[both].astype(np.float64)
    values = {}
    for name, (each, mine) in points.items():
        image = each[np.isin(mine, both)].astype(np.float64)
        areas = [triangle_area(image, np.roll(own, step, axis=0), own) for step in range(1, 51)]
        values[name] = np.maximum(1 - np.concatenate(areas) / constants[name], 0)
    for name, mine in values.items():
        apart = mine - values["frontal+lateral"]
        print(
            f"VLScore of another study's report, {name:16} mean {mine.mean():.3f} SD {mine.std():.3f}; minus both "
            f"views: mean {apart.mean():+.3f}, mean absolute {np.abs(apart).mean():.3f}"
        )


def _domain(encoder: EmbeddedImageText, pictures: Sequence[np.ndarray], rows: np.ndarray) -> None:
    """False alarms on the real pictures, and what is noticed of changed ones and of pictures of other things."""
    alarms = Counter(encoder.seen(row).objection for row in rows)
    print(f"real pictures: {len(rows)}; objections: { ({why: n for why, n in alarms.items() if why}) }")
    some = pictures[::4]
    rng = np.random.default_rng(0)
    coarse = [np.kron(rng.integers(0, 256, (8, 8)), np.ones((32, 32))).astype(np.uint8) for _ in some]
    sets = {
        "inverted": [255 - each for each in some],
        "upside down": [np.ascontiguousarray(each[::-1, ::-1]) for each in some],
        "turned by a quarter": [np.ascontiguousarray(np.rot90(each)) for each in some],
        "almost black": [(each // 16).astype(np.uint8) for each in some],
        "one grey level": [np.full(each.shape, int(each.mean()), np.uint8) for each in some],
        "noise": [rng.integers(0, 256, each.shape).astype(np.uint8) for each in some],
        "coloured squares": coarse,
        "lower right quarter": [
            np.ascontiguousarray(each[len(each) // 2 :, each.shape[1] // 2 :]) for each in some
        ],
    }
    for name, changed in sets.items():
        found = Counter(encoder.seen(row).objection for row in encoder.look(changed))
        noticed = 1 - found[""] / len(changed)
        print(f"{name:20} noticed {noticed:.3f} of {len(changed)}: {dict(found)}")


def _sides(encoder: EmbeddedImageText, images: np.ndarray, said: Sequence[dict[str, float]]) -> None:
    """Do pictures tell left from right? Findings on one side, by the difference of two sentences."""
    lexicon = load_lexicon()
    left, right = [], []
    for concept in {
        name.partition("@")[0][1:] for each in said for name in each if name.endswith(("@left", "@right"))
    }:
        if concept not in lexicon:
            continue
        one, two = encoder.embed_texts([f"There is {side} {lexicon[concept].name}." for side in ("left", "right")])
        for image, each in zip(images, said, strict=True):
            sides = (f"+{concept}@left" in each, f"+{concept}@right" in each)
            if sum(sides) == 1:
                (left if sides[0] else right).append(float(image @ (one - two)))
    value = auroc(np.array(left), np.array(right))
    print(
        f"side from the picture: AUROC {value:.3f} ({len(left)} findings on the left, {len(right)} on the right)"
    )


def _findings(encoder: EmbeddedImageText, images: np.ndarray, said: Sequence[dict[str, float]]) -> None:
    """Does the picture lie nearer to the sentence that states a finding when the report states it?"""
    lexicon = load_lexicon()
    normal = encoder.embed_texts(["The heart and lungs are normal."])[0]
    names = sorted({name for each in said for name in each if name.startswith("+") and not set("@:") & set(name)})
    rows = []
    for name in names:
        stated = np.array([name in each for each in said])
        concept = name[1:]
        if LEAST <= stated.sum() <= len(stated) - LEAST and concept in lexicon:
            sentence = f"There is {lexicon[concept].name}."
            nearer = images @ (encoder.embed_texts([sentence])[0] - normal)
            rows.append((auroc(nearer[stated], nearer[~stated]), int(stated.sum()), sentence))
    for value, number, sentence in sorted(rows, reverse=True):
        print(f"finding {value:.3f}  {number:4} studies  {sentence}")
    print(f"findings: mean AUROC {np.mean([row[0] for row in rows]):.3f} over {len(rows)}")


def _perturbations(studies: Sequence[PicturedReport], encoder: str) -> None:
    cases = {study.id: Case(study.id, "", (study.texts[-1],), images=study.images) for study in studies}
    laboratory = perturb_reports(
        {name: case.references[0] for name, case in cases.items()}, KINDS, seed=0, general=True
    )
    made = perturbed_cases(laboratory, cases=cases)
    metric = VLScore(encoder=encoder) if encoder else VLScore()
    scores = next(iter(score(made, [metric], reading=Readings()).judges.values()))
    by_kind: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for (_, kind), value in zip(scores.keys, scores.headline, strict=True):
        by_kind[kind].append(value)
    for kind, values in by_kind.items():
        judged = [value for value in values if not np.isnan(value)]
        mean = f"{np.mean(judged):.3f}" if judged else "none possible"
        print(f"VLScore after {kind:20} mean {mean}  n {len(judged)}, not judged {len(values) - len(judged)}")
        by_kind[kind] = judged
    for calm, grave in (
        ("remove_insignificant", "remove_pathology"),
        ("remove_normal", "remove_pathology"),
        ("normal_report", "remove_pathology"),
        ("normal_report", "change_location"),
    ):
        one, two = by_kind[calm], by_kind[grave]
        p = stats.ttest_ind(one, two, equal_var=False, alternative="greater").pvalue
        print(f"delta {grave} against {calm}: {np.mean(one) - np.mean(two):.3f}, one-sided Welch p = {p:.2g}")


def _speed(encoder: EmbeddedImageText, pictures: Sequence[np.ndarray], texts: Sequence[str]) -> None:
    """Decoded pictures and reports to scores: one picture, a candidate and a reference each."""
    number = min(len(pictures), 256)
    candidates, references = (list(np.resize(texts, number)) for _ in range(2))
    references = references[1:] + references[:1]
    encoder.embed_images(pictures[:2])
    started, used = time.perf_counter(), time.process_time()
    images = encoder.embed_images(pictures[:number])
    vectors = encoder.embed_texts([f"{text} " for text in (*candidates, *references)])
    triangle_area(*(each.astype(np.float64) for each in (images, vectors[:number], vectors[number:])))
    clock, processor = time.perf_counter() - started, time.process_time() - used
    print(
        f"speed: {number / clock:.0f} triplets/s by the clock; {number / processor:.0f} per second of processor "
        f"time, {2 * number / processor:.0f} on two cores that have nothing else to do"
    )


if __name__ == "__main__":
    main()
