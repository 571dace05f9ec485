"""A training step (forward and backward) against BRIO's way.

    python -m benchmarks.training [--quick] [--device cuda]

Both steps get the same random model, batch and loss, and alternate; the ratio is that of the
medians. Ours runs as in training, with its faster products where the processor has them. On a
processor (one thread) memory is the peak above the model with its gradients, each side in a process
of its own. On a GPU the shape is bart-large's, with bfloat16 autocast on both sides. Candidate
lengths are uniform between three quarters of the named length and the whole of it.
"""

import argparse
from collections.abc import Callable
from contextlib import nullcontext

import torch
from torch import Tensor
from torch.nn import MarginRankingLoss

from benchmarks.harness import (
    head,
    in_new_process,
    interleave,
    peak_of,
    place,
    random_bart,
    random_batch,
    ratio,
    row,
)
from brido.models.products import faster_training
from brido.models.tokens import Sources, Targets
from brido.training.batches import Batch
from brido.training.loss import ContrastiveLoss
from brido.training.settings import TrainingSettings

SHAPES = {
    "tiny": {"d_model": 32, "layers": 1, "heads": 2, "vocabulary": 200},
    "small (d 256, 3+3)": {"d_model": 256, "layers": 3, "heads": 4, "vocabulary": 8000},
    "deep (d 384, 12+12)": {"d_model": 384, "layers": 12, "heads": 6, "vocabulary": 8000},
    "bart-large": {"d_model": 1024, "layers": 12, "heads": 16, "vocabulary": 50265},
}
# shape, source tokens, candidates, summary tokens, repetitions
CASES = [
    ("tiny", 32, 4, 8, 1),
    ("small (d 256, 3+3)", 1024, 32, 40, 7),
    ("small (d 256, 3+3)", 1024, 32, 100, 7),
    ("small (d 256, 3+3)", 512, 16, 40, 9),
    ("deep (d 384, 12+12)", 512, 32, 40, 2),
    ("deep (d 384, 12+12)", 1024, 32, 100, 2),
    ("bart-large", 1024, 32, 100, 5),
]
SETTINGS = TrainingSettings(
    gamma=20.0, margin=0.001, margin_kind="fixed", length_penalty=2.0, label_smoothing=0.1
)
BRIO, OURS, PARTS = "BRIO-style", "BRIDO", "BRIDO, 8 candidates at once"
Loss = Callable[[Batch], Tensor]


def brio_loss(model: torch.nn.Module, batch: Batch) -> Tensor:
    """The loss of a batch as BRIO's published trainer computes it, written anew.

    The encoder runs once a document. Its states are then repeated for the reference and the N
    candidates, so keys and values of the source are projected N + 1 times. The logits of all rows
    exist at once, and log_softmax once more.
    """
    sequences, pad = batch.targets.ids, model.config.pad_token_id
    documents, rows, tokens = sequences.shape
    states = model.get_encoder()(input_ids=batch.sources.ids, attention_mask=batch.sources.mask)[0]
    output = model(
        encoder_outputs=(states.repeat_interleave(rows, 0),),
        attention_mask=batch.sources.mask.repeat_interleave(rows, 0),
        decoder_input_ids=sequences.flatten(0, 1),
        use_cache=False,
    )
    logits = output.logits.view(documents, rows, tokens, -1)[:, :, :-1]
    targets = sequences[:, :, 1:]
    keep = (targets != pad).to(logits.dtype)
    chosen = logits.log_softmax(-1).gather(-1, targets[..., None])[..., 0]
    likelihood = (chosen * keep).sum(-1) / keep.sum(-1) ** SETTINGS.length_penalty
    cross_entropy = torch.nn.functional.cross_entropy(
        logits[:, 0].flatten(0, 1), targets[:, 0].flatten(), ignore_index=pad,
        label_smoothing=SETTINGS.label_smoothing,
    )  # fmt: skip
    return cross_entropy + SETTINGS.gamma * ranking_loss(likelihood[:, 1:])


