"""Texts that share their prompt, in one row: the likelihood of N candidates for one reading.

A document's row is [prompt | text 1 | ... | text N], without padding between them. A token of a
text sees the prompt and what stands before it in its own text, and has the position it would have
there. So every hidden state is what the model makes of [prompt, text] alone. The model's own
forward pass runs on such rows with a mask of four dimensions, one for each kind of its layers.
"""

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

from brido.models.cache import CACHE
from brido.models.interface import Head, States, checkpoints_layers
from brido.models.products import PLAIN
from brido.models.sharing.packed_attention import PACKED_ROWS, packed_attention, packings
from brido.models.tokens import Sources, left_padded

_PAD = -1


class Rows(NamedTuple):
    """Prompts with the texts behind them, packed.

    ids, positions, owners [B, W] int64: every token, its position in [prompt, text], and whose it
    is: 0 the prompt's, 1 to n a text's, -1 a pad. found: where, in [B, W] flat, the hidden states
    stand that predict the scored tokens.
    """

    ids: Tensor
    positions: Tensor
    owners: Tensor
    found: Tensor


def pack(sources: Sources, ids: Tensor, scored: Tensor) -> Rows:
    """Rows of prompts (padded on either side) and texts `ids` [B * n, T], as `States` takes them.

    The first of a text's tokens is the prompt's last once more and needs no place of its own; of
    the others those are packed whose hidden states are asked for.
    """
    documents, tokens = len(sources.ids), ids.shape[1]
    keep = ids.new_zeros(ids.numel(), dtype=torch.bool)
    keep[scored] = True
    keep = keep.view(documents, -1, tokens)
    keep[:, :, 0] = False
    prompt = sources.mask.sum(1)
    # The place of a token in its row: behind the prompt and the kept ones before it.
    places = prompt[:, None] + keep.flatten(1).cumsum(1) - 1
    width = int(places[:, -1].max()) + 1
    order = sources.mask.argsort(dim=1, descending=True, stable=True)
    real = sources.mask.gather(1, order).bool()
    columns = torch.arange(width, device=ids.device)
    held = min(width, order.shape[1])  # a column beyond is a pad in every row
    row_ids = ids.new_zeros(documents, width)
    row_ids[:, :held] = sources.ids.gather(1, order)[:, :held]
    positions = columns.expand(documents, -1).clone()
    owners = ids.new_full((documents, width), _PAD)
    owners[:, :held][real[:, :held]] = 0

    document, text, token = keep.nonzero(as_tuple=True)
    column = places.view_as(keep)[document, text, token]
    row_ids[document, column] = ids.view_as(keep)[document, text, token]
    positions[document, column] = prompt[document] - 1 + token
    owners[document, column] = text + 1
    positions.masked_fill_(owners == _PAD, 0)

    first = (prompt - 1)[:, None, None].expand(keep.shape)
    places = torch.where(keep, places.view_as(keep), first)
    places = places + width * torch.arange(documents, device=ids.device)[:, None, None]
    return Rows(row_ids, positions, owners, places.flatten()[scored])


def visible(rows: Rows, window: int | None = None) -> Tensor:
    """Which tokens each token sees, [B, 1, W, W] boolean (query, key).

    window: at most so many positions back, itself among them; None is all of them. A pad sees
    itself, because attention to nothing is NaN.
    """
    columns = torch.arange(rows.ids.shape[1], device=rows.ids.device)
    query, key = rows.owners[:, :, None], rows.owners[:, None, :]
    sees = ((key == 0) | (key == query)) & (columns[:, None] >= columns)
    if window is not None:
        sees &= rows.positions[:, :, None] - rows.positions[:, None, :] < window
    sees &= (query != _PAD) & (key != _PAD)
    return (sees | (columns[:, None] == columns))[:, None]


def masks(model: PreTrainedModel, sees_within: Callable[[int | None], Tensor]) -> Any:
    """Return a mask as the model's attention takes it; several, by type, where layers differ.

    A mask of four dimensions is used as it is, so the window of sliding layers must be in it:
    `sees_within(window)` says which tokens each token sees, [B, 1, queries, keys] boolean.
    """
    window = getattr(model.config, "sliding_window", None)
    types = getattr(model.config, "layer_types", None)
    if types is None:
        return sees_within(window)
    windows = {"full_attention": None, "sliding_attention": window}
    return {kind: sees_within(windows[kind]) for kind in set(types)}


