"""Texts that share their prompt, in one row: the likelihood of N candidates for one reading.

A document's row is its prompt and then its texts, without padding between them:

    column      0  1  2  3 | 4  5 | 6  7  8 | 9        prompt p q r s, texts (s) a b, (s) c d e
    ids         p  q  r  s   a  b   c  d  e   -
    positions   0  1  2  3   4  5   4  5  6   0
    owners      0  0  0  0   1  1   2  2  2  -1

A token of a text sees the prompt and what stands before it in its own text, and has the position it
would have there. So every hidden state is what the model makes of [prompt, text] alone. The model's
own forward pass runs on such rows with a mask of four dimensions, one for each kind of its layers.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

from brido.models.interface import Head, States
from brido.models.products import PLAIN
from brido.models.sharing.attention import masks
from brido.models.sharing.pasts import CACHE
from brido.models.tokens import Sources, left_padded

_PAD = -1


class Rows(NamedTuple):
    """Prompts with the texts behind them.

    ids, positions, owners [B, W] int64: every token, its position in [prompt, text], and whose it
    is: 0 the prompt's, 1 to n a text's, -1 a pad. predicting: where, in [B, W] flat, the hidden
    states stand that predict the scored tokens.
    """

    ids: Tensor
    positions: Tensor
    owners: Tensor
    predicting: Tensor


def packed_rows(sources: Sources, ids: Tensor, scored: Tensor) -> Rows:
    """Rows of prompts (padded on either side) and texts `ids` [B * n, T], as `States` takes them.

    The first token of a text is the prompt's last once more: that stands in the row already. Of the
    others those get a column whose hidden states are asked for.
    """
    documents, tokens = len(sources.ids), ids.shape[1]
    ids = ids.view(documents, -1, tokens)
    asked = torch.zeros_like(ids, dtype=torch.bool)
    asked.view(-1)[scored] = True
    own = asked.clone()
    own[:, :, 0] = False
    prompts = sources.mask.sum(1)
    # Of every text's token its column: behind the prompt and the texts' tokens before it.
    columns = (prompts[:, None] - 1 + own.flatten(1).cumsum(1)).view_as(own)
    width = int(columns[:, -1, -1].max()) + 1

    prompt_columns = torch.arange(sources.mask.shape[1], device=ids.device)
    order = sources.mask.argsort(dim=1, descending=True, stable=True)  # pads go to the right
    row_ids = ids.new_zeros(documents, max(width, len(prompt_columns)))
    positions, owners = torch.zeros_like(row_ids), torch.full_like(row_ids, _PAD)
    real = prompt_columns < prompts[:, None]
    prompt = slice(len(prompt_columns))
    row_ids[:, prompt] = sources.ids.gather(1, order)
    positions[:, prompt] = torch.where(real, prompt_columns, 0)
    owners[:, prompt] = torch.where(real, 0, _PAD)

    document, text, token = own.nonzero(as_tuple=True)
    column = columns[own]
    row_ids[document, column] = ids[own]
    positions[document, column] = prompts[document] - 1 + token
    owners[document, column] = text + 1

    # What predicts a text's second token stands at the end of the prompt.
    columns[:, :, 0] = prompts[:, None] - 1
    columns += width * torch.arange(documents, device=ids.device)[:, None, None]
    row_ids, positions, owners = (part[:, :width] for part in (row_ids, positions, owners))
    return Rows(row_ids, positions, owners, columns[asked])


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


class PackedStates(States):
    """The model's own decoder on packed rows: a prompt is read once a pass for all its texts."""

    def __init__(self, model: PreTrainedModel, sources: Sources) -> None:
        self.model, self.sources, self.output = model, sources, model.get_output_embeddings()
        self.cap = getattr(model.config, "final_logit_softcapping", None)
        # An adapter around the projection has a weight too, which is not all that it does.
        if self.cap is None and type(self.output) in PLAIN:
            self.head = Head(self.output.weight, self.output.bias)

    def hidden(self, ids: Tensor, scored: Tensor) -> Tensor:
        rows = packed_rows(self.sources, ids, scored)
        return self._decode(rows, rows.positions, partial(visible, rows), use_cache=False)

    def _decode(
        self, rows: Rows, positions: Tensor, sees: Callable[[int | None], Tensor], **cache: Any
    ) -> Tensor:
        """The hidden states that are asked for, of rows; `sees`: see `masks`."""
        states: Tensor = self.model.get_decoder()(
            input_ids=rows.ids,
            attention_mask=masks(self.model, sees),
            position_ids=positions,
            **cache,
        )[0]
        return states.flatten(0, 1)[rows.predicting]

    def logits(self, hidden: Tensor) -> Tensor:
        logits: Tensor = self.output(hidden)
        return logits if self.cap is None else torch.tanh(logits / self.cap) * self.cap


class CachedStates(PackedStates):
    """`PackedStates` without gradients that read a prompt once, however many passes there are.

    In front of a document's texts stands the prompt's last token alone; the keys and values of the
    tokens before it are held from pass to pass.
    """

    def __init__(self, model: PreTrainedModel, sources: Sources) -> None:
        super().__init__(model, sources)
        ids, mask = left_padded(sources)
        self.sources = Sources(ids[:, -1:], mask[:, -1:])
        self.mask, self.read = mask[:, :-1].bool(), mask.sum(1, keepdim=True) - 1
        self.places = (mask[:, :-1].cumsum(1) - 1).clamp(min=0)
        # Told nothing of the model, a cache holds whole prompts, windows or not.
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
        rows = packed_rows(self.sources, ids, scored)
        positions = rows.positions + self.read
        sees = partial(self._visible, rows, positions)
        return self._decode(rows, positions, sees, **{CACHE: self.prompts}, use_cache=True)

    def _visible(self, rows: Rows, positions: Tensor, window: int | None) -> Tensor:
        """Which tokens of the prompt, then of the row, each token of the row sees."""
        prompt = self.mask[:, None, :].expand(-1, positions.shape[1], -1)
        if window is not None:
            prompt = prompt & (positions[:, :, None] - self.places[:, None, :] < window)
        return torch.cat([prompt[:, None], visible(rows, window)], -1)


class _Prompts(DynamicCache):
    """Keys and values of the prompts, before those of a pass, which are not held."""

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
