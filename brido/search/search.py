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
from brido.models.interface import Steps
from brido.models.tokens import SpecialTokens
from brido.search.groups import GroupOptions, StepChoice, choose, forced_choice
from brido.search.guidance import Guidance, guided_steps
from brido.search.hypotheses import Hypotheses
from brido.search.result import OnStep, SearchResult
from brido.search.sampling import greedy_search
from brido.search.settings import SearchSettings, check_settings
from brido.search.token_by_token import STEPS_BETWEEN_CHECKS, Rules
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
            positions than max_length, cannot be searched (see `brido.models.tokens`), or
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
        scores = logits.float()
        if not self.model.scored:
            # On a processor in place: a row is read before it is written.
            out = scores if scores.device.type == "cpu" else None
            scores = torch.log_softmax(scores, -1, out=out)
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
