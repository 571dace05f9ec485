"""Products of a decoder step, weights as they come against weights by columns.

    OMP_NUM_THREADS=1 python -m benchmarks.layout

GFLOP/s of a linear layer (with bias) for rows of a step, on weights that PyTorch lays out by rows
and the same after `columns_first`; the two alternate, the best of seven rounds each. Several copies
of a small weight stand for a model's layers, which do not stay in the second-level cache.
"""

import torch

from benchmarks.harness import head, interleave, row
from brido.models.layout import by_columns

# Outputs and inputs: attention and feed-forward layers of d 256 and 1,024, two vocabularies.
SHAPES = [(256, 256), (1024, 256), (256, 1024), (8000, 256)]
SHAPES += [(1024, 1024), (4096, 1024), (1024, 4096), (50265, 1024)]
ROWS = [16, 64, 128, 256]
ROUNDS, BYTES = 7, 1 << 25


def measure(outputs: int, inputs: int, rows: int) -> list[float]:
    """GFLOP/s by rows and by columns."""
    copies = max(1, BYTES // (outputs * inputs * 4))
    by_rows = [torch.randn(outputs, inputs) for _ in range(copies)]
    weights = {"rows": by_rows, "columns": [by_columns(weight) for weight in by_rows]}
    states, bias = torch.randn(rows, inputs), torch.randn(outputs)

    def multiply(side: list[torch.Tensor]) -> None:
        for weight in side:
            torch.nn.functional.linear(states, weight, bias)

    sides = {name: lambda side=side: multiply(side) for name, side in weights.items()}
    work = 2e-9 * outputs * inputs * rows * copies
    return [work / times.least for times in interleave(sides, ROUNDS).values()]


def main() -> None:
    """Print the table."""
    head("outputs x inputs", *(f"{rows} rows" for rows in ROWS))
    for outputs, inputs in SHAPES:
        pairs = [measure(outputs, inputs, rows) for rows in ROWS]
        cells = [f"{before:.0f} -> {after:.0f}" for before, after in pairs]
        row(f"{outputs:,} x {inputs:,}", *cells)


if __name__ == "__main__":
    main()
