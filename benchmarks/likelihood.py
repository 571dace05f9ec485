"""The likelihood of N candidates of one prompt, packed in one row, against one row a candidate.

    python -m benchmarks.likelihood [--shape smollm2] [--device cuda] [--rounds 3]

Forward and backward of the mean f(S) with random weights and tokens, on the same model. The packed
side runs as in training, with its faster products where the processor has them. Memory is the peak
above the model with its gradients, each side in a process of its own.
"""

import argparse
import dataclasses
from collections.abc import Callable
from contextlib import nullcontext

import torch
from torch import Tensor

from benchmarks.harness import (
    head,
    in_new_process,
    interleave,
    measured,
    peak_of,
    random_batch,
    random_llama,
    ratio,
    row,
)
from brido.likelihood import candidate_log_likelihood
from brido.models.family import family_of, register
from brido.models.products import faster_training

# name: hidden, feed-forward, layers, heads, key heads, vocabulary; prompt, candidates, tokens
SHAPES = {
    "tiny": ((64, 128, 2, 4, 2, 500), (100, 8, 12)),
    "smollm2": ((576, 1536, 30, 9, 3, 49152), (400, 16, 40)),
    "1b": ((2048, 8192, 16, 32, 8, 128256), (1000, 16, 80)),
}
SIDES = {"repeated": False, "packed": True}
Step = Callable[[], Tensor]


def steps(model: torch.nn.Module, prompt: int, candidates: int, tokens: int) -> dict[str, Step]:
    """A forward and backward pass of each side; its value is the mean f(S)."""
    ids, rows, lengths = random_batch(model, (prompt, candidates, tokens), least=0.75)
    family = family_of(model.config)

    def run(shares: bool) -> Tensor:
        register(dataclasses.replace(family, shares=shares))
        model.zero_grad(set_to_none=False)
        with faster_training(model) if shares else nullcontext():
            value = candidate_log_likelihood(model, ids, torch.ones_like(ids), rows, 1.0, lengths)
            value.mean().backward()
        return value.detach().mean()

    return {name: lambda shares=shares: run(shares) for name, shares in SIDES.items()}


def memory(name: str, device: str, side: str) -> float:
    """Peak MiB of one step above the model and its gradients, in this (fresh) process."""
    torch.set_num_threads(1)
    shape, sizes = SHAPES[name]
    model = random_llama(shape, device).train()
    steps(model, 8, 2, 4)[side]()  # gradients and libraries are then in memory
    work = steps(model, *sizes)[side]
    return measured(work, device)[1] if device == "cuda" else peak_of(work)[0]


def main() -> None:
    """Print a line of the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", choices=SHAPES, default="smollm2")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    name, device = options.shape, options.device
    torch.set_num_threads(options.threads)
    shape, sizes = SHAPES[name]
    found = interleave(steps(random_llama(shape, device).train(), *sizes), options.rounds, device)
    mib = {side: in_new_process(memory, name, device, side) for side in SIDES}
    head("shape", "prompt/N/summary", "repeated, s", "packed, s", "ratio", "MiB", "share", "value")
    row(
        name, "/".join(map(str, sizes)), f"{found['repeated'].median:.2f}",
        f"{found['packed'].median:.2f}", ratio(found, "repeated", "packed"),
        f"{mib['repeated']:.0f} -> {mib['packed']:.0f}", f"{mib['packed'] / mib['repeated']:.0%}",
        f"{abs(float(found['packed'].value - found['repeated'].value)):.0e}",
    )  # fmt: skip


if __name__ == "__main__":
    main()
