"""What a document costs at the published models' shapes: the rates behind `make paper`.

    python -m benchmarks.throughput [--device cuda] [--documents N] [--write]

For each preset a model of its base's shape with random weights, its settings, and text of the
greatest length that they allow: `max_source_tokens` of source, candidates and summaries of
`max_length` (random weights do not end earlier), `max_candidate_tokens` in training. Where
decoding leaves a setting to the checkpoint, BART's stand (no trigram twice, early stopping). Real
documents and candidates are shorter, so the rates are lower bounds and the costs made of them are
upper ones. generate and decode are a search of one batch; train is the forward and backward pass of
a document with its reference and candidates, plus its share of an optimizer's step. `--write` puts
the rates into benchmarks/throughput.yaml.
"""

import argparse
import datetime
import gc
from pathlib import Path
from typing import Any

import torch
import transformers
from accelerate.utils import send_to_device
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    PegasusConfig,
    PegasusForConditionalGeneration,
)

from benchmarks.harness import measured
from benchmarks.training import build_batch
from brido.models.family import family_of
from brido.models.layout import columns_first
from brido.search import SearchSettings, diverse_beam_search
from brido.settings.params import Params
from brido.settings.presets import load_preset
from brido.training.step import ContrastiveStep
from brido.utils.device import choose_device, inference_dtype
from experiments.paper import DATASETS, THROUGHPUT

# The published model that each preset starts from, by its shape.
BASES = {"xsum": "pegasus-large", "cnndm": "bart-large"}
LARGE = {
    "d_model": 1024, "encoder_attention_heads": 16, "decoder_attention_heads": 16,
    "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096,
}  # fmt: skip


def build_model(name: str, device: torch.device) -> torch.nn.Module:
    """A model of the shape `name` with random weights in float32."""
    torch.manual_seed(0)
    with device:
        if name == "pegasus-large":
            layers = {"encoder_layers": 16, "decoder_layers": 16}
            config = PegasusConfig(**LARGE, **layers, vocab_size=96103)
            model = PegasusForConditionalGeneration(config)
        else:
            layers = {"encoder_layers": 12, "decoder_layers": 12}
            config = BartConfig(**LARGE, **layers, vocab_size=50264)
            model = BartForConditionalGeneration(config)
    model.generation_config.forced_eos_token_id = config.eos_token_id
    return model


def search_rate(
    model: torch.nn.Module, source_tokens: int, settings: SearchSettings, documents: int
) -> float:
    """Documents a second of a search of one batch, after a short one to warm up."""
    source = torch.randint(10, 40000, (documents, source_tokens), device=model.device)
    mask = torch.ones_like(source)
    short = SearchSettings(**vars(settings) | {"max_length": 4, "min_length": 0})
    diverse_beam_search(model, source[:, :16], mask[:, :16], short)
    full = SearchSettings(**vars(settings) | {"min_length": settings.max_length - 1})
    seconds = measured(
        lambda: diverse_beam_search(model, source, mask, full), model.device.type, wall=True
    )[0]
    return documents / seconds


def training_rate(model: torch.nn.Module, params: Params, documents: int) -> float:
    """Documents a second of training, a document at a time as models with dropout are trained."""
    settings, device = params.training, model.device
    step = ContrastiveStep(model, settings)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-9)
    built = build_batch(
        40000, 1, params.reading_of("base").max_source_tokens, params.num_candidates,
        settings.max_candidate_tokens - 1, model.config.pad_token_id,
    )  # fmt: skip
    batch = send_to_device(built, device)

    def passes(count: int) -> None:
        for _ in range(count):
            with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
                loss = step(batch, settings.max_candidate_tokens, settings.batch_size).loss
            loss.backward()

    passes(1)
    optimizer.step()  # makes its state
    each = measured(lambda: passes(documents), device.type, wall=True)[0] / documents
    return 1 / (each + measured(optimizer.step, device.type, wall=True)[0] / settings.batch_size)


def measure(name: str, device: torch.device, documents: int | None) -> dict[str, float]:
    """The three rates of a preset; `documents` a batch, None for what runtime.batch_tokens says."""
    params = load_preset(name)
    decoding = params.decoding
    summary = SearchSettings(
        num_beams=decoding.num_beams, max_length=decoding.max_length, num_return_sequences=1,
        length_penalty=decoding.length_penalty, early_stopping=True, no_repeat_ngram_size=3,
    )  # fmt: skip

    def batch(tokens: int, beams: int) -> int:
        return documents or max(1, params.runtime.batch_tokens // (tokens * beams))

    model = build_model(BASES[name], device).eval()
    model.to(inference_dtype(device))
    if device.type == "cpu":
        columns_first(family_of(model.config).written_with(model))  # as stages do
    tokens, method = params.reading_of("base").max_source_tokens, params.generation["base"].search()
    rates = {"generate": search_rate(model, tokens, method, batch(tokens, method.num_beams))}
    rates["decode"] = search_rate(model, tokens, summary, batch(tokens, summary.num_beams))
    del model
    gc.collect()
    model = build_model(BASES[name], device).train()
    rates["train"] = training_rate(model, params, documents or 8)
    return {stage: float(f"{rates[stage]:.3g}") for stage in ("generate", "train", "decode")}


def write(device: str, source: str, rates: dict[str, dict[str, Any]]) -> None:
    """Replace the values in throughput.yaml; its comments stay."""
    comments = [line for line in THROUGHPUT.read_text().splitlines() if line.startswith("#")]
    lines = [*comments, f"device: {device}", f"source: {source}"]
    for name, values in rates.items():
        lines.append(
            f"{name}: {{{', '.join(f'{key}: {value:g}' for key, value in values.items())}}}"
        )
    Path(THROUGHPUT).write_text("\n".join(lines) + "\n")


def main() -> None:
    """Measure both presets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument(
        "--documents", type=int, help="of a batch; default: by runtime.batch_tokens"
    )
    parser.add_argument("--write", action="store_true", help=f"put the rates into {THROUGHPUT}")
    options = parser.parse_args()
    transformers.logging.set_verbosity_error()
    device = choose_device(options.device)
    if device.type == "cuda":
        place = f"{torch.cuda.get_device_name()} (bfloat16)"
    else:
        place = f"processor with {torch.get_num_threads()} threads (float32)"
    rates = {}
    for name in DATASETS:
        rates[name] = measure(name, device, options.documents)
        print(f"{place}, {name}, documents a second: {rates[name]}", flush=True)
    if options.write:
        batch = f"batches of {options.documents}" if options.documents else "full batches"
        today = f"{datetime.date.today():%-d %B %Y}"
        source = f"benchmarks.throughput, {batch}, {today}, torch {torch.__version__}"
        write(place, source, rates)


if __name__ == "__main__":
    main()
