"""Train the matcher: see README.md beside this file."""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from network import ERRORS, HEADS, LABELS, TIERS, Group, Matcher, Words, collate, start_from
from torch.nn.functional import cross_entropy

MOST_STATEMENTS = 8
TOKENS = 1600
"""Of a batch, with padding."""
SHARES = {"label": 1.0, "tier": 0.5, "error": 0.3}
NAMES = {"label": LABELS, "tier": TIERS, "error": ERRORS}

Item = dict[str, Any]


def main() -> None:
    """Train on the files named, measure on contexts held out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=Path, help="folder with model.safetensors and tokenizer.json of MiniLM")
    parser.add_argument("statements", type=Path, help="JSONL of context, statement, label, error, tier")
    parser.add_argument("output", type=Path, help="file of the trained network")
    parser.add_argument("--more", type=Path, nargs="*", default=[], help="further files, never held out")
    parser.add_argument("--more-groups", type=int, default=1000, help="reports of the further files an epoch")
    parser.add_argument("--go-on", type=Path, help="network to begin with instead of MiniLM's weights")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--held-out", type=float, default=0.12, help="share of contexts")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(given.seed)
    rng = np.random.default_rng(given.seed)
    words = Words(given.weights)
    groups = by_context(read(given.statements))
    held = set(rng.permutation(len(groups))[: round(given.held_out * len(groups))].tolist())
    test = [group for at, group in enumerate(groups) if at in held]
    training = [group for at, group in enumerate(groups) if at not in held]
    more = [group for file in given.more for group in by_context(read(file))]
    network = start_from(given.weights)
    if given.go_on is not None:
        network.load_state_dict(torch.load(given.go_on, weights_only=True)["network"])
    fit(network, training, more, words, given, test=test, rng=rng)
    torch.save({"network": network.state_dict()}, given.output)
    print(json.dumps(measure(network, test, words)), flush=True)


def read(file: Path) -> list[Item]:
    """Items of a JSONL file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]


def by_context(items: Sequence[Item]) -> list[list[Item]]:
    """Items with the same context together, at most eight."""
    found: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        found[item["context"]].append(item)
    return [
        group[at : at + MOST_STATEMENTS]
        for group in found.values()
        for at in range(0, len(group), MOST_STATEMENTS)
    ]


def batches(groups: Sequence[list[Item]], words: Words, rng: np.random.Generator) -> list[list[list[Item]]]:
    """Groups of about the same length together, batches in random order."""
    known = [encoded(group, words) for group in groups]
    sizes = [len(group.report) + sum(map(len, group.statements)) for group in known]
    order = np.argsort(np.array(sizes) * rng.uniform(0.85, 1.15, len(sizes)))
    found: list[list[list[Item]]] = [[]]
    longest = 0
    for at in order:
        longest = max(longest, sizes[at])
        if found[-1] and (len(found[-1]) + 1) * longest > TOKENS:
            found.append([])
            longest = sizes[at]
        found[-1].append(groups[at])
    return [found[at] for at in rng.permutation(len(found))]


def encoded(group: list[Item], words: Words) -> Group:
    """Token numbers of a group."""
    return words.group(group[0]["context"], [item["statement"] for item in group])


def targets(batch: Sequence[list[Item]]) -> dict[str, torch.Tensor]:
    """Class numbers; -100 where an item does not say."""
    flat = [item for group in batch for item in group]
    return {
        name: torch.tensor([NAMES[name].index(item[name]) if item.get(name) else -100 for item in flat])
        for name in HEADS
    }


def fit(
    network: Matcher,
    training: list[list[Item]],
    more: list[list[Item]],
    words: Words,
    given: argparse.Namespace,
    *,
    test: list[list[Item]],
    rng: np.random.Generator,
) -> None:
    """AdamW, warm-up and linear decay."""
    plan = []
    for _ in range(given.epochs):
        chosen = rng.choice(len(more), min(given.more_groups, len(more)), replace=False) if more else []
        plan.append(batches([*training, *(more[at] for at in chosen)], words, rng))
    steps = sum(map(len, plan))
    fresh = [p for n, p in network.named_parameters() if n.startswith(("pool", "heads"))]
    old = [p for n, p in network.named_parameters() if not n.startswith(("pool", "heads")) and p.requires_grad]
    optimizer = torch.optim.AdamW(
        [{"params": old, "lr": given.rate}, {"params": fresh, "lr": 4 * given.rate}], weight_decay=0.01
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / (0.08 * steps), (steps - step) / (0.92 * steps))
    )
    began = time.perf_counter()
    for epoch, batched in enumerate(plan):
        network.train()
        losses = []
        for batch in batched:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                found = network(collate([encoded(group, words) for group in batch]))
            logits = {name: values.float() for name, values in found.items()}
            wanted = targets(batch)
            parts = [
                share * cross_entropy(logits[name], wanted[name], ignore_index=-100, label_smoothing=0.03)
                for name, share in SHARES.items()
                if bool((wanted[name] >= 0).any())
            ]
            loss = torch.stack(parts).sum()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        shown = measure(network, test, words)
        passed = time.perf_counter() - began
        print(f"epoch {epoch + 1}, {passed:.0f} s, loss {np.mean(losses):.3f}, {shown}", flush=True)


def predict(network: Matcher, groups: Sequence[Group]) -> dict[str, np.ndarray]:
    """Probabilities for every statement, in order."""
    network.eval()
    order = np.argsort([len(g.report) + sum(map(len, g.statements)) for g in groups], kind="stable")
    found: dict[str, list[np.ndarray]] = {name: [np.empty(0)] * len(groups) for name in HEADS}
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        for at in range(0, len(order), 8):
            rows = order[at : at + 8]
            batch = [groups[row] for row in rows]
            ends = np.cumsum([len(group.statements) for group in batch])[:-1]
            for name, logits in network(collate(batch)).items():
                for row, piece in zip(rows, np.split(logits.float().softmax(1).numpy(), ends), strict=True):
                    found[name][row] = piece
    return {name: np.concatenate(pieces) for name, pieces in found.items()}


def measure(network: Matcher, test: Sequence[list[Item]], words: Words) -> dict[str, float]:
    """Share right on contexts held out."""
    if not test:
        return {}
    guessed = predict(network, [encoded(group, words) for group in test])
    wanted = {name: values.numpy() for name, values in targets(test).items()}
    right = {name: float((guessed[name].argmax(1) == wanted[name]).mean()) for name in HEADS}
    regions = [item["region"].lower() for group in test for item in group]
    chest = np.array(["chest" in region and "ct" not in region for region in regions])
    label = guessed["label"].argmax(1) == wanted["label"]
    right |= {"label_chest": float(label[chest].mean()), "label_other": float(label[~chest].mean())}
    abnormal = wanted["tier"] > 0
    right["abnormal"] = float(((guessed["tier"][:, 0] < 0.5) == abnormal).mean())
    return {name: round(value, 4) for name, value in right.items()}


if __name__ == "__main__":
    main()
