"""Plans of studies: which runs there are, a run being `dvc repro` in a folder of its own.

A plan is a YAML file. Its keys:

* preset, changes: the settings that all runs share, as dotted keys of params.yaml; an arm is an
  entry of `tuned` or `variants`
* seeds: each setting is run under every one of them; a setting may have its own
* settings: NAME: {changes, seeds, environment}
* environment: variables of the runs' processes, such as ATEN_CPU_CAPABILITY for other kernels

A second round is a setting whose `checkpoints.base` is {source: PATH} of an earlier run's model.
"""

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from brido.settings.load import check_params, read_yaml
from brido.settings.presets import flatten, read_preset
from brido.settings.text import that_matter
from brido.utils.errors import BridoError
from experiments.rows import EVIDENCE

WORK, PLANS = Path("build/studies"), Path("experiments/plans")
# What a seed is the seed of.
SEEDS = (
    "data.world.seed",
    "data.files.split_seed",
    "checkpoints.base.embedded.seed",
    "checkpoints.base.fine_tuning.seed",
    "training.seed",
)
# Keys that change no row.
_IGNORED = ("runtime.", "report.", "choice.", "training.validation.")


@dataclass(frozen=True)
class PlannedRun:
    """One run of the pipeline in a setting, under a seed; `params` is its params.yaml."""

    setting: str
    seed: int
    params: Mapping[str, Any]
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """A name that can be a folder's."""
        return f"{self.setting.replace(' ', '-').replace(',', '')}-seed-{self.seed}"

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The flattened params that its rows depend on, defaults included, without the seeds."""
        used = flatten(that_matter(check_params(self.params, self.name)))
        settings = {
            key: value
            for key, value in used.items()
            if key not in SEEDS and not key.startswith(_IGNORED)
        }
        # As a file gives them back: infinity may be text there or a number, a tuple a list.
        found: dict[str, Any] = json.loads(json.dumps(settings, default=str))
        return found


@dataclass(frozen=True)
class StudyPlan:
    """A file of experiments/plans; its rows are metrics/evidence/NAME.csv."""

    name: str
    runs: tuple[PlannedRun, ...]

    @property
    def table(self) -> Path:
        """The CSV of its rows."""
        return EVIDENCE / f"{self.name}.csv"

    @property
    def recorded(self) -> Path:
        """The settings that its rows were measured under."""
        return EVIDENCE / f"{self.name}.json"

    def folder(self, run: PlannedRun) -> Path:
        """Where a run works."""
        return WORK / self.name / run.name


def read_plan(path: Path) -> StudyPlan:
    """Read the plan of a file; the runs of the first seed come first.

    Raises:
        BridoError: a change names an unknown key, or the changed settings do not pass the checks.
    """
    plan = read_yaml(path)
    raw, settings = read_preset(plan["preset"]), plan["settings"]
    own = {name: (values or {}) for name, values in settings.items()}
    seeds = {name: values.get("seeds", plan["seeds"]) for name, values in own.items()}
    runs = [
        _make_run(name, seed, plan, raw, f"{path}: {name}")
        for seed in dict.fromkeys(seed for those in seeds.values() for seed in those)
        for name in own
        if seed in seeds[name]
    ]
    return StudyPlan(path.stem, tuple(runs))


def _make_run(
    setting: str, seed: int, plan: Mapping[str, Any], raw: Mapping[str, Any], place: str
) -> PlannedRun:
    """The run of a setting under a seed; raw: the preset, place: what stands in errors."""
    own = plan["settings"][setting] or {}
    params = changed(raw, {**plan.get("changes", {}), **own.get("changes", {})}, place)
    there = flatten(params)
    params = changed(params, {key: seed for key in SEEDS if key in there}, place)
    check_params(params, place)
    variables = {**plan.get("environment", {}), **own.get("environment", {})}
    return PlannedRun(setting, seed, params, {key: str(value) for key, value in variables.items()})


def changed(params: Mapping[str, Any], changes: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A copy of params.yaml with dotted keys changed or added; `check_params` knows them."""
    copied = copy.deepcopy(dict(params))
    for key, value in changes.items():
        *sections, last = key.split(".")
        place: Any = copied
        for section in sections:
            place = place.setdefault(section, {}) if isinstance(place, dict) else None
        if not isinstance(place, dict):
            raise BridoError(f"{name}: params.yaml has no key {key}")
        place[last] = value
    return copied
