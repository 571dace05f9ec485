"""What the benchmarks share: sides that run in turn, clocks, memory, random models, tables.

Sides alternate, because other load on a machine comes and goes. On a processor the time is that of
the process (others may be using it), on a GPU the time on the wall after the device has finished.
"""

import gc
import multiprocessing
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor
from transformers import BartConfig, BartForConditionalGeneration, LlamaConfig, LlamaForCausalLM

MIB = 2**20


@dataclass
class Times:
    """The seconds of a side's runs, its largest peak of memory (MiB above the start), and what
    its last run returned."""

    seconds: list[float] = field(default_factory=list)
    mib: float = 0.0
    value: Any = None

    @property
    def least(self) -> float:
        """The best of the runs: other load only adds."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The median of the runs."""
        return statistics.median(self.seconds)


def interleave(
    sides: Mapping[str, Callable[[], Any]], rounds: int, device: str = "cpu", warm: bool = True
) -> dict[str, Times]:
    """Run each side once to warm up, then all in turn, `rounds` times."""
    found = {name: Times(value=side() if warm else None) for name, side in sides.items()}
    for _ in range(rounds):
        for name, side in sides.items():
            seconds, mib, value = measured(side, device)
            found[name].seconds.append(seconds)
            found[name].mib = max(found[name].mib, mib)
            found[name].value = value
    return found


def measured(work: Callable[[], Any], device: str = "cpu") -> tuple[float, float, Any]:
    """Seconds, peak MiB above the start (0 on a processor), and what `work` returns."""
    if device == "cpu":
        started = time.process_time()
        value = work()
        return time.process_time() - started, 0.0, value
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before, started = torch.cuda.memory_allocated(), time.perf_counter()
    value = work()
    torch.cuda.synchronize()
    seconds = time.perf_counter() - started
    return seconds, (torch.cuda.max_memory_allocated() - before) / MIB, value


def ratio(found: Mapping[str, Times], slow: str, fast: str) -> str:
    """How many times as long `slow` takes as `fast`, by medians."""
    return f"{found[slow].median / found[fast].median:.2f}"


def peak_of(work: Callable[[], Any]) -> tuple[float, Any]:
    """The peak of this process's resident memory in MiB above the present while `work` runs.

    And what it returns.
    """

    def status_mib(key: str) -> float:
        return int(Path("/proc/self/status").read_text().split(key)[1].split()[0]) / 1024

    Path("/proc/self/clear_refs").write_text("5")
    before = status_mib("VmRSS:")
    value = work()
    return status_mib("VmHWM:") - before, value


def in_new_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns in a process of its own: memory is measured there."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def head(*columns: str) -> None:
    """Print the head of a Markdown table."""
    row(*columns)
    print("|" + "---|" * len(columns), flush=True)


def row(*cells: object) -> None:
    """Print a row of a Markdown table as soon as it is measured."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def place(device: str) -> str:
    """The device and the versions, for a table's caption."""
    name = torch.cuda.get_device_name() if device == "cuda" else "processor"
    return f"{name}, torch {torch.__version__}, transformers {transformers.__version__}"


def random_batch(
    model: torch.nn.Module, sizes: Sequence[int], least: float = 1.0
) -> tuple[Tensor, Tensor, Tensor]:
    """A random source [1, S] of full length, texts [1, N, T + 1], their lengths [1, N].

    sizes: S, N, T. least: the share of T that the shortest text has. Position 0 of a text is what a
    model is given: 2, or the prompt's last token. Behind a text stands the model's pad.
    """
    source, count, tokens = sizes
    generator, config = torch.Generator().manual_seed(0), model.config
    ids = torch.randint(5, config.vocab_size, (1, source), generator=generator)
    shape = (1, count, tokens + 1)
    texts = torch.randint(5, config.vocab_size, shape, generator=generator)
    shortest = -int(-least * tokens // 1)
    lengths = torch.randint(shortest, tokens + 1, shape[:2], generator=generator)
    lengths[:, -1] = tokens
    texts[torch.arange(tokens + 1) > lengths[..., None]] = config.pad_token_id
    texts[:, :, 0] = 2 if config.is_encoder_decoder else ids[:, -1:]
    return ids.to(model.device), texts.to(model.device), lengths


def random_bart(d_model: int, layers: int, heads: int, vocabulary: int) -> torch.nn.Module:
    """A BART of the given shape with random weights and no dropout, in training mode."""
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=vocabulary, d_model=d_model, encoder_layers=layers, decoder_layers=layers,
        encoder_attention_heads=heads, decoder_attention_heads=heads, encoder_ffn_dim=4 * d_model,
        decoder_ffn_dim=4 * d_model, max_position_embeddings=1026, dropout=0.0,
    )  # fmt: skip
    return BartForConditionalGeneration(config).train()


def random_llama(shape: Sequence[int], device: str) -> LlamaForCausalLM:
    """A random Llama, bfloat16 on a GPU, else float32.

    shape: hidden, feed-forward, layers, heads, key heads, vocabulary.
    """
    torch.manual_seed(0)
    hidden, wide, layers, heads, key_heads, vocabulary = shape
    config = LlamaConfig(
        vocab_size=vocabulary, hidden_size=hidden, intermediate_size=wide,
        num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=key_heads,
        max_position_embeddings=8192, tie_word_embeddings=True, bos_token_id=1, eos_token_id=2,
        pad_token_id=2, initializer_range=0.05,
    )  # fmt: skip
    with torch.device(device):
        model = LlamaForCausalLM(config).to(torch.bfloat16 if device == "cuda" else torch.float32)
    model.generation_config.eos_token_id = model.generation_config.pad_token_id = 2
    return model
