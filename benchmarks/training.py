"""A training step (forward and backward) against BRIO's way.

    python -m benchmarks.training [--quick]
    python -m benchmarks.training --device cuda [--documents-limit N]

Both steps get the same random model, batch and loss, and alternate; the ratio is that of the
medians. On a processor (one thread) memory is the peak above the model with its gradients, each
side in a process of its own. On a GPU the shape is bart-large's, with bfloat16 autocast on both
sides; the largest batch is the most documents of which one step fits. Candidate lengths are uniform
between three quarters of the named length and the whole of it.
"""

import argparse
import gc
from collections.abc import Callable

import torch
from accelerate.utils import send_to_device
from torch import Tensor

from benchmarks.brio_step import GAMMA, LENGTH_PENALTY, MARGIN, SMOOTHING, brio_loss
from benchmarks.harness import (
    Times,
    head,
    in_new_process,
    interleave,
    peak_of,
    place,
    random_bart,
    ratio,
    row,
)
from brido.models.family import family_of
from brido.models.tokens import Sources, Targets
from brido.training.batches import Batch
from brido.training.devices import checkpoint_layers
from brido.training.settings import TrainingSettings
from brido.training.step import ContrastiveStep

SHAPES = {
    "tiny": {"d_model": 32, "layers": 1, "heads": 2, "vocabulary": 200},
    "small (d 256, 3+3)": {"d_model": 256, "layers": 3, "heads": 4, "vocabulary": 8000},
    "deep (d 384, 12+12)": {"d_model": 384, "layers": 12, "heads": 6, "vocabulary": 8000},
    "bart-large": {"d_model": 1024, "layers": 12, "heads": 16, "vocabulary": 50265},
}
# shape, source tokens, candidates, summary tokens, repetitions
CASES = [
    ("small (d 256, 3+3)", 1024, 32, 40, 7),
    ("small (d 256, 3+3)", 1024, 32, 100, 7),
    ("small (d 256, 3+3)", 512, 16, 40, 9),
    ("deep (d 384, 12+12)", 512, 32, 40, 2),
    ("deep (d 384, 12+12)", 1024, 32, 100, 2),
    ("tiny", 32, 4, 8, 1),
]
ON_GPU = ("bart-large", 1024, 32, 100, 5)
SETTINGS = TrainingSettings(
    gamma=GAMMA,
    margin=MARGIN,
    margin_kind="fixed",
    length_penalty=LENGTH_PENALTY,
    label_smoothing=SMOOTHING,
)
BRIO, OURS = "BRIO-style", "BRIDO"
Loss = Callable[[Batch], Tensor]


