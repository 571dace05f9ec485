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
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, path: Path, kind: str = "llama"
) -> None:
    """`kind` is the architecture that the file names."""
    config, writer = model.config, gguf.GGUFWriter(str(path), kind)
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
    for name, tensor in _tensors(model):
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _tensors(model: LlamaForCausalLM) -> Iterator[tuple[str, np.ndarray]]:
    config = model.config
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    for name, weight in model.state_dict().items():
        short = names.get_name(name, try_suffixes=(".weight",))
        part = short.split(".")[-2]
        weight = _turned(weight, heads[part]) if part in heads else weight
        yield short, weight.float().numpy()
