"""A training step at bart-large's shape on an accelerator, against BRIO's way.

    python -m benchmarks.training_gpu [--documents-limit N]

Random weights, bfloat16 autocast on both sides, source 1024, N = 32, candidates of 3/4 to all of
100 tokens. The sides alternate; a time is the median of several steps (forward and backward,
device synchronised). Memory is the peak above the model with its gradients. The largest batch is
the most documents of which one step fits.
"""

import argparse
import gc
import statistics
import time
from collections.abc import Callable

import torch
import transformers
from torch import Tensor

from benchmarks.brio_step import brio_loss
from benchmarks.training import SETTINGS, build_batch, build_model
from brido.models.family import family_of
from brido.training.batches import Batch
from brido.training.devices import checkpoint_layers
from brido.training.step import ContrastiveStep

SHAPE = {"d_model": 1024, "layers": 12, "heads": 16, "vocabulary": 50265}
SOURCE, CANDIDATES, TOKENS = 1024, 32, 100
REPETITIONS = 5
PAD = 1
Loss = Callable[[Batch], Tensor]


def losses(model: torch.nn.Module) -> dict[str, Loss]:
    """The loss of a batch as each side computes it."""
    ours = ContrastiveStep(model, SETTINGS)

    def brido(batch: Batch, micro_batch: int | None = None) -> Tensor:
        tokens = int(batch.targets.lengths[:, 0].sum())
        return ours(batch, tokens, len(batch.scores), micro_batch).loss

    return {
        "BRIO-style": lambda batch: brio_loss(
            model, batch.sources.ids, batch.sources.mask, batch.targets.ids
        ),
        "BRIDO": brido,
        "BRIDO, 8 candidates at once": lambda batch: brido(batch, 8),
    }


def one_step(model: torch.nn.Module, loss: Loss, batch: Batch, exact: bool = False) -> float:
    """Forward and backward; the loss."""
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad.zero_()
    with torch.autocast(batch.sources.ids.device.type, torch.bfloat16, enabled=not exact):
        value = loss(batch)
    value.backward()
    return float(value.detach())


def timed(model: torch.nn.Module, sides: dict[str, Loss], batch: Batch) -> dict[str, tuple]:
    """Median seconds and peak MiB above the model of each side, alternating."""
    for loss in sides.values():
        one_step(model, loss, batch)
    times: dict[str, list[float]] = {name: [] for name in sides}
    peaks: dict[str, float] = {}
    for _ in range(REPETITIONS):
        for name, loss in sides.items():
            gc.collect()
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
            start = time.perf_counter()
            one_step(model, loss, batch)
            torch.cuda.synchronize()
            times[name].append(time.perf_counter() - start)
            peaks[name] = (torch.cuda.max_memory_allocated() - before) / 2**20
    return {name: (statistics.median(times[name]), peaks[name]) for name in sides}


def fits(model: torch.nn.Module, loss: Loss, documents: int) -> bool:
    """Whether a step with so many documents runs without running out of memory."""
    try:
        one_step(model, loss, on_device(documents))
        return True
    except torch.OutOfMemoryError:
        pass
    gc.collect()
    torch.cuda.empty_cache()
    return False


def largest_batch(model: torch.nn.Module, loss: Loss, limit: int) -> int:
    """The most documents that fit, by doubling and then bisecting; at most `limit`."""
    fitting, failing = 1, 2
    while failing <= limit and fits(model, loss, failing):
        fitting, failing = failing, 2 * failing
    while failing - fitting > max(1, fitting // 8):
        middle = (fitting + failing) // 2
        if middle <= limit and fits(model, loss, middle):
            fitting = middle
        else:
            failing = middle
    torch.cuda.empty_cache()
    return fitting


def on_device(documents: int) -> Batch:
    """A batch of the benchmark's shape on the accelerator."""
    batch = build_batch(SHAPE["vocabulary"], documents, SOURCE, CANDIDATES, TOKENS, PAD)
    return batch.to(torch.device("cuda"))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents-limit", type=int, default=64, help="of the largest batch")
    limit = parser.parse_args().documents_limit
    device = torch.cuda.get_device_name()
    print(f"{device}, torch {torch.__version__}, transformers {transformers.__version__}")
    model = build_model(**SHAPE).cuda()
    sides = losses(model)
    small = on_device(1)
    exact = [one_step(model, loss, small, exact=True) for loss in sides.values()]
    print("losses in float32:", ", ".join(f"{value:.7g}" for value in exact))
    print("| documents | side | step, s | tokens/s | ratio | MiB | share |")
    print("|---|---|---|---|---|---|---|")
    for documents in (1, 4):
        batch = on_device(documents)
        report(documents, batch, timed(model, sides, batch))
        del batch
    for name, loss in sides.items():
        print(f"largest batch, {name}: {largest_batch(model, loss, limit)} documents", flush=True)
    checkpoint_layers(model)
    with family_of(model.config).training(model):
        loss = sides["BRIDO"]
        report(4, on_device(4), timed(model, {"BRIDO, layer checkpoints": loss}, on_device(4)))
        print(f"largest batch, layer checkpoints: {largest_batch(model, loss, limit)} documents")


def report(documents: int, batch: Batch, results: dict[str, tuple]) -> None:
    """Print a line a side, ratios against the first."""
    first = next(iter(results.values()))
    for name, (seconds, memory) in results.items():
        print(
            f"| {documents} | {name} | {seconds:.3f} | {batch.tokens / seconds:,.0f} | "
            f"{first[0] / seconds:.2f} | {memory:,.0f} | {memory / first[1]:.0%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
