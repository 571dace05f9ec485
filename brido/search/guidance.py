"""Guidance: take away, while a text is written, what the model would write of other documents.

A token adds to a text's score

    log p(token | x, y<t) - weight * mean over k of log p(token | x_k, y<t)

so a search looks for the text with the largest I(y; x) = log p(y|x) - weight * mean of
log p(y|x_k): the signal `information` of a vote, `weight` being its prior. Only tokens of
probability `floor` or more under x take part: a small prior would otherwise raise what hardly fits
(the plausibility constraint of contrastive decoding, Li et al., 2023). Context-aware decoding (Shi
et al., 2024) takes an empty document instead, and normalises at every step; here that broke
sentences (docs/log.md). Sampling normalises what is left, as it does without guidance.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from brido.models.arguments import as_tensor, as_written_sources
from brido.models.family import family_of
from brido.models.interface import Steps
from brido.models.tokens import Sources
from brido.utils.arguments import as_number
from brido.utils.errors import ArgumentError, quoted

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# What a token below the floor loses, in nats: it comes behind all others, in the model's own order,
# and is taken only where a search needs more tokens than the floor leaves.
BELOW_FLOOR = 1e3


class Guidance(NamedTuple):
    """K other documents for each of B, and how strongly they steer.

    input_ids, attention_mask: [B, K, S] as for a search, padded on the side that the model reads.
    weight: how much of the mean log-probability under the others is taken away, 0 is none. floor: a
    token needs at least this probability under its own document.

    The model runs K + 1 times as many rows.
    """

    input_ids: Any
    attention_mask: Any
    weight: float = 0.2
    floor: float = 0.1


def guided_steps(model: PreTrainedModel, sources: Sources, limit: int, guidance: Guidance) -> Steps:
    """The steps of a search, guided by other documents.

    Raises:
        ArgumentError: shapes that do not fit, a weight below 0, a floor outside 0 to 1.
    """
    if not isinstance(guidance, Guidance):
        raise ArgumentError(f"guidance must be a Guidance, not {quoted(guidance)}")
    if not 0 <= as_number("guidance.weight", guidance.weight) < math.inf:
        raise ArgumentError(
            f"guidance.weight must be 0 or more and finite, not {guidance.weight!r}"
        )
    if not 0 <= as_number("guidance.floor", guidance.floor) <= 1:
        raise ArgumentError(f"guidance.floor must be from 0 to 1, not {guidance.floor!r}")
    ids, mask = (
        as_tensor(f"guidance.{name}", getattr(guidance, name))
        for name in ("input_ids", "attention_mask")
    )
    documents = len(sources.ids)
    if ids.ndim != 3 or len(ids) != documents or not ids.shape[1] or mask.shape != ids.shape:
        raise ArgumentError(
            "guidance.input_ids and guidance.attention_mask must both be [documents, other "
            f"documents, tokens] with {documents} documents and at least one other, not "
            f"{list(ids.shape)} and {list(mask.shape)}"
        )
    others = as_written_sources(model, ids.flatten(0, 1), mask.flatten(0, 1))
    size = 1 + ids.shape[1]
    blocks = Sources(_blocks(sources.ids, others.ids), _blocks(sources.mask, others.mask))
    steps = family_of(model.config).steps(model, blocks, limit)
    return GuidedSteps(steps, size, guidance.weight, guidance.floor)


def _blocks(own: Tensor, others: Tensor) -> Tensor:
    """Rows own [B, S] and others [B * K, S'] as [B * (K + 1), longest], own before its others.

    What is missing on the right is 0, which is a hidden place in a mask.
    """
    width = max(own.shape[1], others.shape[1])
    own, others = (F.pad(part, (0, width - part.shape[1])) for part in (own, others))
    return torch.cat([own[:, None], others.unflatten(0, (len(own), -1))], 1).flatten(0, 1)


class GuidedSteps(Steps):
    """The steps of B documents, each in a block with its K others; callers see B documents.

    steps: of B * (K + 1) documents, `size` = K + 1 a block, a block's own document first. All rows
    of a document are written once more for each of its others, token for token the same.
    """

    scored = True

    def __init__(self, steps: Steps, size: int, weight: float, floor: float) -> None:
        self.steps, self.size, self.weight = steps, size, weight
        self.floor = math.log(floor) if floor else -math.inf
        self.given = steps.given
        self.prompts = None if steps.prompts is None else steps.prompts[::size]
        self.rows = 1

    def start(self, tokens: Tensor, rows_a_document: int) -> Tensor:
        logits = self.steps.start(tokens.repeat_interleave(self.size, 0), rows_a_document)
        guided = self._guide(logits.unflatten(0, (-1, self.size, 1)))
        self.rows = rows_a_document
        return guided

    def step(self, tokens: Tensor) -> Tensor:
        logits = self.steps.step(self._spread(tokens).flatten())
        return self._guide(logits.unflatten(0, (-1, self.size, self.rows)))

    def reorder(self, rows: Tensor) -> None:
        self.steps.reorder(self._block_rows(rows))

    def keep(self, documents: Tensor, rows_a_document: int) -> None:
        places = torch.arange(self.size, device=documents.device)
        self.steps.keep((documents[:, None] * self.size + places).flatten(), rows_a_document)

    def _spread(self, values: Tensor) -> Tensor:
        """Values [B * N] of rows as [B, K + 1, N], the same for every document of a block."""
        return values.view(-1, 1, self.rows).expand(-1, self.size, -1)

    def _block_rows(self, rows: Tensor) -> Tensor:
        """Numbers of the callers' rows [B * N] as numbers of the rows of all blocks, flat."""
        document, row = rows.div(self.rows, rounding_mode="floor"), rows % self.rows
        places = torch.arange(self.size, device=rows.device)[None, :, None]
        first = (self._spread(document) * self.size + places) * self.rows
        return (first + self._spread(row)).flatten()

    def _guide(self, logits: Tensor) -> Tensor:
        """What each token adds to a score [B * N, V], of logits [B, K + 1, N, V]."""
        log_probabilities = logits.float().log_softmax(-1)
        own, others = log_probabilities[:, 0], log_probabilities[:, 1:]
        guided = own - self.weight * others.mean(1)
        # The likeliest token always takes part: there must be one to write.
        floor = own.amax(-1, keepdim=True).clamp(max=self.floor)
        return torch.where(own >= floor, guided, own - BELOW_FLOOR).flatten(0, 1)
