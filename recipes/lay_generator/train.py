"""Tune a LLaVA checkpoint on lay or professional reports with LoRA, write reports with it, estimate the hours.

    python recipes/lay_generator/train.py estimate --reports 50000
    python recipes/lay_generator/train.py train MODEL data/lay_5000 --images data/image -o lay_5000
    python recipes/lay_generator/train.py write MODEL lay_5000 --images test_images -o generated.csv

Settings are those of Layman's RRG (Zhao et al., 2024, section 3.3) where it prints them: 10 epochs, batches of 50
by gradient accumulation. Only the low-rank matrices are trained and saved.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

MEAN, STD = (0.4815, 0.4578, 0.4082), (0.2686, 0.2613, 0.2758)  # of CLIP's images
IGNORED = -100
INSTRUCTION = "Look at this X-ray image and write a radiology report in everyday words for a patient."


@dataclass(frozen=True)
class Settings:
    epochs: int = 10
    batch: int = 50  # by accumulation
    at_once: int = 5
    rate: float = 2e-4
    rank: int = 16
    scale: float = 2.0
    targets: tuple[str, ...] = ("q_proj", "v_proj")
    max_tokens: int = 320
    seed: int = 0


class LowRank(torch.nn.Module):
    """A frozen linear layer plus a trained product of two narrow matrices (Hu et al., LoRA, 2021)."""

    def __init__(self, layer: torch.nn.Linear, settings: Settings) -> None:
        super().__init__()
        self.layer, self.scale = layer, settings.scale
        self.down = torch.nn.Parameter(
            torch.randn(settings.rank, layer.in_features) / math.sqrt(layer.in_features)
        )
        self.up = torch.nn.Parameter(torch.zeros(layer.out_features, settings.rank))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        change = (x.to(self.down.dtype) @ self.down.T) @ self.up.T
        return self.layer(x) + self.scale * change.to(x.dtype)


def add_low_rank(model: torch.nn.Module, settings: Settings) -> dict[str, torch.nn.Parameter]:
    """Freeze a model and put low-rank matrices beside the attention layers of its language model."""
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    torch.manual_seed(settings.seed)
    for name, module in list(model.named_modules()):
        if "vision" in name:
            continue
        for target in settings.targets:
            layer = getattr(module, target, None)
            if isinstance(layer, torch.nn.Linear):
                setattr(module, target, LowRank(layer, settings).to(layer.weight.device))
    trained = {name: each for name, each in model.named_parameters() if each.requires_grad}
    if not trained:
        raise SystemExit(f"the model has no layer named {', '.join(settings.targets)}")
    return trained


def pixels(path: Path, size: int) -> torch.Tensor:
    """An image as CLIP reads it: the shorter side resized, the middle, normalised."""
    with Image.open(path) as image:
        picture = image.convert("RGB")
    factor = size / min(picture.size)
    wide, high = (max(size, round(side * factor)) for side in picture.size)
    left, top = (wide - size) // 2, (high - size) // 2
    values = np.asarray(picture.resize((wide, high), Image.Resampling.BICUBIC), np.float32)[
        top : top + size, left : left + size
    ]
    return torch.from_numpy(((values / 255 - MEAN) / STD).astype(np.float32)).permute(2, 0, 1)


class Encoder:
    """Records to tensors: the image's positions, the question, the answer that is learned."""

    def __init__(self, model: Any, tokenizer: Any, images: Path, settings: Settings) -> None:
        vision = model.config.vision_config
        self.size, self.tokenizer, self.images, self.settings = vision.image_size, tokenizer, images, settings
        self.slots = [model.config.image_token_id] * (vision.image_size // vision.patch_size) ** 2

    def question(self, instruction: str) -> list[int]:
        before = self.tokenizer("USER: ").input_ids
        return [
            *before,
            *self.slots,
            *self.tokenizer(f"\n{instruction} ASSISTANT: ", add_special_tokens=False).input_ids,
        ]

    def batch(self, records: Sequence[dict[str, Any]], device: torch.device) -> dict[str, torch.Tensor]:
        rows = []
        for record in records:
            asked, answer = (turn["value"] for turn in record["conversations"])
            question = self.question(asked.replace("<image>\n", ""))
            said = [*self.tokenizer(answer, add_special_tokens=False).input_ids, self.tokenizer.eos_token_id]
            said = said[: self.settings.max_tokens]
            rows.append((question + said, [IGNORED] * len(question) + said))
        longest = max(len(ids) for ids, _ in rows)
        fill = self.tokenizer.pad_token_id or 0
        ids = torch.tensor([row + [fill] * (longest - len(row)) for row, _ in rows], device=device)
        labels = torch.tensor([row + [IGNORED] * (longest - len(row)) for _, row in rows], device=device)
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row, _ in rows], device=device)
        shown = torch.stack([pixels(self.images / record["image"], self.size) for record in records])
        return {"input_ids": ids, "attention_mask": mask, "labels": labels, "pixel_values": shown.to(device)}


