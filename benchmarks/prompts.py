"""Beams and samples behind a prompt, against the installed transformers' `generate`.

    python -m benchmarks.prompts
    python -m benchmarks.prompts --device cuda --documents 16

A random model of SmolLM2-135M's shape writes to the maximum length; all beams (or samples) of a
document are wanted. Both sides get the same model, alternate, and the best of each counts. On a
processor: float32, processor time of one thread, ours laid out by `columns_first`, as the stages
do, theirs not. On a GPU: bfloat16, time on the wall, and the peak of memory above the model.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable

import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM

from brido.models.family import family_of
from brido.models.layout import columns_first
from brido.search import SamplingSettings, SearchSettings, beam_search, sample
from brido.search.sampling import document_uniforms

VOCABULARY, END = 49152, 2
MIB = 2**20


def build_model(layers: int) -> LlamaForCausalLM:
    """A random Llama of SmolLM2-135M's shape (30 layers), its end token out of reach."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=576, intermediate_size=1536, num_hidden_layers=layers,
        num_attention_heads=9, num_key_value_heads=3, max_position_embeddings=8192,
        tie_word_embeddings=True, bos_token_id=1, eos_token_id=END, pad_token_id=END,
        initializer_range=0.05,
    )  # fmt: skip
    model = LlamaForCausalLM(config).eval()
    model.generation_config.eos_token_id = model.generation_config.pad_token_id = END
    return model


def seconds_and_memory(work: Callable[[], Tensor], device: str) -> tuple[float, float, Tensor]:
    """How long `work` takes, its peak of memory (MiB, 0 on a processor), and what it returns."""
    clock = time.process_time if device == "cpu" else time.perf_counter
    before = 0
    if device != "cpu":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
    started = clock()
    found = work()
    if device == "cpu":
        return clock() - started, 0.0, found
    torch.cuda.synchronize()
    peak = (torch.cuda.max_memory_allocated() - before) / MIB
    return clock() - started, peak, found


def sides(
    models: dict[str, LlamaForCausalLM], kind: str, prompts: Tensor, rows: int, length: int
) -> dict[str, Callable[[], Tensor]]:
    """What either side runs: all `rows` texts of each prompt, flat."""
    mask, prompt = torch.ones_like(prompts), prompts.shape[1]
    lengths = {"min_length": length, "max_length": length}

    def ours() -> Tensor:
        model = models["brido"]
        if kind == "beams":
            settings = SearchSettings(num_beams=rows, **lengths)
            return beam_search(model, prompts, mask, settings).sequences.flatten(0, 1)
        settings = SamplingSettings(num_return_sequences=rows, top_p=0.95, **lengths)
        names = [str(number) for number in range(len(prompts))]
        uniforms = document_uniforms(0, names, rows, length)
        return sample(model, prompts, mask, settings, uniforms).sequences.flatten(0, 1)

    def theirs() -> Tensor:
        chosen = {"num_beams": rows, "do_sample": False}
        if kind == "samples":
            chosen = {"do_sample": True, "top_p": 0.95, "top_k": 0}
        found = models["transformers"].generate(
            prompts, attention_mask=mask, num_return_sequences=rows,
            min_new_tokens=length, max_new_tokens=length, **chosen,
        )  # fmt: skip
        return found[:, prompt:]

    return {"brido": ours, "transformers": theirs}


def compare(arguments: argparse.Namespace) -> None:
    """Print a row for beams and one for samples."""
    device = arguments.device
    model = build_model(arguments.layers)
    if device == "cpu":
        torch.set_num_threads(1)
        models = {"transformers": model, "brido": copy.deepcopy(model)}
        columns_first(family_of(model.config).written_with(models["brido"]))
    else:
        model = model.to(device, torch.bfloat16)
        models = {"transformers": model, "brido": model}
    shape = (arguments.documents, arguments.prompt)
    prompts = torch.randint(4, VOCABULARY, shape).to(device)
    print("| | brido, s | MiB | transformers, s | MiB | ratio | same rows |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for kind in ("beams", "samples"):
        best: dict[str, tuple[float, float, Tensor]] = {}
        # A first run of a few tokens pays for what is paid once.
        for length in (4, *[arguments.tokens] * arguments.rounds):
            runs = sides(models, kind, prompts, arguments.rows, length)
            for name, work in runs.items():
                found = seconds_and_memory(work, device)
                former = best.get(name)
                if former is None or former[2].shape != found[2].shape or found[0] < former[0]:
                    best[name] = found
        (mine, memory, texts), (other, their_memory, their_texts) = best.values()
        same = "" if kind == "samples" else f"{(texts == their_texts).all(1).sum()}/{len(texts)}"
        print(
            f"| {arguments.rows} {kind} | {mine:.2f} | {memory:.0f} | {other:.2f} | "
            f"{their_memory:.0f} | {other / mine:.1f} | {same} |",
            flush=True,
        )


def main() -> None:
    """Compare the two."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--documents", type=int, default=1)
    parser.add_argument("--prompt", type=int, default=400)
    parser.add_argument("--rows", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=40)
    parser.add_argument("--layers", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=2)
    compare(parser.parse_args())


if __name__ == "__main__":
    main()
