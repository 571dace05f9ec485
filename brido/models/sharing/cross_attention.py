"""Cross-attention whose keys and values are shared by all candidates of a document, in training.

A batch of B documents with N candidates each runs the decoder on B*N rows. transformers expects
B*N copies of the encoder states and so projects, stores and reads the source's keys and values N
times. Here the encoder states keep their batch of B, and so do the projected keys and values. Where
an attention call sees B rows of keys under B*N rows of queries, the N candidates are folded into
the query axis (a view, no copy). No module and no weight is touched: the functions are
registered under their own names in transformers' attention and mask interfaces, and a model is
pointed to them for the length of a `with` block.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

SHARED = "brido_shared_sdpa"


@contextmanager
def shared_cross_attention(model: PreTrainedModel) -> Iterator[None]:
    """A block in which all candidates of a document share the source's keys and values.

    Inside, call the decoder with ids [B*N, T], encoder states [B, S, D] and
    `source_mask(attention_mask)` as the encoder's mask. Row b*N + n is candidate n of document b;
    a cache then holds B rows of source keys and values. One token with a cache, many tokens, and
    training with gradients all work.

    Leave the block only after the backward pass where gradient checkpointing is on: it runs the
    attention a second time. Whatever the model's attention was, it runs on
    `scaled_dot_product_attention` inside; the former one is restored at the end.
    """
    former = model.config._attn_implementation
    model.set_attn_implementation(SHARED)
    try:
        yield
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


def _fold(query: torch.Tensor, documents: int) -> torch.Tensor:
    """[B*N, H, T, D] -> [B, H, N*T, D], a view of the projection's own layout [B*N, T, H, D]."""
    rows, heads, tokens, width = query.shape
    by_token = query.transpose(1, 2).reshape(documents, rows // documents * tokens, heads, width)
    return by_token.transpose(1, 2)


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
    if attention_mask is not None and attention_mask.shape == (1, 1, 1, 1):  # `no_mask`
        attention_mask, causal = None, False
    rows, tokens = query.shape[0], query.shape[2]
    documents = key.shape[0]
    if rows == documents:
        return sdpa_attention_forward(
            module, query, key, value, attention_mask, is_causal=causal, **kwargs
        )
    folded, _ = sdpa_attention_forward(
        module, _fold(query, documents), key, value, attention_mask, is_causal=False, **kwargs
    )
    return folded.reshape(rows, tokens, *folded.shape[2:]), None


AttentionInterface.register(SHARED, _sdpa)
# Without a mask function of the same name transformers drops 2-D masks silently.
AttentionMaskInterface.register(SHARED, sdpa_mask)
