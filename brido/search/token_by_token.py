"""The loop that writes rows token by token, each by itself; and what no row may write next."""

from collections.abc import Callable

import torch

from brido.models.interface import Steps
from brido.models.tokens import SpecialTokens
from brido.search.groups import is_end
from brido.search.result import OnStep
from brido.search.settings import SamplingSettings, SearchSettings

# On an accelerator a look at "is anything done?" waits for the device, so it is taken rarely.
STEPS_BETWEEN_CHECKS = 8

# Takes processed logits [R, V], the unfinished rows' numbers [R] and how many tokens they have;
# returns tokens [R].
Pick = Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor]


class WrittenRows:
    """N rows of each of B documents being written; finished documents leave the batch."""

    def __init__(
        self,
        steps: Steps,
        documents: int,
        special: SpecialTokens,
        settings: SearchSettings | SamplingSettings,
        rows_a_document: int,
        device: torch.device,
        on_step: OnStep | None = None,
    ) -> None:
        self.steps, self.special, self.settings = steps, special, settings
        self.on_step = on_step
        self.rows, self.given = rows_a_document, len(steps.given)
        self.rules = Rules(steps, special, settings)
        total = documents * rows_a_document
        self.history = torch.full((total, settings.max_length), special.pad, device=device)
        given = torch.tensor(steps.given, dtype=torch.long, device=device)
        self.history[:, : self.given] = given
        self.summed = torch.zeros(total, dtype=torch.float64, device=device)
        self.lengths = torch.full((total,), self.given, device=device)
        self.active = torch.arange(total, device=device)
        self.done = torch.zeros(total, dtype=torch.bool, device=device)

    def run(self, pick: Pick) -> tuple[torch.Tensor, torch.Tensor]:
        """Tokens [B * N, T], padded behind their ends, and scores [B * N] float32."""
        first = self.history[:: self.rows, : self.given]
        logits = self.steps.start(first, self.rows).repeat_interleave(self.rows, 0)
        for length in range(self.given, self.settings.max_length):
            self._write(length, *self._choose(logits.float(), length, pick))
            if self.on_step:
                self.on_step(len(self.active))
            if length + 1 == self.settings.max_length or not self._drop_finished(length + 1):
                break
            logits = self.steps.step(self.history[self.active, length])
        written = (self.lengths - self.given).double()
        scores = self.summed / written**self.settings.length_penalty
        return self.history[:, : int(self.lengths.max())], scores.float()

    def _choose(
        self, logits: torch.Tensor, length: int, pick: Pick
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """A token of each unfinished row, and its log-probability in float64."""
        forced = self._forced(length)
        if forced is not None:
            # A forced token has probability one, as in a beam search.
            token = torch.full_like(self.active, forced)
            return token, torch.zeros_like(token, dtype=torch.float64)
        log_probabilities = logits.clone() if self.steps.scored else logits.log_softmax(-1)
        self.rules.apply(logits, self.history[self.active, :length])
        token = pick(logits, self.active, length)
        return token, log_probabilities.gather(1, token[:, None])[:, 0].double()

    def _forced(self, length: int) -> int | None:
        """The token that every row must take behind `length` tokens, if any."""
        if length + 1 == self.settings.max_length and self.special.forced_last is not None:
            return self.special.forced_last
        return self.special.forced_first if length == self.given else None

    def _write(self, length: int, token: torch.Tensor, gained: torch.Tensor) -> None:
        """One more token of each row that has not ended; a pad of the others."""
        active, running = self.active, ~self.done[self.active]
        self.history[active, length] = torch.where(running, token, self.special.pad)
        self.summed[active] += torch.where(running, gained, 0.0)
        self.lengths[active] += running
        self.done[active] |= is_end(token, self.special.ends)

    def _drop_finished(self, length: int) -> bool:
        """Whether documents are left; now and then those whose rows have all ended leave."""
        if self.done.device.type != "cpu" and length % STEPS_BETWEEN_CHECKS:
            return True
        left = (~self.done[self.active].view(-1, self.rows).all(1)).nonzero()[:, 0]
        if len(left) < len(self.active) // self.rows:
            self.active = self.active.view(-1, self.rows)[left].flatten()
            self.rules.keep(left)
            if len(left):
                self.steps.keep(left, self.rows)
        return len(left) > 0


class Rules:
    """What rows may not write next, or not as cheaply: repeats, ends that come early, bans.

    Prompts [B, P] count as written if `count_prompt`. Their pads are -1, so none is found again.
    """

    def __init__(
        self, steps: Steps, special: SpecialTokens, settings: SearchSettings | SamplingSettings
    ) -> None:
        self.special, self.settings = special, settings
        self.prompts = steps.prompts if settings.count_prompt else None

    def apply(self, scores: torch.Tensor, written: torch.Tensor) -> torch.Tensor:
        """Change scores [R, V] of rows in place; return their past [R, P + t], prompt included."""
        past, too_short = written, written.shape[1] < self.settings.min_length
        if self.prompts is not None:
            rows = len(written) // len(self.prompts)
            past = torch.cat([self.prompts.repeat_interleave(rows, 0), written], dim=1)
        penalise_repeats(scores, past, self.special.repetition_penalty)
        ban_tokens(scores, past, self.special, too_short, self.settings.no_repeat_ngram_size)
        return past

    def cost(self, tokens: torch.Tensor, past: torch.Tensor) -> torch.Tensor | None:
        """How many times the diversity penalty counts for each of the tokens [R, K], None: once.

        transformers penalises repeats last, and with them what diversity has taken from a score: so
        the one penalty multiplies the other for a token of the row's past [R, P + t].
        """
        penalty = self.special.repetition_penalty
        if penalty == 1.0:
            return None
        return torch.where((tokens[:, :, None] == past[:, None, :]).any(2), penalty, 1.0)

    def keep(self, documents: torch.Tensor) -> None:
        """Go on with `documents` (places in the batch) alone."""
        if self.prompts is not None:
            self.prompts = self.prompts.index_select(0, documents)


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
        # One by one: to be sent a list of them, an accelerator would be waited for at every step.
        for end in special.ends:
            log_probabilities[:, end] = -torch.inf
    if special.banned:
        log_probabilities[:, list(special.banned)] = -torch.inf
    if 0 < no_repeat_ngram_size <= length:
        windows = history.unfold(1, no_repeat_ngram_size, 1)
        prefix = history[:, length - no_repeat_ngram_size + 1 :]
        repeats = (windows[:, :, :-1] == prefix[:, None, :]).all(-1)
        # Added, not assigned: the same token may appear here both as banned and as not banned.
        ban = torch.zeros_like(repeats, dtype=log_probabilities.dtype)
        ban = ban.masked_fill_(repeats & (windows[:, :, -1] >= 0), -torch.inf)
        log_probabilities.scatter_add_(1, windows[:, :, -1].clamp(min=0), ban)
    return log_probabilities
