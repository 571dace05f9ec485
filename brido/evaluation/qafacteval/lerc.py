"""The learned overlap of two answers: LERC (BERT) and LERC-QuIP (RoBERTa).

Both were trained on human marks from 1 to 5 and their raw output is the score: nothing is squeezed
or cut, so a few answers get slightly more than 5. Whoever needs [0, 1] clips at 5 and divides by 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
from transformers import (
    AutoTokenizer,
    BertForTokenClassification,
    RobertaForSequenceClassification,
)
from transformers.tokenization_utils_base import PreTrainedTokenizerBase

from brido.models.loading import pretrained
from brido.models.tokens import padded

MAX_TOKENS = 512


@dataclass(frozen=True)
class Comparison:
    """The answer a question was made from, and the one the source gave."""

    question: str
    answer: str
    prediction: str
    source: str

    def as_text(self) -> str:
        """The one text that LERC-QuIP reads; the tags are ordinary text."""
        return f"{self.question} <q> {self.answer} <r> {self.prediction} <c> {self.source}"


@dataclass(frozen=True)
class Encoded:
    """Token ids, and where the second segment (token type 1) begins."""

    ids: list[int]
    second: int


class Scorer(Protocol):
    """A learned overlap: a comparison as token ids, and the scores of a batch of them."""

    def encode(self, comparison: Comparison) -> Encoded: ...

    def score(self, batch: Sequence[Encoded]) -> list[float]: ...


class Lerc:
    """The original LERC: [CLS] source [SEP] question [SEP] answer [SEP] prediction [SEP].

    The score is a linear layer on the last layer's raw [CLS] state. The converted folder holds it
    as a token classifier with one label, read at position 0.
    """

    def __init__(self, folder: Path, device: torch.device) -> None:
        self.tokenizer = pretrained(AutoTokenizer, folder)
        model = pretrained(BertForTokenClassification, folder, dtype=torch.float32)
        self.model = model.to(device).eval()
        self.device = device

    def encode(self, comparison: Comparison) -> Encoded:
        """At most 512 token ids, by `encode_comparison`."""
        return encode_comparison(self.tokenizer, comparison)

    @torch.no_grad()
    def score(self, batch: Sequence[Encoded]) -> list[float]:
        """The scores of a batch; the marks it was trained on run from 1 to 5."""
        types = [[0] * item.second + [1] * (len(item.ids) - item.second) for item in batch]
        logits = self.model(
            token_type_ids=padded(types, 0).to(self.device),
            **_inputs(batch, self.tokenizer.pad_token_id, self.device),
        ).logits
        return logits[:, 0, 0].cpu().tolist()


def encode_comparison(tokenizer: PreTrainedTokenizerBase, comparison: Comparison) -> Encoded:
    """LERC's input, at most 512 token ids: the end of the source is dropped to make room.

    Where question and answers alone are too long (the released code fails there), the end of the
    question goes as well, then that of the prediction and of the answer.
    """
    texts = (comparison.source, comparison.question, comparison.answer, comparison.prediction)
    parts = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
    room = MAX_TOKENS - len(parts) - 1
    for index in (0, 1, 3, 2):
        excess = sum(map(len, parts)) - room
        if excess > 0:
            parts[index] = parts[index][: max(0, len(parts[index]) - excess)]
    ids = [tokenizer.cls_token_id]
    for part in parts:
        ids += [*part, tokenizer.sep_token_id]
    return Encoded(ids, len(parts[0]) + len(parts[1]) + 3)


class LercQuip:
    """LERC-QuIP: one text `question <q> answer <r> prediction <c> source`, one logit.

    The tags are ordinary text; the cut to 512 tokens falls on the source, which is last.
    """

    def __init__(self, folder: Path, device: torch.device) -> None:
        self.tokenizer = pretrained(AutoTokenizer, folder)
        model = pretrained(RobertaForSequenceClassification, folder, dtype=torch.float32)
        self.model = model.to(device).eval()
        self.device = device

    def encode(self, comparison: Comparison) -> Encoded:
        """At most 512 token ids of the one text."""
        text = comparison.as_text()
        ids = self.tokenizer(text, truncation=True, max_length=MAX_TOKENS)["input_ids"]
        return Encoded(ids, len(ids))

    @torch.no_grad()
    def score(self, batch: Sequence[Encoded]) -> list[float]:
        """The raw logits of a batch."""
        inputs = _inputs(batch, self.tokenizer.pad_token_id, self.device)
        return self.model(**inputs).logits[:, 0].cpu().tolist()


def _inputs(
    batch: Sequence[Encoded], padding: int, device: torch.device
) -> dict[str, torch.Tensor]:
    rows = [item.ids for item in batch]
    mask = padded([[1] * len(row) for row in rows], 0)
    return {"input_ids": padded(rows, padding).to(device), "attention_mask": mask.to(device)}


SCORERS: dict[str, type[Lerc] | type[LercQuip]] = {"lerc_quip": LercQuip, "lerc": Lerc}
