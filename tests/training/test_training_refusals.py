"""What is refused: the call, and what its message names."""

import math

import pytest
import torch

from brido.models import LanguageModel
from brido.models.settings import ReadingSettings
from brido.training.batches import Batches
from brido.training.loss import contrastive_loss
from brido.training.settings import TrainingSettings
from brido.training.train import train
from brido.utils.errors import BridoError

F, HALF = torch.zeros(2, 3), torch.ones(2, 3)
BOOL = torch.ones(2, 4, dtype=torch.bool)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: contrastive_loss(F, torch.zeros(2, 4), 0.1), r"\[2, 3\] and \[2, 4\]"),
        (lambda: contrastive_loss(F, F * math.nan, 0.1), "scores .*NaN"),
        (lambda: contrastive_loss(F, F, 0.1, "relative"), "'relative'"),
        (lambda: contrastive_loss(F, F, 0.1, gold_weight=1.0), "gold_log_likelihood"),
        (
            lambda: contrastive_loss(
                F, F, 0.1, gold_weight=1.0, gold_log_likelihood=torch.zeros(3)
            ),
            r"\[2\], not \[3\]",
        ),
        (lambda: contrastive_loss(F, F, 0.1, eligible=BOOL), r"eligible .*\[2, 3\]"),
        (lambda: contrastive_loss(F, F, math.nan), "margin .*nan"),
        (
            lambda: TrainingSettings(gold_weight=1.0, cross_entropy="elected"),
            "gold_weight .*cross_entropy",
        ),
    ],
)
def test_a_call(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_more_candidate_tokens_than_positions(tokenizer, make_task):
    language = LanguageModel(make_task().model, tokenizer, ReadingSettings(max_source_tokens=32))
    with pytest.raises(BridoError, match="max_candidate_tokens: the model has 64 positions"):
        Batches(language, 65)
    Batches(language, 64)


@pytest.mark.parametrize("content", [b"no checkpoint", {"run": {"worse": 0}}])
def test_a_state_that_is_damaged_or_of_something_else(make_task, content):
    task = make_task()
    task.folder.mkdir()
    file = task.folder / "state.pt"
    file.write_bytes(content) if isinstance(content, bytes) else torch.save(content, file)
    with pytest.raises(BridoError, match=r"state\.pt .*start"):
        train(task)


def test_a_loss_that_is_not_a_number(make_task):
    task = make_task(learning_rate=1e30, max_gradient_norm=None)
    with pytest.raises(BridoError, match=r"loss of update \d+ is (nan|inf).* training\.gamma"):
        train(task)
