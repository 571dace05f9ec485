"""Cross-attention whose keys and values are shared by all candidates of a document, in training.

A batch of B documents with N candidates each runs the decoder on B*N rows. transformers expects
B*N copies of the encoder states and so projects, stores and reads the source's keys and values N
times. Here the encoder states keep their batch of B, and so do the projected keys and values. Where
an attention call sees B rows of keys under B*N rows of queries, the N candidates are folded into
the query axis (a view, no copy). No module and no weight is touched: the functions are
registered under their own names in transformers' attention and mask interfaces, and a model is
pointed to them for the length of a `with` block.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

SHARED_SDPA = "brido_shared_sdpa"
SHARED_EAGER = "brido_shared_eager"


@contextmanager
def shared_cross_attention(model: PreTrainedModel, shares: bool = True) -> Iterator[bool]:
    """`shares`: True where the model's cross-attention is shared inside the block, else False.

    Inside, with True, call the decoder with ids [B*N, T], encoder states [B, S, D] and
    `source_mask(attention_mask)` as the encoder's mask. Row b*N + n is candidate n of document b;
    a cache then holds B rows of source keys and values. One token with a cache, many tokens, and
    training with gradients all work. With False repeat the encoder states and the 2-D mask N times.

    Leave the block only after the backward pass where gradient checkpointing is on: it runs the
    attention a second time. A model in "eager" attention stays in plain arithmetic, every other
    implementation runs on `scaled_dot_product_attention`. The former one is restored at the end.
    """
    if not shares:
        yield False
        return
    former = model.config._attn_implementation
    shared = SHARED_EAGER if former in ("eager", SHARED_EAGER) else SHARED_SDPA
    model.set_attn_implementation(shared)
    try:
        yield True
    finally:
        model.set_attn_implementation(former)


def source_mask(attention_mask: torch.Tensor) -> torch.Tensor:
    """Return the 4-D boolean mask [B, 1, 1, S] of a 2-D one [B, S], True where a source token is.

    Four dimensions, because transformers checks a 2-D mask against the decoder's batch of B*N.
    """
    return attention_mask.bool()[:, None, None, :]


def no_mask(device: torch.device) -> torch.Tensor:
    """Return a mask [1, 1, 1, 1] that hides nothing and costs nothing, shared cross-attention only.

    For steps where every key is visible (one new token with a cache; sources of one length).
    Leaving the mask out instead makes transformers build one, and read it back from the device.
    """
    return torch.ones(1, 1, 1, 1, dtype=torch.bool, device=device)


def _hides_nothing(mask: torch.Tensor | None) -> bool:
    return mask is not None and mask.shape == (1, 1, 1, 1)


def _fold(query: torch.Tensor, documents: int) -> torch.Tensor:
    """[B*N, H, T, D] -> [B, H, N*T, D], a view of the projection's own layout [B*N, T, H, D]."""
    rows, heads, tokens, width = query.shape
    by_token = query.transpose(1, 2).reshape(documents, rows // documents * tokens, heads, width)
    return by_token.transpose(1, 2)


def _mask_for_folded(
    mask: torch.Tensor | None, documents: int, candidates: int
) -> torch.Tensor | None:
    """The mask for folded queries: [B, 1, 1, S] stays, [B*N, 1, T, S] folds as the queries do."""
    if mask is None or mask.shape[0] == 1 or (mask.shape[0] == documents and mask.shape[2] == 1):
        return mask
    if mask.shape[0] == documents:
        return mask.repeat(1, 1, candidates, 1)
    return _fold(mask, documents)


def _sdpa(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """transformers' own `sdpa`, with candidates folded where the keys have fewer rows."""
    causal = kwargs.pop("is_causal", None)
    if _hides_nothing(attention_mask):
        attention_mask, causal = None, False
    rows, tokens = query.shape[0], query.shape[2]
    documents = key.shape[0]
    if rows == documents:
        return sdpa_attention_forward(
            module, query, key, value, attention_mask, is_causal=causal, **kwargs
        )
    attention_mask = _mask_for_folded(attention_mask, documents, rows // documents)
    folded, _ = sdpa_attention_forward(
        module, _fold(query, documents), key, value, attention_mask, is_causal=False, **kwargs
    )
    return folded.reshape(rows, tokens, *folded.shape[2:]), None


def _eager(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **kwargs: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """softmax(q k / sqrt(d)) v written out, with candidates folded as in `_sdpa`."""
    rows, tokens = query.shape[0], query.shape[2]
    documents = key.shape[0]
    causal = getattr(module, "is_causal", False) and attention_mask is None and tokens > 1
    if rows != documents:
        attention_mask = _mask_for_folded(attention_mask, documents, rows // documents)
        query, causal = _fold(query, documents), False
    weights = query @ key.transpose(2, 3)
    weights = weights * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    if causal:
        attention_mask = torch.ones(
            tokens, key.shape[2], dtype=torch.bool, device=query.device
        ).tril()
    if attention_mask is not None and not _hides_nothing(attention_mask):
        weights = weights.masked_fill(~attention_mask, torch.finfo(weights.dtype).min)
    weights = F.dropout(weights.softmax(-1), p=dropout, training=module.training)
    output = (weights @ value).transpose(1, 2).contiguous()
    return output.reshape(rows, tokens, *output.shape[2:]), weights


AttentionInterface.register(SHARED_SDPA, _sdpa)
AttentionInterface.register(SHARED_EAGER, _eager)
# Without a mask function of the same name transformers drops 2-D masks silently.
AttentionMaskInterface.register(SHARED_SDPA, sdpa_mask)
AttentionMaskInterface.register(SHARED_EAGER, sdpa_mask)
