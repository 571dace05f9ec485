"""The state of a training run on disk: written whole or not at all, read with care."""

from __future__ import annotations

import os
import pickle
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer
from transformers import PreTrainedModel

from brido.training.kept import FINISHED, made_with
from brido.training.sharding import as_there, gathered, gathered_state, load_state
from brido.utils.atomic import atomic_file
from brido.utils.errors import BridoError


@dataclass
class RunState:
    """Everything of a run but its tensors.

    update: updates done. It is the sampler's position and the random state too, because both are
    functions of seed and update. interval: sums since the last row of `history`. best: for each
    kind (`best_ranker`, `best_generator`) its value and update. worse: validations in a row whose
    loss was above the first interval's; waited: validations since the last better one.
    micro_batch: candidates at once, where memory forced fewer than were asked for. last_losses:
    those of the last tenth of the updates. finished: why it is over, empty until then.
    """

    update: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)
    interval: dict[str, float] = field(default_factory=dict)
    best: dict[str, tuple[float, int]] = field(default_factory=dict)
    worse: int = 0
    waited: int = 0
    micro_batch: int | None = None
    last_losses: list[float] = field(default_factory=list)
    finished: str = ""

    @classmethod
    def of(cls, content: dict[str, Any]) -> RunState:
        """The state that was written as `content`."""
        best = {kind: tuple(value) for kind, value in content["best"].items()}
        return cls(**content | {"best": best})


class Checkpoints:
    """The folder of one run: state.pt and the best weights, best_KIND-UPDATE.pt; finished.pt.

    Only what is trained is written: the weights that need gradients, or the whole model where all
    do. Best weights carry their update in the name, and only those that the state on disk does not
    mention are removed: wherever a run is killed, the state finds the weights it speaks of.
    """

    def __init__(self, folder: Path, writes: bool) -> None:
        """`writes`: the first process alone does. All call what saves: a weight may be in parts."""
        self.folder, self.writes = folder, writes
        self.state_file = folder / "state.pt"
        self.finished_file = folder / FINISHED

    def save(self, state: RunState, model: PreTrainedModel, optimizer: Optimizer) -> None:
        """Replace the state on disk, then remove best weights that it no longer mentions."""
        content = {
            "run": asdict(state),
            "model": gathered(trained_weights(model), self.writes),
            "optimizer": gathered_state(optimizer, self.writes),
        }
        if not self.writes:
            return
        save_tensors(content, self.state_file)
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
        content = load_tensors(self.state_file)
        self._load_weights(content["model"], self.state_file, model)
        load_state(optimizer, content["optimizer"])
        return RunState.of(content["run"])

    def save_best(self, kind: str, update: int, model: PreTrainedModel) -> None:
        """Keep the model's weights as the best of `kind` as of `update`."""
        weights = gathered(trained_weights(model), self.writes)
        if self.writes:
            save_tensors(weights, self._best_file(kind, update))

    def load_best(self, kind: str, update: int, model: PreTrainedModel) -> None:
        """Put the best weights of `kind` into the model; BridoError as in `load`."""
        path = self._best_file(kind, update)
        self._load_weights(load_tensors(path), path, model)

    def finish(self, state: RunState, model: PreTrainedModel) -> None:
        """Keep the run's result, and nothing else of it."""
        weights = gathered(trained_weights(model), keep=True)
        content = {"run": asdict(state), "model": weights, "code": made_with()}
        save_tensors(content, self.finished_file)
        self._remove_state()

    def load_finished(self, model: PreTrainedModel) -> RunState | None:
        """The end of this run, its weights put into the model; None unless today's code made it."""
        if not self.finished_file.is_file():
            return None
        content = load_tensors(self.finished_file)
        if content["code"] != made_with():
            return None
        self._load_weights(content["model"], self.finished_file, model)
        if self.writes:
            os.utime(self.finished_file)  # as new: the oldest is removed first
            self._remove_state()
        return RunState.of(content["run"])

    def _remove_state(self) -> None:
        for file in self.folder.glob("*.pt"):
            if file != self.finished_file:
                file.unlink(missing_ok=True)

    def _best_file(self, kind: str, update: int) -> Path:
        return self.folder / f"{kind}-{update:06d}.pt"

    def _load_weights(self, weights: dict[str, Tensor], path: Path, model: PreTrainedModel) -> None:
        own = trained_weights(model)
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
        placed = {name: as_there(value, own[name]) for name, value in weights.items()}
        model.load_state_dict(placed, strict=False)


def trained_weights(model: PreTrainedModel) -> dict[str, Tensor]:
    """What training changes: the whole state where all weights train, else those that do."""
    frozen = {name for name, weight in model.named_parameters() if not weight.requires_grad}
    state = model.state_dict(keep_vars=True)  # tied weights are one object
    if not frozen:
        return state
    trained = {name for name, weight in model.named_parameters() if weight.requires_grad}
    return {name: state[name] for name in sorted(trained)}


def save_tensors(content: Any, path: Path) -> None:
    """Write tensors, numbers and texts to `path`, whole or not at all."""
    # Given a path instead of a file, torch's own writer does not say that the disk is full.
    with atomic_file(path) as temporary, temporary.open("wb") as file:
        torch.save(content, file)


def load_tensors(path: Path) -> Any:
    """What `save_tensors` wrote; BridoError where the file is damaged."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, KeyError, ValueError, pickle.UnpicklingError) as error:
        raise BridoError(
            f"{path} cannot be read ({error}): remove {path.parent} to start the training over"
        ) from None
