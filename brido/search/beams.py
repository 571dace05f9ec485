"""The loop of a beam search over one batch."""

from __future__ import annotations

import torch

from brido.models.interface import Steps
from brido.models.special_tokens import SpecialTokens
from brido.search.groups import Choice, Step, choose, row_top_k
from brido.search.hypotheses import Hypotheses
from brido.search.settings import SearchSettings
from brido.search.token_by_token import ban_tokens, behind_prompts, penalise_repeats

# On an accelerator a look at "is anything done?" waits for the device, so it is taken rarely.
STEPS_BETWEEN_CHECKS = 8


class Search:
    """One batch being searched: the running beams and what has become of the documents."""

    def __init__(
        self,
        steps: Steps,
        documents: int,
        special: SpecialTokens,
        settings: SearchSettings,
        device: torch.device,
    ) -> None:
        self.steps, self.special, self.settings, self.device = steps, special, settings, device
        self.prompts = steps.prompts if settings.count_prompt else None
        beams, groups = settings.num_beams, settings.num_beam_groups
        self.beams, self.groups, self.size = beams, groups, beams // groups
        length = settings.max_length
        self.history = torch.full(
            (documents, beams, length), special.pad, dtype=torch.long, device=device
        )
        # All beams of a group start equal: only the first may be continued at the first step.
        self.running = torch.full((documents, groups, self.size), -1e9, device=device)
        self.running[:, :, 0] = 0.0
        self.running = self.running.flatten(1)
        self.hypotheses = Hypotheses(
            (documents, groups, self.size),
            grouped=groups > 1,
            length_penalty=settings.length_penalty,
            early_stopping=settings.early_stopping,
            max_length=length,
            given=len(steps.given),
            ends=special.ends,
            pad=special.pad,
            device=device,
        )
        returned = settings.returned
        self.active = torch.arange(documents, device=device)
        self.sequences = self.history[:, :returned].clone()
        self.scores = torch.zeros(documents, returned, device=device)
        self.lengths = torch.zeros_like(self.scores, dtype=torch.long)
        self.writers = torch.zeros_like(self.lengths)

    def run(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Search to the end: sequences [B, R, T] of all documents, scores and groups [B, R]."""
        length, logits = self._start()
        while True:
            last = length + 1 == self.settings.max_length
            if last and self.special.forced_last is not None:
                choice = self._forced_last(self.special.forced_last)
            else:
                choice = self._choose(logits, length)
            self.hypotheses.add(choice, self.history, length)
            self._advance(choice, length)
            length += 1
            if last or not self._drop_finished(length):
                break
            if length + 1 < self.settings.max_length or self.special.forced_last is None:
                logits = self.steps.step(self.history[:, :, length - 1].flatten())
        if len(self.active):
            self.hypotheses.close(self.running, self.history, length)
            self._store(torch.arange(len(self.active), device=self.device))
        return self.sequences[:, :, : int(self.lengths.max())], self.scores, self.writers

    def _start(self) -> tuple[int, torch.Tensor]:
        """The number of tokens that are fixed from the start, and the logits after them."""
        prefix = [*self.steps.given]
        if self.special.forced_first is not None and self.settings.max_length > len(prefix) + 1:
            prefix.append(self.special.forced_first)
        ids = torch.tensor(prefix, dtype=torch.long, device=self.device)
        self.history[:, :, : len(prefix)] = ids
        logits = self.steps.start(ids.expand(len(self.active), -1), self.beams)
        return len(prefix), logits

    def _choose(self, logits: torch.Tensor, length: int) -> Choice:
        """The step's choice from logits [B * N, V]; at the first step [B, V], as rows are equal."""
        documents, settings = len(self.active), self.settings
        rows = len(logits) // documents
        log_probabilities = logits.float()
        if not self.steps.scored:
            # On a processor in place: a row is read before it is written.
            out = log_probabilities if self.device.type == "cpu" else None
            log_probabilities = torch.log_softmax(log_probabilities, -1, out=out)
        history = behind_prompts(self.history[:, :rows, :length].flatten(0, 1), self.prompts)
        penalty = self.special.repetition_penalty
        penalise_repeats(log_probabilities, history, penalty)
        ban_tokens(
            log_probabilities,
            history,
            self.special,
            length < settings.min_length,
            settings.no_repeat_ngram_size,
        )
        found = row_top_k(log_probabilities, self.beams + len(self.special.ends))
        values, tokens = (
            part.view(documents, rows, -1).expand(-1, self.beams, -1) for part in found
        )
        cost = None
        if penalty != 1.0 and self.groups > 1:
            written = (found[1][:, :, None] == history[:, None, :]).any(2)
            cost = torch.where(written, penalty, 1.0).to(values.dtype)
            cost = cost.view(documents, rows, -1).expand(-1, self.beams, -1)
        return choose(
            Step(
                values,
                tokens,
                self.running,
                self.hypotheses.done,
                settings.diversity_penalty,
                logits.shape[1],
                self.special.ends,
                self.special.pad,
                cost,
            )
        )

    def _forced_last(self, token: int) -> Choice:
        """Every beam ends: its score stays, so the model need not be asked."""
        scores = self.running.view(-1, self.groups, self.size)
        scores, order = scores.sort(dim=2, descending=True, stable=True)
        first = torch.arange(0, self.beams, self.size, device=self.device)[None, :, None]
        tokens = torch.full_like(order, token)
        nothing = torch.full_like(scores, -torch.inf)
        return Choice(scores, tokens, first + order, nothing, tokens, first + order)

    def _advance(self, choice: Choice, length: int) -> None:
        """Give every beam its next token, and the past of the beam it comes from."""
        beams = choice.next_beams.flatten(1)
        # A group of one beam goes on with it: nothing changes places.
        if self.size > 1:
            self.history = self.history.gather(1, beams[:, :, None].expand_as(self.history))
            offsets = torch.arange(len(beams), device=self.device)[:, None] * self.beams
            if length + 1 < self.settings.max_length:
                self.steps.reorder((offsets + beams).flatten())
        self.history[:, :, length] = choice.next_tokens.flatten(1)
        self.running = choice.next_scores.flatten(1)

    def _drop_finished(self, length: int) -> bool:
        """Whether documents are left; now and then the finished ones leave the batch."""
        if self.device.type != "cpu" and length % STEPS_BETWEEN_CHECKS:
            return True
        done = self.hypotheses.done.all(1)
        finished = done.nonzero()[:, 0]
        if len(finished) == 0:
            return True
        self._store(finished)
        left = (~done).nonzero()[:, 0]
        self.active = self.active.index_select(0, left)
        if len(left) == 0:
            return False
        self.hypotheses.keep(left)
        self.history = self.history.index_select(0, left)
        self.running = self.running.index_select(0, left)
        if self.prompts is not None:
            self.prompts = self.prompts.index_select(0, left)
        self.steps.keep(left, self.beams)
        return True

    def _store(self, documents: torch.Tensor) -> None:
        """Write down the result of `documents` (places in the present batch)."""
        best = self.hypotheses.best(self.settings.returned)
        places = self.active.index_select(0, documents)
        found = self.sequences, self.scores, self.lengths, self.writers
        for kept, part in zip(found, best, strict=True):
            kept[places] = part.index_select(0, documents)
