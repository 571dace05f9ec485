"""Beam search and diverse beam search, token for token what transformers generates.

transformers removed group beam search after 4.55; it still has plain beam search. In both, here,
all beams of a document share the keys and values of its source or prompt (`brido.models`). Finished
documents leave the batch, and there is one top-k a row in place of one a group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from brido.models.arguments import as_written_sources
from brido.models.family import check_scores, family_of
from brido.search.beams import Search
from brido.search.guidance import Guidance, guided_steps
from brido.search.result import OnStep, SearchResult
from brido.search.sampling import greedy_search
from brido.search.settings import SearchSettings, check_settings
from brido.utils.errors import ArgumentError, BridoError

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def beam_search(
    model: PreTrainedModel,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    settings: SearchSettings,
    guidance: Guidance | None = None,
    on_step: OnStep | None = None,
) -> SearchResult:
    """Return the candidates that `model.generate` of transformers 5 returns for the same settings.

    input_ids, attention_mask: [B, S]: the sources of an encoder-decoder, padded on the right, or
    the prompts of a decoder-only model, padded on either side, behind which max_length and
    min_length count what is written. The model must be in evaluation mode. num_beams = 1 is greedy
    search. Start, end, pad and forced tokens are generation_config's. guidance: other documents
    whose likely words are taken away (`brido.search.guidance`); scores then sum guided
    log-probabilities. on_step: called with the number of tokens of each step, of all beams.

    Raises:
        ArgumentError: see `brido.models.arguments`, other settings than these, or groups.
        BridoError: a group has more beams than the vocabulary has tokens, the model has fewer
            positions than max_length, cannot be searched (see `brido.models.special_tokens`), or
            computes NaN.

    Example:
        >>> tokens = tokenizer(["A document."], return_tensors="pt")
        >>> settings = SearchSettings(num_beams=4, num_return_sequences=2, max_length=12)
        >>> found = beam_search(model, tokens.input_ids, tokens.attention_mask, settings)
        >>> found.scores.shape
        torch.Size([1, 2])
    """
    check_settings(settings, SearchSettings)
    if settings.num_beam_groups != 1:
        raise ArgumentError(
            "beam_search has no groups: use diverse_beam_search for num_beam_groups"
        )
    return diverse_beam_search(model, input_ids, attention_mask, settings, guidance, on_step)


def diverse_beam_search(
    model: PreTrainedModel,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    settings: SearchSettings,
    guidance: Guidance | None = None,
    on_step: OnStep | None = None,
) -> SearchResult:
    """The candidates that group beam search of transformers 4.55.4 returns, in the same order.

    input_ids, attention_mask [B, S], guidance, on_step and errors as for `beam_search`. The order
    is global by score over all groups, so every 8th of 128 is not one a group. With one group this
    is plain beam search.

    Example:
        >>> tokens = tokenizer(["A document."], return_tensors="pt")
        >>> settings = SearchSettings(num_beams=8, num_beam_groups=8, diversity_penalty=1.0)
        >>> found = diverse_beam_search(model, tokens.input_ids, tokens.attention_mask, settings)
        >>> len(tokenizer.batch_decode(found.sequences[0], skip_special_tokens=True))
        8
    """
    check_settings(settings, SearchSettings)
    if settings.num_beams == 1:
        return greedy_search(model, input_ids, attention_mask, settings, guidance, on_step)
    sources = as_written_sources(model, input_ids, attention_mask)
    family = family_of(model.config)
    special = family.special(model)
    vocabulary = model.get_output_embeddings().weight.shape[0]
    beams = settings.num_beams // settings.num_beam_groups
    if beams > vocabulary:
        raise BridoError(
            f"{beams} beams a group are too many for the model's vocabulary of {vocabulary} "
            "tokens: lower num_beams or raise num_beam_groups"
        )
    with torch.inference_mode():
        if guidance is None:
            steps = family.steps(model, sources, settings.max_length)
        else:
            steps = guided_steps(model, sources, settings.max_length, guidance)
        if special.forced_first is not None and settings.max_length < len(steps.given) + 2:
            raise BridoError("max_length must be at least 3: this model's first token is forced")
        search = Search(steps, len(sources.ids), special, settings, sources.ids.device, on_step)
        sequences, scores, groups = search.run()
    check_scores(model, scores, every=False)
    # Copies made outside inference mode may be used in training.
    written_by = groups.clone() if settings.num_beam_groups > 1 else None
    return SearchResult(sequences.clone(), scores.clone(), written_by)