def train(
    model: Any, tokenizer: Any, records: list[dict[str, Any]], images: Path, settings: Settings
) -> Iterator[float]:
    """Tune a model in place; yields the mean loss of each epoch."""
    trained = add_low_rank(model, settings)
    encoder = Encoder(model, tokenizer, images, settings)
    optimizer = torch.optim.AdamW(trained.values(), lr=settings.rate)
    steps = math.ceil(len(records) / settings.batch) * settings.epochs
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(1, steps))
    order = random.Random(settings.seed)
    device = next(model.parameters()).device
    model.train()
    for _ in range(settings.epochs):
        shuffled = order.sample(records, len(records))
        total = 0.0
        for start in range(0, len(shuffled), settings.batch):
            group = shuffled[start : start + settings.batch]
            for first in range(0, len(group), settings.at_once):
                part = group[first : first + settings.at_once]
                loss = model(**encoder.batch(part, device)).loss
                (loss * len(part) / len(group)).backward()
                total += float(loss.detach()) * len(part)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        yield total / len(records)


@torch.inference_mode()
def write(model: Any, tokenizer: Any, image: Path, settings: Settings, instruction: str = INSTRUCTION) -> str:
    """The report that a model writes of an image, greedily."""
    model.eval()
    encoder = Encoder(model, tokenizer, image.parent, settings)
    device = next(model.parameters()).device
    ids = torch.tensor([encoder.question(instruction)], device=device)
    made = model.generate(
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        pixel_values=pixels(image, encoder.size)[None].to(device),
        max_new_tokens=settings.max_tokens,
        do_sample=False,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id or 0,
    )
    return str(tokenizer.decode(made[0, ids.shape[1] :], skip_special_tokens=True)).strip()


def hours(reports: int, *, epochs: int, parameters: float, tokens: int, teraflops: float) -> float:
    """Hours of one GPU: forward and backward are about four operations per frozen weight and token."""
    return reports * epochs * tokens * 4 * parameters / (teraflops * 1e12) / 3600


def loaded(name: str) -> tuple[Any, Any]:
    from transformers import AutoTokenizer, LlavaForConditionalGeneration

    device = "cuda" if torch.cuda.is_available() else "cpu"
    kind = torch.bfloat16 if device == "cuda" else torch.float32
    return LlavaForConditionalGeneration.from_pretrained(name, dtype=kind).to(
        device
    ), AutoTokenizer.from_pretrained(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in ("train", "write"):
        sub = verbs.add_parser(verb)
        sub.add_argument("model", help="Folder or id of a LLaVA checkpoint.")
        sub.add_argument("data", type=Path, help="Folder with llava.json, or of what `train` wrote.")
        sub.add_argument("--images", type=Path, required=True)
        sub.add_argument("-o", "--out", type=Path, required=True)
        sub.add_argument("--epochs", type=int, default=Settings.epochs)
    guess = verbs.add_parser("estimate")
    guess.add_argument("--reports", type=int, default=50_000)
    guess.add_argument("--parameters", type=float, default=7e9)
    guess.add_argument(
        "--tokens", type=int, default=0, help="Per report; LLaVA 1.5 has 576 of the image, MiniGPT-4 32."
    )
    guess.add_argument(
        "--teraflops", type=float, default=60.0, help="Sustained; an A6000 reaches about 60 in bfloat16."
    )
    chosen = parser.parse_args()
    if chosen.verb == "estimate":
        for name, tokens in (("MiniGPT-4", 32 + 200), ("LLaVA 1.5", 576 + 200)):
            value = hours(
                chosen.reports,
                epochs=Settings.epochs,
                parameters=chosen.parameters,
                tokens=chosen.tokens or tokens,
                teraflops=chosen.teraflops,
            )
            print(
                f"{name}: {chosen.reports:,} reports, {Settings.epochs} epochs: about {value:.0f} hours of one GPU"
            )
        return
    settings = Settings(epochs=chosen.epochs)
    model, tokenizer = loaded(chosen.model)
    if chosen.verb == "train":
        records = json.loads((chosen.data / "llava.json").read_text(encoding="utf-8"))
        for number, loss in enumerate(train(model, tokenizer, records, chosen.images, settings), start=1):
            print(f"epoch {number}: loss {loss:.3f}", flush=True)
        chosen.out.mkdir(parents=True, exist_ok=True)
        save_file(
            {name: each.detach().cpu() for name, each in model.named_parameters() if each.requires_grad},
            chosen.out / "low_rank.safetensors",
        )
        return
    add_low_rank(model, settings)
    model.load_state_dict(load_file(chosen.data / "low_rank.safetensors"), strict=False)
    with chosen.out.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(("id", "candidate"))
        for image in sorted(chosen.images.glob("*.jpg")):
            table.writerow((image.stem, write(model, tokenizer, image, settings)))


if __name__ == "__main__":
    main()
