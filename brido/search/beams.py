"""The loop of a beam search over one batch."""

import torch

from brido.models.interface import Steps
from brido.models.special_tokens import SpecialTokens
from brido.search.groups import GroupOptions, StepChoice, choose, forced_choice
from brido.search.hypotheses import Hypotheses
from brido.search.result import OnStep
from brido.search.settings import SearchSettings
from brido.search.token_by_token import STEPS_BETWEEN_CHECKS, Rules, log_softmax


class Search:
    """One batch of B documents being searched with N beams each, in G groups of S.

    history [B, N, T]: the beams' tokens; running [B, N]: their scores so far. Documents that are
    finished leave the batch.
    """

    def __init__(
        self,
        model: Steps,
        documents: int,
        special: SpecialTokens,
        settings: SearchSettings,
        device: torch.device,
        on_step: OnStep | None = None,
    ) -> None:
        self.model, self.special, self.settings, self.device = model, special, settings, device
        self.on_step = on_step
        self.beams, self.groups = settings.num_beams, settings.num_beam_groups
        self.size = self.beams // self.groups
        self.rules = Rules(model, special, settings)
        shape = documents, self.groups, self.size
        grouped, given = self.groups > 1, len(model.given)
        self.hypotheses = Hypotheses(shape, settings, special, grouped, given, device)
        written = documents, self.beams, settings.max_length
        self.history = torch.full(written, special.pad, device=device)
        # All beams of a group start equal: only the first may be continued at the first step.
        running = torch.full(shape, -1e9, device=device)
        running[:, :, 0] = 0.0
        self.running = running.flatten(1)

    def run(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Search to the end: sequences [B, R, T] of all documents, scores and groups [B, R]."""
        length, logits = self._start()
        longest, forced = self.settings.max_length, self.special.forced_last
        while True:
            if length + 1 == longest and forced is not None:
                choice = forced_choice(self.running, self.groups, forced)
            else:
                choice = self._choose(logits, length)
            self.hypotheses.add(choice, self.history, length)
            self._advance(choice, length)
            if self.on_step:
                self.on_step(self.running.numel())
            length += 1
            if length == longest:
                self.hypotheses.close(self.running, self.history, length)
            if length == longest or not self._drop_finished(length):
                return self.hypotheses.results()
            # A token that is forced needs no logits.
            if length + 1 < longest or forced is None:
                logits = self.model.step(self.history[:, :, length - 1].flatten())

    def _start(self) -> tuple[int, torch.Tensor]:
        """The number of tokens that are fixed from the start, and the logits after them."""
        fixed = [*self.model.given]
        if self.special.forced_first is not None:
            fixed.append(self.special.forced_first)
        ids = torch.tensor(fixed, dtype=torch.long, device=self.device)
        self.history[:, :, : len(fixed)] = ids
        return len(fixed), self.model.start(ids.expand(len(self.history), -1), self.beams)

    def _choose(self, logits: torch.Tensor, length: int) -> StepChoice:
        """What every group takes behind `length` tokens.

        logits [B * N, V]; behind the fixed tokens all beams of a document are equal: [B, V].
        """
        rows = len(logits) // len(self.history)
        scores = logits.float() if self.model.scored else log_softmax(logits.float())
        past = self.rules.apply(scores, self.history[:, :rows, :length].flatten(0, 1))
        wanted = self.beams + len(self.special.ends)
        values, tokens = scores.topk(min(wanted, scores.shape[1]), dim=1)
        # A repetition penalty multiplies what diversity costs a token.
        cost = self.rules.cost(tokens, past) if self.groups > 1 else None
        return choose(
            GroupOptions(
                values=values,
                tokens=tokens,
                running=self.running,
                done=self.hypotheses.done,
                diversity_penalty=self.settings.diversity_penalty,
                vocabulary=logits.shape[1],
                special=self.special,
                cost=cost,
            )
        )

    def _advance(self, choice: StepChoice, length: int) -> None:
        """Give every beam its next token, and the past of the beam it comes from."""
        # A group of one beam always goes on from that beam: nothing changes places.
        if self.size > 1:
            beams = choice.next_beams.flatten(1)
            self.history = self.history.gather(1, beams[:, :, None].expand_as(self.history))
            first = torch.arange(len(beams), device=self.device)[:, None] * self.beams
            if length + 1 < self.settings.max_length:
                self.model.reorder((first + beams).flatten())
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
        self.hypotheses.finish(finished)
        left = (~done).nonzero()[:, 0]
        if len(left) == 0:
            return False
        self.hypotheses.keep(left)
        self.rules.keep(left)
        self.model.keep(left, self.beams)
        self.history = self.history.index_select(0, left)
        self.running = self.running.index_select(0, left)
        return True
