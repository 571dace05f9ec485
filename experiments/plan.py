"""Plans of studies: which chains there are, a chain being the whole pipeline under one seed."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from brido.settings.load import check_params, read_yaml
from brido.settings.presets import flatten, read_preset
from brido.utils.errors import BridoError
from brido.work.shards import fingerprint
from experiments.grid import changed
from experiments.rows import Row

PLANS = Path("experiments/plans")
WORK = Path(".brido/studies")
# What a seed is the seed of.
SEEDS = (
    "data.world.seed",
    "data.files.split_seed",
    "checkpoints.base.embedded.seed",
    "checkpoints.base.fine_tuning.seed",
    "generation.base.seed",
    "training.seed",
)
MEASURED = ("validation", "test")
# Only beams use a length penalty.
BEAMS = "beams"
AT_BASE_LENGTH = f"{BEAMS} at base's length"
# The alpha that elects.
ELECTED = {"elected": 0.0, "elected by the reference": math.inf}
# System, decoding and split of a row.
Named = tuple[str, str, str]
# Keys that change no measured number.
_IGNORED = ("runtime.", "report.")


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
        """A name that can be a file's."""
        return f"{self.setting.replace(' ', '-').replace(',', '')}-seed-{self.seed}"

    @property
    def settings(self) -> dict[str, Any]:
        """The flattened params that its rows depend on, without the seeds."""
        used = flatten(self.params).items()
        settings = {
            key: value for key, value in used if key not in SEEDS and not key.startswith(_IGNORED)
        }
        # As a file gives them back: infinity is text there or a number, a tuple a list.
        return json.loads(json.dumps(settings, default=str))

    @property
    def folder(self) -> Path:
        """Where it runs; other settings run in another folder."""
        own = fingerprint([self.settings, self.seed, self.decodings])[:8]
        return WORK / f"{self.name}-{own}"

    def rows_untuned(self) -> list[Named]:
        """The rows that need no tuning."""
        others = product(["reference", *ELECTED], [""], MEASURED)
        return [*product(["base"], self.decodings, MEASURED), *others]

    def rows_of(self, name: str) -> list[Named]:
        """The rows of a system."""
        rows = list(product([name], self.decodings, MEASURED))
        return rows + (at_length(name) if self.systems[name].at_base_length else [])

    def is_done(self, rows: Iterable[Row]) -> bool:
        """Whether all of its rows are among these."""
        wanted = [
            *self.rows_untuned(),
            *(key for name in self.systems for key in self.rows_of(name)),
        ]
        found = {row.key for row in rows}
        return all((self.setting, self.seed, *named) in found for named in wanted)


@dataclass(frozen=True)
class Plan:
    """A file of experiments/plans.

    folder: where the rows are kept, as NAME.csv. environment: variables of the chains' processes.
    """

    name: str
    folder: Path
    environment: Mapping[str, str]
    chains: tuple[Chain, ...]

    @property
    def table(self) -> Path:
        """The CSV of its rows."""
        return self.folder / f"{self.name}.csv"

    @property
    def recorded(self) -> Path:
        """The settings that its rows were measured under."""
        return self.folder / f"{self.name}.json"


def at_length(name: str) -> list[Named]:
    """The rows of equal length: a system at base's, and base at the system's."""
    return [
        (name, AT_BASE_LENGTH, "test"),
        ("base", f"{BEAMS} at {name}'s length", "test"),
    ]


def cut_to(name: str) -> str:
    """The decoding of base's beams cut to a system's length."""
    return f"{BEAMS} cut to {name}'s words"


def texts_of(named: Named) -> Path:
    """The file of the summaries that a row was measured on, a JSON list in the corpus' order.

    named: system, decoding and split.
    """
    return Path("texts") / f"{'-'.join(part for part in named if part)}.json".replace(" ", "-")


def read_plan(path: Path) -> Plan:
    """The plan of a file, its chains of the first seed first.

    Raises:
        BridoError: a setting names an unknown system, or changes what its params do not have.
    """
    plan = read_yaml(path)
    raw = read_preset(plan["preset"])
    systems = {name: System(**(values or {})) for name, values in plan["systems"].items()}
    chains = []
    seeds = {name: item.get("seeds", plan["seeds"]) for name, item in plan["settings"].items()}
    for seed in dict.fromkeys(seed for own in seeds.values() for seed in own):
        for name, setting in plan["settings"].items():
            if seed not in seeds[name]:
                continue
            missing = set(setting["systems"]) - set(systems)
            if missing:
                raise BridoError(f"{path}: {name}: no system {', '.join(sorted(missing))}")
            params = changed(raw, {**plan["changes"], **setting.get("changes", {})}, name)
            there = flatten(params)
            params = changed(params, {key: seed for key in SEEDS if key in there}, name)
            check_params(params, f"{path}: {name}")
            own = {system: systems[system] for system in setting["systems"]}
            chains.append(Chain(name, seed, params, own, plan["decodings"]))
    environment = {key: str(value) for key, value in plan.get("environment", {}).items()}
    folder = Path(plan.get("folder", "metrics/evidence"))
    return Plan(path.stem, folder, environment, tuple(chains))
