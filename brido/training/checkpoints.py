"""The files of a training run: written whole or not at all, checked when they are read."""

import csv
import io
import math
import pickle
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer
from transformers import PreTrainedModel

from brido.training.parallel import Parallel
from brido.utils.atomic import atomic_file, write_text
from brido.utils.errors import BridoError
from brido.work.folder import take

# A state is written this often, but writing takes no more than this share of the time.
STATE_SECONDS = 2.0
STATE_SHARE = 0.02
SUMMED = ("loss", "cross_entropy", "contrastive", "gradient_norm")
COLUMNS = ("update", "epoch", *SUMMED[:3], "learning_rate", "gradient_norm", "tau", "top1")


class Checkpoints:
    """The folder of one run: state.pt, and the best weights, best-UPDATE.pt.

    Only what is trained is written: the weights that need gradients, or the whole model if all do.
    Best weights carry their update in the name, and only those that the state on disk does not
    mention are removed: wherever a run is killed, the state finds the weights it speaks of.
    """

    def __init__(self, folder: Path, parallel: Parallel) -> None:
        """The first process alone takes the folder and writes; all call what saves, because weights
        may be in parts. BridoError if another run is at work in it."""
        if parallel.is_main:
            take(folder)
        self.folder, self.parallel = folder, parallel
        self.state_file = folder / "state.pt"
        self._saved, self._pause = time.monotonic(), self.pause(writing=0.0)

    def pause(self, writing: float) -> float:
        """Seconds to the next state, after one that took so many to write."""
        longest = self.parallel.runtime.checkpoint_minutes * 60
        return min(longest, max(STATE_SECONDS, writing / STATE_SHARE))

    @property
    def due(self) -> bool:
        """Whether a state is to be written now."""
        return time.monotonic() - self._saved >= self._pause

    def save(self, run: dict[str, Any], model: PreTrainedModel, optimizer: Optimizer) -> None:
        """Replace the state on disk, then remove best weights that it does not mention.

        run: the fields of a `TrainState`.
        """
        began = time.monotonic()
        content = {
            "run": run,
            "model": self.parallel.whole(trained_weights(model)),
            "optimizer": self.parallel.optimizer_state(optimizer),
        }
        if self.parallel.is_main:
            save_tensors(content, self.state_file)
            current = self._best_file(run["best"][1]) if run["best"] else None
            for file in self.folder.glob("best-*.pt"):
                if file != current:
                    file.unlink()
        self._saved = time.monotonic()
        self._pause = self.pause(writing=self._saved - began)

    def load(self, model: PreTrainedModel, optimizer: Optimizer) -> dict[str, Any]:
        """Put the tensors of the state on disk into model and optimizer; return the fields of its
        `TrainState`, none without a state.

        Raises:
            BridoError: the file is damaged.
        """
        if not self.state_file.is_file():
            return {}
        content = load_tensors(self.state_file)
        if set(content) != {"run", "model", "optimizer"}:
            raise BridoError(f"{self.state_file} is of something else: remove it to start over")
        self._load_weights(content["model"], model)
        self.parallel.load_optimizer(optimizer, content["optimizer"])
        return dict(content["run"])

    def save_best(self, update: int, model: PreTrainedModel) -> None:
        """Keep the model's weights as the best as of `update`."""
        weights = self.parallel.whole(trained_weights(model))
        if self.parallel.is_main:
            save_tensors(weights, self._best_file(update))

    def load_best(self, update: int, model: PreTrainedModel) -> None:
        """Put the best weights, those of `update`, into the model; BridoError as in `load`."""
        self._load_weights(load_tensors(self._best_file(update)), model)

    def _best_file(self, update: int) -> Path:
        return self.folder / f"best-{update:06d}.pt"

    def _load_weights(self, weights: dict[str, Tensor], model: PreTrainedModel) -> None:
        own = trained_weights(model)
        placed = {name: self.parallel.own(value, own[name]) for name, value in weights.items()}
        model.load_state_dict(placed, strict=False)


def trained_weights(model: PreTrainedModel) -> dict[str, Tensor]:
    """Return what training changes: the whole state if all weights train, else those that do."""
    state = model.state_dict(keep_vars=True)  # tied weights are one object
    trained = {name: weight.requires_grad for name, weight in model.named_parameters()}
    if all(trained.values()):
        return state
    return {name: state[name] for name in sorted(trained) if trained[name]}


def save_tensors(content: Any, path: Path) -> None:
    """Write tensors, numbers and texts to `path`, whole or not at all."""
    # Given a path instead of a file, torch's own writer does not say that the disk is full.
    with atomic_file(path) as temporary, temporary.open("wb") as file:
        torch.save(content, file)


def load_tensors(path: Path) -> Any:
    """Read what `save_tensors` wrote. Raise BridoError if the file is damaged."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, KeyError, ValueError, pickle.UnpicklingError):
        raise BridoError(
            f"{path} cannot be read: remove {path.parent} to start the training over"
        ) from None


def write_history(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write the rows as CSV, whole or not at all; NaN and infinity become empty cells.

    The columns are COLUMNS, then all others of the rows (a generator's measures), sorted.
    """
    extra = sorted({name for row in rows for name in row} - set(COLUMNS))
    text = io.StringIO()
    writer = csv.DictWriter(text, [*COLUMNS, *extra], lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    write_text(path, text.getvalue())


def _cell(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return f"{value:.6g}" if math.isfinite(value) else ""