def ranking_loss(likelihood: Tensor) -> Tensor:
    """The listing's loop over offsets, with the fixed margin."""
    total = likelihood.new_zeros(())
    for offset in range(1, likelihood.shape[1]):
        better = likelihood[:, :-offset].reshape(-1)
        worse = likelihood[:, offset:].reshape(-1)
        loss = MarginRankingLoss(SETTINGS.margin * offset)
        total = total + loss(better, worse, torch.ones_like(better))
    return total


def losses(model: torch.nn.Module) -> dict[str, Loss]:
    """The loss of a batch as each side computes it."""
    ours = ContrastiveLoss(model, SETTINGS)

    def brido(batch: Batch, micro_batch: int | None = None) -> Tensor:
        tokens = int(batch.targets.lengths[:, 0].sum())
        return ours(batch, tokens, len(batch.scores), micro_batch).loss

    return {
        BRIO: lambda batch: brio_loss(model, batch),
        OURS: brido,
        PARTS: lambda batch: brido(batch, 8),
    }


def make_batch(model: torch.nn.Module, source: int, candidates: int, tokens: int) -> Batch:
    """One document with a reference and candidates of 3/4 to all of `tokens`."""
    ids, texts, lengths = random_batch(model, (source, 1 + candidates, tokens), least=0.75)
    scores = torch.linspace(1, 0, candidates, dtype=torch.float64, device=ids.device)[None]
    eligible = torch.ones_like(scores, dtype=torch.bool)
    return Batch(Sources(ids, torch.ones_like(ids)), Targets(texts, lengths), scores, eligible)


def one_step(model: torch.nn.Module, side: str, batch: Batch) -> float:
    """Forward and backward; the loss."""
    loss = losses(model)[side]
    model.zero_grad(set_to_none=False)
    device = batch.sources.ids.device.type
    with nullcontext() if side == BRIO else faster_training(model):
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            value = loss(batch)
        value.backward()
    return float(value.detach())


def memory(case: tuple, side: str) -> float:
    """Peak MiB of one step above the model and its gradients, in this (fresh) process."""
    torch.set_num_threads(1)
    model = random_bart(**SHAPES[case[0]])
    # A short step first: gradients and libraries are then in memory.
    one_step(model, side, make_batch(model, 8, 2, 3))
    batch = make_batch(model, *case[1:4])
    return peak_of(lambda: one_step(model, side, batch))[0]


def measure(case: tuple, device: str) -> None:
    """Print a row for each side, ratios against the first."""
    name, *sizes, rounds = case
    model = random_bart(**SHAPES[name]).to(device)
    batch = make_batch(model, *sizes)
    steps = {side: lambda side=side: one_step(model, side, batch) for side in (BRIO, OURS, PARTS)}
    found = interleave(steps, rounds, device)
    mib = {side: times.mib for side, times in found.items()}
    if device == "cpu":
        mib = {side: in_new_process(memory, case, side) for side in mib}
    for side, times in found.items():
        apart = abs(times.value / found[BRIO].value - 1)
        row(
            name, "/".join(map(str, sizes)), side, f"{times.median:.3f}",
            ratio(found, BRIO, side), f"{mib[side]:,.0f}", f"{mib[side] / mib[BRIO]:.0%}",
            f"{apart:.0e}",
        )  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--quick", action="store_true", help="the small shapes alone")
    parser.add_argument("--tiny", action="store_true", help="does it run? no numbers")
    options = parser.parse_args()
    torch.set_num_threads(1)
    shapes = ("small",) if options.quick else ("small", "deep")
    shapes = ("bart-large",) if options.device == "cuda" else shapes
    print(place(options.device))
    head("model", "source/N/summary", "side", "step, s", "ratio", "MiB", "share", "loss")
    for case in CASES:
        if case[0].startswith(("tiny",) if options.tiny else shapes):
            measure(case, options.device)


if __name__ == "__main__":
    main()
