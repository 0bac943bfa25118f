"""Rebuild the fixtures of VLScore: vlscore-cxr on a seeded LIMITR checkpoint, open_clip on seeded models.

python parity/vlscore/make_fixtures.py [fixture] [indiana] [open_clip] [embeddings]

Drawn pictures with our own sentences always; with the development data (../shared/data or $RADGAUGE_DATA) also
Indiana images and reports, of which only ids and numbers are kept.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT / "src")]
TARGET = ROOT / "tests" / "data" / "parity" / "vlscore"
EMBEDDINGS = ROOT / "tests" / "data" / "vlscore_embeddings.json"
"""Outside the fixtures of networks, whose hash is the version that cached vectors are found by."""
DATA = Path(os.environ.get("RADGAUGE_DATA", ROOT.parent / "shared" / "data"))
STUDIES = 6
NORM = 60.0  # of the order of the seeded network's areas
AREAS = [
    *([300, 224, 256, 191], [512, 400, 256, 200], [224, 180, 256, 205]),
    *([200, 301, 170, 256], [40, 30, 256, 192]),
]

import seeded  # noqa: E402
from environment import run_peer  # noqa: E402
from make_published import rounded  # noqa: E402


def run(folder: Path, **job: object) -> dict[str, object]:
    """The peer on one job."""
    checkpoint = next(folder.glob("*.ckpt")).name
    (folder / "job.json").write_text(json.dumps({"checkpoint": checkpoint, "norm": NORM, **job}))
    run_peer(HERE / "peer.py", folder, name="vlscore")
    found = json.loads((folder / "result.json").read_text())
    return {key: value for key, value in found.items() if key not in ("seconds", "processor")}


def drawn(folder: Path) -> dict[str, object]:
    """Drawn pictures with our own reports."""
    pictures = seeded.pictures(folder / "pictures")
    pairs = [(seeded.REPORTS[at], seeded.REPORTS[(3 * at + 2) % 13]) for at in range(13)]
    images = [str(pictures[at % len(pictures)]) for at in range(len(pairs))]
    job = {"images": images, "candidates": [a for a, _ in pairs], "references": [b for _, b in pairs]}
    found = run(folder, **job, area=AREAS, wrapped=str(TARGET / "lightning_tiny.ckpt"))
    files = [Path(path).name for path in images]  # `images` of the result are their vectors
    return {**job, "files": files, "norm": NORM, "areas": AREAS, **found}


def indiana(folder: Path) -> dict[str, object] | None:
    """Frontal images of Indiana studies; the candidate is the report of the next study."""
    source = DATA / "iu_xray"
    if not source.is_dir():
        return None
    studies = json.loads((source / "r2gen_annotation.json").read_text())["val"][:STUDIES]
    with zipfile.ZipFile(source / "images_train_val.zip") as archive:
        images = [archive.extract(f"{study['id']}/0.jpg", folder / "indiana") for study in studies]
    reports = [study["report"] for study in studies]
    candidates = [*reports[1:], reports[0]]
    found = run(folder, images=images, candidates=candidates, references=reports, vectors=False)
    return {"ids": [study["id"] for study in studies], "norm": NORM, "scores": found["scores"]}


def embeddings(folder: Path) -> dict[str, object]:
    """Seeded vectors of the size of LIMITR's through the function behind `compute_from_embeddings`."""
    run_peer(HERE / "embeddings_peer.py", folder, name="vlscore")
    return json.loads((folder / "result.json").read_text())


def open_clip(folder: Path) -> dict[str, object]:
    """Both kinds of open_clip's networks: whole pictures and texts, and the bare network on numbers."""
    pictures = [str(path) for path in seeded.pictures(folder / "pictures")]
    for kind in ("timm", "own"):
        seeded.open_clip(folder / kind, kind=kind)
    job = {"pictures": pictures, "texts": list(seeded.SENTENCES), "ids": seeded.token_ids()}
    (folder / "job.json").write_text(json.dumps(job))
    run_peer(HERE / "open_clip_peer.py", folder, name="vlscore")
    return json.loads((folder / "result.json").read_text())


if __name__ == "__main__":
    TARGET.mkdir(parents=True, exist_ok=True)
    makers = {"fixture": drawn, "indiana": indiana, "open_clip": open_clip, "embeddings": embeddings}
    for name in sys.argv[1:] or makers:
        with tempfile.TemporaryDirectory() as temporary:
            if name in ("fixture", "indiana"):
                seeded.limitr(Path(temporary))
            found = makers[name](Path(temporary))
        if found is None:
            print("no development data: the Indiana fixture stays as it is")
            continue
        text = json.dumps(rounded(found), ensure_ascii=False, separators=(",", ":"))
        path = EMBEDDINGS if name == "embeddings" else TARGET / f"{name}.json"
        path.write_text(text + "\n")
        print(f"wrote {path}")
