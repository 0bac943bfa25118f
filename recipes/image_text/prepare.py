"""Prepare the Indiana University chest X-rays for `radgauge train image-text`: pictures and a table of reports.

    python recipes/image_text/prepare.py ../shared/data/iu_xray FOLDER

writes FOLDER/images (the train and val pictures) and FOLDER/studies.jsonl: id, split (the field's, from R2Gen's
annotation.json), images, findings (R2Gen's text), impression (Kaggle's indiana_reports.csv, joined on the number).
"""

from __future__ import annotations

import argparse
import json
import re
import zipfile
from pathlib import Path

from radgauge.io.corpora.recognise import read_indiana, read_r2gen

_OPENI_ID = re.compile(r"^CXR0*(\d+)_IM-", re.IGNORECASE)


def main() -> None:
    """Unpack and join."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    given = parser.parse_args()
    images = given.output / "images"
    images.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(given.data / "images_train_val.zip") as archive:
        archive.extractall(images)
    known = {study.id: study for study in read_indiana(given.data / "indiana_reports.csv")}
    joined = 0
    with (given.output / "studies.jsonl").open("w", encoding="utf-8") as stream:
        for split in ("train", "val"):
            for study in read_r2gen(given.data / "r2gen_annotation.json", split=split):
                number = next((match for match in _OPENI_ID.findall(study.id) if match in known), None)
                impression = known[number].sections.get("impression", "") if number is not None else ""
                joined += bool(impression)
                record = {
                    "id": study.id,
                    "split": split,
                    "findings": study.text(),
                    "impression": impression,
                    "images": [image.with_suffix(".jpg").as_posix() for image in study.images],
                }
                stream.write(json.dumps(record) + "\n")
    print(f"wrote {given.output}; {joined} studies have an impression")


if __name__ == "__main__":
    main()
