"""Beam search and diverse beam search, token for token what transformers generates.

transformers removed group beam search after 4.55; plain beam search it still has. Both are here
with the source's keys and values shared by all beams of a document (`brido.models`), finished
documents leaving the batch, and one top-k a row in place of one a group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from brido.errors import BridoError
from brido.models.family import Sources, check_dtype, check_scores, family_of
from brido.search.beams import Search
from brido.search.settings import SearchSettings

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class SearchResult:
    """sequences [B, N, T] int64 as `generate` pads them, best first; scores [B, N] float32.

    A score is the sum of log-probabilities (diversity penalty included) over the number of new
    tokens to the power length_penalty.
    """

    sequences: torch.Tensor
    scores: torch.Tensor


def beam_search(
    model: PreTrainedModel,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    settings: SearchSettings,
) -> SearchResult:
    """The candidates that `model.generate` of transformers 5 returns for the same settings.

    input_ids, attention_mask: [B, S], padded on the right. The model should be in evaluation mode.
    num_beams = 1 is greedy search. Start, end, pad and forced tokens are generation_config's.

    Raises:
        BridoError: groups are asked for, a group has more beams than the vocabulary has tokens, the
            model has fewer positions than max_length, cannot be searched (see
            `brido.models.special_tokens`), or computes NaN.
    """
    if settings.num_beam_groups != 1:
        raise BridoError("beam_search has no groups: use diverse_beam_search for num_beam_groups")
    if settings.num_beams == 1:
        from brido.search.sampling import greedy_search

        return SearchResult(*greedy_search(model, input_ids, attention_mask, settings))
    return _run(model, input_ids, attention_mask, settings)


def diverse_beam_search(
    model: PreTrainedModel,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    settings: SearchSettings,
) -> SearchResult:
    """The candidates that group beam search of transformers 4.55.4 returns, in the same order.

    Arguments and errors as `beam_search`. The order is global by score over all groups, so every
    8th of 128 is not one a group. With one group this is plain beam search.
    """
    if settings.num_beam_groups == 1:
        return beam_search(model, input_ids, attention_mask, settings)
    return _run(model, input_ids, attention_mask, settings)


def _run(
    model: PreTrainedModel,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    settings: SearchSettings,
) -> SearchResult:
    check_dtype(model)
    family = family_of(model.config)
    special = family.special(model)
    vocabulary = model.get_output_embeddings().weight.shape[0]
    beams = settings.num_beams // settings.num_beam_groups
    if beams > vocabulary:
        raise BridoError(
            f"{beams} beams a group are more than the model's vocabulary of {vocabulary} tokens "
            "can tell apart: lower num_beams or raise num_beam_groups"
        )
    with torch.inference_mode():
        steps = family.steps(model, Sources(input_ids, attention_mask), settings.max_length)
        if special.forced_first is not None and settings.max_length < len(steps.given) + 2:
            raise BridoError("max_length must be at least 3: this model's first token is forced")
        search = Search(steps, len(input_ids), special, settings, input_ids.device)
        sequences, scores = search.run()
    check_scores(model, scores)
    # Copies made outside inference mode may be used in training.
    return SearchResult(sequences.clone(), scores.clone())
