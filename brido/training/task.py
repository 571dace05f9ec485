"""What the loop trains: the examples of every update, their loss, and what is watched meanwhile.

One loop serves all: contrastive training and maximum likelihood (`contrastive.py`), and training
from scratch (`pretraining.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from accelerate import Accelerator
from torch import nn
from transformers import PreTrainedModel

from brido.work.settings import RuntimeSettings


class Work(NamedTuple):
    """The examples of one update.

    chunks: what runs in one pass each, in the order of their sums. whole: what the loss of every
    chunk is divided by, whichever process computes it (numbers of all chunks together).
    """

    chunks: list[Any]
    whole: tuple[int, ...] = ()


@dataclass(frozen=True)
class Descent:
    """How gradients move weights; `rate` is the learning rate of an update, 1 to the last.

    meant: the highest rate that the settings ask for; warmup: updates until it is reached, which
    may be more than there are.
    """

    optimizer: Literal["adam", "adamw"]
    weight_decay: float
    max_gradient_norm: float | None
    rate: Callable[[int], float]
    meant: float
    warmup: int


class Task(ABC):
    """A training run, described; what happens when is the loop's.

    name: how lines of progress call it; key: the settings that errors name; remedy: what to do
    about a loss that diverges. folder keeps the run, unfinished or finished; history_file, or None,
    gets its rows. A row is written every `every` updates. keep, patience: as in `training`.
    """

    name: str
    key: str
    remedy: str
    model: PreTrainedModel
    runtime: RuntimeSettings
    folder: Path
    history_file: Path | None = None
    seed: int
    updates: int
    updates_per_epoch: int
    every: int
    keep: Literal["last", "best_ranker", "best_generator"] = "last"
    patience: int | None = None
    # Texts of an example that run at once, which may become fewer where memory is short.
    sequences: int = 1

    @abstractmethod
    def descent(self) -> Descent:
        """How gradients move weights."""

    @abstractmethod
    def step(self) -> nn.Module:
        """The loss as a module around the model: (batch, *whole, micro_batch) -> StepLoss."""

    def prepare(self, accelerator: Accelerator) -> None:  # noqa: B027 (most need nothing)
        """Compute what needs the model as it is before the run, the first one or one resumed."""

    @abstractmethod
    def work(self, update: int) -> Work:
        """The examples of an update, a function of its number (1 to `updates`) alone."""

    @abstractmethod
    def batch(self, chunk: Any) -> Any:
        """The tensors of a chunk: something with `tokens` and `to(device)`."""

    def measures(self, autocast: Callable[[], Any]) -> dict[str, float]:
        """What the model, as it stands, is worth; `tau` and `rouge` decide about the best."""
        return {}

    def around(self) -> AbstractContextManager[Any]:
        """A block that stays open around all passes, forward and backward."""
        return nullcontext()

    def problems(self) -> Iterator[str]:
        """What keeps the run from starting."""
        yield from ()


# Keys of a model's config that make its training passes random.
RANDOM_LAYERS = (
    "dropout",
    "attention_dropout",
    "activation_dropout",
    "dropout_rate",
    "encoder_layerdrop",
    "decoder_layerdrop",
)


def is_random(model: PreTrainedModel) -> bool:
    """Whether the model's training passes draw random numbers."""
    config = model.config.to_dict()
    drops = (module.p for module in model.modules() if isinstance(module, torch.nn.Dropout))
    return any(config.get(key) for key in RANDOM_LAYERS) or any(drops)
