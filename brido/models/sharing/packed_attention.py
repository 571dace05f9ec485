"""Attention of packed rows on a processor: a text's tokens meet their prompt and their own text.

torch's attention takes a mask and computes every pair of a row's tokens, those of different texts
too: with 16 texts behind a prompt that is three pairs for each that counts. Here the prompt's
tokens attend causally, and the texts' in two products, one with the prompt and one with their own
keys, under one softmax. Weights are computed again in the backward pass, as torch's kernel does.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

PACKED_ROWS = "brido_packed_rows"
# Weights of attention held at once: a processor's caches like few.
_ELEMENTS = 2**20


class Packing(NamedTuple):
    """How a document's row of W columns is packed.

    first: the first of the keys that are the prompt's; all up to its last query are. prompt: how
    many of the row's queries are the prompt's, the first ones. texts: [N, T] the columns of each
    text's tokens; shorter texts end in their last column again. order: [W] where the result of each
    column stands among those of the prompt and of `texts`, flat.
    """

    first: int
    prompt: int
    texts: Tensor
    order: Tensor


def packings(owners: Tensor, kept: Sequence[int], width: int) -> list[Packing]:
    """The packing of each row of `owners` [B, W] (see `Rows`).

    kept: how many keys of each prompt stand in front of its row, right before it, among `width`.
    """
    found = []
    for row, count in zip(owners, kept, strict=True):
        prompt = int((row == 0).sum())
        lengths = torch.bincount(row[row > 0])[1:]
        lengths = lengths[lengths > 0]
        starts = prompt + lengths.cumsum(0) - lengths
        tokens = torch.arange(int(lengths.max()) if len(lengths) else 0)
        real = tokens < lengths[:, None]
        texts = starts[:, None] + torch.minimum(tokens, lengths[:, None] - 1)
        order = torch.zeros_like(row)  # a pad gets what the first column gets
        order[:prompt] = torch.arange(prompt)
        order[texts[real]] = prompt + torch.arange(real.numel()).view(real.shape)[real]
        found.append(Packing(width - count, prompt, texts, order))
    return found


@contextmanager
def packed_attention(model: PreTrainedModel) -> Iterator[None]:
    """A block in which a model's attention makes use of masks that have `packings`."""
    config: Any = model.config
    former = config._attn_implementation
    if model.device.type == "cpu" and former == "sdpa":
        config._attn_implementation = PACKED_ROWS
    try:
        yield
    finally:
        config._attn_implementation = former


def _attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **options: Any,
) -> tuple[Tensor, None]:
    """Attention [B, W, H, D] as transformers asks for it.

    The packing comes with the mask, which reaches every layer, again when a layer is computed anew
    in the backward pass.
    """
    rows: list[Packing] | None = getattr(attention_mask, "packings", None)
    exact = query.dtype in (torch.float32, torch.float64)
    if rows is None or dropout or not exact or torch.is_autocast_enabled("cpu"):
        return sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout, scaling, **options
        )
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    documents = zip(query * scale, key, value, rows, strict=True)
    return torch.stack([_document(*document) for document in documents]).transpose(1, 2), None


def _document(query: Tensor, key: Tensor, value: Tensor, packing: Packing) -> Tensor:
    """Attention [H, W, D] of scaled queries [H, W, D] to keys and values [H', S + W, D]."""
    first, prompt, texts, order = packing
    heads, before = len(key), key.shape[1] - query.shape[1]
    far = slice(first, before + prompt)
    groups = len(query) // heads
    far_key, far_value = key[:, far], value[:, far]
    attended = scaled_dot_product_attention(
        query[None, :, :prompt],
        far_key.repeat_interleave(groups, 0)[None],
        far_value.repeat_interleave(groups, 0)[None],
        is_causal=prompt > 1,
        scale=1.0,
    )[0]
    if not texts.numel():
        return attended[:, order]
    own = query[:, texts].unflatten(0, (heads, groups)).transpose(1, 2)
    near = before + texts
    found = _Texts.apply(own, far_key, far_value, key[:, near], value[:, near])
    found = found.transpose(1, 2).flatten(2, 3).flatten(0, 1)
    return torch.cat([attended, found], 1)[:, order]


