"""Finished hypotheses of a beam search: the best of every group, and when a group is done.

Two rules exist and differ in detail, so both are here: that of transformers' group beam search (as
in 4.55, float64 scores) and that of its plain beam search (since 4.50, float32 scores).
"""

import torch

from brido.models.tokens import SpecialTokens
from brido.search.groups import StepChoice, is_end
from brido.search.settings import SearchSettings


class Hypotheses:
    """The best S finished hypotheses of G groups for B documents, in the order of their arrival.

    scores [B, G, S] (length-normalised, -inf where none), tokens [B, G, S, T] padded, lengths
    [B, G, S] with the start and the end token, done [B, G]. `grouped` picks the rule; plain beam
    search has one group. `given`: how many tokens of a length were not written (an
    encoder-decoder's start token).
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        settings: SearchSettings,
        special: SpecialTokens,
        grouped: bool,
        given: int,
        device: torch.device,
    ) -> None:
        self.grouped, self.ends, self.given = grouped, special.ends, given
        self.length_penalty, self.early_stopping = settings.length_penalty, settings.early_stopping
        self.max_length = settings.max_length
        kind = torch.float64 if grouped else torch.float32
        self.scores = torch.full(shape, -torch.inf, dtype=kind, device=device)
        self.tokens = torch.full((*shape, self.max_length), special.pad, device=device)
        self.lengths = torch.zeros(shape, dtype=torch.long, device=device)
        self.done = torch.zeros(shape[:2], dtype=torch.bool, device=device)
        # Which documents are in the batch, and of those that have left it what `best` gave.
        self.active = torch.arange(shape[0], device=device)
        returned = shape[0], settings.returned
        sequences = torch.full((*returned, self.max_length), special.pad, device=device)
        scores = torch.zeros(returned, device=device)
        lengths, groups = torch.zeros(2, *returned, dtype=torch.long, device=device)
        self.found = sequences, scores, lengths, groups

    def add(self, choice: StepChoice, history: torch.Tensor, length: int) -> None:
        """Take in the candidates that end, and mark the groups that can get no better.

        history: [B, N, T] the beams' tokens before this step, `length` of them, the start token
        included. A candidate that ends counts only among the first S of its group.
        """
        size = self.scores.shape[2]
        tokens = choice.tokens[:, :, :size]
        finished = is_end(tokens, self.ends)
        if not self.grouped and length + 1 == self.max_length:
            finished = torch.ones_like(finished)
        finished = finished & ~self.done[:, :, None]
        # Nothing to merge at most steps; an accelerator would have to be waited for to know.
        if finished.device.type != "cpu" or finished.any():
            scores = choice.scores[:, :, :size].to(self.scores.dtype)
            scores = scores / (length + 1 - self.given) ** self.length_penalty
            scores = scores.masked_fill(~finished, -torch.inf)
            texts = _gather_rows(history, choice.beams[:, :, :size])
            # As 4.55.4 writes a group's text down: whichever end was taken, the first one stands.
            texts[..., length] = self.ends[0] if self.grouped else tokens
            self._merge(scores, texts, length + 1)
        self._mark_done(choice, length)

    def _merge(self, scores: torch.Tensor, texts: torch.Tensor, length: int) -> None:
        """Keep the best S of the old hypotheses and S new ones [B, G, S], of `length` tokens.

        Slots 0 to S - 1 hold the old ones in the order of their arrival, S to 2 S - 1 the new ones
        as they are listed. Among equals an old one stays, of several the latest, then the new one
        listed first: a stable sort of the slots S - 1, ..., 0, S, ..., 2 S - 1.
        """
        size = self.scores.shape[2]
        slots = torch.arange(2 * size, device=scores.device)
        preferred = torch.cat([slots[:size].flip(0), slots[size:]])
        scores = torch.cat([self.scores, scores], dim=2)
        lengths = torch.cat([self.lengths, torch.full_like(self.lengths, length)], dim=2)
        best = scores[:, :, preferred].argsort(dim=2, descending=True, stable=True)
        # In rising order slots are in the order of arrival again.
        kept = preferred[best[:, :, :size]].sort(dim=2).values
        self.scores, self.lengths = scores.gather(2, kept), lengths.gather(2, kept)
        tokens = torch.cat([self.tokens, texts], dim=2)
        self.tokens = tokens.gather(2, kept[..., None].expand_as(self.tokens))

    def _mark_done(self, choice: StepChoice, length: int) -> None:
        worst = self.scores.amin(2)
        full = worst > -torch.inf
        if self.early_stopping is True and self.grouped:
            self.done = self.done | full
            return
        longest = length + 1 - self.given
        if self.early_stopping == "never" and self.length_penalty > 0:
            longest = self.max_length - self.given
        best = choice.scores[:, :, 0] if self.grouped else choice.next_scores[:, :, 0]
        attainable = best.to(self.scores.dtype) / longest**self.length_penalty
        hopeless = full & (worst >= attainable)
        if self.early_stopping is True:
            hopeless = hopeless | full
        self.done = self.done | hopeless

    def close(self, running: torch.Tensor, history: torch.Tensor, length: int) -> None:
        """Finish all documents; of groups not done, beams [B, N] still running are taken in."""
        if self.grouped:
            shape = self.scores.shape
            scores = running.view(shape).double() / (length - self.given) ** self.length_penalty
            scores = scores.masked_fill(self.done[:, :, None], -torch.inf)
            self._merge(scores, history.view(*shape, -1), length)
        self.finish(torch.arange(len(self.active), device=running.device))

    def finish(self, places: torch.Tensor) -> None:
        """Write down the best of the documents at these places of the batch."""
        documents, count = self.active.index_select(0, places), self.found[0].shape[1]
        for found, part in zip(self.found, self.best(count), strict=True):
            found[documents] = part.index_select(0, places)

    def results(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """What was written down: sequences [B, R, T], scores and groups [B, R]."""
        sequences, scores, lengths, groups = self.found
        return sequences[:, :, : int(lengths.max())], scores, groups

    def keep(self, places: torch.Tensor) -> None:
        """Go on with the documents at these places of the batch alone."""
        for name in ("scores", "tokens", "lengths", "done", "active"):
            setattr(self, name, getattr(self, name).index_select(0, places))

    def best(self, count: int) -> tuple[torch.Tensor, ...]:
        """The best `count` of all groups: tokens [B, count, T]; scores, lengths, groups [B, count].

        Among equals the later group goes first, in a group the later arrival. A group is its
        number.
        """
        scores = self.scores.flatten(1)
        order = scores.flip(1).argsort(dim=1, descending=True, stable=True)[:, :count]
        order = scores.shape[1] - 1 - order
        tokens = _gather_rows(self.tokens.flatten(1, 2), order[:, None])[:, 0]
        lengths, groups = self.lengths.flatten(1).gather(1, order), order // self.scores.shape[2]
        return tokens, scores.gather(1, order).float(), lengths, groups


def _gather_rows(history: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Rows of [B, N, T] named by [B, G, S]: [B, G, S, T], a copy."""
    documents, groups, size = rows.shape
    flat = rows.reshape(documents, groups * size, 1).expand(-1, -1, history.shape[2])
    return history.gather(1, flat).view(documents, groups, size, -1)
