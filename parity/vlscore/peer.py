"""Run vlscore-cxr on a seeded checkpoint; called in its own environment with a folder as argument."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import torch

# The only build of torchvision on the registry was made for another torch; its operators are declared, not used.
LIBRARY = torch.library.Library("torchvision", "DEF")
LIBRARY.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
LIBRARY.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def main(folder: Path) -> None:
    """Read job.json (images, candidates, references, norm); write result.json: scores and vectors."""
    import transformers
    from vlscore import VLscore
    from vlscore.limitr import text_model

    job = json.loads((folder / "job.json").read_text())
    torch.set_num_threads(job.get("threads", torch.get_num_threads()))
    # The package asks the hub for Bio_ClinicalBERT by name; the seeded folder answers instead.
    local = str(folder / "Bio_ClinicalBERT")
    tokenizer = transformers.BertTokenizer.from_pretrained
    text_model.BertTokenizer.from_pretrained = staticmethod(lambda name, **k: tokenizer(local, **k))

    class Model:
        """Sizes only: the checkpoint brings the weights."""

        @staticmethod
        def from_pretrained(name, **settings):
            return transformers.AutoModel.from_config(transformers.AutoConfig.from_pretrained(local, **settings))

    text_model.AutoModel = Model
    checkpoint = str(folder / job["checkpoint"])
    metric = VLscore(checkpoint=checkpoint, device="cpu", norm=job["norm"], show_progress=False)
    started, busy = time.perf_counter(), time.process_time()
    scores = metric.compute(job["images"], gt=job["references"], output=job["candidates"])
    result = {"scores": scores.tolist(), "seconds": time.perf_counter() - started}
    result["processor"] = time.process_time() - busy
    if job.get("vectors", True):
        images, texts = sorted(set(job["images"])), sorted({*job["references"], *job["candidates"]})
        result["images"] = {
            Path(path).name: vector.tolist()
            for path, vector in zip(images, metric.encoder.encode_images(images), strict=True)
        }
        result["texts"] = dict(zip(texts, metric.encoder.encode_texts(texts).tolist(), strict=True))
    if job.get("area"):
        result["area"] = areas(folder, job["area"])
    if job.get("wrapped"):
        wrapped(Path(job["wrapped"]))
    (folder / "result.json").write_text(json.dumps(result))


def areas(folder: Path, jobs: list[list[int]]) -> list[list[int]]:
    """OpenCV's INTER_AREA on seeded noise: sums of rows and columns, and a few pixels."""
    import cv2
    import numpy as np

    found = []
    for seed, (height, width, new_height, new_width) in enumerate(jobs):
        noise = np.random.RandomState(seed).randint(0, 256, (height, width)).astype(np.uint8)
        small = cv2.resize(noise, (new_width, new_height), interpolation=cv2.INTER_AREA).astype(int)
        found.append([*small.sum(axis=0).tolist(), *small.sum(axis=1).tolist(), *small[:3, :3].ravel().tolist()])
    return found


def wrapped(path: Path) -> None:
    """A tiny checkpoint with settings as Lightning and omegaconf pickle them."""
    import types

    from omegaconf import OmegaConf

    names = ("pytorch_lightning", "pytorch_lightning.utilities", "pytorch_lightning.utilities.parsing")
    for name in (*names, "pytorch_lightning.callbacks", "pytorch_lightning.callbacks.model_checkpoint"):
        sys.modules.setdefault(name, types.ModuleType(name))
    parsing, callbacks = sys.modules[names[2]], sys.modules["pytorch_lightning.callbacks.model_checkpoint"]
    parsing.AttributeDict = type("AttributeDict", (dict,), {"__module__": names[2]})
    callbacks.ModelCheckpoint = type("ModelCheckpoint", (), {"__module__": callbacks.__name__})
    settings = OmegaConf.create({"model": {"text": {"last_n_layers": 4, "names": ["a", "b"], "norm": False}}})
    numbers = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    state = {"limitr.plain": numbers, "limitr.turned": numbers.t(), "limitr.part": numbers[1:, 1:3]}
    state |= {"limitr.half": numbers.half(), "limitr.brain": numbers.bfloat16(), "limitr.count": torch.tensor(7)}
    state["limitr.parameter"] = torch.nn.Parameter(numbers[0])
    content = {
        "state_dict": state,
        "hyper_parameters": parsing.AttributeDict(cfg=settings, lr=0.5),
        "callbacks": {callbacks.ModelCheckpoint: {"best_model_path": "", "best_k_models": {}}},
        "optimizer_states": [{"state": {0: {"exp_avg": numbers}}, "param_groups": []}],
    }
    torch.save(content, path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
