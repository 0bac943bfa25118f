"""How many image-report triplets VLScore judges in a second after decoding; LIMITR beside the authors' package.

Usage: PYTHONPATH=src python benchmarks/vlscore.py [iu_xray folder] [--peer | --image]. Without the folder, drawn
pictures and our own sample reports. --peer runs vlscore-cxr and our LIMITR on a seeded checkpoint of the published
size, in the environment that `make parity` builds (or $RADGAUGE_PEERS_VLSCORE). --image (with the folder) shows
what scores owe to the image.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.encoders.image.image_text import ImageTextEncoder, image_vectors, text_vectors
from radgauge.images import Grey, grey
from radgauge.io.case_files import read_cases
from radgauge.metrics.vlscore import VLScore
from radgauge.samples import sample_reports_path

ROOT = Path(__file__).parents[1]
TRIPLETS = 592
NORM = 5000.0  # of the order of the seeded network's areas
sys.path.insert(0, str(ROOT / "parity"))


def indiana(folder: Path, target: Path) -> list[tuple[Path, str]]:
    """Every image of the validation split with its report."""
    studies = json.loads((folder / "r2gen_annotation.json").read_text())["val"]
    found = []
    with zipfile.ZipFile(folder / "images_train_val.zip") as archive:
        names = set(archive.namelist())
        for study in studies:
            for view in ("0.jpg", "1.jpg"):
                if (name := f"{study['id']}/{view}") in names:
                    found.append((Path(archive.extract(name, target)), study["report"]))
    return found[:TRIPLETS]


def drawn(target: Path) -> list[tuple[Path, str]]:
    """Noise of the size of X-ray pictures on the web, with sample reports."""
    from PIL import Image

    reports = [case.references[0] for case in read_cases(sample_reports_path()).cases]
    rng = np.random.default_rng(0)
    found = []
    for at in range(TRIPLETS):
        small = rng.integers(0, 256, (16, 16), dtype=np.uint8)
        path = target / f"{at}.png"
        Image.fromarray(small).resize((512, 420)).save(path)
        found.append((path, reports[at % len(reports)]))
    return found


def embedded(pairs: list[tuple[Path, str]]) -> None:
    """Decoding, embedding and comparing apart; every image and both its texts are new."""
    cases = [
        Case(str(at), pairs[(at + 1) % len(pairs)][1], (report,), images=(path,))
        for at, (path, report) in enumerate(pairs)
    ]
    metric = VLScore()
    encoder = metric.image_text
    encoder.embed_images([grey(pairs[0][0])])  # the network is loaded before the clock starts
    encoder.embed_texts([pairs[0][1]])
    pictures: list[Grey] = []
    texts = list(dict.fromkeys(report for _, report in pairs))
    reading = Readings()
    steps: dict[str, tuple[int, str, Callable[[], object]]] = {
        "decode": (len(pairs), "images", lambda: pictures.extend(grey(path) for path, _ in pairs)),
        "embed images": (len(pairs), "images", lambda: encoder.embed_images(pictures)),
        "embed reports": (len(texts), "reports", lambda: encoder.embed_texts(texts)),
        "": (0, "", lambda: fill(pairs, encoder, reading)),
        "compare": (len(cases), "triplets", lambda: metric.measure(cases, reading=reading)),
    }
    print(f"{len(cases)} triplets, {os.cpu_count()} cores, {encoder.name.partition(':')[0]}")
    clock = processor = 0.0
    for label, (count, what, work) in steps.items():
        start, busy = time.perf_counter(), time.process_time()
        work()
        seconds, spent = time.perf_counter() - start, time.process_time() - busy
        if label:
            print(f"{label:14} {seconds:7.2f} s, {count / seconds:6.0f} {what}/s; processor {spent:6.2f} s")
        if label and label != "decode":
            clock, processor = clock + seconds, processor + spent
    print(f"after decoding {clock:7.2f} s, {len(cases) / clock:6.0f} triplets/s; processor {processor:6.2f} s")


def fill(pairs: list[tuple[Path, str]], encoder: ImageTextEncoder, reading: Readings) -> None:
    """Vectors are known before the comparison is timed."""
    image_vectors([path for path, _ in pairs], encoder, reading=reading)
    text_vectors([report for _, report in pairs], encoder, reading=reading)


def beside_the_authors(pairs: list[tuple[Path, str]], *, count: int = 16) -> None:
    """The same images and reports through vlscore-cxr and through our LIMITR, both on the same threads."""
    import seeded
    import torch
    from environment import run_peer

    from radgauge.encoders.image.limitr import Limitr

    pairs = pairs[:count]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        reports = [report for _, report in pairs]
        size = seeded.Size(**{**vars(seeded.BASE), "texts": tuple(reports)})
        checkpoint = seeded.limitr(folder, size=size)
        others = [*reports[1:], reports[0]]
        job = {"checkpoint": checkpoint.name, "norm": NORM, "vectors": False, "threads": torch.get_num_threads()}
        job |= {"images": [str(path) for path, _ in pairs], "candidates": others, "references": reports}
        (folder / "job.json").write_text(json.dumps(job))
        run_peer(ROOT / "parity" / "vlscore" / "peer.py", folder, name="vlscore")
        peer = json.loads((folder / "result.json").read_text())
        encoder = Limitr(str(checkpoint))
        encoder.embed_texts(["loaded"])
        cases = [
            Case(str(at), other, (report,), images=(path,))
            for at, ((path, report), other) in enumerate(zip(pairs, others, strict=True))
        ]
        start, busy = time.perf_counter(), time.process_time()
        rows = VLScore(encoder=str(checkpoint), constant=NORM).measure(cases, reading=Readings())
        ours, spent = time.perf_counter() - start, time.process_time() - busy
    apart = np.abs(rows[:, 0] - np.array(peer["scores"])).max()
    print(f"LIMITR of the published size, {count} triplets with decoding, {torch.get_num_threads()} threads")
    for what, theirs, mine in (("clock", peer["seconds"], ours), ("processor", peer["processor"], spent)):
        print(f"{what}: vlscore-cxr {theirs:.1f} s, radgauge {mine:.1f} s: {theirs / mine:.2f} times as fast")
    print(f"scores {min(peer['scores']):.2f} to {max(peer['scores']):.2f}, largest difference {apart:.1e}")


def what_the_image_adds(folder: Path, target: Path) -> None:
    """Reports of other studies judged with the reference's images and with those of a study drawn at random."""
    from scipy.stats import kendalltau

    studies = json.loads((folder / "r2gen_annotation.json").read_text())["val"]
    with zipfile.ZipFile(folder / "images_train_val.zip") as archive:
        images = [
            tuple(Path(archive.extract(f"{study['id']}/{view}.jpg", target)) for view in (0, 1))
            for study in studies
        ]
    reports = [study["report"] for study in studies]
    drawn = np.random.default_rng(0).permutation(len(studies))
    metric, reading = VLScore(), Readings()
    own, random = (
        metric.measure(
            [
                Case(str(at), reports[(at + 7) % len(reports)], (reports[at],), images=images[chosen[at]])
                for at in range(len(reports))
            ],
            reading=reading,
        )[:, 0]
        for chosen in (np.arange(len(studies)), drawn)
    )
    print(f"{metric.image_text.name.partition(':')[0]}, {len(studies)} studies, candidates of other studies")
    print(f"mean score with the reference's images {own.mean():.3f}, with random ones {random.mean():.3f}")
    print(f"Kendall tau between the two {kendalltau(own, random)[0]:.2f}")


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    with tempfile.TemporaryDirectory() as place:
        if "--image" in sys.argv:
            what_the_image_adds(Path(given[0]), Path(place))
            sys.exit()
        found = indiana(Path(given[0]), Path(place)) if given else drawn(Path(place))
        if "--peer" in sys.argv:
            beside_the_authors(found)
        else:
            embedded(found)
