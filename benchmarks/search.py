"""Diverse beam search against transformers 4.55.4, the last version that had it.

    python -m benchmarks.search --oracle ../oracle/bin/python
    python -m benchmarks.search --device cuda

The oracle is an environment of its own (`tests/search/record_search_fixtures.py` says how to make
it). One thread, processor time, runs alternate, the best of each side counts. Each run has a
process of its own; memory is its peak above the model (ours laid out by `lay_out`, as the
stages do) and a first small search. "Reordered once" is 4.55.4 without its reordering of the
source's keys and values, which changes nothing in its result: once, because that lays them out as
its attention reads them fastest, then never.

On a GPU the other side is the same search as an unknown family gets it: by the model's own forward
pass, with the source's keys and values repeated for every beam. The shapes are those of published
models, with random weights in bfloat16; every document runs to the maximum length.
"""

import argparse
import dataclasses
import json
import subprocess
import sys
from typing import Any

import numpy as np
import torch
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    PegasusConfig,
    PegasusForConditionalGeneration,
)

from benchmarks.harness import head, measured, peak_of, place, random_bart, row

SHAPES = [(16, 16), (32, 4), (32, 32)]
SOURCE_TOKENS = [128, 512, 1024]
DOCUMENTS, NEW_TOKENS = 4, 64
OURS, ORACLE, REORDERED_ONCE = "brido", "4.55.4", "reordered once"
# On a GPU: model, source tokens, beams, groups, diversity penalty, documents.
PUBLISHED = [
    ("bart-large", 1024, 16, 16, 1.0, (8, 32, 64, 128)),
    ("bart-large", 1024, 32, 32, 1.0, (64,)),
    ("pegasus-large", 512, 32, 4, 0.1, (8, 32, 64)),
]


def build_model() -> BartForConditionalGeneration:
    """A random BART (d 256, 3+3 layers, 8,000 tokens) that every version of transformers shares."""
    config = BartConfig(
        vocab_size=8000, d_model=256, encoder_layers=3, decoder_layers=3,
        encoder_attention_heads=8, decoder_attention_heads=8, encoder_ffn_dim=1024,
        decoder_ffn_dim=1024, max_position_embeddings=1024,
    )  # fmt: skip
    config._attn_implementation = "sdpa"
    model = BartForConditionalGeneration(config).eval()
    generator = np.random.default_rng(0)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            values = generator.standard_normal(tuple(parameter.shape)) * 0.08
            shift = 1.0 if "norm" in name and name.endswith("weight") else 0.0
            parameter.copy_(torch.from_numpy(values + shift))
    model.generation_config.forced_bos_token_id = 0
    model.generation_config.forced_eos_token_id = 2
    return model


@torch.no_grad()
def generate(model: Any, source: torch.Tensor, engine: str, size: tuple, tokens: int) -> list:
    """The candidates of each source, all of the maximum length."""
    beams, groups = size
    settings = {
        "num_beams": beams, "num_beam_groups": groups, "diversity_penalty": 1.0,
        "num_return_sequences": beams, "min_length": tokens, "max_length": tokens + 1,
        "no_repeat_ngram_size": 3, "early_stopping": True, "length_penalty": 1.0,
    }  # fmt: skip
    mask = torch.ones_like(source)
    if engine == OURS:
        from brido.search import SearchSettings, diverse_beam_search

        result = diverse_beam_search(model, source, mask, SearchSettings(**settings))
        return result.sequences.flatten(0, 1).tolist()
    return model.generate(source, attention_mask=mask, **settings).tolist()


def prepare(engine: str) -> BartForConditionalGeneration:
    """The model as an engine gets it."""
    model = build_model()
    if engine == OURS:
        from brido.models.language_model import lay_out

        lay_out(model)
    elif engine == REORDERED_ONCE:
        from transformers.cache_utils import EncoderDecoderCache

        EncoderDecoderCache.reorder_cache = reorder_once(EncoderDecoderCache.reorder_cache)
    return model


def reorder_once(reorder_cache: Any) -> Any:
    """A `reorder_cache` that leaves a cache's source part alone after its first call."""

    def reorder(cache: Any, rows: Any) -> None:
        if getattr(cache, "source_laid_out", False):
            cache.self_attention_cache.reorder_cache(rows)
        else:
            reorder_cache(cache, rows)
            cache.source_laid_out = True

    return reorder


def serve(engine: str, source_tokens: int, *size: int) -> None:
    """Print seconds, MiB and tokens of one run as JSON."""
    torch.set_num_threads(1)
    model, generator = prepare(engine), torch.Generator().manual_seed(1)
    source = torch.randint(4, 8000, (DOCUMENTS, source_tokens), generator=generator)
    # Imports, compiled kernels and scratch space belong to no side.
    generate(model, source[:1, :16], engine, size, 4)
    mib, (seconds, _, tokens) = peak_of(
        lambda: measured(lambda: generate(model, source, engine, size, NEW_TOKENS))
    )
    print(json.dumps({"seconds": seconds, "mib": mib, "tokens": tokens}))


