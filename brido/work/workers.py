"""How many workers there are, and where: as section runtime says."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from brido.utils.device import worker_devices
from brido.work.settings import RayRuntime, RuntimeSettings


@dataclass(frozen=True)
class Workers:
    """The workers of a run: one for each of `devices`, such as `cuda:0`.

    A single one works in this process. Several have a process each, or with `threads`, for compiled
    code that runs without the interpreter's lock, a thread.

    With `ray` they run on a Ray cluster instead, `number` of them or as many as it has room for,
    all on the first of `devices`; `with_model`: each wants a GPU if there are any.
    """

    devices: Sequence[str] = ("cpu",)
    threads: bool = False
    ray: RayRuntime | None = None
    number: int | None = None
    with_model: bool = False


def model_workers(runtime: RuntimeSettings) -> Workers:
    """Workers that run a model each: by `runtime.workers` and `runtime.device`."""
    if runtime.engine == "ray":
        return Workers((runtime.device,), ray=runtime.ray, number=runtime.workers, with_model=True)
    return Workers(worker_devices(runtime.device, runtime.workers))


def core_workers(runtime: RuntimeSettings, threads: bool) -> Workers:
    """A worker for each core of `runtime.threads`: a thread, or where not `threads` a process."""
    if runtime.engine == "ray":
        return Workers(ray=runtime.ray, number=runtime.workers)
    return Workers(["cpu"] * (runtime.threads or os.cpu_count() or 1), threads)
