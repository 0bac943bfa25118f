"""What the image contributes to VLScore with the embedded encoder, on Indiana University studies.

    python benchmarks/image_ablation.py [--encoder FILE] [--write]

Reports are the validation studies of the field's split; judged pairs are those of `judged/iu_pairs.jsonl` whose
study has images. Prints the table and the sentence; `--write` writes benchmarks/image_ablation.json, from which
the card and the page of controls are written. Vectors are kept in the folder of `--cache`, if it is given.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import zipfile
from dataclasses import asdict, replace
from pathlib import Path

from judged_data import DATA, judged_sources

from radgauge.analysis.image_ablation import ImageAblation, ablation_table, image_ablation
from radgauge.core.cache import Cache
from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.io.corpora.recognise import read_indiana, read_r2gen
from radgauge.io.judgments import Judgments
from radgauge.metrics.vlscore import VLScore
from radgauge.render.tables import to_markdown

RESULT = Path(__file__).parent / "image_ablation.json"


def studies(data: Path, images: Path, *, split: str) -> list[Case]:
    """The studies of a split: findings and impression as the reference, with their images."""
    impressions = {
        study.id: study.sections.get("impression", "") for study in read_indiana(data / "indiana_reports.csv")
    }
    found = []
    for study in read_r2gen(data / "r2gen_annotation.json", split=split):
        number = uid(study.id)
        text = " ".join(filter(None, (study.text(), impressions.get(number, ""))))
        pictures = tuple(images / Path(name).with_suffix(".jpg") for name in study.images)
        found.append(Case(number, text, (text,), images=pictures, meta={"split": split}))
    return found


def uid(name: str) -> str:
    """The number of a study: CXR12_IM-0034 is 12."""
    match = re.match(r"CXR(\d+)_", name)
    if match is None:
        raise SystemExit(f"not a study of Indiana University: {name}")
    return match[1]


def with_images(judgments: Judgments, known: dict[str, tuple[Path, ...]]) -> Judgments:
    """The judgments whose study has images."""
    cases = tuple(replace(case, images=known.get(case.id, ())) for case in judgments.cases)
    return replace(judgments, cases=cases)


def main() -> None:
    """Run the ablation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", default="embedded")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        zipfile.ZipFile(DATA / "iu_xray" / "images_train_val.zip") as file,
    ):
        file.extractall(folder)
        ablation, in_train = run(Path(folder), encoder=given.encoder, cache=given.cache)
    print(to_markdown(ablation_table(ablation)))
    print(ablation.sentence)
    print(f"{in_train} of the judged pairs are of studies that the embedded encoder was trained on")
    if given.write:
        record = {**asdict(ablation), "sentence": ablation.sentence, "pairs_in_training": in_train}
        RESULT.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def run(images: Path, *, encoder: str, cache: Path | None) -> tuple[ImageAblation, int]:
    """The ablation, and how many judged pairs lie in the training split."""
    train, val = (studies(DATA / "iu_xray", images, split=split) for split in ("train", "val"))
    judgments = with_images(judged_sources()["iu_pairs"], {case.id: case.images for case in (*train, *val)})
    learned = {case.id for case in train}
    reading = Readings(cache=Cache(cache) if cache is not None else None)
    found = image_ablation(val, VLScore(encoder=encoder), judgments=judgments, reading=reading)
    return found, sum(case.id in learned and bool(case.images) for case in judgments.cases)


if __name__ == "__main__":
    main()
