"""How fast this processor multiplies the matrices of BERT base, by rows at once and by form of the weights.

    python benchmarks/products.py [--only "as stored"] [--write]

One thread, processor time, best and median of four rounds over three layers of seeded weights. First what large
square matrices reach, the most that this processor gives. CheXbert's and RadGraph's packages read a report at a
time, some 40 to 80 rows; radgauge lays texts end to end, 512 rows. What lies between the rates, and what is not
products, is all that can be gained in 32-bit arithmetic. Forms: as stored; transposed; packed by oneDNN with GELU
fused; packed by MKL (which takes one number of rows only). `--write` puts the best rates into published.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import gelu, layer_norm, linear

RESULTS = Path(__file__).with_name("published.json")
HIDDEN, INNER, LAYERS, ROUNDS = 768, 3072, 3, 4
SHAPES = ((3 * HIDDEN, HIDDEN), (HIDDEN, HIDDEN), (INNER, HIDDEN), (HIDDEN, INNER))
ROWS = (16, 64, 512, 2048)
SQUARES = (1024, 2048, 4096)
TOKENS = 2048
Product = Callable[[Any, int, int], Any]
"""Rows, layer, which of its four matrices, to rows."""


def forms(weights: list[list[Any]]) -> dict[str, Callable[[int], Product]]:
    """For each form what makes its products for a number of rows."""
    bias = [torch.full((outputs,), 0.01) for outputs, _ in SHAPES]

    def stored(rows: int) -> Product:
        return lambda x, layer, at: linear(x, weights[layer][at], bias[at])

    def transposed(rows: int) -> Product:
        turned = [[each.T.contiguous() for each in layer] for layer in weights]
        return lambda x, layer, at: torch.addmm(bias[at], x, turned[layer][at])

    def fused(rows: int) -> Product:
        one = torch.ops.mkldnn
        packed = [[one._reorder_linear_weight(each, rows) for each in layer] for layer in weights]
        after = ("none", "none", "gelu", "none")
        return lambda x, layer, at: one._linear_pointwise(
            x, packed[layer][at], bias[at], after[at], [], "none" if at == 2 else ""
        )

    def packed(rows: int) -> Product:
        mkl = torch.ops.mkl
        held = [[mkl._mkl_reorder_linear_weight(each, rows) for each in layer] for layer in weights]
        return lambda x, layer, at: mkl._mkl_linear(x, held[layer][at], weights[layer][at], bias[at], rows)

    found = {"as stored": stored, "transposed": transposed}
    if torch.backends.mkldnn.is_available():
        found["oneDNN, fused"] = fused
    if torch.backends.mkl.is_available():
        found["MKL, packed"] = packed
    return found


def spent(x: Any, product: Product, *, rows: int, fused: bool) -> float:
    """Processor seconds of all layers, without attention, over all tokens."""
    started = time.process_time()
    for first in range(0, TOKENS, rows):
        part = x[first : first + rows]
        for layer in range(LAYERS):
            made = product(part, layer, 0)[:, :HIDDEN].contiguous()
            part = product(made, layer, 1).add_(part)
            inner = product(part, layer, 2)
            part = layer_norm(product(inner if fused else gelu(inner), layer, 3).add_(part), (HIDDEN,))
    return time.process_time() - started


def square(size: int) -> list[float]:
    """Processor seconds of one product of two square matrices, several times."""
    a, b, into = torch.randn(size, size), torch.randn(size, size), torch.empty(size, size)
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        torch.mm(a, b, out=into)
        times.append(time.process_time() - started)
    return times


def main() -> None:
    """Print Gflop/s by form and rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="One form of the weights.")
    parser.add_argument("--write", action="store_true", help="Keep the best rates for the documentation.")
    options = parser.parse_args()
    found: dict[str, dict[str, float]] = {"squares": {}}
    load = os.getloadavg()[0]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    weights = [[0.02 * torch.randn(shape) for shape in SHAPES] for _ in range(LAYERS)]
    x = torch.randn(TOKENS, HIDDEN)
    work = 2 * TOKENS * LAYERS * sum(outputs * inputs for outputs, inputs in SHAPES) / 1e9
    with torch.inference_mode():
        line = []
        for size in SQUARES:
            rates = sorted(2 * size**3 / 1e9 / each for each in square(size))
            found["squares"][str(size)] = rates[-1]
            line.append(f"{size} {rates[-1]:.0f} ({statistics.median(rates):.0f})")
        print(f"squares: Gflop/s, best (median): {', '.join(line)}; load {load:.1f}", flush=True)
        for name, make in forms(weights).items():
            if options.only not in (None, name):
                continue
            line, kept = [], found.setdefault(name, {})
            for rows in ROWS:
                product = make(rows)
                times = [spent(x, product, rows=rows, fused="fused" in name) for _ in range(ROUNDS)]
                kept[str(rows)] = work / min(times)
                line.append(f"{rows} rows {work / min(times):.0f} ({work / statistics.median(times):.0f})")
            print(f"{name}: Gflop/s, best (median): {', '.join(line)}", flush=True)
    if options.write:
        results = json.loads(RESULTS.read_text())
        results["products"] = {"rates": found, "load": max(load, os.getloadavg()[0])}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
