"""How a model's weights lie in memory while it writes token by token on a processor."""

from __future__ import annotations

from collections.abc import Iterable

import torch

# Elements to a multiple of which a column of weights is padded, an odd multiple: columns a power of
# two apart would push each other out of the first-level cache.
ALIGNMENT = 16


def columns_first(modules: Iterable[torch.nn.Module]) -> None:
    """Lay the weights of the linear layers among `modules` out by columns, in place.

    Shapes and values stay what they are. A step multiplies few rows, and matrix libraries turn
    weights over for every product: with 64 to 128 rows that is a tenth to a third of the time, with
    more nothing (benchmarks/layout.py). For a model loaded to generate on a processor: training
    gains nothing, and `save_pretrained` refuses weights that lie so.
    """
    for module in modules:
        if isinstance(module, torch.nn.Linear):
            module.weight.data = by_columns(module.weight.data)


def by_columns(weight: torch.Tensor) -> torch.Tensor:
    """The same matrix [outputs, inputs], with its columns behind each other in memory."""
    outputs, inputs = weight.shape
    column = -(-outputs // ALIGNMENT) | 1
    room = weight.new_zeros(inputs, column * ALIGNMENT)
    room[:, :outputs] = weight.T
    return room[:, :outputs].T
