"""Tiny random decoder-only models that every version of transformers builds alike.

Weights are drawn as in `tiny_models`, which is for encoder-decoders. Imports nothing of brido: the
recorder runs in an environment of its own.
"""

import torch
import transformers
from tiny_models import draw_ids, draw_weights

PAD, EOS = 0, 2
VOCABULARY, POSITIONS = 61, 64
SHAPE = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": POSITIONS,
    "tie_word_embeddings": False,
}
TOKENS = {"pad_token_id": PAD, "bos_token_id": 1, "eos_token_id": EOS}
# A window shorter than the prompts, and heads whose queries are scaled by another width.
GEMMA = {
    "head_dim": 4,
    "sliding_window": 5,
    "layer_types": ["sliding_attention", "full_attention"],
    "query_pre_attn_scalar": 9,
    "final_logit_softcapping": 20.0,
}
GPT2 = {"vocab_size": VOCABULARY, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": POSITIONS}


CONFIGURATIONS = {
    "llama": lambda: transformers.LlamaConfig(**SHAPE, **TOKENS),
    "qwen2": lambda: transformers.Qwen2Config(**SHAPE, **TOKENS),
    "qwen3": lambda: transformers.Qwen3Config(**SHAPE, **TOKENS, head_dim=8),
    "gemma3": lambda: transformers.Gemma3TextConfig(**SHAPE, **TOKENS, **GEMMA),
    "gpt2": lambda: transformers.GPT2Config(**GPT2, **TOKENS, tie_word_embeddings=False),
}
FAMILIES = tuple(CONFIGURATIONS)


def build_decoder(
    family: str,
    seed: int,
    end_bias: float = 0.0,
    ends: tuple[int, ...] = (EOS,),
) -> transformers.PreTrainedModel:
    """A random model in float64 and evaluation mode; `end_bias` makes what it writes shorter."""
    configuration = CONFIGURATIONS[family]()
    configuration._attn_implementation = "sdpa"
    model = transformers.AutoModelForCausalLM.from_config(configuration).eval().double()
    # Gemma's norms multiply by 1 + weight.
    draw_weights(model, seed, norms=0.0 if family == "gemma3" else 1.0)
    bias = torch.zeros(VOCABULARY, dtype=torch.float64)
    bias[list(ends)] = end_bias
    model.lm_head.bias = torch.nn.Parameter(bias)
    settings = model.generation_config
    settings.pad_token_id, settings.bos_token_id, settings.eos_token_id = PAD, 1, list(ends)
    # Versions differ in whether pads before a prompt count as repeated tokens: none is written.
    settings.suppress_tokens = [PAD]
    return model


def build_prompts(
    seed: int, documents: int, length: int, padded: bool, side: str = "left"
) -> tuple[torch.Tensor, torch.Tensor]:
    """Random prompts and their mask, both [documents, length]."""
    return draw_ids(seed, documents, length, padded, 3, PAD, side)
