"""Encoder-decoders writing: the source encoded once, then one decoder step a token for all rows.

`SharedSteps` is for the BART family, `PlainSteps` for every other encoder-decoder.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from transformers import DynamicCache, EncoderDecoderCache, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from brido.models.cache import CACHE
from brido.models.interface import Steps
from brido.models.products import OutputLinear
from brido.models.sharing.cross_attention import source_mask
from brido.models.sharing.pasts import new_pasts, rows_of

# The tokens that stand before what is written (see Steps).
Given = tuple[int, ...]


@dataclass
class EncoderStates(BaseModelOutput):
    """The encoder's states as a model takes them back; mixtures of experts ask for routers too."""

    router_logits: Any = None


class DecoderSteps(Steps):
    """First tokens one by one, then every document gets its rows."""

    def start(self, tokens: torch.Tensor, rows_a_document: int) -> torch.Tensor:
        for token in tokens.unbind(1):
            logits = self.step(token)
        documents = torch.arange(len(tokens), device=tokens.device)
        self._spread(documents.repeat_interleave(rows_a_document))
        return logits

    @abstractmethod
    def _spread(self, rows: torch.Tensor) -> None:
        """Give documents more rows: row r goes on from what document `rows[r]` was."""


class SharedSteps(DecoderSteps):
    """A decoder step of the BART family, the source's keys and values shared by a document's rows.

    They keep their batch of B, and the N rows of a document are folded into the query axis. The
    model's modules are called in the order of its own forward pass. That pass takes a whole
    sequence and spends more on masks, positions and caches than a step of one token needs. static:
    steps are to be replayed (`replay.py`), from `pasts`.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        states: torch.Tensor,
        attention_mask: torch.Tensor,
        given: Given,
        max_length: int,
        norm_first: bool,
        static: bool = False,
    ) -> None:
        self.model: Any = model
        self.decoder: Any = model.get_decoder()
        self.given = given
        # mBART's and BART's tables of positions start at 2.
        self.first_position = getattr(self.decoder.embed_positions, "offset", 0)
        self.norm_first = norm_first
        # Nearly always zero, and a pass over all logits to add.
        bias: Any = model.final_logits_bias
        self.bias = bias if bool(bias.any()) else None
        self.mask = None if bool(attention_mask.all()) else source_mask(attention_mask)
        self.sources = [
            tuple(
                _heads(project(states), layer.encoder_attn).transpose(1, 2).contiguous()
                for project in (layer.encoder_attn.k_proj, layer.encoder_attn.v_proj)
            )
            for layer in self.decoder.layers
        ]
        layers = len(self.decoder.layers)
        self.pasts = new_pasts(max_length, layers, states.device if static else None)
        self.logits: torch.Tensor | None = None

    def step(self, tokens: torch.Tensor) -> torch.Tensor:
        hidden = self._embed(tokens, self.pasts.begin())
        for number, layer in enumerate(self.decoder.layers):
            hidden = self._layer(number, layer, hidden)
        if self.norm_first:
            hidden = self.decoder.layer_norm(hidden)
        return self._logits(hidden)

    def _logits(self, hidden: torch.Tensor) -> torch.Tensor:
        # One tensor for all steps: the largest of a step, taken anew each time, scatters memory.
        output = self.model.get_output_embeddings()
        if isinstance(output, OutputLinear):
            logits = output(hidden)
            return logits if self.bias is None else logits.add_(self.bias)
        weight = output.weight
        if self.logits is None or len(self.logits) != len(hidden):
            self.logits = weight.new_empty(len(hidden), len(weight))
        # Autocast, under which training decodes its sample, does not reach a product with `out`.
        logits = torch.mm(hidden.to(weight.dtype), weight.t(), out=self.logits)
        return logits if self.bias is None else logits.add_(self.bias)

    def _embed(self, tokens: torch.Tensor, position: int | torch.Tensor) -> torch.Tensor:
        decoder = self.decoder
        # The embeddings of BART and mBART scale by themselves.
        words = decoder.embed_tokens(tokens) * getattr(decoder, "embed_scale", 1.0)
        hidden = words + decoder.embed_positions.weight[self.first_position + position]
        if hasattr(decoder, "layernorm_embedding"):
            hidden = decoder.layernorm_embedding(hidden)
        return hidden

    def _layer(self, number: int, layer: torch.nn.Module, hidden: torch.Tensor) -> torch.Tensor:
        def residual(hidden, norm, work):
            if self.norm_first:
                return work(norm(hidden)).add_(hidden)
            return norm(work(hidden).add_(hidden))

        def own_tokens(hidden):
            attention = layer.self_attn
            query, key, value = (
                _heads(project(hidden), attention)
                for project in (attention.q_proj, attention.k_proj, attention.v_proj)
            )
            key, value = self.pasts.append(number, key, value)
            found = _one_query(query, key, value, attention.scaling, self.pasts.hidden)
            return attention.out_proj(found)

        def source_tokens(hidden):
            attention, (key, value) = layer.encoder_attn, self.sources[number]
            query = _heads(attention.q_proj(hidden), attention)
            folded = query.unflatten(0, (len(key), -1)).transpose(1, 2)
            found = F.scaled_dot_product_attention(
                folded, key, value, self.mask, scale=attention.scaling
            )
            return attention.out_proj(found.transpose(1, 2).reshape(hidden.shape))

        def feed_forward(hidden):
            return layer.fc2(layer.activation_fn(layer.fc1(hidden)))

        hidden = residual(hidden, layer.self_attn_layer_norm, own_tokens)
        hidden = residual(hidden, layer.encoder_attn_layer_norm, source_tokens)
        return residual(hidden, layer.final_layer_norm, feed_forward)

    def reorder(self, rows: torch.Tensor) -> None:
        self.pasts.take(rows)

    _spread = reorder

    def keep(self, documents: torch.Tensor, rows_a_document: int) -> None:
        self.reorder(rows_of(documents, rows_a_document))
        self.sources = [
            tuple(part.index_select(0, documents) for part in source) for source in self.sources
        ]
        if self.mask is not None:
            self.mask = self.mask.index_select(0, documents)


def _heads(states: torch.Tensor, attention: torch.nn.Module) -> torch.Tensor:
    """[..., H * D] as [..., H, D]."""
    return states.unflatten(-1, (attention.num_heads, attention.head_dim))


def _one_query(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scaling: float,
    hidden: torch.Tensor | None,
) -> torch.Tensor:
    """Attention [R, H * D] of one query a row [R, H, D] to keys and values [R, H, t, D].

    hidden: see `Pasts`.
    """
    if query.device.type != "cpu" or hidden is not None:
        mask = None if hidden is None else ~hidden[None, None, None]
        found = F.scaled_dot_product_attention(query[:, :, None], key, value, mask, scale=scaling)
        return found.flatten(1)
    # On a processor two batched products are faster than the fused kernel, made for many queries.
    query = (query * scaling).flatten(0, 1)[:, None]
    weights = torch.bmm(query, key.flatten(0, 1).transpose(1, 2))
    torch.softmax(weights, -1, out=weights)
    return torch.bmm(weights, value.flatten(0, 1)).view(len(key), -1)


class PlainSteps(DecoderSteps):
    """A decoder step as the model itself makes it, with the encoder's states repeated N times."""

    def __init__(
        self, model: PreTrainedModel, states: torch.Tensor, mask: torch.Tensor, given: Given
    ) -> None:
        self.model, self.states, self.mask, self.given = model, states, mask, given
        self.cache: Any = EncoderDecoderCache(DynamicCache(), DynamicCache())

    def step(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.model(
            encoder_outputs=EncoderStates(self.states),
            attention_mask=self.mask,
            decoder_input_ids=tokens[:, None],
            **{CACHE: self.cache},
            use_cache=True,
        ).logits[:, -1]

    def reorder(self, rows: torch.Tensor) -> None:
        self.cache.self_attention_cache.reorder_cache(rows)

    def keep(self, documents: torch.Tensor, rows_a_document: int) -> None:
        self._spread(rows_of(documents, rows_a_document))

    def _spread(self, rows: torch.Tensor) -> None:
        self.cache.reorder_cache(rows)
        self.states = self.states.index_select(0, rows)
        self.mask = self.mask.index_select(0, rows)
