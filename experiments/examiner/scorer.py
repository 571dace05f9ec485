"""Trains the examiner's judge of answers: do two answers say the same?"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from transformers import BertConfig, BertForTokenClassification

from brido.evaluation.qafacteval.lerc import Comparison, encode_comparison
from brido.models.tokens import padded
from experiments.examiner import examples
from experiments.examiner.training import SIZE, load_tokenizer, save, train

# Sources of the world have at most about this many word pieces.
LAST_ANSWER = 160


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
        types = [[0] * item.second + [1] * (len(item.ids) - item.second) for item in chosen]
        ids = padded([item.ids for item in chosen], 0)
        logits = model(
            input_ids=ids,
            attention_mask=(ids != 0).long(),
            token_type_ids=padded(types, 0),
            position_ids=torch.arange(ids.shape[1])[None] + rng.randrange(shifts),
        ).logits
        return F.mse_loss(logits[:, 0, 0], torch.tensor([compared[index][1] for index in batch]))

    lengths = [len(item.ids) for item in inputs]
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
