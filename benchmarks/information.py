"""What documents add to the likelihood of candidates: a block of K + 1 against one row a pair.

    python -m benchmarks.information [--shape bart] [--others 4] [--device cuda] [--rounds 3]

log p of the N candidates of K + 1 documents with each of the K + 1 documents, with random weights
and tokens. `one row a pair` repeats the source for every text, in batches of as many rows as a pass
of the block has; `block` reads every source once. Both sides in one process, in turn; memory is the
peak above the model, each side in a process of its own on a processor.
"""

import argparse
from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks.harness import (
    head,
    in_new_process,
    interleave,
    measured,
    peak_of,
    random_bart,
    random_batch,
    random_llama,
    ratio,
    row,
)
from brido.likelihood.information import information_terms, prior_of
from brido.likelihood.likelihood import sequence_statistics

# name: kind; its shape; source tokens, candidates, tokens of a candidate
SHAPES = {
    "tiny": ("bart", (32, 1, 2, 500), (60, 8, 12)),
    "embedded": ("bart", (128, 2, 4, 4000), (120, 16, 24)),
    "bart": ("bart", (768, 6, 12, 50265), (512, 16, 40)),
    "smollm2": ("llama", (576, 1536, 30, 9, 3, 49152), (400, 16, 40)),
}
SIDES = ("one row a pair", "block")
Step = Callable[[], Tensor]


def steps(model: torch.nn.Module, others: int, sizes: tuple[int, int, int]) -> dict[str, Step]:
    """Each side's work; its value is the mean of log p + prior."""
    ids, rows, lengths = random_batch(model, sizes, others + 1, 0.75)
    documents, candidates = lengths.shape
    mask, given = torch.ones_like(ids), rows[:, 0, 0]
    # As many texts of each source at once as stage likelihood takes with its default budget.
    at_once = max(1, 16384 // ids.numel())

    @torch.no_grad()
    def block() -> Tensor:
        terms = information_terms(model, ids, mask, rows, lengths, at_once)
        return (terms.log_probability + terms.prior).mean()

    @torch.no_grad()
    def one_row_a_pair() -> Tensor:
        every = []
        for place in range(documents):
            pairs = rows.flatten(0, 1).clone()
            pairs[:, 0] = given[place]
            found = []
            for part in range(0, len(pairs), documents * at_once):
                own = pairs[part : part + documents * at_once]
                many = ids[place].expand(len(own), -1)
                counted = lengths.flatten()[part : part + len(own), None]
                sums = sequence_statistics(
                    model, many, torch.ones_like(many), own[:, None], counted
                )
                found.append(sums.log_probability[:, 0])
            every.append(torch.cat(found).view(documents, candidates))
        matrix = torch.stack(every)
        prior = prior_of(matrix, torch.arange(documents))
        return (matrix.diagonal().T + prior).mean()

    return dict(zip(SIDES, (one_row_a_pair, block), strict=True))


def model_of(name: str, device: str) -> tuple[torch.nn.Module, tuple[int, int, int]]:
    """A random model of the shape, and the sizes of its texts."""
    kind, shape, sizes = SHAPES[name]
    model = random_llama(shape, device) if kind == "llama" else random_bart(*shape).to(device)
    return model.eval(), sizes


def memory(name: str, others: int, device: str, side: str) -> float:
    """Peak MiB of one side above the model."""
    model, sizes = model_of(name, device)
    steps(model, 1, (8, 2, 4))[side]()  # libraries are then in memory
    work = steps(model, others, sizes)[side]
    return measured(work, device)[1] if device == "cuda" else peak_of(work)


def main() -> None:
    """Print a line of the table, or one memory figure for the parent process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", choices=SHAPES, default="embedded")
    parser.add_argument("--others", type=int, default=4)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory", choices=SIDES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    name, device, others = options.shape, options.device, options.others
    torch.set_num_threads(options.threads)
    if options.memory:
        print(memory(name, others, device, options.memory))
        return
    model, sizes = model_of(name, device)
    found = interleave(steps(model, others, sizes), options.rounds, device)
    if device == "cuda":
        mib = {side: memory(name, others, device, side) for side in SIDES}
    else:
        arguments = ("--shape", name, "--others", str(others), "--memory")
        mib = {side: in_new_process(__spec__.name, *arguments, side) for side in SIDES}
    head("shape", "source/N/summary", "K", *(f"{side}, s" for side in SIDES), "ratio", "MiB",
         "value")  # fmt: skip
    row(
        name, "/".join(map(str, sizes)), others, *(f"{found[side].median:.2f}" for side in SIDES),
        ratio(found, *SIDES), f"{mib[SIDES[0]]:.0f} -> {mib[SIDES[1]]:.0f}",
        f"{abs(float(found[SIDES[1]].value - found[SIDES[0]].value)):.0e}",
    )  # fmt: skip


if __name__ == "__main__":
    main()
