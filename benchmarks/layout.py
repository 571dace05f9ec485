"""Products of a decoder step, weights as they come against weights by columns.

    OMP_NUM_THREADS=1 python -m benchmarks.layout

GFLOP/s of a linear layer (with bias) for rows of a step, on weights that PyTorch lays out by rows
and the same after `columns_first`; the two alternate, the best of seven rounds each. Several copies
of a small weight stand for a model's layers, which do not stay in the second-level cache.
"""

from __future__ import annotations

import time

import torch

from brido.models.layout import by_columns

# Outputs and inputs: attention and feed-forward layers of d 256 and 1,024, two vocabularies.
SHAPES = [(256, 256), (1024, 256), (256, 1024), (8000, 256)]
SHAPES += [(1024, 1024), (4096, 1024), (1024, 4096), (50265, 1024)]
ROWS = [16, 64, 128, 256]
ROUNDS, BYTES = 7, 1 << 25


def measure(outputs: int, inputs: int, rows: int) -> tuple[float, float]:
    """GFLOP/s by rows and by columns."""
    copies = max(1, BYTES // (outputs * inputs * 4))
    by_rows = [torch.randn(outputs, inputs) for _ in range(copies)]
    sides = [by_rows, [by_columns(weight) for weight in by_rows]]
    states, bias = torch.randn(rows, inputs), torch.randn(outputs)
    best = [float("inf")] * 2
    for _ in range(ROUNDS):
        for side, weights in enumerate(sides):
            started = time.perf_counter()
            for weight in weights:
                torch.nn.functional.linear(states, weight, bias)
            best[side] = min(best[side], time.perf_counter() - started)
    work = 2e-9 * outputs * inputs * rows * copies
    return work / best[0], work / best[1]


def main() -> None:
    """Print the table."""
    heads = [f"{rows} rows" for rows in ROWS]
    print("| outputs x inputs | " + " | ".join(heads) + " |\n" + "|---" * (len(ROWS) + 1) + "|")
    for outputs, inputs in SHAPES:
        pairs = [measure(outputs, inputs, rows) for rows in ROWS]
        cells = [f"{before:.0f} -> {after:.0f}" for before, after in pairs]
        print(f"| {outputs:,} x {inputs:,} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
