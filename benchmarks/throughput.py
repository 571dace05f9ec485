"""What a document costs at the published models' shapes: the rates behind `make paper`.

    python -m benchmarks.throughput [--device cuda] [--preset llm] [--documents N]

For each preset a model of its base's shape with random weights, its settings, and text of the
greatest length that they allow: `max_source_tokens` of source, candidates and summaries of
`max_length` (random weights do not end earlier), `max_candidate_tokens` in training. Where
decoding leaves a setting to the checkpoint, BART's stand (no trigram twice, early stopping). Real
documents and candidates are shorter, so the rates are lower bounds and the costs made of them are
upper ones. generate and decode are a search of one batch; train is the forward and backward pass of
a document with its reference and candidates, plus its share of an optimizer's step. Memory is the
device's peak, the model included. The last lines are those of benchmarks/throughput.yaml.
"""

import argparse
import gc
from collections.abc import Callable

import torch
import transformers
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    PegasusConfig,
    PegasusForConditionalGeneration,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from benchmarks.harness import MIB, head, measured, place, random_batch, row
from brido.models.language_model import lay_out
from brido.models.lora import Adapter
from brido.models.tokens import Sources, Targets
from brido.search import (
    SamplingSettings,
    SearchSettings,
    beam_search,
    diverse_beam_search,
    sample,
)
from brido.search.sampling import document_uniforms
from brido.settings.params import Params
from brido.settings.presets import load_preset
from brido.training.batches import Batch
from brido.training.devices import checkpoint_layers
from brido.training.step import ContrastiveStep
from brido.utils.device import choose_device, inference_dtype
from experiments.paper import DATASETS

# The published model that each preset starts from, by its shape.
BASES = {"xsum": "pegasus-large", "cnndm": "bart-large", "llm": "qwen3-1.7b"}
LARGE = {
    "d_model": 1024, "encoder_attention_heads": 16, "decoder_attention_heads": 16,
    "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096,
}  # fmt: skip
QWEN3 = {
    "hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 28,
    "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
    "max_position_embeddings": 4096, "tie_word_embeddings": True,
    "eos_token_id": 3, "pad_token_id": 3,
}  # fmt: skip
Measured = tuple[float, float]  # documents a second, GiB


def build_model(name: str, device: torch.device) -> torch.nn.Module:
    """A model of the shape `name` with random weights in float32."""
    gc.collect()  # an adapter's model is a cycle: the former one would stay in memory
    torch.manual_seed(0)
    with device:
        if name == "pegasus-large":
            config = PegasusConfig(**LARGE, encoder_layers=16, decoder_layers=16, vocab_size=96103)
            model = PegasusForConditionalGeneration(config)
        elif name == "bart-large":
            config = BartConfig(**LARGE, encoder_layers=12, decoder_layers=12, vocab_size=50264)
            model = BartForConditionalGeneration(config)
        else:
            config = Qwen3Config(**QWEN3, vocab_size=151936)
            model = Qwen3ForCausalLM(config)
    model.generation_config.eos_token_id = config.eos_token_id
    model.generation_config.pad_token_id = config.pad_token_id
    if config.is_encoder_decoder:
        model.generation_config.forced_eos_token_id = config.eos_token_id
    return model


def rate_of(documents: int, work: Callable[[], object], device: torch.device) -> Measured:
    """Documents a second of `work`, which was run before, and GiB at the peak."""
    held = torch.cuda.memory_allocated() / MIB if device.type == "cuda" else 0.0
    seconds, mib, _ = measured(work, device.type, wall=True)
    return documents / seconds, (held + mib) / 1024


def writing_rate(
    model: torch.nn.Module,
    tokens: int,
    settings: SearchSettings | SamplingSettings,
    documents: int,
) -> Measured:
    """The rate of writing a batch, after a short one to warm up."""
    source = torch.randint(10, 40000, (documents, tokens), device=model.device)

    def write(source: torch.Tensor, **changes: int) -> None:
        own, mask = type(settings)(**vars(settings) | changes), torch.ones_like(source)
        if isinstance(own, SamplingSettings):
            names = list(map(str, range(documents)))
            uniforms = document_uniforms(0, names, own.num_return_sequences, own.max_length)
            sample(model, source, mask, own, uniforms)
        else:
            search = diverse_beam_search if own.num_beam_groups > 1 else beam_search
            search(model, source, mask, own)

    write(source[:, :16], max_length=4, min_length=0)
    work = lambda: write(source, min_length=settings.max_length - 1)  # noqa: E731
    return rate_of(documents, work, model.device)


