"""Runs in the environment of unbabel-comet: saves checkpoints of its own and scores pairs with its own code.

Usage: peer.py FOLDER. FOLDER/job.json lists variants and pairs; FOLDER/encoders holds the encoders,
FOLDER/ours/<variant> the checkpoints that radgauge wrote. Results go to FOLDER/result.json.
"""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

import pytorch_lightning as lightning
import yaml
from comet import load_from_checkpoint
from comet.models import ReferencelessRegression

sys.path.insert(0, str(Path(__file__).parent))
from checkpoints import PAIRS, VARIANTS, fill, hparams_of


def scores_of(checkpoint: Path) -> list[float]:
    with contextlib.chdir(checkpoint):  # radgauge names the encoder's copy by its place in the checkpoint
        model = load_from_checkpoint(str(checkpoint / "checkpoints" / "model.ckpt"), local_files_only=True)
    samples = [{"src": reference, "mt": candidate} for reference, candidate in PAIRS]
    return [float(value) for value in model.predict(samples, batch_size=4, gpus=0, progress_bar=False).scores]


def save_own(folder: Path, variant: str, encoder: Path) -> None:
    hparams = hparams_of(variant, encoder)
    model = ReferencelessRegression(**hparams)
    fill(model)
    (folder / "checkpoints").mkdir(parents=True)
    trainer = lightning.Trainer(
        logger=False, enable_progress_bar=False, accelerator="cpu", enable_checkpointing=False
    )
    trainer.strategy.connect(model)
    trainer.save_checkpoint(folder / "checkpoints" / "model.ckpt", weights_only=True)
    stored = {**hparams, "class_identifier": "referenceless_regression_metric"}
    (folder / "hparams.yaml").write_text(yaml.safe_dump(stored), encoding="utf-8")


def main(folder: Path) -> None:
    result: dict[str, dict[str, list[float]]] = {}
    for variant, settings in VARIANTS.items():
        save_own(folder / "theirs" / variant, variant, folder / "encoders" / settings["encoder"])
        result[variant] = {
            "theirs": scores_of(folder / "theirs" / variant),
            "ours": scores_of(folder / "ours" / variant),
        }
    (folder / "result.json").write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