class PackedStates(States):
    """The model's own decoder on packed rows: a prompt is read once a pass for all its texts."""

    def __init__(self, model: PreTrainedModel, sources: Sources) -> None:
        self.model, self.sources, self.output = model, sources, model.get_output_embeddings()
        # How many tokens of each prompt stand in front of its row.
        self.kept = torch.zeros(len(sources.ids), dtype=torch.long, device=sources.ids.device)
        self.cap = getattr(model.config, "final_logit_softcapping", None)
        # An adapter around the projection has a weight too, which is not all that it does.
        if self.cap is None and type(self.output) in PLAIN:
            self.head = Head(self.output.weight, self.output.bias)

    def hidden(self, ids: Tensor, scored: Tensor) -> Tensor:
        rows = pack(self.sources, ids, scored)
        states = self._decode(rows, rows.positions, partial(visible, rows), use_cache=False)
        return self.projected(states.flatten(0, 1)[rows.found])

    def _decode(
        self, rows: Rows, positions: Tensor, sees: Callable[[int | None], Tensor], **cache: Any
    ) -> Tensor:
        """The decoder's hidden states [B, W, D] of rows; `sees`: see `masks`."""
        # A layer that is computed anew in the backward pass is so behind this block.
        again = torch.is_grad_enabled() and checkpoints_layers(self.model)
        with nullcontext() if again else packed_attention(self.model):
            states: Tensor = self.model.get_decoder()(
                input_ids=rows.ids,
                attention_mask=masks(self.model, partial(self._mask, rows, positions, sees)),
                position_ids=positions,
                **cache,
            )[0]
        return states

    def _mask(
        self,
        rows: Rows,
        positions: Tensor,
        sees: Callable[[int | None], Tensor],
        window: int | None,
    ) -> Tensor:
        mask: Any = sees(window)
        packed = self.model.config._attn_implementation == PACKED_ROWS
        if packed and (window is None or int(positions.max()) < window):
            width = mask.shape[-1] - mask.shape[-2]
            mask.packings = packings(rows.owners, self.kept.tolist(), width)
        return mask

    def projected(self, hidden: Tensor) -> Tensor:
        """What `hidden` returns of hidden states: these, or logits where there is no head."""
        if self.head is not None:
            return hidden
        logits = self.output(hidden)
        return logits if self.cap is None else torch.tanh(logits / self.cap) * self.cap


class CachedStates(PackedStates):
    """`PackedStates` without gradients that read a prompt once, however many passes there are.

    In front of a document's texts stands the prompt's last token alone; the keys and values of the
    tokens before it are kept from pass to pass.
    """

    def __init__(self, model: PreTrainedModel, sources: Sources) -> None:
        super().__init__(model, sources)
        ids, mask = left_padded(sources)
        last = Sources(ids[:, -1:], mask[:, -1:])
        self.sources, self.kept = last, mask.sum(1) - 1
        self.mask = mask[:, :-1].bool()
        self.places = (mask[:, :-1].cumsum(1) - 1).clamp(min=0)
        # Told nothing of the model, a cache keeps whole prompts, windows or not.
        cache = DynamicCache()
        model.get_decoder()(
            input_ids=ids[:, :-1],
            attention_mask=mask[:, :-1],
            position_ids=self.places,
            **{CACHE: cache},
            use_cache=True,
        )
        self.prompts = _Prompts(cache)

    def hidden(self, ids: Tensor, scored: Tensor) -> Tensor:
        rows = pack(self.sources, ids, scored)
        positions = rows.positions + self.kept[:, None]
        sees = partial(self._visible, rows, positions)
        states = self._decode(rows, positions, sees, **{CACHE: self.prompts}, use_cache=True)
        return self.projected(states.flatten(0, 1)[rows.found])

    def _visible(self, rows: Rows, positions: Tensor, window: int | None) -> Tensor:
        """Which tokens of the prompt, then of the row, each token of the row sees."""
        prompt = self.mask[:, None, :].expand(-1, positions.shape[1], -1)
        if window is not None:
            prompt = prompt & (positions[:, :, None] - self.places[:, None, :] < window)
        return torch.cat([prompt[:, None], visible(rows, window)], -1)


class _Prompts(DynamicCache):
    """Keys and values of the prompts, before those of a pass, which are not kept."""

    def __init__(self, prompts: DynamicCache) -> None:
        super().__init__()
        layers: Any = prompts.layers
        self.prompts = [(layer.keys, layer.values) for layer in layers]

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        """All keys and values [B, H, S + W, D] of a pass that has its own, [B, H, W, D]."""
        key, value = self.prompts[layer_idx]
        return torch.cat([key, key_states], 2), torch.cat([value, value_states], 2)

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """The number of tokens that stand before a pass's, pads included."""
        return self.prompts[layer_idx][0].shape[2]
