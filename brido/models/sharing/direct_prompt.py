"""A step of models that are built as Llama is, without what a whole sequence needs.

Their own forward pass prepares masks, caches and outputs for any sequence; for one token a row that
is a good part of the time. Here their modules are called in the same order, with `SharedPrompt`'s
attention. Every number is the same.
"""

from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.models.llama.modeling_llama import LlamaModel
from transformers.models.qwen2.modeling_qwen2 import Qwen2Model
from transformers.models.qwen3.modeling_qwen3 import Qwen3Model

from brido.models.interface import has_plain_weights
from brido.models.sharing.prompt_attention import SharedPrompt

# Normalised attention, then normalised feed-forward, each added to what went in; rotated positions.
BUILT_ALIKE = LlamaModel, Qwen2Model, Qwen3Model


class DirectPrompt(SharedPrompt):
    """`SharedPrompt` for the models that `is_direct` names."""

    def step(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Logits [R, V] after one more token a row, [R] at `positions` [R]."""
        self.own.begin()
        decoder: Any = self.model.get_decoder()
        output: Any = self.model.get_output_embeddings()
        hidden = decoder.embed_tokens(tokens)
        cosine, sine = decoder.rotary_emb(hidden, positions[:, None])
        # The rotated half has its sign turned: here the sine has it.
        first, second = sine.chunk(2, -1)
        sine = torch.cat([-first, second], -1)
        for number, layer in enumerate(decoder.layers):
            normed = layer.input_layernorm(hidden)
            hidden = hidden + self._attention(layer.self_attn, number, normed, cosine, sine)
            hidden = hidden + layer.mlp(layer.post_attention_layernorm(hidden))
        logits: Tensor = output(decoder.norm(hidden))
        return logits

    def _attention(
        self, attention: Any, number: int, hidden: Tensor, cosine: Tensor, sine: Tensor
    ) -> Tensor:
        query, key, value = (
            project(hidden).unflatten(-1, (-1, attention.head_dim))
            for project in (attention.q_proj, attention.k_proj, attention.v_proj)
        )
        if hasattr(attention, "q_norm"):
            query, key = attention.q_norm(query), attention.k_norm(key)
        heads = query.shape[1]
        turned = _turned(torch.cat([query, key], 1), cosine, sine)
        key, value = self.own.append(number, turned[:, heads:], value)
        window = getattr(attention, "sliding_window", None)
        query = turned[:, :heads]
        found = self.attend(number, query, key, value, attention.scaling, window)
        result: Tensor = attention.o_proj(found.flatten(1))
        return result


def is_direct(model: PreTrainedModel) -> bool:
    """Whether `DirectPrompt` knows how the model is built, and all of its weights are here.

    A layer whose weights lie in parts on several processes gathers them in its own forward pass.
    """
    return has_plain_weights(model) and type(model.get_decoder()) in BUILT_ALIKE


def _turned(states: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """states [R, H, D] turned by their positions: [R, 1, D] each, the sine's first half negated."""
    return states * cosine + states.roll(states.shape[-1] // 2, -1) * sine
