"""What the loop trains: the examples of every update, their loss, and what is measured meanwhile.

One loop trains all tasks: contrastive training and maximum likelihood (`contrastive.py`), and
training from scratch (`pretraining.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from torch import Tensor, nn

from brido.utils.errors import BridoError

if TYPE_CHECKING:
    from pathlib import Path

    from torch.optim import Optimizer
    from transformers import PreTrainedModel

    from brido.work.settings import RuntimeSettings

Found = TypeVar("Found")


class LossParts(NamedTuple):
    """A part of an update's loss (Eq. 3) and of its two terms; the parts of an update add up."""

    loss: Tensor
    cross_entropy: Tensor
    contrastive: Tensor


class Loss(nn.Module):
    """A loss around `model`: forward(batch, *totals, micro_batch) -> LossParts.

    It is a module so that accelerate and FSDP can wrap it.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model

    def call(self, function: Callable[[], Found]) -> Found:
        """Return what the function returns: a second way into the module, besides `forward`, for
        code that runs a sharded model (see `brido.training.parallel`)."""
        return function()


class UpdateData(NamedTuple):
    """The examples of one update.

    chunks: what runs in one pass each, in the order of their sums. totals: what the loss of every
    chunk is divided by, whichever process computes it (numbers of all chunks together).
    """

    chunks: list[Any]
    totals: tuple[int, ...] = ()


class Task(ABC):
    """The description of a training run; the loop decides what happens when.

    name: what lines of progress call it; key: the settings that errors name; remedy: what to do
    about a loss that diverges. folder keeps an unfinished run. history_file, or None, gets its
    rows, one every `every` updates. rate: the learning rate of an update, 1 to `updates`. keep: as
    in `training`. sequences: texts of an example that run at once, which become fewer if memory is
    short. tracked: settings that the trackers of `runtime` are told; None: nothing is tracked.
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
    rate: Callable[[int], float]
    max_gradient_norm: float | None
    keep: Literal["last", "best_ranker", "best_generator"] = "last"
    sequences: int = 1
    tracked: dict[str, Any] | None = None

    @abstractmethod
    def examples(self, update: int) -> UpdateData:
        """What an update sees, a function of its number (from 1) alone."""

    @abstractmethod
    def batch(self, chunk: Any) -> Any:
        """The tensors of a chunk, a (named) tuple."""

    @abstractmethod
    def optimizer(self, weights: list[nn.Parameter]) -> Optimizer:
        """The optimizer of these weights."""

    @abstractmethod
    def loss(self) -> Loss:
        """The loss of a batch."""

    def measures(self, micro_batch: int | None) -> dict[str, float]:
        """Measures of the model as it is, in evaluation mode and without gradients.

        `tau` and `rouge` decide which weights are the best. micro_batch: as in a `Loss`.
        """
        return {}

    def problems(self) -> Iterator[str]:
        """What keeps the run from starting."""
        yield from ()

    def warnings(self) -> Iterator[str]:
        """Settings with which the run probably does not train what is meant."""
        yield from ()

    def diverged(self, why: str) -> BridoError:
        """The error of a run that does not converge: how that was noticed, and the way out."""
        return BridoError(f"training diverged: {why}. {self.remedy}")
