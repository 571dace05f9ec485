"""What 1,000 documents of presets/llm.yaml cost on a GPU: time and memory of each stage.

    python -m benchmarks.llm [--device cuda] [--shape qwen3-1.7b] [--batch-tokens 65536]

Random weights in the published model's shape, the preset's settings, and texts as long as they
allow: `reading.max_source_tokens` of prompt, candidates and summaries of `max_length`, so the times
are upper bounds. generate draws the candidates of one batch, decode writes its summaries, train is
an update of `batch_size` documents, one at a time: the adapter's weights, products in bfloat16,
layer checkpoints, the text that the cross-entropy teaches and all candidates. Memory is the
device's peak, the model included.
"""

import argparse
import gc
from collections.abc import Callable, Sequence

import torch
import transformers
from transformers import Qwen3Config, Qwen3ForCausalLM

from benchmarks.harness import MIB, head, measured, place, row
from brido.models.lora import Adapter
from brido.models.tokens import Sources, Targets
from brido.search import SamplingSettings, SearchSettings, beam_search, sample
from brido.search.sampling import document_uniforms
from brido.settings.params import Params
from brido.settings.presets import load_preset
from brido.training.batches import Batch
from brido.training.devices import checkpoint_layers
from brido.training.step import ContrastiveStep

# hidden, feed-forward, layers, heads, key heads, width of a head, vocabulary
SHAPES = {
    "tiny": (64, 128, 2, 4, 2, 16, 500),
    "qwen3-1.7b": (2048, 6144, 28, 16, 8, 128, 151936),
}
END = 3
Row = tuple[str, float, float]


def build_model(shape: str, device: str, dtype: torch.dtype) -> Qwen3ForCausalLM:
    """A random Qwen 3 whose end token is known."""
    gc.collect()  # an adapter's model is a cycle: the former one would stay in memory
    torch.manual_seed(0)
    hidden, wide, layers, heads, key_heads, head, vocabulary = SHAPES[shape]
    config = Qwen3Config(
        hidden_size=hidden,
        intermediate_size=wide,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=key_heads,
        head_dim=head,
        vocab_size=vocabulary,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        eos_token_id=END,
        pad_token_id=END,
    )
    with torch.device(device):
        model = Qwen3ForCausalLM(config).to(dtype).eval()
    model.generation_config.eos_token_id = model.generation_config.pad_token_id = END
    return model


def prompts_of(model: Qwen3ForCausalLM, documents: int, tokens: int) -> Sources:
    """Random prompts of full length."""
    size = (documents, tokens)
    ids = torch.randint(4, model.config.vocab_size, size).to(model.device)
    return Sources(ids, torch.ones_like(ids))


def a_document(name: str, documents: int, work: Callable[[], object], device: str) -> Row:
    """Its name, seconds a document after a first run, and GiB at the peak (0 on a processor)."""
    work()
    held = torch.cuda.memory_allocated() if device == "cuda" else 0
    seconds, mib, _ = measured(work, device, wall=True)
    return name, seconds / documents, (held / MIB + mib) / 1024


def writing(params: Params, shape: str, device: str, batch_tokens: int) -> list[Row]:
    """The stages generate and decode, a batch each."""
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    model = build_model(shape, device, dtype)
    tokens, source = params.reading_of("base").max_source_tokens, params.generation["base"]
    rows = source.num_candidates
    drawn = SamplingSettings(
        num_return_sequences=rows, temperature=source.temperature, top_k=source.top_k,
        top_p=source.top_p, min_length=source.max_length, max_length=source.max_length,
    )  # fmt: skip
    longest = params.decoding.max_length
    written = SearchSettings(
        num_beams=params.decoding.num_beams, min_length=longest, max_length=longest
    )
    batches = [
        max(1, batch_tokens // (tokens + count * limit))
        for count, limit in ((rows, source.max_length), (params.decoding.num_beams, longest))
    ]
    uniforms = document_uniforms(0, list(map(str, range(batches[0]))), rows, source.max_length)

    def generate() -> object:
        ids, mask = prompts_of(model, batches[0], tokens)[:2]
        return sample(model, ids, mask, drawn, uniforms)

    def decode() -> object:
        return beam_search(model, *prompts_of(model, batches[1], tokens)[:2], written)

    works = zip(("generate", "decode"), batches, (generate, decode), strict=True)
    return [
        a_document(f"{name}, {count} documents a batch", count, work, device)
        for name, count, work in works
    ]


def training(params: Params, shape: str, device: str) -> list[Row]:
    """An update of the stage train: float32 weights, products in bfloat16 on a GPU."""
    model = build_model(shape, device, torch.float32).train()
    settings, tokens = params.training, params.reading_of("base").max_source_tokens
    assert settings.lora is not None
    Adapter(model, settings.lora, 0, "training.lora")
    checkpoint_layers(model)
    step = ContrastiveStep(model, settings)
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=1e-9)
    candidates, limit = params.num_candidates, settings.max_candidate_tokens

    def update() -> None:
        for _ in range(settings.batch_size):
            sources = prompts_of(model, 1, tokens)
            texts = torch.randint(4, model.config.vocab_size, (1, 1 + candidates, limit + 1))
            texts[:, :, 0] = sources.ids[0, -1].cpu()
            lengths = torch.full((1, 1 + candidates), limit)
            scores = torch.linspace(1, 0, candidates, dtype=torch.float64)[None]
            targets = Targets(texts.to(model.device), lengths)
            batch = Batch(sources, targets, scores.to(model.device))
            with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                loss = step(batch, settings.batch_size * limit, settings.batch_size).loss
            loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    size = settings.batch_size
    return [a_document(f"train, {size} documents an update", size, update, device)]


def report(rows: Sequence[Row]) -> None:
    """Print lines of the table."""
    for name, seconds, peak in rows:
        minutes = seconds * 1000 / 60
        row(name, f"{seconds:.2f}", f"{minutes:.1f}", f"{peak:.1f}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--shape", choices=SHAPES, default="qwen3-1.7b")
    parser.add_argument("--batch-tokens", type=int, default=65536, help="of generate and decode")
    options = parser.parse_args()
    transformers.logging.set_verbosity_error()
    params = load_preset("llm")
    print(f"{options.shape}, {place(options.device)}")
    head("stage", "s a document", "minutes for 1,000", "GiB")
    report(training(params, options.shape, options.device))
    report(writing(params, options.shape, options.device, options.batch_tokens))


if __name__ == "__main__":
    main()
