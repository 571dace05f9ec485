"""f(S), the length-normalised log-likelihood of every candidate summary of a document.

Written for training with many candidates. The source is encoded once a document and its keys and
values are projected once (not once a candidate), the vocabulary projection runs in chunks that are
computed again in the backward pass (`projection.py`), and candidates run in groups of similar
length (`length_groups`). Every shortcut leaves each number what a plain forward of the model gives.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint
from transformers import DynamicCache, EncoderDecoderCache, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from brido.likelihood.length_groups import LengthGroup, group_by_length
from brido.likelihood.projection import token_log_probability
from brido.models.cross_attention import (
    SHARED_EAGER,
    SHARED_SDPA,
    no_mask,
    shared_cross_attention,
    source_mask,
)
from brido.models.family import family_of


class SequenceStatistics(NamedTuple):
    """Sums over the scored tokens of every candidate, each [B, N].

    log_probability: of log p(token); mean_log_probability: of the mean of log p(v) over the
    vocabulary (for label smoothing); tokens: how many tokens were scored.
    """

    log_probability: Tensor
    mean_log_probability: Tensor
    tokens: Tensor


def candidate_log_likelihood(
    model: PreTrainedModel,
    input_ids: Tensor,
    attention_mask: Tensor,
    candidate_ids: Tensor,
    length_penalty: float,
    micro_batch: int | None = None,
) -> Tensor:
    """f(S) of every candidate, [B, N] in nats: sum of log p over (number of tokens)^length_penalty.

    input_ids and attention_mask [B, S] are the sources, candidate_ids [B, N, T] the candidates with
    the decoder's first token at position 0, padded at the end. Position 0 is never scored, even
    where its token is the pad token (PEGASUS, T5); behind it every token that is not pad is. The
    result is differentiable; the model's train or eval mode is used and kept. With `micro_batch` at
    most that many candidates of a document run at once and their activations are computed again in
    the backward pass: the same gradient in less memory.

    Raises:
        ValueError: shapes that do not fit, or a candidate without a token to score.
    """
    statistics = sequence_statistics(model, input_ids, attention_mask, candidate_ids, micro_batch)
    return normalized(statistics, length_penalty)


def normalized(statistics: SequenceStatistics, length_penalty: float) -> Tensor:
    """f(S) [B, N] of the sums: log_probability / tokens^length_penalty."""
    return statistics.log_probability / statistics.tokens**length_penalty


def sequence_statistics(
    model: PreTrainedModel,
    input_ids: Tensor,
    attention_mask: Tensor,
    candidate_ids: Tensor,
    micro_batch: int | None = None,
) -> SequenceStatistics:
    """The sums behind `candidate_log_likelihood`, with the same arguments and errors."""
    pad = model.config.pad_token_id
    scored = (candidate_ids[:, :, 1:] != pad).cpu()
    _check(input_ids, attention_mask, scored)
    groups = group_by_length(scored, micro_batch, input_ids.device.type)
    states = model.get_encoder()(input_ids=input_ids, attention_mask=attention_mask)[0]
    recompute = micro_batch is not None and torch.is_grad_enabled()
    decoder = _decoder(model, states, attention_mask, candidate_ids[:, 0, :1], len(groups))
    parts = []
    for group in groups:
        run = partial(_group_sums, decoder, _rows(candidate_ids, group), group)
        parts.append(checkpoint(run, use_reentrant=False) if recompute else run())
    where = torch.cat([group.members for group in groups], dim=1).argsort(1).to(input_ids.device)
    sums = [torch.cat(tensors, dim=1).gather(1, where) for tensors in zip(*parts, strict=True)]
    return SequenceStatistics(sums[0], sums[1], scored.sum(-1).to(input_ids.device))


def _check(input_ids: Tensor, attention_mask: Tensor, scored: Tensor) -> None:
    if input_ids.ndim != 2 or attention_mask.shape != input_ids.shape:
        raise ValueError(
            "input_ids and attention_mask must both be [documents, source tokens], not "
            f"{list(input_ids.shape)} and {list(attention_mask.shape)}"
        )
    documents, candidates, tokens = scored.shape
    if documents != len(input_ids):
        raise ValueError(
            f"candidate_ids [{documents}, {candidates}, {tokens + 1}] belong to {documents} "
            f"documents, input_ids to {len(input_ids)}"
        )
    empty = (~scored.any(-1)).nonzero()
    if len(empty):
        document, candidate = empty[0].tolist()
        raise ValueError(f"candidate {candidate} of document {document} has no token to score")


def _rows(candidate_ids: Tensor, group: LengthGroup) -> Tensor:
    """The group's part of candidate_ids, [B, n, length + 1]."""
    members = group.members.to(candidate_ids.device)
    return candidate_ids[:, :, : group.length + 1].gather(
        1, members[:, :, None].expand(-1, -1, group.length + 1)
    )


