"""Decoder-only models writing behind prompts, and scoring texts with repeated prompts."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

from brido.models.interface import States, Steps
from brido.models.sharing.past import rows_of
from brido.models.sharing.prompt_attention import NotShared, RepeatedPrompt, SharedPrompt, can_share
from brido.models.tokens import Sources
from brido.utils.errors import BridoError


class CausalSteps(Steps):
    """A batch of prompts [B, S], padded on either side, and what is written behind them.

    Nothing is given: lengths count written tokens. All rows of a document share its prompt's keys
    and values where the model's attention can (`prompt_attention.py`); elsewhere each row has a
    copy, said once a process.
    """

    def __init__(self, model: PreTrainedModel, sources: Sources, limit: int) -> None:
        """Reads the prompts; `limit` counts written tokens. BridoError: a prompt is empty."""
        ids, mask = left_padded(sources)
        self.prompts = ids.masked_fill(mask == 0, -1)
        shares = can_share(model)
        # Told nothing of the model, a cache keeps whole prompts, windows or not.
        prompts = DynamicCache() if shares else DynamicCache(config=model.config)
        self.logits, self.positions = _read(model, ids, mask, prompts)
        self.past: SharedPrompt | RepeatedPrompt
        if shares:
            self.past = SharedPrompt(model, prompts, mask.bool(), limit)
        else:
            self.past = RepeatedPrompt(model, prompts, mask.bool())

    def start(self, tokens: Tensor, rows_a_document: int) -> Tensor:
        """See Steps."""
        logits = self.logits
        for token in tokens.unbind(1):
            logits = self.step(token)
        documents = torch.arange(len(tokens), device=tokens.device)
        rows = documents.repeat_interleave(rows_a_document)
        self.positions = self.positions[rows]
        self.past.take(rows)
        return logits

    def step(self, tokens: Tensor) -> Tensor:
        """See Steps."""
        try:
            logits = self.past.step(tokens, self.positions)
        except NotShared:
            # Known at the first step: nothing is written yet.
            assert isinstance(self.past, SharedPrompt)
            self.past = self.past.repeated(len(tokens))
            logits = self.past.step(tokens, self.positions)
        self.positions = self.positions + 1
        return logits

    def reorder(self, rows: Tensor) -> None:
        """See Steps; positions are the same in all rows of a document."""
        self.past.take(rows)

    def keep(self, documents: Tensor, rows_a_document: int) -> None:
        """See Steps."""
        rows = rows_of(documents, rows_a_document)
        self.positions = self.positions[rows]
        self.past.keep(documents, rows)


def _read(
    model: PreTrainedModel, ids: Tensor, mask: Tensor, cache: DynamicCache
) -> tuple[Tensor, Tensor]:
    """Logits [B, V] behind prompts padded on the left, and the next token's positions [B]."""
    places = mask.cumsum(1)
    logits = model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=(places - 1).clamp(min=0),
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=1,
    ).logits[:, -1]
    return logits, places[:, -1]


def left_padded(sources: Sources) -> tuple[Tensor, Tensor]:
    """ids and mask [B, S] with all pads in front, as many columns as the longest prompt has.

    Raises:
        BridoError: a prompt is empty.
    """
    lengths = sources.mask.sum(1)
    if len(lengths) and not bool(lengths.min()):
        raise BridoError("a prompt without a token: there is nothing to write on from")
    # A stable sort keeps the tokens in their order.
    mask, order = sources.mask.sort(dim=1, stable=True)
    longest = int(lengths.max())
    return sources.ids.gather(1, order)[:, -longest:], mask[:, -longest:]


class RepeatedStates(States):
    """The whole model with the prompt repeated for every text; what comes back are logits."""

    def __init__(self, model: PreTrainedModel, sources: Sources) -> None:
        self.model = model
        self.lengths = sources.mask.sum(1)
        order = sources.mask.argsort(dim=1, descending=True, stable=True)
        self.prompts = sources.ids.gather(1, order)

    def hidden(self, ids: Tensor, scored: Tensor) -> Tensor:
        """See States."""
        texts, tokens = len(ids) // len(self.prompts), ids.shape[1]
        prompts = self.prompts.repeat_interleave(texts, 0)
        # A text stands right behind its prompt, whose last token is the given one. So pads come
        # last, where no token looks, and every position is what it is without padding.
        behind = self.lengths.repeat_interleave(texts)[:, None] - 1
        places = behind + torch.arange(tokens, device=ids.device)
        rows = torch.cat([prompts, torch.zeros_like(ids)], 1).scatter(1, places, ids)
        # The logits of what stands in front of all texts are of no use.
        used = rows.shape[1] - int(self.lengths.min()) + 1
        logits = self.model(input_ids=rows, use_cache=False, logits_to_keep=used).logits
        places = places - (rows.shape[1] - logits.shape[1])
        numbers = torch.arange(len(ids), device=ids.device)[:, None]
        return logits[numbers, places].flatten(0, 1)[scored]
