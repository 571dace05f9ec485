"""How likely a candidate is with its own document, and with other documents: what its own adds.

    I(y; x) = log p(y | x)  -  weight * mean over other documents x' of log p(y | x')

Both terms of a block of K + 1 documents come from one call: every source is read once, for the
candidates of the whole block. (Pointwise mutual information; the mean of logs stands for the prior,
as in domain-conditional PMI, Holtzman et al. 2021.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from brido.likelihood.likelihood import sequence_statistics
from brido.models.arguments import as_candidates
from brido.models.family import family_of
from brido.utils.errors import ArgumentError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# Where texts lie in one row (`Family.one_row`), each token looks at all of it: as many tokens of
# texts as the prompt has, or so many at least, cost little beside the rest.
_ROW_TOKENS = 256


class Information(NamedTuple):
    """Of every candidate of B documents, each [B, N]: what `information_terms` computes, in nats.

    log_probability: log p with the candidate's own document. prior: the mean of log p with each of
    the other B - 1 documents. tokens: how many tokens were scored.
    """

    log_probability: Tensor
    prior: Tensor
    tokens: Tensor


def information_terms(
    model: PreTrainedModel,
    input_ids: Tensor,
    attention_mask: Tensor,
    candidate_ids: Tensor,
    lengths: Tensor | None = None,
    micro_batch: int | None = None,
) -> Information:
    """log p(y | x), and the mean of log p(y | x') over the other documents x', of a block.

    The arguments are those of `candidate_log_likelihood`, of B = K + 1 documents [B, S] and their
    candidates [B, N, T]. Position 0 of the candidates is the token that stands before them with
    their own document; with another document it is that document's. micro_batch: at most so many
    texts of each source run at once. Nothing is differentiable; the model's mode is used and kept.

    Raises:
        ArgumentError: a single document, which has no others; or see `candidate_log_likelihood`.

    Example:
        >>> sources = torch.tensor([[0, 5, 6, 2], [0, 7, 8, 2]])  # K = 1: [2, S]
        >>> candidates = torch.tensor([[[2, 5, 6, 2]], [[2, 8, 8, 2]]])  # [2, 1, T]
        >>> terms = information_terms(model, sources, torch.ones_like(sources), candidates)
        >>> (terms.log_probability - 0.2 * terms.prior).shape
        torch.Size([2, 1])
    """
    sources, candidate_ids, lengths = as_candidates(
        model, input_ids, attention_mask, candidate_ids, lengths
    )
    if len(sources.ids) < 2:
        raise ArgumentError("one document has no others: give a block of K + 1 documents, K > 0")
    documents, number, _ = candidate_ids.shape
    every = cross_log_probability(
        model,
        sources.ids,
        sources.mask,
        candidate_ids.flatten(0, 1),
        lengths.flatten(),
        candidate_ids[:, 0, 0],
        micro_batch,
    ).view(documents, documents, number)
    own = every.diagonal().T
    return Information(own, prior_of(every, torch.arange(documents)), lengths.to(every.device))


def prior_of(every: Tensor, own: Tensor) -> Tensor:
    """The mean over the other sources of log p [B, D, N] of D documents' candidates: [D, N].

    own [D]: the place among the B sources of each document's own.
    """
    others = torch.ones(every.shape[:2], dtype=torch.bool)
    others[own, torch.arange(len(own))] = False
    return (every * others.to(every)[:, :, None]).sum(0) / (len(every) - 1)


@torch.no_grad()
def cross_log_probability(
    model: PreTrainedModel,
    input_ids: Tensor,
    attention_mask: Tensor,
    texts: Tensor,
    lengths: Tensor,
    given: Tensor,
    micro_batch: int | None = None,
) -> Tensor:
    """log p of each of M texts with each of B sources, [B, M] in nats; a source is read once.

    input_ids, attention_mask [B, S]; texts [M, T] with anything at position 0, of which `given` [B]
    says what stands there with each source; lengths [M]: how many tokens behind it are scored.
    """
    rows = texts.expand(len(input_ids), *texts.shape).clone()
    rows[:, :, 0] = given[:, None]
    if family_of(model.config).one_row:
        fitting = max(1, max(_ROW_TOKENS, input_ids.shape[1]) // (texts.shape[1] - 1))
        micro_batch = min(micro_batch or fitting, fitting)
    found = sequence_statistics(
        model, input_ids, attention_mask, rows, lengths.expand(len(rows), -1), micro_batch
    )
    return found.log_probability
