"""Memory and disk that a run takes: what is said, and what is set where the machine has less."""

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from brido.cli.init.found import Found
from brido.cli.init.plan import Plan
from brido.cli.init.speed import Speed

# Bytes of a weight in a file, and of a weight with its gradient and Adam's two moments.
_STORED, _TRAINED = 4, 16
# Python with PyTorch and transformers, and the share of the free memory that a run may take.
_PROGRAM, _SHARE = 0.7e9, 0.9


@dataclass(frozen=True)
class Room:
    """Bytes: of memory that training takes, and its batch (None if not known), what is free of it,
    and disk.

    runtime: keys of section `runtime` with which it fits; empty where it fits anyway.
    """

    memory: float
    batch: float | None
    free: float
    disk: float
    free_disk: float
    runtime: dict[str, Any]


def find_room(found: Found, plan: Plan, speed: Speed, folder: Path) -> Room:
    """How much memory and disk a run takes at most.

    folder: where the run will be, or a path below a folder that is there.
    """
    model = found.model
    # Base, each tuned system and the copy of the chosen one.
    disk = (2 + len(plan.tuned)) * _STORED * model.parameters
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    free, free_disk = free_memory(), shutil.disk_usage(there).free
    # A model that is not small learns an adapter: its own weights have no gradients.
    memory = _PROGRAM + (_TRAINED if model.small else _STORED) * model.parameters
    if not model.small:
        return Room(memory, None, free, disk, free_disk, {})
    tokens = most_tokens(found, plan, found.recipe["runtime"]["batch_tokens"])
    batch, runtime = tokens * speed.memory, dict[str, Any]()
    if memory + batch > _SHARE * free:
        fitting = int((_SHARE * free - memory) / max(speed.memory, 1.0))
        runtime["batch_tokens"] = max(fitting, found.source_tokens + found.summary_tokens)
        # Candidates of a document that fit at once.
        few = (fitting - found.source_tokens) // found.summary_tokens
        if few < 1:
            runtime["gradient_checkpointing"] = True
        elif few <= plan.candidates:
            runtime["candidate_micro_batch"] = few
    return Room(memory, batch, free, disk, free_disk, runtime)


def most_tokens(found: Found, plan: Plan, batch_tokens: int) -> int:
    """Tokens of the largest part of an update that is in memory at once, as stage train cuts it."""
    training, parts = found.recipe["training"], []
    learning = found.recipe["checkpoints"]["base"]["fine_tuning"] or training
    for settings, sequences in ((learning, 1), (training, 1 + plan.candidates)):
        tokens = found.source_tokens + sequences * found.summary_tokens
        parts.append(tokens * max(1, min(settings["batch_size"], batch_tokens // tokens)))
    return max(parts)


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
