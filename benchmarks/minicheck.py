"""MiniCheck's speed beside one pair at a time, with random weights in the published shapes.

    python -m benchmarks.minicheck [--kind t5] [--size large] [--words 60 430] [--device cuda]

N candidates of a document are checked as the stage `support` does: repeated sentences are asked
once, pairs of like length in one batch. In alternation they go pair after pair through the model.
Half of the candidates' sentences are repeated, as in a pool. The results of both ways are compared.
"""

import argparse
import random
from collections.abc import Sequence

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import (
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

from benchmarks.harness import head, interleave, made_up_words, place, row
from brido.checkers.minicheck import MiniCheck
from brido.utils.device import choose_device
from brido.utils.store import ResultStore

CANDIDATES, SENTENCE = 16, 18
# Flan-T5 and DeBERTa v3: layers, width, heads, inner width.
SHAPES = {
    ("t5", "small"): (8, 512, 6, 1024),
    ("t5", "large"): (24, 1024, 16, 2816),
    ("deberta", "small"): (6, 768, 12, 3072),
    ("deberta", "large"): (24, 1024, 16, 4096),
}


def make_model(kind: str, size: str) -> torch.nn.Module:
    """Return a random model of a published shape; the vocabulary is the tokenizer's."""
    layers, width, heads, inner = SHAPES[kind, size]
    torch.manual_seed(0)
    if kind == "t5":
        return T5ForConditionalGeneration(
            T5Config(vocab_size=4000, num_layers=layers, d_model=width, num_heads=heads, d_ff=inner,
                     feed_forward_proj="gated-gelu", decoder_start_token_id=0)
        )  # fmt: skip
    return DebertaV2ForSequenceClassification(
        DebertaV2Config(vocab_size=4000, num_hidden_layers=layers, hidden_size=width,
                        num_attention_heads=heads, intermediate_size=inner, relative_attention=True,
                        position_buckets=256, norm_rel_ebd="layer_norm", share_att_key=True,
                        pos_att_type=["p2c", "c2p"], position_biased_input=False, num_labels=2)
    )  # fmt: skip


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Return a byte-level tokenizer of the made-up words."""
    pairs = ByteLevelBPETokenizer()
    words = [" ".join(made_up_words())] * 2
    pairs.train_from_iterator(words, 4000, special_tokens=["<pad>", "</s>"], show_progress=False)
    return PreTrainedTokenizerFast(
        tokenizer_object=pairs._tokenizer, pad_token="<pad>", eos_token="</s>"
    )


def workload(words: int, documents: int) -> tuple[list[str], list[str]]:
    """Each document once for each of its candidates, which have one sentence."""
    rng, known = random.Random(1), made_up_words()

    def sentence() -> str:
        size = round(SENTENCE * rng.uniform(0.67, 1.33))
        return " ".join(rng.choices(known, k=size)).capitalize() + "."

    sources, claims = [], []
    for _ in range(documents):
        source = " ".join(sentence() for _ in range(-(-words // SENTENCE)))
        own = [sentence() for _ in range(CANDIDATES // 2)]
        sources += [source] * CANDIDATES
        claims += own + rng.choices(own, k=CANDIDATES - len(own))
    return sources, claims


def one_by_one(checker: MiniCheck, sources: Sequence[str], claims: Sequence[str]) -> list[float]:
    """Every candidate, chunk after chunk."""
    return [
        max(
            next(checker.batches([(chunk, claim)]))[0][1]
            for chunk in checker._chunks(source, "abbreviations")
        )
        for source, claim in zip(sources, claims, strict=True)
    ]


def batched(checker: MiniCheck, sources: Sequence[str], claims: Sequence[str]) -> list[float]:
    """Every candidate as the stage checks it, with nothing kept from before."""
    checker.store = ResultStore()
    return [found[0].probability for found in checker.sentences(sources, claims)]


def main() -> None:
    """Print a row for each length of documents."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=["t5", "deberta"], default="t5")
    parser.add_argument("--size", choices=["small", "large"], default="large")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--words", type=int, nargs="+", default=[60, 430])
    parser.add_argument("--documents", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--batch-tokens", type=int, default=16384)
    options = parser.parse_args()
    device = choose_device(options.device)
    model = make_model(options.kind, options.size).to(device, getattr(torch, options.precision))
    checker = MiniCheck(
        model.eval(), make_tokenizer(), "random", options.batch_tokens, ResultStore()
    )
    print(f"{options.kind}, {options.size}, {options.precision}, {place(device.type)}")
    head("words", "documents", "candidates/s", "one by one", "ratio", "difference")
    for words in options.words:
        texts = workload(words, options.documents)
        sides = {
            way.__name__: lambda way=way: way(checker, *texts)  # noqa: B023
            for way in (batched, one_by_one)
        }
        found = interleave(sides, options.rounds, device.type, warm=False)
        fast, slow = found["batched"], found["one_by_one"]
        apart = max(abs(a - b) for a, b in zip(fast.value, slow.value, strict=True))
        count = len(texts[0])
        row(
            words, options.documents, f"{count / fast.least:.1f}", f"{count / slow.least:.1f}",
            f"{slow.least / fast.least:.1f}", f"{apart:.0e}",
        )  # fmt: skip


if __name__ == "__main__":
    main()
