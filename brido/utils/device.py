"""The device and the threads that `runtime` names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from brido.utils.errors import BridoError, first_line

if TYPE_CHECKING:
    import torch


def let_threads_sleep() -> None:
    """Let PyTorch's threads sleep soon after they have nothing to do; call it before its import.

    By default libgomp's threads wait actively for milliseconds: on two busy cores a step of a
    language model took 12 times as long. 1000 rounds, some microseconds, are libgomp's own choice
    where it knows that there are more threads than cores. A value of the user's stays.
    """
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")


def computing_device(name: str, threads: int = 0) -> torch.device:
    """The device `runtime.device` names; auto is the first GPU of CUDA, else the processor.

    The processor takes the place of Apple's GPUs: they have no float64, in which scores are summed.
    `threads` above 0 also sets PyTorch's number of threads for this process.

    Raises:
        BridoError: no such device here.
    """
    import torch

    if threads:
        torch.set_num_threads(threads)
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device("cpu" if name == "mps" else name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise BridoError(
            f"runtime.device: {name} cannot be used here ({first_line(error)}); auto takes what is "
            "there"
        ) from None
    return device


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that a device's or the machine's memory does not suffice."""
    import torch

    # PyTorch on a processor has no kind of its own for it.
    known = isinstance(error, MemoryError | torch.OutOfMemoryError)
    return known or "DefaultCPUAllocator" in str(error)


@contextmanager
def memory_errors(batch_tokens: int) -> Iterator[None]:
    """Turn a device that runs out of memory into a BridoError that names the setting."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise BridoError(
            f"the device has not enough memory for batches of {batch_tokens} tokens: lower "
            "runtime.batch_tokens (--batch-tokens) and run again; finished work is kept"
        ) from None


def multiplies_bfloat16(device: torch.device) -> bool:
    """Whether a device is a processor that multiplies in bfloat16, a third of float32's time."""
    import torch

    asked = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return device.type == "cpu" and any(getattr(torch.cpu, name, lambda: False)() for name in asked)


def inference_dtype(device: torch.device, precision: str = "auto") -> torch.dtype:
    """The type that `precision` names; auto is bfloat16 on a GPU that computes in it, else float32.

    float16 is never chosen by itself: PEGASUS and T5 overflow in it.
    """
    import torch

    if precision != "auto":
        return getattr(torch, precision)
    if device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False):
        return torch.bfloat16
    return torch.float32