def _group_sums(decoder: _Decoder, rows: Tensor, group: LengthGroup) -> tuple[Tensor, Tensor]:
    """The sums of log p(token) and of mean log p(v), each [B, n]."""
    scored = group.scored.to(rows.device)
    targets = rows[:, :, 1:].flatten()[scored]
    tokens = decoder.log_probability(rows[:, :, :-1].flatten(0, 1), scored, targets)
    shape = rows[:, :, 1:].shape
    log_probability, mean = (
        token.new_zeros(shape.numel()).index_copy(0, scored, token).view(shape).sum(-1)
        for token in tokens
    )
    return log_probability, mean


class _Decoder:
    """The model's own decoder and projection, for rows of candidates of a batch of documents."""

    def __init__(self, model: PreTrainedModel, states: Tensor, attention_mask: Tensor) -> None:
        self.model, self.states, self.attention_mask = model, states, attention_mask

    def log_probability(self, ids: Tensor, scored: Tensor, targets: Tensor) -> tuple[Tensor, ...]:
        """log p and mean log p of the scored tokens, by the whole model with repeated states."""
        candidates = len(ids) // len(self.states)
        logits = self.model(
            encoder_outputs=BaseModelOutput(self.states.repeat_interleave(candidates, 0)),
            attention_mask=self.attention_mask.repeat_interleave(candidates, 0),
            decoder_input_ids=ids,
            use_cache=False,
        ).logits
        logits = logits.flatten(0, 1)[scored]
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(-1)
        return logits.gather(1, targets[:, None])[:, 0], logits.mean(-1)


class _SharingDecoder(_Decoder):
    """The same with one set of source keys and values a document and the chunked projection."""

    def __init__(
        self, model: PreTrainedModel, states: Tensor, attention_mask: Tensor, start: Tensor | None
    ) -> None:
        super().__init__(model, states, attention_mask)
        hides = not bool(attention_mask.all())
        self.mask = source_mask(attention_mask) if hides else no_mask(states.device)
        self.source: DynamicCache | None = None
        if start is not None:
            # One token a document fills the cache that all groups then read.
            cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
            self._hidden(start, cache)
            self.source = cache.cross_attention_cache

    def _hidden(self, ids: Tensor, cache: EncoderDecoderCache | None) -> Tensor:
        # Entered for each call, because a checkpointed group runs again in the backward pass.
        with shared_cross_attention(self.model):
            return self.model.get_decoder()(
                input_ids=ids,
                encoder_hidden_states=self.states,
                encoder_attention_mask=self.mask,
                past_key_values=cache,
                use_cache=cache is not None,
            )[0]

    def log_probability(self, ids: Tensor, scored: Tensor, targets: Tensor) -> tuple[Tensor, ...]:
        """log p and mean log p of the scored tokens, each [number of scored tokens]."""
        cache = None
        if self.source is not None:
            cache = EncoderDecoderCache(_NoCache(), self.source)
        hidden = self._hidden(ids, cache).flatten(0, 1)[scored]
        bias = getattr(self.model, "final_logits_bias", None)
        return token_log_probability(
            hidden,
            self.model.get_output_embeddings().weight,
            None if bias is None else bias[0],
            targets,
        )


class _NoCache(DynamicCache):
    """Keeps nothing: every candidate is read whole, so its own keys and values are not reused."""

    def update(self, key_states: Tensor, value_states: Tensor, *_: object) -> tuple[Tensor, Tensor]:
        return key_states, value_states


def _decoder(
    model: PreTrainedModel, states: Tensor, attention_mask: Tensor, start: Tensor, groups: int
) -> _Decoder:
    """A sharing decoder where the model can share, else the plain one.

    transformers' layer checkpoints drop caches and run the attention again in the backward pass:
    with them each group projects the source itself, and sharing needs a caller who keeps
    `shared_cross_attention` open until the backward pass is over.
    """
    layers = model.training and torch.is_grad_enabled() and _checkpoints_layers(model)
    open_block = model.config._attn_implementation in (SHARED_SDPA, SHARED_EAGER)
    if not family_of(model.config).shares_cross_attention or (layers and not open_block):
        return _Decoder(model, states, attention_mask)
    return _SharingDecoder(model, states, attention_mask, None if layers or groups == 1 else start)


def _checkpoints_layers(model: PreTrainedModel) -> bool:
    return any(getattr(module, "gradient_checkpointing", False) for module in model.modules())
