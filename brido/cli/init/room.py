"""Memory and disk that a run takes: what is said, and what is set where the machine has less."""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from brido.cli.init.model import Limits, Model
from brido.cli.init.plan import Plan
from brido.cli.init.speed import Speed

# Bytes of a weight in a file, and of a weight with its gradient and Adam's two moments.
_STORED, _TRAINED = 4, 16
# Python with PyTorch and transformers, and the share of the free memory that a run may take.
_PROGRAM, _SHARE = 0.7e9, 0.9


def disk_of(model: Model, plan: Plan, folder: Path) -> tuple[float, float]:
    """Bytes of disk that a run in a folder takes, and that are free there."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    # Base, each tuned system and the copy of the chosen one.
    needed = (2 + len(plan.tuned)) * _STORED * model.parameters
    return needed, shutil.disk_usage(there).free


def memory_of(
    recipe: dict[str, Any], model: Model, limits: Limits, plan: Plan, speed: Speed | None
) -> tuple[float | None, dict[str, Any]]:
    """Bytes of memory that training takes at most (None: not known), and keys of `runtime`.

    With these it fits into what is free; there are none where it fits anyway.
    """
    if speed is None or not model.small:
        return None, {}
    fixed = _PROGRAM + _TRAINED * model.parameters
    document = limits.source_tokens + (1 + plan.candidates) * limits.summary_tokens
    memory = fixed + max(document, recipe["runtime"]["batch_tokens"]) * speed.memory
    allowed = _SHARE * free_memory()
    if memory <= allowed:
        return memory, {}
    fitting = int((allowed - fixed) / max(speed.memory, 1.0))
    return memory, {
        "batch_tokens": max(fitting, document),
        "gradient_checkpointing": fitting < document,
    }


def free_memory() -> float:
    """Bytes that are free: of the GPU, or of this machine or the container's share of it."""
    if torch.cuda.is_available():
        return float(torch.cuda.mem_get_info()[0])
    free = [float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))]
    with suppress(OSError, ValueError, IndexError):  # other systems than Linux, or no limit
        lines = Path("/proc/meminfo").read_text().splitlines()
        free += [1024.0 * int(line.split()[1]) for line in lines if line[:13] == "MemAvailable:"]
        free.append(float(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(free)
