"""A training step (forward and backward) against BRIO's way, on one thread of a processor.

    python -m benchmarks.training [--quick]

Both steps get the same model, batch and loss, and alternate; times are CPU times of the process,
the ratio is that of the medians. Memory is the peak above the model with its gradients, each side
in a process of its own. Random weights and tokens; candidate lengths are uniform between three
quarters of the named length and the whole of it.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from transformers import BartConfig, BartForConditionalGeneration

from benchmarks.brio_step import GAMMA, LENGTH_PENALTY, MARGIN, SMOOTHING, brio_loss
from brido.models.tokens import Sources, Targets
from brido.training.batches import Batch
from brido.training.settings import TrainingSettings
from brido.training.step import ContrastiveStep

SHAPES = {
    "small (d 256, 3+3)": {"d_model": 256, "layers": 3, "heads": 4, "vocabulary": 8000},
    "deep (d 384, 12+12)": {"d_model": 384, "layers": 12, "heads": 6, "vocabulary": 8000},
}
# shape, source tokens, candidates, summary tokens, repetitions
CASES = [
    ("small (d 256, 3+3)", 1024, 32, 40, 7),
    ("small (d 256, 3+3)", 1024, 32, 100, 7),
    ("small (d 256, 3+3)", 512, 16, 40, 9),
    ("deep (d 384, 12+12)", 512, 32, 40, 2),
    ("deep (d 384, 12+12)", 1024, 32, 100, 2),
]
SETTINGS = TrainingSettings(
    gamma=GAMMA,
    margin=MARGIN,
    margin_kind="fixed",
    length_penalty=LENGTH_PENALTY,
    label_smoothing=SMOOTHING,
)
SIDES = ("brio", "brido")
Step = Callable[[], Tensor]


def build_model(d_model: int, layers: int, heads: int, vocabulary: int) -> torch.nn.Module:
    """A BART of the given shape with random weights and no dropout, in training mode."""
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=vocabulary,
        d_model=d_model,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_ffn_dim=4 * d_model,
        decoder_ffn_dim=4 * d_model,
        max_position_embeddings=1026,
        dropout=0.0,
    )
    return BartForConditionalGeneration(config).train()


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


def steps(model: torch.nn.Module, batch: Batch) -> dict[str, Step]:
    """The forward and backward pass of each side; each returns its loss."""
    ours = ContrastiveStep(model, SETTINGS)
    tokens = int(batch.targets.lengths[:, 0].sum())

    def run(loss: Callable[[], Tensor]) -> Tensor:
        model.zero_grad(set_to_none=True)
        value = loss()
        value.backward()
        return value.detach()

    return {
        "brio": lambda: run(
            lambda: brio_loss(model, batch.sources.ids, batch.sources.mask, batch.targets.ids)
        ),
        "brido": lambda: run(lambda: ours(batch, tokens, len(batch.scores)).loss),
    }


def case_steps(case: tuple) -> dict[str, Step]:
    """The two steps of one line of CASES."""
    shape = SHAPES[case[0]]
    return steps(build_model(**shape), build_batch(shape["vocabulary"], 1, *case[1:4]))


def measure_time(case: tuple) -> dict[str, float]:
    """Median CPU seconds of each side, alternating, and the difference of their losses."""
    sides = case_steps(case)
    losses = {name: float(step()) for name, step in sides.items()}
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(case[4]):
        for name, step in sides.items():
            start = time.process_time()
            step()
            times[name].append(time.process_time() - start)
    result = {name: statistics.median(values) for name, values in times.items()}
    return result | {"loss": abs(losses["brio"] - losses["brido"]) / abs(losses["brio"])}


def measure_memory(case: tuple, side: str) -> float:
    """Peak MiB of one step above the model and its gradients, in this (fresh) process."""
    model = build_model(**SHAPES[case[0]])
    batch = build_batch(SHAPES[case[0]]["vocabulary"], 1, *case[1:4])
    sides = steps(model, batch)
    # A short step first: gradients and libraries are then in memory.
    (sources, mask, _), (ids, lengths), scores = batch
    short = Batch(
        Sources(sources[:, :8], mask[:, :8]),
        Targets(ids[:, :3, :4], lengths[:, :3].clamp(max=3)),
        scores[:, :2],
    )
    steps(model, short)[side]()
    Path("/proc/self/clear_refs").write_text("5")
    before = status_mib("VmRSS")
    sides[side]()
    return status_mib("VmHWM") - before


def status_mib(key: str) -> float:
    """A memory line of /proc/self/status in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key)) / 1024


def memory_in_new_process(index: int, side: str) -> float:
    """`measure_memory` in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.training", "--memory", str(index), side]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output.splitlines()[-1])


def main() -> None:
    """Print the table, or one memory figure for the parent process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the small shape only")
    parser.add_argument("--memory", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.memory:
        print(measure_memory(CASES[int(arguments.memory[0])], arguments.memory[1]))
        return
    print("| model | source/N/summary | BRIO-style, s | BRIDO, s | ratio | MiB | share | loss |")
    print("|---|---|---|---|---|---|---|---|")
    for index, case in enumerate(CASES):
        if arguments.quick and not case[0].startswith("small"):
            continue
        times = measure_time(case)
        memory = {side: memory_in_new_process(index, side) for side in SIDES}
        print(
            f"| {case[0]} | {case[1]}/{case[2]}/{case[3]} | {times['brio']:.2f} | "
            f"{times['brido']:.2f} | {times['brio'] / times['brido']:.2f} | "
            f"{memory['brio']:.0f} -> {memory['brido']:.0f} | "
            f"{memory['brido'] / memory['brio']:.0%} | {times['loss']:.0e} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