def training_rate(model: torch.nn.Module, params: Params, documents: int) -> Measured:
    """The rate of training, a document at a time as models with dropout are trained."""
    settings, device = params.training, model.device
    if settings.lora is not None:
        Adapter(model, settings.lora, 0)
        checkpoint_layers(model)
    step, limit = ContrastiveStep(model, settings), settings.max_candidate_tokens
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=1e-9)
    tokens = params.reading_of("base").max_source_tokens
    ids, texts, lengths = random_batch(model, (tokens, 1 + params.num_candidates, limit - 1))
    scores = torch.linspace(1, 0, params.num_candidates, dtype=torch.float64, device=device)[None]
    eligible = torch.ones_like(scores, dtype=torch.bool)
    batch = Batch(Sources(ids, torch.ones_like(ids)), Targets(texts, lengths), scores, eligible)

    def passes(count: int) -> None:
        for _ in range(count):
            with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
                loss = step(batch, limit, settings.batch_size).loss
            loss.backward()

    passes(1)
    optimizer.step()  # makes its state
    rate, gib = rate_of(documents, lambda: passes(documents), device)
    update = measured(optimizer.step, device.type, wall=True)[0] / settings.batch_size
    return 1 / (1 / rate + update), gib


def measure(name: str, device: torch.device, documents: int | None) -> dict[str, Measured]:
    """The three rates of a preset; `documents` a batch, None for what runtime.batch_tokens says."""
    params = load_preset(name)
    decoding = params.decoding
    summary = SearchSettings(
        num_beams=decoding.num_beams, max_length=decoding.max_length, num_return_sequences=1,
        length_penalty=decoding.length_penalty, early_stopping=True, no_repeat_ngram_size=3,
    )  # fmt: skip
    tokens, method = params.reading_of("base").max_source_tokens, params.generation["base"].search()

    def batch(rows: int, length: int) -> int:
        # Behind a prompt the prompt's keys and values are kept once for all of its rows.
        kept = tokens * rows if name in DATASETS else tokens + rows * length
        return documents or max(1, params.runtime.batch_tokens // kept)

    model = build_model(BASES[name], device).eval()
    model.to(inference_dtype(device))
    if device.type == "cpu":
        lay_out(model)  # as stages do
    found = {
        stage: writing_rate(model, tokens, settings, batch(rows, settings.max_length))
        for stage, settings, rows in (
            ("generate", method, params.generation["base"].num_candidates),
            ("decode", summary, summary.num_beams),
        )
    }
    del model
    model = build_model(BASES[name], device).train()
    found["train"] = training_rate(model, params, documents or 8)
    return {stage: found[stage] for stage in ("generate", "train", "decode")}


def main() -> None:
    """Measure the presets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--preset", nargs="+", choices=list(BASES), default=list(DATASETS))
    parser.add_argument(
        "--documents", type=int, help="of a batch; default: by runtime.batch_tokens"
    )
    options = parser.parse_args()
    transformers.logging.set_verbosity_error()
    device = choose_device(options.device)
    print(place(device.type))
    head("preset", "stage", "documents/s", "minutes for 1,000", "GiB")
    lines = []
    for name in options.preset:
        found = measure(name, device, options.documents)
        for stage, (rate, gib) in found.items():
            row(name, stage, f"{rate:.3g}", f"{1000 / rate / 60:.1f}", f"{gib:.1f}")
        rates = ", ".join(f"{stage}: {rate:.3g}" for stage, (rate, _) in found.items())
        lines.append(f"{name}: {{{rates}}}")
    print("\nFor benchmarks/throughput.yaml:", *lines, sep="\n")


if __name__ == "__main__":
    main()
