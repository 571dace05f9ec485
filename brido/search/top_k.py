"""The best tokens of every row."""

from __future__ import annotations

import torch

from brido.search import selection


def row_top_k(values: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The `k` largest values of each row of [R, V], in order, and their columns: both [R, k].

    Exact; at most V columns are returned.
    """
    k = min(k, values.shape[1])
    if values.device.type != "cpu":
        return top_k_of_lanes(values, k)
    # A row of NaN has no largest value: it gets NaN and the first column.
    best = values.new_full((len(values), k), torch.nan)
    columns = torch.zeros(len(values), k, dtype=torch.long)
    selection.top_k(values.contiguous().numpy(), best.numpy(), columns.numpy())
    return best, columns


def top_k_of_lanes(values: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """`row_top_k` in PyTorch's operators.

    A long row is cut into lanes first: the k largest values lie in the k lanes with the largest
    maxima, so only those are searched (the maxima cost one pass, a top-k over V several).
    """
    rows, size = values.shape
    depth = selection.DEPTH
    lanes = size // depth
    if lanes < 2 * k:
        return values.topk(k, dim=1)
    # Lane j holds columns j, j + lanes, j + 2 lanes, ...: the maximum runs over whole vectors.
    main = values[:, : lanes * depth].view(rows, depth, lanes)
    best = main.amax(1).topk(k, dim=1, sorted=False).indices
    found = main.gather(2, best[:, None, :].expand(-1, depth, -1)).flatten(1)
    columns = (torch.arange(depth, device=values.device)[:, None] * lanes)[None] + best[:, None, :]
    columns = columns.flatten(1)
    if lanes * depth < size:
        rest = torch.arange(lanes * depth, size, device=values.device).expand(rows, -1)
        found = torch.cat([found, values[:, lanes * depth :]], dim=1)
        columns = torch.cat([columns, rest], dim=1)
    top, where = found.topk(k, dim=1)
    return top, columns.gather(1, where)
