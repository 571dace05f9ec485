"""Diverse beam search on a GPU at the published models' shapes, with and without sharing.

    python -m benchmarks.search_gpu

Random weights in bfloat16; every document runs to the maximum length. The other side is the same
search as an unknown family gets it: by the model's own forward pass, with the source's keys and
values repeated for every beam. Memory is the peak above the model.
"""

import contextlib
import dataclasses
import sys
from collections.abc import Iterator

import torch
import transformers
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    PegasusConfig,
    PegasusForConditionalGeneration,
)

from benchmarks.harness import head, measured, place, row
from brido.models.encoder_decoder import FAMILIES
from brido.models.family import register
from brido.search import SearchSettings, diverse_beam_search

# model, source tokens, beams, groups, diversity penalty, batches
SHAPES = [
    ("bart-large", 1024, 16, 16, 1.0, (8, 32, 64, 128)),
    ("bart-large", 1024, 32, 32, 1.0, (64,)),
    ("pegasus-large", 512, 32, 4, 0.1, (8, 32, 64)),
]
TOKENS = 64
LARGE = {
    "d_model": 1024, "encoder_attention_heads": 16, "decoder_attention_heads": 16,
    "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096,
}  # fmt: skip


def build_model(name: str, device: torch.device) -> torch.nn.Module:
    """A model of a published shape with random weights in float32."""
    torch.manual_seed(0)
    with device:
        if name == "pegasus-large":
            config = PegasusConfig(**LARGE, encoder_layers=16, decoder_layers=16, vocab_size=96103)
            return PegasusForConditionalGeneration(config)
        config = BartConfig(**LARGE, encoder_layers=12, decoder_layers=12, vocab_size=50264)
        return BartForConditionalGeneration(config)


@contextlib.contextmanager
def without_sharing() -> Iterator[None]:
    """Treat every family as one that cannot share its cross-attention."""
    known = list(FAMILIES)
    for family in known:
        register(dataclasses.replace(family, shares=False))
    try:
        yield
    finally:
        for family in known:
            register(family)


def measure(
    model: torch.nn.Module, tokens: int, settings: SearchSettings, batch: int
) -> tuple[float, float]:
    """Documents a second of a search of one batch (after a short one), and GiB above the model."""
    source = torch.randint(10, 40000, (batch, tokens), device="cuda")
    mask = torch.ones_like(source)
    short = settings.model_copy(update={"max_length": 5, "min_length": 0})
    diverse_beam_search(model, source, mask, short)
    torch.cuda.empty_cache()
    seconds, mib, _ = measured(lambda: diverse_beam_search(model, source, mask, settings), "cuda")
    return batch / seconds, mib / 1024


def main() -> None:
    """Print the table."""
    if not torch.cuda.is_available():
        print("benchmarks.search_gpu needs a CUDA device: nothing measured", file=sys.stderr)
        return
    transformers.logging.set_verbosity_error()
    print(place("cuda"))
    head("model", "source", "N/groups", "documents", "a second", "GiB", "unshared", "GiB", "ratio")
    model, loaded = None, ""
    for name, tokens, beams, groups, penalty, batches in SHAPES:
        if name != loaded:
            model = None  # before the next one is made
            model = build_model(name, torch.device("cuda")).eval().to(torch.bfloat16)
            loaded = name
        settings = SearchSettings(
            num_beams=beams, num_beam_groups=groups, diversity_penalty=penalty, min_length=TOKENS,
            max_length=TOKENS, early_stopping=True, no_repeat_ngram_size=3,
        )  # fmt: skip
        for batch in batches:
            rate, gib = measure(model, tokens, settings, batch)
            cells = [name, tokens, f"{beams}/{groups}", batch, f"{rate:.1f}", f"{gib:.1f}"]
            try:
                with without_sharing():
                    slow, more = measure(model, tokens, settings, batch)
                row(*cells, f"{slow:.1f}", f"{more:.1f}", f"{rate / slow:.1f}")
            except torch.OutOfMemoryError:
                row(*cells, "out of memory", "", "")


if __name__ == "__main__":
    main()
