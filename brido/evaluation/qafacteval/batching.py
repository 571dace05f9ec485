"""Batches that are too large for the device."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from brido.utils.errors import BridoError


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
