"""Hidden states of texts behind a prompt, for the likelihood of decoder-only models."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import PreTrainedModel

from brido.models.family import States
from brido.models.tokens import Sources


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
        # A text stands right behind its prompt, whose last token is the given one, so that pads
        # come last, where no token looks, and every position is what it is without padding.
        behind = self.lengths.repeat_interleave(texts)[:, None] - 1
        places = behind + torch.arange(tokens, device=ids.device)
        rows = torch.cat([prompts, torch.zeros_like(ids)], 1).scatter(1, places, ids)
        # The logits of what stands in front of all texts are of no use.
        used = rows.shape[1] - int(self.lengths.min()) + 1
        logits = self.model(input_ids=rows, use_cache=False, logits_to_keep=used).logits
        places = places - (rows.shape[1] - logits.shape[1])
        numbers = torch.arange(len(ids), device=ids.device)[:, None]
        return logits[numbers, places].flatten(0, 1)[scored]
