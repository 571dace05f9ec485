"""Writes a Llama as a GGUF file, as llama.cpp's converter does."""

import json
from collections.abc import Iterator
from pathlib import Path

import gguf
import numpy as np
import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast


def _turned(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """Query and key weights with the two halves of a head interleaved, as ggml rotates them."""
    return weight.view(heads, 2, -1, weight.shape[1]).transpose(1, 2).reshape(weight.shape)


def write_gguf(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, path: Path, parts: int = 1
) -> None:
    """parts: of how many files it says to be the first."""
    config, writer = model.config, gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_vocab_size(config.vocab_size)
    vocabulary = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get)
    added = {token.content for token in tokenizer.added_tokens_decoder.values()}
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(vocabulary)
    writer.add_token_types([3 if token in added else 1 for token in vocabulary])
    merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_bos_token_id(tokenizer.bos_token_id)
    writer.add_eos_token_id(tokenizer.convert_tokens_to_ids("<|end|>"))
    writer.add_chat_template(tokenizer.chat_template)
    writer.add_rope_scaling_type(gguf.RopeScalingType.NONE)
    if parts > 1:
        writer.add_uint16("split.count", parts)
    for name, tensor in _tensors(model):
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _tensors(model: LlamaForCausalLM) -> Iterator[tuple[str, np.ndarray]]:
    config = model.config
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, weight in model.state_dict().items():
        last = name.split(".")[-2]
        weight = _turned(weight, heads[last]) if last in heads else weight
        yield names.get_name(name, try_suffixes=(".weight",)), weight.float().numpy()
