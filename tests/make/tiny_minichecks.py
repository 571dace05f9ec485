"""Tiny random models of MiniCheck's kinds, with word tokenizers of their conventions."""

from pathlib import Path

import torch
import transformers
from tiny_models import EOS, word_tokenizer
from tokenizers.processors import TemplateProcessing

KINDS = ("t5", "deberta", "roberta")
WORDS = [f"w{number}" for number in range(210)]
# Sentences need capitals and full stops, and the prompt its word.
TEXTS = [f"W{number}" for number in range(6)] + [f"w{number}." for number in range(6)]


def tokenizer(kind: str) -> transformers.PreTrainedTokenizerFast:
    """T5: `x </s>`; the others: `<s> x </s>`."""
    made = word_tokenizer(["predict:", *WORDS, *TEXTS])
    if kind == "t5":
        made.backend_tokenizer.post_processor = TemplateProcessing(
            single="$A </s>", special_tokens=[("</s>", EOS)]
        )
    return made


def model(kind: str, seed: int = 0, **changes: object) -> transformers.PreTrainedModel:
    """A random model in evaluation mode whose answers differ from pair to pair."""
    torch.manual_seed(seed)
    entries = len(tokenizer(kind))
    small = {"vocab_size": entries, "pad_token_id": tokenizer(kind).pad_token_id}
    layers = {
        "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 24, "num_labels": 2, "initializer_range": 0.8,
    }  # fmt: skip
    if kind == "t5":
        sizes = {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 2, "num_heads": 2}
        config = transformers.T5Config(
            **(small | sizes | {"initializer_factor": 1.0, "decoder_start_token_id": 0} | changes)
        )
        return transformers.T5ForConditionalGeneration(config).eval()
    if kind == "deberta":  # its positions are relative: an input may be longer than their table
        relative = {"relative_attention": True, "position_biased_input": False}
        relative |= {"pos_att_type": ["p2c", "c2p"], "max_position_embeddings": 8}
        config = transformers.DebertaV2Config(**(small | layers | relative | changes))
        return transformers.DebertaV2ForSequenceClassification(config).eval()
    config = transformers.RobertaConfig(
        **(small | layers | {"max_position_embeddings": 66, "type_vocab_size": 1} | changes)
    )
    return transformers.RobertaForSequenceClassification(config).eval()


def save(kind: str, folder: Path, **changes: object) -> Path:
    """Write model and tokenizer as a folder of the hub."""
    model(kind, **changes).save_pretrained(folder)
    tokenizer(kind).save_pretrained(folder)
    return folder