def build_batch(
    vocabulary: int, documents: int, source: int, candidates: int, tokens: int, pad: int = 1
) -> Batch:
    """Sources of full length; a reference and candidates of 3/4 to all of `tokens`."""
    generator = torch.Generator().manual_seed(0)
    sources = torch.randint(5, vocabulary, (documents, source), generator=generator)
    shape = (documents, 1 + candidates, tokens + 1)
    sequences = torch.randint(5, vocabulary, shape, generator=generator)
    lengths = torch.randint(-(-3 * tokens // 4), tokens + 1, shape[:2], generator=generator)
    lengths[:, 1] = tokens
    sequences[torch.arange(tokens + 1) > lengths[..., None]] = pad
    sequences[:, :, 0] = 2
    scores = torch.linspace(1, 0, candidates, dtype=torch.float64).expand(documents, -1)
    read = Sources(sources, torch.ones_like(sources))
    return Batch(read, Targets(sequences, lengths), scores)


def losses(model: torch.nn.Module) -> dict[str, Loss]:
    """The loss of a batch as each side computes it."""
    ours = ContrastiveStep(model, SETTINGS)

    def brido(batch: Batch, micro_batch: int | None = None) -> Tensor:
        tokens = int(batch.targets.lengths[:, 0].sum())
        return ours(batch, tokens, len(batch.scores), micro_batch).loss

    return {
        BRIO: lambda batch: brio_loss(
            model, batch.sources.ids, batch.sources.mask, batch.targets.ids
        ),
        OURS: brido,
        f"{OURS}, 8 candidates at once": lambda batch: brido(batch, 8),
    }


def one_step(model: torch.nn.Module, loss: Loss, batch: Batch) -> float:
    """Forward and backward; the loss."""
    model.zero_grad(set_to_none=False)
    device = batch.sources.ids.device.type
    with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
        value = loss(batch)
    value.backward()
    return float(value.detach())


def timed(
    model: torch.nn.Module, sides: dict[str, Loss], batch: Batch, rounds: int, device: str
) -> dict[str, Times]:
    """The times of each side's steps, in turn."""
    steps = {name: lambda loss=loss: one_step(model, loss, batch) for name, loss in sides.items()}
    return interleave(steps, rounds, device)


def memory(case: tuple, side: str) -> float:
    """Peak MiB of one step above the model and its gradients, in this (fresh) process."""
    shape = SHAPES[case[0]]
    model = random_bart(**shape)
    loss = losses(model)[side]
    # A short step first: gradients and libraries are then in memory.
    one_step(model, loss, build_batch(shape["vocabulary"], 1, 8, 2, 3))
    batch = build_batch(shape["vocabulary"], 1, *case[1:4])
    return peak_of(lambda: one_step(model, loss, batch))


def on_processor(cases: list[tuple]) -> None:
    """A row for each case."""
    head("model", "source/N/summary", "BRIO-style, s", "BRIDO, s", "ratio", "MiB", "share", "loss")
    for case in cases:
        shape = SHAPES[case[0]]
        model = random_bart(**shape)
        batch = build_batch(shape["vocabulary"], 1, *case[1:4])
        both = {name: losses(model)[name] for name in (BRIO, OURS)}
        found = timed(model, both, batch, case[4], "cpu")
        index = str(CASES.index(case))
        mib = {name: in_new_process(__spec__.name, "--memory", index, name) for name in both}
        brio, ours = found[BRIO], found[OURS]
        row(
            case[0], "/".join(map(str, case[1:4])), f"{brio.median:.2f}", f"{ours.median:.2f}",
            ratio(found, BRIO, OURS), f"{mib[BRIO]:.0f} -> {mib[OURS]:.0f}",
            f"{mib[OURS] / mib[BRIO]:.0%}", f"{abs(brio.value - ours.value) / abs(brio.value):.0e}",
        )  # fmt: skip


def on_gpu(limit: int) -> None:
    """Steps of one and of four documents, the largest batches, and with layer checkpoints."""
    print(place("cuda"))
    name, *sizes, rounds = ON_GPU
    model = random_bart(**SHAPES[name]).cuda()

    def batch_of(documents: int) -> Batch:
        made = build_batch(SHAPES[name]["vocabulary"], documents, *sizes)
        return send_to_device(made, torch.device("cuda"))

    sides = losses(model)
    head("documents", "side", "step, s", "tokens/s", "ratio", "MiB", "share")
    for documents in (1, 4):
        show(documents, batch_of(documents), model, sides, rounds)
    for side, loss in sides.items():
        print(f"largest batch, {side}: {largest_batch(model, loss, batch_of, limit)} documents")
    checkpoint_layers(model)
    with family_of(model.config).training(model):
        loss = sides[OURS]
        show(4, batch_of(4), model, {f"{OURS}, layer checkpoints": loss}, rounds)
        most = largest_batch(model, loss, batch_of, limit)
        print(f"largest batch, layer checkpoints: {most} documents")


def show(
    documents: int, batch: Batch, model: torch.nn.Module, sides: dict[str, Loss], rounds: int
) -> None:
    """Print a row for each side, ratios against the first."""
    found = timed(model, sides, batch, rounds, "cuda")
    first = next(iter(found))
    tokens = int(batch.targets.lengths.sum() + batch.sources.mask.sum())  # read and scored
    for name, times in found.items():
        row(
            documents, name, f"{times.median:.3f}", f"{tokens / times.median:,.0f}",
            ratio(found, first, name), f"{times.mib:,.0f}", f"{times.mib / found[first].mib:.0%}",
        )  # fmt: skip


def largest_batch(
    model: torch.nn.Module, loss: Loss, batch_of: Callable[[int], Batch], limit: int
) -> int:
    """The most documents that fit, by doubling and then bisecting; at most `limit`."""

    def fits(documents: int) -> bool:
        try:
            one_step(model, loss, batch_of(documents))
            return True
        except torch.OutOfMemoryError:
            pass
        gc.collect()
        torch.cuda.empty_cache()
        return False

    fitting, failing = 1, 2
    while failing <= limit and fits(failing):
        fitting, failing = failing, 2 * failing
    while failing - fitting > max(1, fitting // 8):
        middle = (fitting + failing) // 2
        if middle <= limit and fits(middle):
            fitting = middle
        else:
            failing = middle
    torch.cuda.empty_cache()
    return fitting


def main() -> None:
    """Print the table, or one memory figure for the parent process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--quick", action="store_true", help="the small shape only")
    parser.add_argument("--tiny", action="store_true", help="does it run? no numbers")
    parser.add_argument("--documents-limit", type=int, default=64, help="of the largest batch")
    parser.add_argument("--memory", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.memory:
        print(memory(CASES[int(options.memory[0])], options.memory[1]))
    elif options.device == "cuda":
        on_gpu(options.documents_limit)
    else:
        wanted = "tiny" if options.tiny else "small" if options.quick else ("small", "deep")
        on_processor([case for case in CASES if case[0].startswith(wanted)])


if __name__ == "__main__":
    main()
