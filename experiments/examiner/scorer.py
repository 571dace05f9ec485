"""Trains the examiner's judge of answers: do two answers say the same?"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from transformers import AutoTokenizer, BertConfig, BertForTokenClassification

from brido.evaluation.qafacteval.lerc import MAX_TOKENS, Comparison
from brido.models.loading import pretrained
from brido.models.tokens import padded
from experiments.examiner import examples
from experiments.examiner.training import SIZE, load_tokenizer, save, train

# Sources of the world have at most about this many word pieces.
LAST_ANSWER = 160


class Lerc:
    """The original LERC's form: a linear layer on BERT's last [CLS] state."""

    def __init__(self, folder: Path, device: torch.device) -> None:
        self.tokenizer = pretrained(AutoTokenizer, folder)
        self.model = pretrained(BertForTokenClassification, folder).to(device).eval()

    def encode(self, comparison: Comparison) -> list[int]:
        """At most 512 token ids."""
        return encode_comparison(self.tokenizer, comparison)

    @torch.no_grad()
    def score(self, batch: Sequence[list[int]]) -> list[float]:
        """The scores of a batch."""
        types = [segments(ids, self.tokenizer.sep_token_id) for ids in batch]
        inputs = {
            "input_ids": padded(batch, 0),
            "attention_mask": padded([[1] * len(ids) for ids in batch], 0),
            "token_type_ids": padded(types, 0),
        }
        device = self.model.device
        logits = self.model(**{name: value.to(device) for name, value in inputs.items()}).logits
        return logits[:, 0, 0].cpu().tolist()


def encode_comparison(tokenizer: Any, comparison: Comparison) -> list[int]:
    """[CLS] source [SEP] question [SEP] answer [SEP] prediction [SEP], at most 512 token ids.

    The end of the source is dropped to make room.
    """
    texts = (comparison.source, comparison.question, comparison.answer, comparison.prediction)
    source, *others = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts)
    room = MAX_TOKENS - sum(map(len, others)) - 5
    ids = [tokenizer.cls_token_id]
    for part in (source[:room], *others):
        ids += [*part, tokenizer.sep_token_id]
    return ids


def segments(ids: Sequence[int], separator: int) -> list[int]:
    """Token types: 0 for source and question, 1 for the two answers."""
    found = [place for place, token in enumerate(ids) if token == separator]
    return [int(place > found[1]) for place in range(len(ids))]


def train_scorer(rows: Sequence[dict], scratch: Path, target: Path, seed: int) -> None:
    """Train the judge of answers in LERC's form and save it as the converted folder `target`.

    First without sources, at positions where the answers will stand behind one, which is cheap;
    then on a third of the documents with their sources.
    """
    config = BertConfig(
        num_hidden_layers=2, num_labels=1, initializer_range=0.05, layer_norm_eps=1e-12, **SIZE
    )
    tokenizer = load_tokenizer(scratch, config, do_lower_case=True)
    config.vocab_size = len(tokenizer)
    torch.manual_seed(seed)
    model = BertForTokenClassification(config)
    look_for_equals(model)
    compared = list(examples.comparisons(rows, random.Random(seed)))
    alone = [(Comparison(*item[:3], ""), mark) for *item, mark in compared]
    _train_marks("without sources", model, tokenizer, alone, 2, seed, LAST_ANSWER)
    whole = [(Comparison(*item), mark) for *item, mark in compared[: len(compared) // 3]]
    _train_marks("with sources", model, tokenizer, whole, 1, seed, 1)
    save(model, tokenizer, target)


def _train_marks(
    label: str,
    model: BertForTokenClassification,
    tokenizer: Any,
    compared: list[tuple[Comparison, float]],
    epochs: int,
    seed: int,
    shifts: int,
) -> None:
    """Train on comparisons that begin at a random position below `shifts`."""
    inputs = [encode_comparison(tokenizer, comparison) for comparison, _ in compared]
    rng = random.Random(seed)

    def loss_of(batch: list[int]) -> torch.Tensor:
        chosen = [inputs[index] for index in batch]
        types = [segments(item, tokenizer.sep_token_id) for item in chosen]
        ids = padded(chosen, 0)
        logits = model(
            input_ids=ids,
            attention_mask=(ids != 0).long(),
            token_type_ids=padded(types, 0),
            position_ids=torch.arange(ids.shape[1])[None] + rng.randrange(shifts),
        ).logits
        return F.mse_loss(logits[:, 0, 0], torch.tensor([compared[index][1] for index in batch]))

    lengths = list(map(len, inputs))
    train(f"scorer, {label}", model, lengths, loss_of, epochs, 1e-3, seed)


@torch.no_grad()
def look_for_equals(model: BertForTokenClassification) -> None:
    """Start as a network that can tell whether two answers share their words.

    Words live in dimensions 0-63, positions in 64-95, segments in 96-127. Queries and keys of the
    first two heads of layer 0 compare words and segments, so that a word attends to itself and its
    copies in the same segment; their values are positions. From random weights small models do not
    learn this comparison at all in the time that the rest takes.
    """
    embeddings, attention = model.bert.embeddings, model.bert.encoder.layer[0].attention
    for table, used in (
        (embeddings.word_embeddings, slice(0, 64)),
        (embeddings.position_embeddings, slice(64, 96)),
    ):
        values = torch.randn_like(table.weight)
        table.weight.zero_()
        table.weight[:, used] = values[:, used]
    embeddings.token_type_embeddings.weight.zero_()
    embeddings.token_type_embeddings.weight[1, 96:112] = 1.0
    embeddings.token_type_embeddings.weight[0, 112:] = 1.0
    for projection in (attention.self.query, attention.self.key):
        projection.weight[:64] = 0.0
        projection.weight[:64, :64] = torch.eye(64) * 1.3
        for head in (0, 32):
            # Two dimensions of each head are given to the segments.
            projection.weight[head + 30 : head + 32] = 0.0
            projection.weight[head + 30, 96:112] = 0.65
            projection.weight[head + 31, 112:] = 0.65
        attention.self.value.weight[:64] = 0.0
    for head in (0, 32):
        attention.self.value.weight[head : head + 32, 64:96] = torch.eye(32)
    attention.output.dense.weight[:, :64] = 0.0
    attention.output.dense.weight[96:, :] = 0.0
    attention.output.dense.weight[96:, :32] = -torch.eye(32)
