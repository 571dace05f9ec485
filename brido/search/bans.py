"""What a row may not write next, and what it should not write again."""

from __future__ import annotations

import torch

from brido.models.special_tokens import SpecialTokens


def behind_prompts(written: torch.Tensor, prompts: torch.Tensor | None) -> torch.Tensor:
    """What bans and penalties see of rows that have `written` [R, t] behind `prompts` [B, P].

    The pads of prompts are -1: no token, so that what is found does not depend on the batch.
    """
    if prompts is None:
        return written
    return torch.cat([prompts.repeat_interleave(len(written) // len(prompts), 0), written], dim=1)


def penalise_repeats(scores: torch.Tensor, history: torch.Tensor, penalty: float) -> None:
    """Change scores [R, V] in place: what a row has written costs `penalty` times as much.

    history: [R, t] the tokens of each row so far, a prompt where it counts. As in transformers'
    repetition_penalty a negative score is multiplied, a positive one divided (Keskar et al., 2019).
    """
    if penalty == 1.0:
        return
    if history.shape[1]:
        history = torch.where(history < 0, history[:, -1:], history)  # a pad counts for nothing
    found = scores.gather(1, history)
    found = torch.where(found < 0, found * penalty, found / penalty)
    scores.scatter_(1, history, found)


def ban_tokens(
    log_probabilities: torch.Tensor,
    history: torch.Tensor,
    special: SpecialTokens,
    too_short: bool,
    no_repeat_ngram_size: int,
) -> torch.Tensor:
    """`log_probabilities` [R, V], changed in place: -inf for every token a row may not take next.

    history: [R, t] the tokens of each row so far, an encoder-decoder's start token included, a
    prompt where it counts. The end tokens are banned where texts are `too_short`, and so is each
    token that would complete an n-gram a second time.
    """
    length = history.shape[1]
    if too_short:
        log_probabilities[:, list(special.ends)] = -torch.inf
    if special.banned:
        log_probabilities[:, list(special.banned)] = -torch.inf
    if 0 < no_repeat_ngram_size <= length:
        windows = history.unfold(1, no_repeat_ngram_size, 1)
        prefix = history[:, length - no_repeat_ngram_size + 1 :]
        repeats = (windows[:, :, :-1] == prefix[:, None, :]).all(-1)
        # Added, not assigned: the same token may appear here both as banned and as not banned.
        ban = torch.zeros_like(repeats, dtype=log_probabilities.dtype)
        ban = ban.masked_fill_(repeats, -torch.inf)
        log_probabilities.scatter_add_(1, windows[:, :, -1].clamp(min=0), ban)
    return log_probabilities
