"""Diverse beam search against transformers 4.55.4, the last version that had it.

    python -m benchmarks.search --oracle ../oracle/bin/python

The oracle is an environment of its own (`tests/search/record_search_fixtures.py` says how to make
it); without one the other side is skipped. One thread each, runs alternate, the best of each side
counts. Time is processor time of the generating process; memory is the peak resident size above
that after loading the model (ours laid out by `columns_first`, as the stages do) and a first small
search, the larger of the rounds; every row has processes of its own. "Cross cache reordered once"
is 4.55.4 without its reordering of the source's keys and values, which changes nothing in its
result: once, because that lays them out as its attention reads them fastest, then never.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SHAPES = [(16, 16), (32, 4), (32, 32)]
SOURCE_TOKENS = [128, 512, 1024]
DOCUMENTS, NEW_TOKENS = 4, 64
REORDERED_ONCE = "cross cache reordered once"
FLOORS = {
    (128, 16, 16): 4, (128, 32, 4): 3, (128, 32, 32): 6,
    (512, 16, 16): 9, (512, 32, 4): 6, (512, 32, 32): 13,
    (1024, 16, 16): 10, (1024, 32, 4): 12, (1024, 32, 32): 16,
}  # fmt: skip


def build_model() -> Any:
    """A random BART (d 256, 3+3 layers, 8,000 tokens) that every version of transformers shares."""
    import numpy as np
    import torch
    from transformers import BartConfig, BartForConditionalGeneration

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


def settings_of(beams: int, groups: int) -> dict[str, Any]:
    """The settings of a run: every document runs to the maximum length."""
    return {
        "num_beams": beams, "num_beam_groups": groups, "diversity_penalty": 1.0,
        "num_return_sequences": beams, "min_length": NEW_TOKENS, "max_length": NEW_TOKENS + 1,
        "no_repeat_ngram_size": 3, "early_stopping": True, "length_penalty": 1.0,
    }  # fmt: skip


def serve(engine: str) -> None:
    """Answer requests on stdin, one JSON line each, with seconds, MiB and tokens."""
    import torch

    torch.set_num_threads(1)
    model = build_model()
    if engine == "brido":
        from brido.models.family import family_of
        from brido.models.layout import columns_first

        columns_first(family_of(model.config).written_with(model))
    elif engine == REORDERED_ONCE:
        from transformers.cache_utils import EncoderDecoderCache

        EncoderDecoderCache.reorder_cache = _reorder_once(EncoderDecoderCache.reorder_cache)
    for line in sys.stdin:
        request = json.loads(line)
        generator = torch.Generator().manual_seed(1)
        shape = (DOCUMENTS, request["source_tokens"])
        source = torch.randint(4, 8000, shape, generator=generator)
        settings = settings_of(request["beams"], request["groups"])
        with torch.no_grad():  # imports, compiled kernels and scratch space belong to nobody
            short = settings | {"min_length": 0, "max_length": 5}
            _generate(model, source[:1, :16], short, engine)
        before = _reset_peak()
        started = time.process_time()
        with torch.no_grad():
            tokens = _generate(model, source, settings, engine)
        seconds = time.process_time() - started
        answer = {"seconds": seconds, "mib": _peak() - before, "tokens": tokens}
        print(json.dumps(answer), flush=True)


def _generate(model: Any, source: Any, settings: dict[str, Any], engine: str) -> list[Any]:
    import torch

    mask = torch.ones_like(source)
    if engine == "brido":
        from brido.search import SearchSettings, diverse_beam_search

        result = diverse_beam_search(model, source, mask, SearchSettings(**settings))
        return result.sequences.flatten(0, 1).tolist()
    return model.generate(source, attention_mask=mask, **settings).tolist()


def _reorder_once(reorder_cache: Any) -> Any:
    """A `reorder_cache` that leaves a cache's source part alone after its first call."""

    def reorder(cache: Any, rows: Any) -> None:
        if getattr(cache, "source_laid_out", False):
            cache.self_attention_cache.reorder_cache(rows)
        else:
            reorder_cache(cache, rows)
            cache.source_laid_out = True

    return reorder


def _reset_peak() -> float:
    """Reset the kernel's high-water mark; the present resident size in MiB."""
    import ctypes
    import gc

    gc.collect()
    # What the last run freed goes back to the system, so that it is not reused unseen.
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no VmHWM in /proc/self/status")


class Side:
    """A process that generates on request."""

    def __init__(self, python: str, engine: str) -> None:
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.getcwd()}
        self.process = subprocess.Popen(
            [python, "-m", "benchmarks.search", "--serve", engine],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        """The answer to one request."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self.process.stdin.close()
        self.process.wait()


def compare(oracle: str | None, rounds: int) -> None:
    """Print a row for each source length and shape; `oracle` is the other side's python."""
    names = ["source", "N/groups", "brido, s", "MiB"]
    if oracle is not None:
        names += ["4.55.4, s", "MiB", "ratio", "floor", f"ratio, {REORDERED_ONCE}", "memory"]
        names += ["same rows"]
    print("| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|", flush=True)
    for source in SOURCE_TOKENS:
        for beams, groups in SHAPES:
            pythons = {"brido": sys.executable}
            if oracle is not None:
                pythons |= {"4.55.4": oracle, REORDERED_ONCE: oracle}
            engines = {engine: Side(python, engine) for engine, python in pythons.items()}
            best: dict[str, dict[str, Any]] = {}
            for _ in range(rounds):
                for engine, side in engines.items():
                    request = {"source_tokens": source, "beams": beams, "groups": groups}
                    found = side.ask(**request)
                    former = best.get(engine, found)
                    best[engine] = min(former, found, key=lambda one: one["seconds"])
                    best[engine]["mib"] = max(former["mib"], found["mib"])
            for side in engines.values():
                side.close()
            print(_row(source, beams, groups, best), flush=True)


def _row(source: int, beams: int, groups: int, best: dict[str, dict[str, Any]]) -> str:
    ours = best["brido"]
    cells = [str(source), f"{beams}/{groups}", f"{ours['seconds']:.2f}", f"{ours['mib']:.0f}"]
    if "4.55.4" in best:
        theirs, fair = best["4.55.4"], best[REORDERED_ONCE]
        same = sum(a == b for a, b in zip(ours["tokens"], theirs["tokens"], strict=True))
        cells += [
            f"{theirs['seconds']:.1f}",
            f"{theirs['mib']:.0f}",
            f"{theirs['seconds'] / ours['seconds']:.1f}",
            str(FLOORS[source, beams, groups]),
            f"{fair['seconds'] / ours['seconds']:.1f}",
            f"{ours['mib'] / theirs['mib']:.2f}",
            f"{same}/{len(ours['tokens'])}",
        ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Compare the two, or serve one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oracle", help="python of an environment with transformers 4.55.4")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--serve", metavar="ENGINE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
        return
    if not arguments.oracle:
        print("no --oracle: transformers 4.55.4 is skipped", file=sys.stderr)
    compare(arguments.oracle, arguments.rounds)


if __name__ == "__main__":
    main()
