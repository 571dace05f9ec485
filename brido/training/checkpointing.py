"""The state of a training run on disk: written whole or not at all, read with care."""

from __future__ import annotations

import pickle
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer
from transformers import PreTrainedModel

from brido.atomic import atomic_file
from brido.errors import BridoError


@dataclass
class RunState:
    """Everything of a run but its tensors.

    update: updates done. It is the sampler's position and the random state too, because both are
    functions of seed and update. interval: sums since the last row of `history`. best: for each
    kind (`best_ranker`, `best_generator`) its value and update. worse: validations in a row whose
    loss was above the first interval's; waited: validations since the last better one.
    micro_batch: candidates at once, where memory forced fewer than were asked for.
    """

    update: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)
    interval: dict[str, float] = field(default_factory=dict)
    best: dict[str, tuple[float, int]] = field(default_factory=dict)
    worse: int = 0
    waited: int = 0
    micro_batch: int | None = None
    finished: str = ""


class Checkpoints:
    """The folder of one run: state.pt, and the best weights as best_KIND-UPDATE.pt.

    Best weights carry their update in the name, and only those that the state on disk does not
    mention are removed: wherever a run is killed, the state finds the weights it speaks of.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state_file = folder / "state.pt"

    def save(self, state: RunState, model: PreTrainedModel, optimizer: Optimizer) -> None:
        """Replace the state on disk, then remove best weights that it no longer mentions."""
        content = {
            "run": asdict(state),
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
        }
        _save(content, self.state_file)
        current = {self._best_file(kind, update) for kind, (_, update) in state.best.items()}
        for file in self.folder.glob("best_*.pt"):
            if file not in current:
                file.unlink()

    def load(self, model: PreTrainedModel, optimizer: Optimizer) -> RunState | None:
        """The state on disk, its tensors put into model and optimizer; None where there is none.

        Raises:
            BridoError: the file is damaged, or its weights are those of another model.
        """
        if not self.state_file.is_file():
            return None
        content = _load(self.state_file)
        self._load_weights(content["model"], self.state_file, model)
        optimizer.load_state_dict(content["optimizer"])
        run = content["run"]
        run["best"] = {kind: tuple(value) for kind, value in run["best"].items()}
        return RunState(**run)

    def save_best(self, kind: str, update: int, model: PreTrainedModel) -> None:
        """Keep the model's weights as the best of `kind` as of `update`."""
        _save(model.state_dict(), self._best_file(kind, update))

    def load_best(self, kind: str, update: int, model: PreTrainedModel) -> None:
        """Put the best weights of `kind` into the model; BridoError as in `load`."""
        path = self._best_file(kind, update)
        self._load_weights(_load(path), path, model)

    def clear(self) -> None:
        """Remove the folder: call it when the run's output is in place."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _best_file(self, kind: str, update: int) -> Path:
        return self.folder / f"{kind}-{update:06d}.pt"

    def _load_weights(self, weights: dict[str, Tensor], path: Path, model: PreTrainedModel) -> None:
        own = model.state_dict()
        problems = [f"{name}: not in the model" for name in sorted(weights.keys() - own.keys())]
        problems += [f"{name}: missing" for name in sorted(own.keys() - weights.keys())]
        problems += [
            f"{name}: {list(weights[name].shape)}, the model has {list(own[name].shape)}"
            for name in sorted(weights.keys() & own.keys())
            if weights[name].shape != own[name].shape
        ]
        if problems:
            raise BridoError.from_problems(
                f"{path} holds the weights of another model (remove {self.folder} to start over):",
                problems,
                limit=5,
            )
        model.load_state_dict(weights)


def _save(content: Any, path: Path) -> None:
    # Given a path instead of a file, torch's own writer does not say that the disk is full.
    with atomic_file(path) as temporary, temporary.open("wb") as file:
        torch.save(content, file)


def _load(path: Path) -> Any:
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, KeyError, ValueError, pickle.UnpicklingError) as error:
        raise BridoError(
            f"{path} cannot be read ({error}): remove {path.parent} to start the training over"
        ) from None
