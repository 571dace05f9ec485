"""What the loop trains: the examples of every update, their loss, and what is measured meanwhile.

One loop trains all tasks: contrastive training and maximum likelihood (`contrastive.py`), and
training from scratch (`pretraining.py`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from torch import nn
from torch.optim import Optimizer
from transformers import PreTrainedModel

from brido.training.parallel import Parallel
from brido.training.step import Step
from brido.training.trackers import Trackers
from brido.utils.errors import BridoError
from brido.utils.progress import say
from brido.work.settings import RuntimeSettings


class UpdateData(NamedTuple):
    """The examples of one update.

    chunks: what runs in one pass each, in the order of their sums. totals: what the loss of every
    chunk is divided by, whichever process computes it (numbers of all chunks together).
    """

    chunks: list[Any]
    totals: tuple[int, ...] = ()


@dataclass(frozen=True)
class OptimizerConfig:
    """The optimizer; `rate` is the learning rate of an update, 1 to the last."""

    name: Literal["adam", "adamw"]
    weight_decay: float
    max_gradient_norm: float | None
    rate: Callable[[int], float]

    def make(self, weights: list[nn.Parameter]) -> Optimizer:
        """The optimizer of these weights."""
        kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[self.name]
        return kind(weights, lr=self.rate(1), weight_decay=self.weight_decay)


class Task(ABC):
    """The description of a training run; the loop decides what happens when.

    name: what lines of progress call it; key: the settings that errors name; remedy: what to do
    about a loss that diverges. folder keeps an unfinished run. history_file, or None, gets its
    rows, one every `every` updates. keep: as in `training`. sequences: texts of an example that run
    at once, which become fewer if memory is short. trackers: what is told of the run while it
    trains (`runtime.trackers`).
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
    sequences: int = 1
    trackers: Trackers = Trackers((), "", {})

    @abstractmethod
    def optimizer(self) -> OptimizerConfig:
        """The optimizer and its learning rates."""

    @abstractmethod
    def step(self) -> Step:
        """The loss as a module around the model: (batch, *totals, micro_batch) -> StepLoss."""

    def prepare(self, parallel: Parallel) -> None:  # noqa: B027 (most need nothing)
        """Compute what needs the model as it is before the run; a resumed run calls it too."""

    @abstractmethod
    def data(self, update: int) -> UpdateData:
        """The examples of an update, a function of its number (1 to `updates`) alone."""

    @abstractmethod
    def batch(self, chunk: Any) -> Any:
        """The tensors of a chunk, a (named) tuple."""

    def measures(self, autocast: Callable[[], Any]) -> dict[str, float]:
        """Measures of the model as it is; `tau` and `rouge` decide which weights are the best."""
        return {}

    def context(self) -> AbstractContextManager[Any]:
        """A block that stays open around all passes, forward and backward."""
        return nullcontext()

    def problems(self) -> Iterator[str]:
        """What keeps the run from starting."""
        yield from ()

    def warnings(self) -> Iterator[str]:
        """Settings with which the run probably does not train what is meant."""
        yield from ()

    def diverged(self, why: str) -> BridoError:
        """The error of a run that does not converge: how that was noticed, and the way out."""
        return BridoError(f"training diverged: {why}. {self.remedy}")

    def announce(self, parallel: Parallel) -> None:
        """Say how long the run is and what may be wrong with it, before it costs anything."""
        for warning in (*parallel.warnings(), *self.warnings()):
            say(f"{self.name}: warning: {warning}")
        where = f"{f' on {parallel.count} processes' if parallel.count > 1 else ''}{parallel.note}"
        rate = self.optimizer().rate
        reached = max(rate(update) for update in range(1, self.updates + 1))
        say(f"{self.name}: {self.updates:,} updates{where}, learning rate at most {reached:.2g}")
