"""Texts to tensors, and which documents an update sees.

What an update sees depends on the seed and the update's number alone, so the position in the data
is one number, and any number of processes sees the same updates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from brido.errors import BridoError
from brido.models.family import source_positions
from brido.training.documents import RankedDocument

DecoderPrefix = Literal["generation", "brio"]


class Batch(NamedTuple):
    """B documents. Sequence 0 of `sequence_ids` is the reference, the rest the candidates.

    input_ids, attention_mask [B, S]; sequence_ids [B, 1 + N, T] with the decoder's first token at
    position 0; scores [B, N] float64, best first.
    """

    input_ids: Tensor
    attention_mask: Tensor
    sequence_ids: Tensor
    scores: Tensor

    def to(self, device: torch.device) -> Batch:
        """The same batch on `device`."""
        return Batch(*(tensor.to(device, non_blocking=True) for tensor in self))


class Encoder:
    """A tokenizer together with what a model's decoder is fed first."""

    def __init__(
        self,
        tokenizer: Any,
        model: Any,
        max_source_tokens: int,
        max_candidate_tokens: int,
        decoder_prefix: DecoderPrefix = "generation",
    ) -> None:
        """Checks that the model can take what the tokenizer and the limits allow.

        Raises:
            BridoError: more tokens than the model has positions, more tokenizer entries than the
                model has embeddings, no pad or decoder start token.
        """
        self.tokenizer = tokenizer
        self.max_source_tokens = max_source_tokens
        self.max_candidate_tokens = max_candidate_tokens
        self.decoder_prefix = decoder_prefix
        self.pad = model.config.pad_token_id
        self.start = model.generation_config.decoder_start_token_id
        if self.start is None:
            self.start = model.config.decoder_start_token_id
        self._check(model)

    def _check(self, model: Any) -> None:
        problems = []
        positions = source_positions(model.config)
        limits = {
            "reading: max_source_tokens": self.max_source_tokens,
            # The decoder's first token comes on top.
            "training.max_candidate_tokens": self.max_candidate_tokens + 1,
        }
        for key, value in limits.items():
            if positions is not None and value > positions:
                problems.append(
                    f"{key}: the model has {positions} positions, not {value}; lower it"
                )
        entries = model.get_input_embeddings().num_embeddings
        if len(self.tokenizer) > entries:
            problems.append(
                f"the tokenizer has {len(self.tokenizer)} entries, the model {entries}: they do "
                "not belong together"
            )
        if self.pad is None or self.start is None:
            problems.append("the model names no pad token or no decoder start token")
        if problems:
            raise BridoError.from_problems("the base model cannot be trained so:", problems)

    def sources(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        """input_ids and attention_mask [B, S] of the documents, cut to max_source_tokens."""
        encoded = self.tokenizer(list(texts), truncation=True, max_length=self.max_source_tokens)
        input_ids = _padded(encoded["input_ids"], self.tokenizer.pad_token_id)
        return input_ids, _padded(encoded["attention_mask"], 0)

    def sequences(self, texts: Sequence[str]) -> list[list[int]]:
        """What the decoder reads and predicts for each text: its first token, then the text.

        generation: the token that decoding starts from stands before everything the tokenizer
        gives (BART: `</s> <s> x </s>`). brio: where the tokenizer itself begins with `<s>`, that is
        the first token (BART: `<s> x </s>`); models without one start as in generation.
        """
        encoded = self.tokenizer(
            text_target=list(texts), truncation=True, max_length=self.max_candidate_tokens
        )["input_ids"]
        begin = self.tokenizer.bos_token_id
        if self.decoder_prefix == "brio" and begin is not None:
            return [ids if ids[0] == begin else [self.start, *ids] for ids in encoded]
        return [[self.start, *ids] for ids in encoded]

    def target_tokens(self, documents: Sequence[RankedDocument]) -> int:
        """How many reference tokens the cross-entropy of these documents averages over."""
        sequences = self.sequences([document.reference for document in documents])
        return sum(token != self.pad for ids in sequences for token in ids[1:])

    def batch(self, documents: Sequence[RankedDocument], candidates: bool = True) -> Batch:
        """The tensors of some documents; without `candidates` the references alone (N = 0)."""
        input_ids, attention_mask = self.sources([document.document for document in documents])
        texts, scores = [], []
        for document in documents:
            texts += [document.reference, *(document.candidates if candidates else [])]
            scores.append(document.scores if candidates else [])
        sequence_ids = _padded(self.sequences(texts), self.pad)
        return Batch(
            input_ids,
            attention_mask,
            sequence_ids.view(len(documents), -1, sequence_ids.shape[1]),
            torch.tensor(scores, dtype=torch.float64).view(len(documents), -1),
        )


def _padded(rows: list[list[int]], value: int) -> Tensor:
    width = max(map(len, rows))
    return torch.tensor([row + [value] * (width - len(row)) for row in rows])


class Plan:
    """The documents of every update of a training run."""

    def __init__(self, documents: int, batch_size: int, epochs: int, seed: int) -> None:
        """`documents` in an epoch; its last update is smaller where batch_size does not divide."""
        self.documents, self.batch_size, self.seed = documents, batch_size, seed
        self.updates_per_epoch = -(-documents // batch_size)
        self.updates = self.updates_per_epoch * epochs
        self._order: tuple[int, np.ndarray] = (-1, np.empty(0))

    def indices(self, update: int) -> list[int]:
        """Which documents `update` (1 to updates) sees; every epoch sees each one once."""
        epoch, place = divmod(update - 1, self.updates_per_epoch)
        if self._order[0] != epoch:
            generator = np.random.default_rng([self.seed, epoch])
            self._order = (epoch, generator.permutation(self.documents))
        start = place * self.batch_size
        return self._order[1][start : start + self.batch_size].tolist()


def chunk_seed(seed: int, update: int, chunk: int) -> int:
    """The seed of the dropout masks of one chunk, whichever process computes it, whenever."""
    return int(np.random.SeedSequence([seed, update, chunk]).generate_state(1, np.uint64)[0] >> 1)


def share(chunks: int, process: int, processes: int) -> list[int | None]:
    """The chunks that one of several processes computes, None where it only keeps in step.

    All processes get lists of the same length, because each backward pass is a meeting of all.
    """
    rounds = -(-chunks // processes)
    mine = (turn * processes + process for turn in range(rounds))
    return [chunk if chunk < chunks else None for chunk in mine]
