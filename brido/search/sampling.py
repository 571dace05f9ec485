"""One token after the other without beams: greedy search, and nucleus sampling."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch

from brido.models.family import Sources, Steps, check_dtype, check_scores, family_of
from brido.search.bans import ban_tokens, penalise_repeats
from brido.search.groups import is_end
from brido.search.settings import Lengths, SamplingSettings

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from brido.models.special_tokens import SpecialTokens

# Tokens looked at before a whole row is sorted; a nucleus is rarely wider.
FIRST_LOOK = 512


# Takes processed logits [R, V], the unfinished rows' numbers [R] and the step; returns tokens [R].
Pick = Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor]


def greedy_search(
    model: PreTrainedModel,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    settings: Lengths,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Sequences [B, 1, T] of the most likely token at each step, and scores [B, 1] float32.

    Tokens as `model.generate` with one beam; scores as in a beam search, but for a repetition
    penalty, which steers the choice and is left out of the score.
    """
    return _generate(
        model, input_ids, attention_mask, settings, 1, lambda logits, rows, step: logits.argmax(-1)
    )


def sample(
    model: PreTrainedModel,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    settings: SamplingSettings,
    uniforms: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Sampled sequences [B, N, T] in the order drawn, and their scores [B, N] float32.

    uniforms: [B, N, max_length] numbers in [0, 1), one a token (`document_uniforms`): what is drawn
    depends on them alone, not on how documents are batched. A score is the model's log-likelihood
    (before temperature and top_p) over the number of new tokens to the power length_penalty.

    Raises:
        BridoError: the model has fewer positions than max_length, cannot be searched (see
            `brido.models.special_tokens`), or computes NaN.
    """
    draws = uniforms.to(input_ids.device).flatten(0, 1)

    def pick(logits: torch.Tensor, rows: torch.Tensor, step: int) -> torch.Tensor:
        scaled = (logits / settings.temperature).softmax(-1)
        return nucleus_pick(scaled, settings.top_p, draws[rows, step])

    count = settings.num_return_sequences
    return _generate(model, input_ids, attention_mask, settings, count, pick)


def document_uniforms(seed: int, ids: list[str], count: int, length: int) -> torch.Tensor:
    """Random numbers in [0, 1), float64 [B, count, length], a function of the seed and each id."""
    numbers = []
    for document in ids:
        digest = hashlib.sha256(document.encode()).digest()
        generator = np.random.default_rng([seed, int.from_bytes(digest[:16])])
        numbers.append(generator.random((count, length)))
    return torch.from_numpy(np.stack(numbers))


def nucleus_pick(probabilities: torch.Tensor, top_p: float, uniforms: torch.Tensor) -> torch.Tensor:
    """One token a row of [R, V], drawn from the fewest tokens whose mass reaches `top_p`.

    uniforms: [R] in [0, 1); equal numbers draw equal tokens. (Holtzman et al., 2020.)
    """
    size = probabilities.shape[1]
    top, tokens = probabilities.topk(min(FIRST_LOOK, size), dim=1)
    mass = top.double().cumsum(1)
    if len(top) and top.shape[1] < size and mass[:, -1].min() < top_p:
        top, tokens = probabilities.sort(dim=1, descending=True)
        mass = top.double().cumsum(1)
    kept = (mass - top.double()) < top_p
    kept[:, 0] = True
    total = torch.where(kept, top.double(), 0.0).sum(1)
    passed = (mass <= (uniforms * total)[:, None]) & kept
    place = passed.sum(1).clamp(max=size - 1).minimum(kept.sum(1) - 1)
    return tokens.gather(1, place[:, None])[:, 0]


def _generate(
    model: PreTrainedModel,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    settings: Lengths,
    rows_a_document: int,
    pick: Pick,
) -> tuple[torch.Tensor, torch.Tensor]:
    check_dtype(model)
    family = family_of(model.config)
    special = family.special(model)
    with torch.inference_mode():
        steps = family.steps(model, Sources(input_ids, attention_mask), settings.max_length)
        tokens, scores = _token_by_token(steps, input_ids, special, settings, rows_a_document, pick)
    check_scores(model, scores)
    documents = len(input_ids)
    return tokens.view(documents, rows_a_document, -1).clone(), scores.view(documents, -1).clone()


def _token_by_token(
    steps: Steps,
    input_ids: torch.Tensor,
    special: SpecialTokens,
    settings: Lengths,
    rows_a_document: int,
    pick: Pick,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens [B * N, T] and scores [B * N]; finished documents leave the batch."""
    device, given = input_ids.device, len(steps.given)
    total = len(input_ids) * rows_a_document
    history = torch.full((total, settings.max_length), special.pad, device=device)
    history[:, :given] = torch.tensor(steps.given, dtype=torch.long, device=device)
    summed = torch.zeros(total, dtype=torch.float64, device=device)
    lengths = torch.full((total,), given, dtype=torch.long, device=device)
    active = torch.arange(total, device=device)
    done = torch.zeros(total, dtype=torch.bool, device=device)
    logits = steps.start(history[::rows_a_document, :given], rows_a_document)
    logits = logits.repeat_interleave(rows_a_document, 0)
    for step in range(given, settings.max_length):
        logits = logits.float()
        log_probabilities = logits.log_softmax(-1)
        chosen = _forced(special, step, given, settings.max_length)
        if chosen is None:
            past = history[active, :step]
            penalise_repeats(logits, past, special.repetition_penalty)
            ban_tokens(logits, past, special, settings.min_length, settings.no_repeat_ngram_size)
            token = pick(logits, active, step)
        else:
            token = torch.full_like(active, chosen)
        gained = log_probabilities.gather(1, token[:, None])[:, 0].double()
        running = ~done[active]
        history[active, step] = torch.where(running, token, special.pad)
        # A forced token has probability one, as in a beam search.
        summed[active] += torch.where(running, gained, 0.0) if chosen is None else 0.0
        lengths[active] += running
        done[active] |= is_end(token, special.ends)
        if step + 1 == settings.max_length:
            break
        left = (~done[active].view(-1, rows_a_document).all(1)).nonzero()[:, 0]
        if len(left) == 0:
            break
        if len(left) < len(active) // rows_a_document:
            steps.keep(left, rows_a_document)
            active = active.view(-1, rows_a_document)[left].flatten()
        logits = steps.step(history[active, step])
    scores = summed / (lengths - given).double() ** settings.length_penalty
    return history[:, : int(lengths.max())], scores.float()


def _forced(special: SpecialTokens, step: int, given: int, max_length: int) -> int | None:
    """The token that every row must take at `step` (the number of tokens before it), if any."""
    if step + 1 == max_length and special.forced_last is not None:
        return special.forced_last
    return special.forced_first if step == given else None
