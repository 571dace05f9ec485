"""Plans of studies: which chains there are, a chain being the whole pipeline under one seed.

A plan is a YAML file. Its keys:

* preset, changes: the settings that all chains share, as dotted keys of params.yaml
* seeds: each setting is run under every one of them; a setting may have its own
* settings: NAME: {systems, changes, seeds, environment}
* systems: NAME: {changes, documents, candidates, at_base_length, control, label,
  tune, guidance, after}, see `System`
* decodings: NAME: the keys of section `decoding` that it changes
* environment: variables of the chains' processes, such as ATEN_CPU_CAPABILITY for other kernels
* folder: where the rows are kept (metrics/evidence)
"""

import copy
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from brido.settings.load import check_params, read_yaml
from brido.settings.presets import flatten, read_preset
from brido.utils.errors import BridoError
from brido.work.shards import fingerprint
from experiments.rows import PLACE

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
# Two votes that elect, without another signal: by each other, and by the reference.
ELECTED: dict[str, dict[str, float]] = {
    "elected": {"scoring.alpha": 0.0, "scoring.information": 0.0},
    "elected by the reference": {"scoring.alpha": math.inf, "scoring.information": 0.0},
}
# System, decoding and split of a row.
Named = tuple[str, str, str]
# Keys that change no measured number; no study validates while it trains.
_IGNORED = ("runtime.", "report.", "systems", "guidance.guided.", "training.validation.")


@dataclass(frozen=True)
class System:
    """An arm of a study: what is tuned, and on how much.

    changes: dotted keys of params.yaml. documents, candidates: the first so many of the training
    documents, and of the candidates of each; None: all. at_base_length: its beams are decoded at
    base's length as well. control: the system that tables compare it with, the same steps on
    shuffled scores. label: its name in tables. tune: false elects by the scores and trains nothing.
    guidance: base writes with it (`GuidanceSettings`), and nothing is trained. after: an earlier
    system of the setting; its tuned model takes base's place: it writes new candidates, likelihoods
    are its own, and it is tuned again (a second round).
    """

    changes: Mapping[str, Any] = field(default_factory=dict)
    documents: int | None = None
    candidates: int | None = None
    at_base_length: bool = False
    control: str | None = None
    label: str | None = None
    tune: bool = True
    guidance: Mapping[str, Any] | None = None
    after: str | None = None


@dataclass(frozen=True)
class Chain:
    """One run of the whole pipeline in a setting, under a seed; `params` is its params.yaml."""

    setting: str
    seed: int
    params: Mapping[str, Any]
    systems: Mapping[str, System]
    decodings: Mapping[str, Mapping[str, Any]]
    environment: Mapping[str, str] = field(default_factory=dict)

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
        if not self.systems[name].tune:
            return list(product([name], [""], MEASURED))
        fitted = [(name, AT_BASE_LENGTH, "test")] if self.systems[name].at_base_length else []
        again = self.systems[name].after is not None
        elected = product([elected_before(name)], [""], MEASURED) if again else []
        return [*product([name], self.decodings, MEASURED), *fitted, *elected]

    def is_done(self, rows: pd.DataFrame) -> bool:
        """Whether all of its rows are among these."""
        wanted = [self.rows_untuned(), *map(self.rows_of, self.systems)]
        found = set(rows[PLACE].itertuples(index=False, name=None))
        return all((self.setting, self.seed, *named) in found for own in wanted for named in own)


@dataclass(frozen=True)
class StudyPlan:
    """A file of experiments/plans; folder: where the rows are kept, as NAME.csv."""

    name: str
    folder: Path
    systems: Mapping[str, System]
    chains: tuple[Chain, ...]

    @property
    def table(self) -> Path:
        """The CSV of its rows."""
        return self.folder / f"{self.name}.csv"

    @property
    def costs(self) -> Path:
        """What the steps of its chains cost."""
        return self.folder / f"{self.name}-costs.csv"

    @property
    def recorded(self) -> Path:
        """The settings that its rows were measured under."""
        return self.folder / f"{self.name}.json"


def elected_before(name: str) -> str:
    """The row of the candidates elected in a second round, before its tuning."""
    return f"elected in {name}"


def texts_of(named: Named) -> Path:
    """The file of the summaries that a row was measured on, a JSON list in the corpus' order.

    named: system, decoding and split.
    """
    return Path("texts") / f"{'-'.join(part for part in named if part)}.json".replace(" ", "-")


def read_plan(path: Path) -> StudyPlan:
    """Read the plan of a file; the chains of the first seed come first.

    Raises:
        BridoError: a setting, a control or an `after` names an unknown system, or a change an
            unknown key; a second round's first round is not named before it.
    """
    plan = read_yaml(path)
    raw, settings = read_preset(plan["preset"]), plan["settings"]
    systems = {name: System(**(values or {})) for name, values in plan["systems"].items()}
    named = [name for setting in settings.values() for name in setting["systems"]]
    others = {each for one in systems.values() for each in (one.control, one.after) if each}
    if missing := sorted({*named, *others} - set(systems)):
        raise BridoError(f"{path}: `systems` has no {', '.join(missing)}")
    for setting, values in settings.items():
        for place, name in enumerate(values["systems"]):
            first = systems[name].after
            if first and (first not in values["systems"][:place] or systems[first].after):
                raise BridoError(
                    f"{path}: {setting}: {name} goes on after {first}, so name that before it; it "
                    "must be no second round itself"
                )
    seeds = {name: setting.get("seeds", plan["seeds"]) for name, setting in settings.items()}
    chains = [
        _make_chain(name, seed, plan, raw, systems, f"{path}: {name}")
        for seed in dict.fromkeys(seed for own in seeds.values() for seed in own)
        for name in settings
        if seed in seeds[name]
    ]
    return StudyPlan(
        path.stem, Path(plan.get("folder", "metrics/evidence")), systems, tuple(chains)
    )


def _make_chain(
    setting: str,
    seed: int,
    plan: Mapping[str, Any],
    raw: Mapping[str, Any],
    systems: Mapping[str, System],
    place: str,
) -> Chain:
    """The chain of a setting under a seed; raw: the preset, place: what stands in errors."""
    own = plan["settings"][setting]
    params = changed(raw, {**plan.get("changes", {}), **own.get("changes", {})}, place)
    there = flatten(params)
    params = changed(params, {key: seed for key in SEEDS if key in there}, place)
    check_params(params, place)
    variables = {**plan.get("environment", {}), **own.get("environment", {})}
    environment = {key: str(value) for key, value in variables.items()}
    arms = {name: systems[name] for name in own["systems"]}
    return Chain(setting, seed, params, arms, plan["decodings"], environment)


def changed(params: Mapping[str, Any], changes: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A copy of params.yaml with dotted keys changed; BridoError where it lacks one."""
    copied = copy.deepcopy(dict(params))
    for key, value in changes.items():
        *sections, last = key.split(".")
        place: Any = copied
        for section in sections:
            place = place.get(section) if isinstance(place, dict) else None
        if not isinstance(place, dict) or last not in place:
            raise BridoError(f"{name}: params.yaml has no key {key}")
        place[last] = value
    return copied
