"""Beam search and diverse beam search, token for token what transformers generates.

transformers removed group beam search after 4.55; plain beam search it still has. Both are here
with the source's keys and values shared by all beams of a document (`attention.py`), finished
documents leaving the batch, and one top-k a row in place of one a group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from transformers import PreTrainedModel

from brido.errors import BridoError
from brido.seq2seq.attention import shared_cross_attention
from brido.seq2seq.decoder import Decoder
from brido.seq2seq.families import check_dtype
from brido.seq2seq.groups import Choice, choose
from brido.seq2seq.hypotheses import Hypotheses
from brido.seq2seq.processors import SpecialTokens, ban_tokens, row_top_k

# On an accelerator a look at "is anything done?" waits for the device, so it is taken rarely.
STEPS_BETWEEN_CHECKS = 8


@dataclass(frozen=True)
class SearchSettings:
    """How to search, in transformers' own names and defaults.

    min_length and max_length count tokens with the start token. num_return_sequences None means
    num_beams. early_stopping: True stops a group when it has as many hypotheses as beams, False
    when the best running beam at its present length cannot beat the worst of them, "never" when it
    cannot at any length.
    """

    num_beams: int = 1
    num_beam_groups: int = 1
    diversity_penalty: float = 0.0
    num_return_sequences: int | None = None
    length_penalty: float = 1.0
    min_length: int = 0
    max_length: int = 20
    no_repeat_ngram_size: int = 0
    early_stopping: bool | Literal["never"] = False

    def __post_init__(self) -> None:
        if self.num_return_sequences is None:
            object.__setattr__(self, "num_return_sequences", self.num_beams)
        problems = list(self._problems())
        if problems:
            raise BridoError.from_problems("these search settings do not fit together:", problems)

    def _problems(self):  # type: ignore[no-untyped-def]
        if min(self.num_beams, self.num_beam_groups, self.num_return_sequences) < 1:
            yield "num_beams, num_beam_groups and num_return_sequences must be at least 1"
        elif self.num_beams % self.num_beam_groups:
            yield (
                f"num_beam_groups ({self.num_beam_groups}) must divide num_beams "
                f"({self.num_beams}): every group searches with the same number of beams"
            )
        if self.num_return_sequences > self.num_beams:
            yield (
                f"num_return_sequences ({self.num_return_sequences}) is more than num_beams "
                f"({self.num_beams}): a search returns at most one candidate a beam"
            )
        if self.diversity_penalty < 0:
            yield f"diversity_penalty ({self.diversity_penalty}) must not be negative"
        if self.max_length < 2:
            yield f"max_length ({self.max_length}) must be at least 2: it counts the start token"
        if self.min_length > self.max_length:
            yield f"min_length ({self.min_length}) is more than max_length ({self.max_length})"
        if self.no_repeat_ngram_size < 0:
            yield f"no_repeat_ngram_size ({self.no_repeat_ngram_size}) must not be negative"
        if self.early_stopping not in (True, False, "never"):
            yield f"early_stopping must be true, false or never, not {self.early_stopping!r}"


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
        BridoError: groups are asked for, or the model cannot be searched (see SpecialTokens.of).
    """
    if settings.num_beam_groups != 1:
        raise BridoError("beam_search has no groups: use diverse_beam_search for num_beam_groups")
    if settings.num_beams == 1:
        from brido.seq2seq.sampling import greedy_search

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
    special = SpecialTokens.of(model)
    if special.forced_first is not None and settings.max_length < 3:
        raise BridoError("max_length must be at least 3: this model's first token is forced")
    with torch.inference_mode(), shared_cross_attention(model) as shared:
        decoder = Decoder(model, input_ids, attention_mask, shared)
        result = _Search(decoder, len(input_ids), special, settings, input_ids.device).run()
    # Copies made outside inference mode may be used in training.
    return SearchResult(result.sequences.clone(), result.scores.clone())


