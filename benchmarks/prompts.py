"""Beams and samples behind a prompt, against the installed transformers' `generate`.

    python -m benchmarks.prompts
    python -m benchmarks.prompts --device cuda --documents 16

A random model of SmolLM2-135M's shape writes to the maximum length; all beams (or samples) of a
document are wanted. Both sides get the same model, alternate, and the best of each counts. On a
processor: float32, processor time of one thread, ours laid out by `lay_out`, as the stages
do, theirs not. On a GPU: bfloat16, time on the wall, and the peak of memory above the model.
"""

import argparse
import copy
from collections.abc import Callable

import torch
from torch import Tensor
from transformers import LlamaForCausalLM

from benchmarks.harness import head, interleave, random_llama, row
from brido.models.language_model import lay_out
from brido.search import SamplingSettings, SearchSettings, beam_search, sample
from brido.search.sampling import document_uniforms


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


def compare(options: argparse.Namespace) -> None:
    """Print a row for beams and one for samples."""
    device = options.device
    model = random_llama((576, 1536, options.layers, 9, 3, options.vocabulary), device).eval()
    models = {"transformers": model, "brido": model}
    if device == "cpu":
        torch.set_num_threads(1)
        models["brido"] = copy.deepcopy(model)
        lay_out(models["brido"])
    shape = (options.documents, options.prompt)
    prompts = torch.randint(4, options.vocabulary, shape).to(device)
    head("", "brido, s", "MiB", "transformers, s", "MiB", "ratio", "same rows")
    for kind in ("beams", "samples"):
        # A first run of a few tokens pays for what is paid once.
        interleave(sides(models, kind, prompts, options.rows, 4), 0, device)
        runs = sides(models, kind, prompts, options.rows, options.tokens)
        found = interleave(runs, options.rounds, device, warm=False)
        mine, other = found["brido"], found["transformers"]
        same = (mine.value == other.value).all(1).sum() if kind == "beams" else ""
        row(
            f"{options.rows} {kind}", f"{mine.least:.2f}", f"{mine.mib:.0f}",
            f"{other.least:.2f}", f"{other.mib:.0f}", f"{other.least / mine.least:.1f}",
            f"{same}/{len(mine.value)}" if kind == "beams" else "",
        )  # fmt: skip


def main() -> None:
    """Compare the two."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--documents", type=int, default=1)
    parser.add_argument("--prompt", type=int, default=400)
    parser.add_argument("--rows", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=40)
    parser.add_argument("--vocabulary", type=int, default=49152)
    parser.add_argument("--layers", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=2)
    compare(parser.parse_args())


if __name__ == "__main__":
    main()
