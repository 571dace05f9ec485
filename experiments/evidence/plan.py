"""Which chains the evidence has: every setting under every seed, the first seed's first."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brido.settings.load import check_params, read_yaml
from brido.settings.presets import read_preset
from brido.utils.errors import BridoError
from experiments.grids import changed

PLAN = Path(__file__).parent / "plan.yaml"
# What a seed is the seed of.
SEEDS = (
    "data.world.seed",
    "data.files.split_seed",
    "checkpoints.base.embedded.seed",
    "checkpoints.base.fine_tuning.seed",
    "generation.base.seed",
    "training.seed",
)


@dataclass(frozen=True)
class System:
    """What is tuned: the dotted keys of params.yaml that it changes, and on how much.

    documents, candidates: the first so many of the training documents, and of the candidates of
    each; None: all. at_base_length: with beams it is decoded at base's length as well.
    """

    changes: Mapping[str, Any] = field(default_factory=dict)
    documents: int | None = None
    candidates: int | None = None
    at_base_length: bool = False


@dataclass(frozen=True)
class Chain:
    """One run of the whole pipeline in a setting, under a seed; `params` is its params.yaml."""

    setting: str
    seed: int
    params: Mapping[str, Any]
    systems: Mapping[str, System]
    decodings: Mapping[str, Mapping[str, Any]]

    @property
    def name(self) -> str:
        """The same as a file's name."""
        return f"{self.setting.replace(' ', '-').replace(',', '')}-seed-{self.seed}"


def read_chains(path: Path) -> list[Chain]:
    """Every chain of a file of plan.yaml's form; of each seed the settings in their order.

    Raises:
        BridoError: a setting names a system that there is not, or changes what params.yaml lacks.
    """
    plan = read_yaml(path)
    raw = read_preset(plan["preset"])
    systems = {name: System(**(values or {})) for name, values in plan["systems"].items()}
    found = []
    for seed in plan["seeds"]:
        for name, setting in plan["settings"].items():
            missing = set(setting["systems"]) - set(systems)
            if missing:
                raise BridoError(f"{path}: {name}: no system {', '.join(sorted(missing))}")
            params = changed(raw, {**plan["changes"], **setting.get("changes", {})}, name)
            params = changed(params, _seeds(params, seed), name)
            check_params(params, f"{path}: {name}")
            own = {system: systems[system] for system in setting["systems"]}
            found.append(Chain(name, seed, params, own, plan["decodings"]))
    return found


def _seeds(params: Mapping[str, Any], seed: int) -> dict[str, int]:
    """The seeds that these params have."""
    there = {}
    for key in SEEDS:
        place: Any = params
        *sections, last = key.split(".")
        for section in sections:
            place = place.get(section) if isinstance(place, Mapping) else None
        if isinstance(place, Mapping) and last in place:
            there[key] = seed
    return there