class _Search:
    """One batch being searched: the running beams and what has become of the documents."""

    def __init__(
        self,
        decoder: Decoder,
        documents: int,
        special: SpecialTokens,
        settings: SearchSettings,
        device: torch.device,
    ) -> None:
        self.decoder, self.special, self.settings, self.device = decoder, special, settings, device
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
            end=special.end,
            pad=special.pad,
            device=device,
        )
        returned = settings.num_return_sequences
        self.active = torch.arange(documents, device=device)
        self.sequences = self.history[:, :returned].clone()
        self.scores = torch.zeros(documents, returned, device=device)
        self.lengths = torch.zeros_like(self.scores, dtype=torch.long)

    def run(self) -> SearchResult:
        """Search to the end and return the result of all documents."""
        length, logits = self._start()
        while True:
            last = length + 1 == self.settings.max_length
            if last and self.special.forced_last is not None:
                choice = self._forced_last()
            else:
                choice = self._choose(logits, length)
            self.hypotheses.add(choice, self.history, length)
            self._advance(choice, length)
            length += 1
            if last or not self._drop_finished(length):
                break
            if length + 1 < self.settings.max_length or self.special.forced_last is None:
                logits = self.decoder.step(self.history[:, :, length - 1].flatten())
        if len(self.active):
            self.hypotheses.close(self.running, self.history, length)
            self._store(torch.arange(len(self.active), device=self.device))
        return SearchResult(self.sequences[:, :, : int(self.lengths.max())], self.scores)

    def _start(self) -> tuple[int, torch.Tensor]:
        """The number of tokens that are fixed from the start, and the logits after them."""
        prefix = [self.special.start]
        if self.special.forced_first is not None and self.settings.max_length > 2:
            prefix.append(self.special.forced_first)
        ids = torch.tensor(prefix, device=self.device)
        self.history[:, :, : len(prefix)] = ids
        logits = self.decoder.start(ids.expand(len(self.active), -1), self.beams)
        return len(prefix), logits

    def _choose(self, logits: torch.Tensor, length: int) -> Choice:
        """The step's choice from logits [B * N, V], or [B, V] where a document's rows are equal."""
        documents, settings = len(self.active), self.settings
        rows = len(logits) // documents
        log_probabilities = logits.float().log_softmax(-1)
        history = self.history[:, :rows, :length].flatten(0, 1)
        ban_tokens(
            log_probabilities,
            history,
            self.special,
            settings.min_length,
            settings.no_repeat_ngram_size,
        )
        found = row_top_k(log_probabilities, self.beams + 1)
        values, tokens = (
            part.view(documents, rows, -1).expand(-1, self.beams, -1) for part in found
        )
        return choose(
            values,
            tokens,
            self.running,
            self.hypotheses.done,
            settings.diversity_penalty,
            logits.shape[1],
            self.special.end,
            self.special.pad,
        )

    def _forced_last(self) -> Choice:
        """Every beam ends: its score stays, so the model need not be asked."""
        scores = self.running.view(-1, self.groups, self.size)
        scores, order = scores.sort(dim=2, descending=True, stable=True)
        first = torch.arange(0, self.beams, self.size, device=self.device)[None, :, None]
        tokens = torch.full_like(order, self.special.forced_last)
        nothing = torch.full_like(scores, -torch.inf)
        return Choice(scores, tokens, first + order, nothing, tokens, first + order)

    def _advance(self, choice: Choice, length: int) -> None:
        """Give every beam its next token, and the past of the beam it comes from."""
        beams = choice.next_beams.flatten(1)
        if self.size > 1:
            self.history = self.history.gather(1, beams[:, :, None].expand_as(self.history))
            offsets = torch.arange(len(beams), device=self.device)[:, None] * self.beams
            if length + 1 < self.settings.max_length:
                self.decoder.reorder((offsets + beams).flatten())
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
        self.decoder.keep(left, self.beams)
        return True

    def _store(self, documents: torch.Tensor) -> None:
        """Write down the result of `documents` (places in the present batch)."""
        best = self.hypotheses.best(self.settings.num_return_sequences)
        places = self.active.index_select(0, documents)
        for kept, part in zip((self.sequences, self.scores, self.lengths), best, strict=True):
            kept[places] = part.index_select(0, documents)