def compare(source: int, beams: int, groups: int, oracle: str | None, rounds: int) -> None:
    """Print the row of one source length and shape; `oracle` is the other side's python."""
    pythons = {OURS: sys.executable}
    if oracle:
        pythons |= dict.fromkeys((ORACLE, REORDERED_ONCE), oracle)
    request = ["--serve", *map(str, (source, beams, groups))]
    best: dict[str, dict[str, Any]] = {}
    for _ in range(rounds):
        for engine, python in pythons.items():
            command = [python, "-m", __spec__.name, "--engine", engine, *request]
            found = json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
            former = best.get(engine, found)
            best[engine] = min(former, found, key=lambda one: one["seconds"])
            best[engine]["mib"] = max(former["mib"], found["mib"])
    ours = best[OURS]
    cells = [source, f"{beams}/{groups}", f"{ours['seconds']:.2f}", f"{ours['mib']:.0f}"]
    if oracle:
        theirs, fair = best[ORACLE], best[REORDERED_ONCE]
        same = sum(a == b for a, b in zip(ours["tokens"], theirs["tokens"], strict=True))
        cells += [
            f"{theirs['seconds']:.1f}", f"{theirs['mib']:.0f}",
            f"{theirs['seconds'] / ours['seconds']:.1f}",
            f"{fair['seconds'] / ours['seconds']:.1f}",
            f"{ours['mib'] / theirs['mib']:.2f}", f"{same}/{len(ours['tokens'])}",
        ]  # fmt: skip
    row(*cells)


def published(name: str) -> torch.nn.Module:
    """A model of a published shape with random weights in float32."""
    if name == "bart-large":
        return random_bart(1024, 12, 16, 50264)
    torch.manual_seed(0)
    sizes = dict.fromkeys(("encoder_layers", "decoder_layers"), 16)
    sizes |= dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 16)
    sizes |= dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 4096)
    return PegasusForConditionalGeneration(PegasusConfig(**sizes, d_model=1024, vocab_size=96103))


def shared_and_repeated(model: torch.nn.Module, source: torch.Tensor, settings: Any) -> list[str]:
    """The cells of a batch: documents a second and GiB with the source shared, and repeated."""
    from brido.models.family import family_of, register
    from brido.search import diverse_beam_search

    family, cells, seconds = family_of(model.config), [], []
    search = lambda how: diverse_beam_search(model, source, torch.ones_like(source), how)  # noqa: E731
    try:
        for shares in (True, False):
            register(dataclasses.replace(family, shares=shares))
            search(settings.model_copy(update={"max_length": 5, "min_length": 0}))
            torch.cuda.empty_cache()
            took, mib, _ = measured(lambda: search(settings), "cuda")
            seconds.append(took)
            cells += [f"{len(source) / took:.1f}", f"{mib / 1024:.1f}"]
        return [*cells, f"{seconds[1] / seconds[0]:.1f}"]
    except torch.OutOfMemoryError:
        return [*cells, "out of memory", "", ""]
    finally:
        register(family)


def on_gpu() -> None:
    """Print a row for each published shape and number of documents."""
    from brido.search import SearchSettings

    print(place("cuda"))
    head("model", "source", "N/groups", "documents", "a second", "GiB", "unshared", "GiB", "ratio")
    for name, tokens, beams, groups, penalty, batches in PUBLISHED:
        with torch.device("cuda"):
            model = published(name).eval().to(torch.bfloat16)
        settings = SearchSettings(
            num_beams=beams, num_beam_groups=groups, diversity_penalty=penalty, early_stopping=True,
            min_length=NEW_TOKENS, max_length=NEW_TOKENS, no_repeat_ngram_size=3,
        )  # fmt: skip
        for batch in batches:
            source = torch.randint(10, 40000, (batch, tokens), device="cuda")
            cells = shared_and_repeated(model, source, settings)
            row(name, tokens, f"{beams}/{groups}", batch, *cells)
        del model  # before the next one is made


def main() -> None:
    """Compare the two, or serve one run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oracle", help="python of an environment with transformers 4.55.4")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--source", type=int, nargs="+", default=SOURCE_TOKENS)
    parser.add_argument("--engine", default=OURS, help=argparse.SUPPRESS)
    parser.add_argument("--serve", type=int, nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.engine, *options.serve)
        return
    if options.device == "cuda":
        on_gpu()
        return
    names = ["source", "N/groups", "brido, s", "MiB"]
    if options.oracle:
        names += ["4.55.4, s", "MiB", "ratio", f"ratio, {REORDERED_ONCE}", "memory", "same rows"]
    head(*names)
    for source in options.source:
        for beams, groups in SHAPES:
            compare(source, beams, groups, options.oracle, options.rounds)


if __name__ == "__main__":
    main()
