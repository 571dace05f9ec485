"""The likelihood of N candidates of one prompt, packed in one row, against one row a candidate.

    python -m benchmarks.shared_prefix [--shape smollm2] [--device cuda] [--rounds 3]

Forward and backward of the mean f(S) with random weights and tokens. Both sides run on the same
model and alternate; times are CPU times of the process (on a GPU, wall times after a synchronise),
the ratio is that of the medians. Memory is the peak above the model with its gradients: on a
processor each side in a process of its own, on a GPU as torch counts it.
"""

import argparse
import dataclasses
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM

from benchmarks.training import status_mib
from brido.likelihood import candidate_log_likelihood
from brido.models.family import family_of, register

# name: hidden, feed-forward, layers, heads, key heads, vocabulary; prompt, candidates, tokens
SHAPES = {
    "tiny": ((64, 128, 2, 4, 2, 500), (100, 8, 12)),
    "smollm2": ((576, 1536, 30, 9, 3, 49152), (400, 16, 40)),
    "1b": ((2048, 8192, 16, 32, 8, 128256), (1000, 16, 80)),
}
SIDES = ("repeated", "packed")
Step = Callable[[], Tensor]


def build_model(name: str, device: str) -> LlamaForCausalLM:
    """A random Llama of the shape, in training mode: bfloat16 on a GPU, else float32."""
    torch.manual_seed(0)
    hidden, wide, layers, heads, key_heads, vocabulary = SHAPES[name][0]
    config = LlamaConfig(
        hidden_size=hidden,
        intermediate_size=wide,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=key_heads,
        vocab_size=vocabulary,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
    )
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    with torch.device(device):
        return LlamaForCausalLM(config).to(dtype).train()


def steps(model: LlamaForCausalLM, prompt: int, candidates: int, tokens: int) -> dict[str, Step]:
    """A forward and backward pass of each side; their value is the mean f(S)."""
    generator = torch.Generator().manual_seed(1)
    size = model.config.vocab_size
    ids = torch.randint(3, size, (1, prompt), generator=generator).to(model.device)
    texts = torch.randint(3, size, (1, candidates, tokens), generator=generator).to(model.device)
    lengths = torch.randint(3 * tokens // 4, tokens + 1, (1, candidates), generator=generator)
    given = ids[:, -1:].expand(candidates, -1)[None]
    rows = torch.cat([given, texts], 2)
    family = family_of(model.config)

    def run(packs: bool) -> Tensor:
        register(dataclasses.replace(family, packs=packs))
        model.zero_grad(set_to_none=False)
        value = candidate_log_likelihood(model, ids, torch.ones_like(ids), rows, 1.0, lengths)
        value.mean().backward()
        if model.device.type == "cuda":
            torch.cuda.synchronize()
        return value.detach().mean()

    return {"repeated": lambda: run(False), "packed": lambda: run(True)}


def measure_time(name: str, device: str, rounds: int) -> dict[str, float]:
    """Median seconds of each side, alternating, and the difference of their values."""
    sides = steps(build_model(name, device), *SHAPES[name][1])
    values = {side: float(step()) for side, step in sides.items()}
    clock = time.perf_counter if device == "cuda" else time.process_time
    times: dict[str, list[float]] = {side: [] for side in SIDES}
    for _ in range(rounds):
        for side, step in sides.items():
            start = clock()
            step()
            times[side].append(clock() - start)
    result = {side: statistics.median(found) for side, found in times.items()}
    return result | {"value": abs(values["packed"] - values["repeated"])}


def measure_memory(name: str, device: str, side: str) -> float:
    """Peak MiB of one step above the model and its gradients."""
    model = build_model(name, device)
    prompt, candidates, tokens = SHAPES[name][1]
    steps(model, 8, 2, 4)[side]()  # gradients and libraries are then in memory
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        steps(model, prompt, candidates, tokens)[side]()
        return (torch.cuda.max_memory_allocated() - before) / 2**20
    Path("/proc/self/clear_refs").write_text("5")
    before = status_mib("VmRSS")
    steps(model, prompt, candidates, tokens)[side]()
    return status_mib("VmHWM") - before


def memory_in_new_process(name: str, side: str) -> float:
    """`measure_memory` on a processor, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.shared_prefix", "--shape", name]
    command += ["--memory", side]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output.splitlines()[-1])


def main() -> None:
    """Print a line of the table, or one memory figure for the parent process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", choices=SHAPES, default="smollm2")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--memory", choices=SIDES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    name, device = arguments.shape, arguments.device
    torch.set_num_threads(arguments.threads)
    if arguments.memory:
        print(measure_memory(name, device, arguments.memory))
        return
    times = measure_time(name, device, arguments.rounds)
    if device == "cuda":
        memory = {side: measure_memory(name, device, side) for side in SIDES}
    else:
        memory = {side: memory_in_new_process(name, side) for side in SIDES}
    print("| shape | prompt/N/summary | repeated, s | packed, s | ratio | MiB | share | value |")
    print("|---|---|---|---|---|---|---|---|")
    print(
        f"| {name} | {'/'.join(map(str, SHAPES[name][1]))} | {times['repeated']:.2f} | "
        f"{times['packed']:.2f} | {times['repeated'] / times['packed']:.2f} | "
        f"{memory['repeated']:.0f} -> {memory['packed']:.0f} | "
        f"{memory['packed'] / memory['repeated']:.0%} | {times['value']:.0e} |"
    )


if __name__ == "__main__":
    main()
