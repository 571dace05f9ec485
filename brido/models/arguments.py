"""What callers hand to searches and likelihoods, as tensors on the model's device."""

from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from brido.models.family import family_of
from brido.models.tokens import Sources, as_tuple, end_tokens, pad_token
from brido.utils.errors import ArgumentError, quoted


def as_sources(model: PreTrainedModel, input_ids: Any, attention_mask: Any) -> Sources:
    """Source tokens and their mask, each int64 [B, S] on the model's device.

    Raises:
        ArgumentError: no mask, other shapes, types or values of a mask, tokens that the model does
            not know, more of them than it has positions, or padding on the left where positions
            count from there.
    """
    ids, mask = as_ids("input_ids", input_ids, model), as_tensor("attention_mask", attention_mask)
    family, mask = family_of(model.config), mask.to(model.device)
    if ids.ndim != 2 or not ids.numel() or mask.shape != ids.shape:
        raise ArgumentError(
            "input_ids and attention_mask must both be [documents, source tokens], not "
            f"{list(ids.shape)} and {list(mask.shape)}; one document is input_ids[None]"
        )
    if not (mask[..., None] == torch.tensor(family.marks, device=mask.device)).any(-1).all():
        raise ArgumentError("attention_mask must be 1 for tokens and 0 for padding, nothing else")
    mask, behind = mask.long(), not model.config.is_encoder_decoder
    positions = family.positions(model.config)
    # Prompts are put together again without their pads.
    longest = int(mask.sum(1).max()) if behind else ids.shape[1]
    if positions is not None and longest > positions:
        raise ArgumentError(
            f"input_ids holds {longest} tokens a document, and the model has {positions} "
            "positions: cut the documents (max_length of the tokenizer)"
        )
    if family.has_positions and not behind and not mask[:, 0].all():
        raise ArgumentError(
            f"padding stands on the left, where a {model.config.model_type} model may read other "
            "than without it: set tokenizer.padding_side = 'right'"
        )
    return Sources(ids, mask)


def as_written_sources(model: PreTrainedModel, input_ids: Any, attention_mask: Any) -> Sources:
    """`as_sources` for a model that shall write: one that drops out nothing while it does."""
    sources = as_sources(model, input_ids, attention_mask)
    if model.training:
        raise ArgumentError(
            "the model is in training mode, where dropout makes what it writes random: call "
            "model.eval() first"
        )
    return sources


def as_candidates(
    model: PreTrainedModel,
    input_ids: Tensor,
    attention_mask: Tensor,
    candidate_ids: Tensor,
    lengths: Tensor | None,
) -> tuple[Sources, Tensor, Tensor]:
    """What a likelihood is given: sources, candidates [B, N, T] and lengths [B, N].

    Raises ArgumentError as `brido.likelihood.candidate_log_likelihood` says.
    """
    sources = as_sources(model, input_ids, attention_mask)
    candidate_ids = as_ids("candidate_ids", candidate_ids, model)
    shape = list(candidate_ids.shape)
    if len(shape) != 3 or shape[0] != len(sources.ids) or not shape[1]:
        raise ArgumentError(
            f"candidate_ids {shape} must be [documents, candidates, tokens], with as many "
            f"documents as input_ids, {len(sources.ids)}, and at least one candidate"
        )
    pad = pad_token(model) if lengths is None else None
    if pad is not None and pad not in end_tokens(model):
        lengths = (candidate_ids[:, :, 1:] != pad).long().cumprod(-1).sum(-1)
    lengths = as_tensor("lengths", lengths, whole=True).cpu()
    if list(lengths.shape) != shape[:2] or lengths.min() < 1 or lengths.max() >= shape[2]:
        raise ArgumentError(
            f"lengths {list(lengths.shape)} must be [documents, candidates] and count 1 to "
            f"{shape[2] - 1} tokens behind position 0 of candidate_ids {shape}"
        )
    positions = family_of(model.config).written_positions(model.config)
    prompt = 0 if model.config.is_encoder_decoder else int(sources.mask.sum(1).max())
    # The last token is never read.
    if positions is not None and max(prompt - 1, 0) + int(lengths.max()) > positions:
        raise ArgumentError(
            f"candidates of {int(lengths.max())} tokens are more than the model's {positions} "
            f"positions allow{f' behind prompts of {prompt} tokens' if prompt else ''}"
        )
    given, starts = candidate_ids[:, :, 0], set()
    keys = "decoder_start_token_id", "bos_token_id"
    if model.config.is_encoder_decoder:  # BRIO's texts start from bos
        for own in (model.generation_config, model.config):
            starts |= {token for key in keys for token in as_tuple(getattr(own, key, None))}
    wrong = set(given.flatten().tolist()) - starts if starts else ()
    if (given != given[:, :1]).any() or wrong:
        raise ArgumentError(
            "position 0 of candidate_ids is given and not scored, so it must be the same for all "
            "candidates of a document: the token that a text starts from, or the prompt's last"
        )
    return sources, candidate_ids, lengths


def as_ids(name: str, ids: Any, model: PreTrainedModel) -> Tensor:
    """Tokens as int64 on the model's device. Raise ArgumentError if the model cannot know them."""
    tokens = as_tensor(name, ids, whole=True)
    embeddings: Any = model.get_input_embeddings()
    size = embeddings.num_embeddings
    if tokens.numel() and not 0 <= int(tokens.min()) <= int(tokens.max()) < size:
        raise ArgumentError(
            f"{name} holds tokens from {int(tokens.min())} to {int(tokens.max())}, and the model "
            f"knows 0 to {size - 1}: are they of another tokenizer?"
        )
    return tokens.to(model.device).long()


def as_tensor(name: str, values: Any, whole: bool = False) -> Tensor:
    """A tensor made of an array or of lists of equal lengths; `whole`: counts or ids."""
    try:
        numbers = torch.as_tensor(values)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise ArgumentError(
            f"{name} must be a tensor, an array or lists of equal lengths, not "
            f"{quoted(values)}: {error}"
        ) from None
    kind = numbers.dtype
    if whole and (kind.is_floating_point or kind.is_complex or kind == torch.bool):
        raise ArgumentError(f"{name} must hold whole numbers, not {kind}")
    return numbers
