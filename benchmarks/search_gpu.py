"""Diverse beam search on a GPU at the published models' shapes, with and without sharing.

    python -m benchmarks.search_gpu

Random weights in bfloat16, every document runs to the maximum length. Columns: documents a second;
share of the memory bandwidth that a step must use at least (weights, self-attention cache, source
keys and values, read once) times the measured rate; the same search as an unknown family gets it,
by the model's own forward pass with the source's keys and values repeated for every beam; their
ratio; peak memory above the model of both. The bandwidth is measured first, by copying a large
tensor.
"""

import contextlib
import dataclasses
import gc
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from benchmarks.harness import head, measured, place, row
from benchmarks.throughput import build_model
from brido.models.encoder_decoder import FAMILIES
from brido.models.family import register
from brido.search import SearchSettings, diverse_beam_search

SECONDS_IN_ALL = 300.0


@dataclass(frozen=True)
class Shape:
    """A model's name, source length, search and batch sizes."""

    model: str
    source_tokens: int
    settings: SearchSettings
    batches: tuple[int, ...]


def _settings(beams: int, groups: int, tokens: int, penalty: float) -> SearchSettings:
    return SearchSettings(
        num_beams=beams, num_beam_groups=groups, diversity_penalty=penalty,
        min_length=tokens, max_length=tokens, early_stopping=True, no_repeat_ngram_size=3,
    )  # fmt: skip


SHAPES = [
    Shape("bart-large", 1024, _settings(16, 16, 64, 1.0), (8, 32, 64, 128)),
    Shape("bart-large", 1024, _settings(32, 32, 64, 1.0), (64,)),
    Shape("pegasus-large", 512, _settings(32, 4, 64, 0.1), (8, 32, 64)),
]


@contextlib.contextmanager
def without_sharing() -> Iterator[None]:
    """Every family is treated as one that cannot share its cross-attention."""
    known = list(FAMILIES)
    for family in known:
        register(dataclasses.replace(family, shares_source=False))
    try:
        yield
    finally:
        for family in known:
            register(family)


def measure(model: torch.nn.Module, shape: Shape, batch: int) -> tuple[float, float]:
    """Seconds of a search of one batch (after a short one to warm up), and GiB above the model."""
    size = (batch, shape.source_tokens)
    source = torch.randint(10, 40000, size, device="cuda")
    mask = torch.ones_like(source)
    short = SearchSettings(**vars(shape.settings) | {"max_length": 5, "min_length": 0})
    diverse_beam_search(model, source, mask, short)
    torch.cuda.empty_cache()
    work = lambda: diverse_beam_search(model, source, mask, shape.settings)  # noqa: E731
    seconds, mib, _ = measured(work, "cuda")
    return seconds, mib / 1024


def bandwidth() -> float:
    """Bytes a second that a device-to-device copy reads and writes."""
    source = torch.empty(2**30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    target.copy_(source)
    seconds = measured(lambda: [target.copy_(source) for _ in range(20)], "cuda")[0]
    return 20 * 2 * source.numel() / seconds


def least_bytes(model: torch.nn.Module, shape: Shape, batch: int) -> float:
    """Bytes that the decoder's steps cannot avoid to read: weights, both caches, bfloat16."""
    config, beams = model.config, shape.settings.num_beams
    steps = shape.settings.max_length - 2
    row = 2 * config.decoder_layers * config.d_model * 2
    weights = sum(p.numel() for p in model.get_decoder().parameters()) * 2
    source = batch * shape.source_tokens * row
    own = batch * beams * row * sum(range(1, steps + 1)) / steps
    return steps * (weights + source + own)


def main() -> None:
    """Print the table; rows that no longer fit into the time are left out and named."""
    if not torch.cuda.is_available():
        print("benchmarks.search_gpu needs a CUDA device: nothing measured", file=sys.stderr)
        return
    import transformers

    transformers.logging.set_verbosity_error()
    started, rate = time.perf_counter(), bandwidth()
    print(f"{place('cuda')}, copy bandwidth {rate / 1e12:.2f} TB/s")
    names = "model, source, N/groups, batch, documents/s, ms a step, bandwidth share, GiB, "
    names += "unshared documents/s, unshared GiB, ratio"
    head(*names.split(", "))
    model, loaded = None, ""
    for shape in SHAPES:
        if shape.model != loaded:
            model = None
            gc.collect()
            model, loaded = build_model(shape.model, torch.device("cuda")), shape.model
            model.eval().to(torch.bfloat16)
        for batch in shape.batches:
            if time.perf_counter() - started > SECONDS_IN_ALL:
                print(f"out of time: {shape.model} batch {batch} left out", file=sys.stderr)
                continue
            row(*_cells(model, shape, batch, rate))


def _cells(model: torch.nn.Module, shape: Shape, batch: int, rate: float) -> list[str]:
    settings = shape.settings
    cells = [shape.model, str(shape.source_tokens)]
    cells += [f"{settings.num_beams}/{settings.num_beam_groups}", str(batch)]
    seconds, gib = measure(model, shape, batch)
    share = least_bytes(model, shape, batch) / rate / seconds
    step = 1000 * seconds / (settings.max_length - 2)
    cells += [f"{batch / seconds:.1f}", f"{step:.1f}", f"{share:.0%}", f"{gib:.1f}"]
    try:
        with without_sharing():
            slow, more = measure(model, shape, batch)
        cells += [f"{batch / slow:.1f}", f"{more:.1f}", f"{slow / seconds:.1f}"]
    except torch.OutOfMemoryError:
        cells += ["out of memory", "", ""]
    return cells


if __name__ == "__main__":
    main()