class _Texts(torch.autograd.Function):
    """Attention of texts' scaled queries [H, N, G, T, D] to a prompt's keys and values [H, P, D]
    and to those of their own, [H, N, T, D], causally.

    Dimensions 1 to 3 are one where all texts meet the prompt, 2 and 3 where each meets itself.
    """

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, far_key: Tensor, far_value: Tensor, key: Tensor, value: Tensor
    ) -> Tensor:
        query = query.contiguous()
        found, normalizer = torch.empty_like(query), query.new_empty(query.shape[:-1])
        for part in _parts(query, far_key):
            far, near = _scores(query[:, part], far_key, key[:, part])
            largest = torch.maximum(far.amax(-1), near.amax(-1))[..., None]
            far.sub_(largest).exp_()
            near.sub_(largest).exp_()
            total = far.sum(-1, keepdim=True).add_(near.sum(-1, keepdim=True))
            own = near.flatten(2, 3) @ value[:, part]
            weighed = far.flatten(1, 3) @ far_value
            found[:, part] = weighed.view_as(own).add_(own).view_as(found[:, part]).div_(total)
            normalizer[:, part] = total.log_().add_(largest)[..., 0]
        ctx.save_for_backward(query, far_key, far_value, key, value, found, normalizer)
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, ...]:
        query, far_key, far_value, key, value, found, normalizer = ctx.saved_tensors
        grad = grad.contiguous()
        # What the softmax's gradient takes off every weight's.
        mean = (grad * found).sum(-1, keepdim=True)
        grad_query, grad_key, grad_value = map(torch.empty_like, (query, key, value))
        grad_far_key, grad_far_value = map(torch.zeros_like, (far_key, far_value))
        for part in _parts(query, far_key):
            asked, given = query[:, part], grad[:, part]
            far, near = _scores(asked, far_key, key[:, part])
            far.sub_(normalizer[:, part, ..., None]).exp_()
            near.sub_(normalizer[:, part, ..., None]).exp_()
            grad_far_value += far.flatten(1, 3).mT @ given.flatten(1, 3)
            grad_value[:, part] = near.flatten(2, 3).mT @ given.flatten(2, 3)
            far.mul_((given.flatten(1, 3) @ far_value.mT).view_as(far).sub_(mean[:, part]))
            near.mul_((given.flatten(2, 3) @ value[:, part].mT).view_as(near).sub_(mean[:, part]))
            own = near.flatten(2, 3) @ key[:, part]
            weighed = far.flatten(1, 3) @ far_key
            grad_query[:, part] = weighed.view_as(own).add_(own).view_as(asked)
            grad_far_key += far.flatten(1, 3).mT @ asked.flatten(1, 3)
            grad_key[:, part] = near.flatten(2, 3).mT @ asked.flatten(2, 3)
        return grad_query, grad_far_key, grad_far_value, grad_key, grad_value


def _parts(query: Tensor, far_key: Tensor) -> Iterator[slice]:
    """The texts [H, N, G, T, D], so many at once as `_ELEMENTS` allow."""
    heads, texts, groups, tokens, _ = query.shape
    a_text = heads * groups * tokens * (far_key.shape[1] + tokens)
    size = max(1, _ELEMENTS // a_text)
    for start in range(0, texts, size):
        yield slice(start, start + size)


def _scores(query: Tensor, far_key: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
    """Queries [H, n, G, T, D] with the prompt's keys and their own: [H, n, G, T, P], [..., T]."""
    tokens = query.shape[3]
    far = (query.flatten(1, 3) @ far_key.mT).view(*query.shape[:-1], -1)
    near = (query.flatten(2, 3) @ key.mT).view(*query.shape[:-1], -1)
    later = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
    return far, near.masked_fill_(later, -torch.inf)


AttentionInterface.register(PACKED_ROWS, _attend)
# Passes whose masks have no packing are torch's.
AttentionMaskInterface.register(PACKED_ROWS, sdpa_mask)
