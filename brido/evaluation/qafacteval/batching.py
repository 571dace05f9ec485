"""Batches of similar length."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch

from brido.errors import BridoError


def length_sorted_batches(lengths: Sequence[int], max_tokens: int) -> list[list[int]]:
    """Indices of `lengths` in batches, longest first, each at most `max_tokens` once padded.

    The longest come first so that memory that does not suffice shows at once. An item longer than
    `max_tokens` is a batch of its own. Every index appears exactly once.
    """
    order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    batches: list[list[int]] = []
    for index in order:
        if batches and (len(batches[-1]) + 1) * lengths[batches[-1][0]] <= max_tokens:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


def pad(rows: Sequence[Sequence[int]], value: int, length: int | None = None) -> torch.Tensor:
    """The rows as one int64 tensor [rows, length], filled up with `value` on the right."""
    width = max(map(len, rows)) if length is None else length
    return torch.tensor([[*row, *[value] * (width - len(row))] for row in rows])


@contextmanager
def memory_errors(batch_tokens: int) -> Iterator[None]:
    """Turn a device that runs out of memory into a BridoError that names the setting."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise BridoError(
            f"the device has not enough memory for batches of {batch_tokens} tokens: lower "
            "runtime.batch_tokens (--batch-tokens) and run again; finished work is kept. "
            f"({str(error).splitlines()[0]})"
        ) from None
