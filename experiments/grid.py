"""Grids of named DVC experiments as YAML, and the command that runs them: `make sweep`."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brido.settings.load import check_params, read_yaml
from brido.utils.errors import BridoError
from experiments.runs import compared

FOLDER = Path("experiments/grids")
CURVES = Path("metrics/sweep")
# The paper's data sets as params.yaml names them.
DATASETS = {"EdinburghNLP/xsum": "xsum", "abisee/cnn_dailymail": "cnndm"}
_KEYS = {"datasets", "runs"}
_NAMES = ("world", "own", "xsum", "cnndm")


@dataclass(frozen=True)
class Experiment:
    """One named run: the dotted keys that it changes, and the whole params that it then has."""

    name: str
    overrides: dict[str, Any]
    params: dict[str, Any]

    @property
    def changes(self) -> list[str]:
        """KEY=VALUE as `dvc exp run -S` takes them."""
        return [f"{key}={_text(value)}" for key, value in self.overrides.items()]


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"[{','.join(map(_text, value))}]"
    return str(value).lower() if isinstance(value, bool) else f"{value}"


def load_experiments(params_file: Path, files: Sequence[Path] = ()) -> list[Experiment]:
    """The experiments of `files`, in order; without files, of every grid that fits the data.

    A grid names the `datasets` it is meant for (world, own, xsum, cnndm); with none it runs only
    where it is named. The value N-1 stands for one less than the number of candidates of the same
    run.

    Raises:
        BridoError: every problem of every grid: unknown keys, bad values, a name used twice.
    """
    raw = read_yaml(params_file)
    check_params(raw, str(params_file))
    dataset = dataset_of(compared(raw))
    problems: list[str] = []
    found: dict[str, Experiment] = {}
    for path in files or sorted(FOLDER.glob("*.yaml")):
        grid = read_yaml(path)
        wrong = _grid_problems(grid)
        problems += [f"{path}: {problem}" for problem in wrong]
        if wrong or (not files and dataset not in grid["datasets"]):
            continue
        for name, overrides in grid["runs"].items():
            if name in found:
                problems.append(f"{path}: the name {name} is used twice")
                continue
            try:
                found[name] = _experiment(name, overrides, raw)
            except BridoError as error:
                problems.append(f"{path}: {error}")
    if problems:
        raise BridoError.from_problems("the sweep cannot start:", problems)
    return list(found.values())


def dataset_of(params: Mapping[str, Any]) -> str:
    """ "world", "xsum", "cnndm", or "own" for any other data (flattened params)."""
    source = params.get("data.source")
    if source == "hub":
        return DATASETS.get(params.get("data.hub.id", ""), "own")
    return "world" if source == "world" else "own"


def _grid_problems(grid: Any) -> list[str]:
    if not isinstance(grid, dict) or grid.keys() != _KEYS:
        return [f"must have the keys {', '.join(sorted(_KEYS))} and no others"]
    problems = []
    unknown = set(grid["datasets"] or ()) - set(_NAMES)
    if unknown:
        problems.append(f"datasets: {', '.join(sorted(unknown))} are none of {', '.join(_NAMES)}")
    if not isinstance(grid["runs"], dict) or not all(
        isinstance(item, dict) for item in grid["runs"].values()
    ):
        problems.append("runs must map each name to the keys that it changes")
    return problems


def _experiment(name: str, overrides: Mapping[str, Any], raw: Mapping[str, Any]) -> Experiment:
    plain = {key: value for key, value in overrides.items() if value != "N-1"}
    sources = changed(raw, plain, name)["generation"].values()
    half = sum(source["num_candidates"] for source in sources) - 1
    changes = {key: half if value == "N-1" else value for key, value in overrides.items()}
    params = changed(raw, changes, name)
    check_params(params, name)
    return Experiment(name, changes, compared(params))


def changed(params: Mapping[str, Any], changes: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A copy of params.yaml with dotted keys changed; BridoError where it lacks one."""
    copied = copy.deepcopy(dict(params))
    for key, value in changes.items():
        _set(copied, key, value, name)
    return copied


def _set(params: dict[str, Any], key: str, value: Any, name: str) -> None:
    *sections, last = key.split(".")
    place: Any = params
    for section in sections:
        place = place.get(section) if isinstance(place, dict) else None
    if not isinstance(place, dict) or last not in place:
        raise BridoError(f"{name}: params.yaml has no key {key}")
    place[last] = value
