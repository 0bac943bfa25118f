"""Drawn pictures and reports of our own that a generator can learn from: an effusion is a bright patch."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

TEXTS = {
    "left": "There is a left pleural effusion. No pneumothorax. The heart is normal in size.",
    "right": "There is a right pleural effusion. No pneumothorax. The heart is normal in size.",
    "none": "The lungs are clear. No pleural effusion or pneumothorax. The heart is normal in size.",
}


def draw_studies(folder: Path, *, train: int = 18, test: int = 6) -> Path:
    """A table studies.jsonl and a folder images: one picture per study, three kinds in turn."""
    from PIL import Image

    rng = np.random.default_rng(0)
    (folder / "images").mkdir(parents=True)
    records = []
    for number in range(train + test):
        kind = list(TEXTS)[number % 3]
        picture = rng.integers(0, 40, size=(40, 36)).astype(np.uint8)
        if kind != "none":
            picture[4:38, slice(1, 17) if kind == "right" else slice(19, 35)] += 200
        Image.fromarray(picture).save(folder / "images" / f"{number}.png")
        records.append(
            {
                "id": f"s{number}",
                "findings": TEXTS[kind],
                "images": [f"{number}.png"],
                "split": "train" if number < train else "test",
                "patient": f"p{number}",
            }
        )
    write_table(folder / "studies.jsonl", records)
    return folder


def write_table(path: Path, records: list[dict[str, object]]) -> None:
    """Records as JSON lines."""
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")


def read_table(path: Path) -> list[dict[str, object]]:
    """Records of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
