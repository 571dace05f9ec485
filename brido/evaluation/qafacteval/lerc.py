"""The learned overlap of two answers: LERC-QuIP, a RoBERTa regressor.

It was trained on human marks from 1 to 5 and its raw output is the score: nothing is clipped, so a
few answers get slightly more than 5. For a score in [0, 1] clip at 5 and divide by 5.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from transformers import AutoTokenizer, RobertaForSequenceClassification

from brido.models.loading import pretrained, whole
from brido.work.batches import plan_batches

MAX_TOKENS = 512


class Comparison(NamedTuple):
    """The answer a question was made from, and the one the source gave."""

    question: str
    answer: str
    prediction: str
    source: str


class LercQuip:
    """LERC-QuIP of a converted model folder: one text, one logit."""

    def __init__(self, folder: Path, device: torch.device) -> None:
        self.tokenizer = pretrained(AutoTokenizer, folder)
        model = whole(RobertaForSequenceClassification, folder, dtype=torch.float32)
        self.model = model.to(device).eval()
        self.device = device

    def encode(self, item: Comparison) -> list[int]:
        """At most 512 token ids, the tags ordinary text; the cut falls on the source, the last."""
        text = f"{item.question} <q> {item.answer} <r> {item.prediction} <c> {item.source}"
        return self.tokenizer(text, truncation=True, max_length=MAX_TOKENS)["input_ids"]

    @torch.no_grad()
    def score(self, batch: Sequence[list[int]]) -> list[float]:
        """The raw logits of a batch."""
        inputs = self.tokenizer.pad({"input_ids": list(batch)}, return_tensors="pt")
        logits = self.model(**inputs.to(self.device)).logits
        return logits[:, 0].cpu().tolist()

    def run(
        self, items: Sequence[Comparison], batch_tokens: int
    ) -> Iterator[list[tuple[int, float]]]:
        """Yield (index of the item, score), a batch of like lengths after the other."""
        encoded = [self.encode(item) for item in items]
        for group in plan_batches(list(map(len, encoded)), batch_tokens):
            scores = self.score([encoded[index] for index in group])
            yield list(zip(group, scores, strict=True))
