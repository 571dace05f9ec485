"""Finished runs, as `dvc exp show` knows them: settings, metrics, and intervals from Git."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brido.errors import BridoError
from brido.report.metrics import Estimate, Estimates, read_estimates

INTERVALS = "metrics/intervals.json"
_SYSTEMS = "metrics/systems/"
# Neither changes a number of a summary: runs that differ only here are the same run.
_IGNORED = ("runtime.", "report.")


@dataclass(frozen=True)
class Run:
    """One run: its name, its flattened params (dotted keys), and its systems' estimates.

    Where the run kept no intervals, an estimate's low and high equal its mean and its number of
    documents is 0. `broken` says why a run has no numbers, "" where it has.
    """

    name: str
    params: dict[str, Any]
    systems: dict[str, Estimates]
    broken: str = ""


def flatten(section: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings as one level with dotted keys; what changes no number is left out."""
    result: dict[str, Any] = {}
    for key, value in section.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            result |= flatten(value, f"{name}.")
        elif not name.startswith(_IGNORED):
            result[name] = value
    return result


def read_runs(root: Path = Path(), all_commits: bool = False) -> list[Run]:
    """The workspace first, then every experiment of HEAD (or of every commit).

    Raises:
        BridoError: `dvc exp show` fails: no DVC project, no commit, or no dvc on the PATH.
    """
    command = ["dvc", "exp", "show", "--json", *(["-A"] if all_commits else [])]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise BridoError("dvc is not on the PATH: activate .venv, or `make setup`") from None
    except subprocess.CalledProcessError as error:
        raise BridoError(f"`{' '.join(command)}` failed: {error.stderr.strip()}") from None
    return parse_runs(json.loads(done.stdout), lambda rev: read_intervals(root, rev))


def parse_runs(shown: Sequence[Mapping[str, Any]], intervals: Any) -> list[Run]:
    """The runs in the output of `dvc exp show --json`.

    `intervals(revision)` returns the parsed metrics/intervals.json of a revision, or None.
    """
    runs = []
    for commit in shown:
        name = commit.get("name") or commit["rev"][:7]
        runs.append(_run("workspace" if commit["rev"] == "workspace" else name, commit, intervals))
        for experiment in commit.get("experiments") or []:
            for revision in experiment["revs"][:1]:
                name = revision.get("name") or experiment.get("name") or revision["rev"][:7]
                runs.append(_run(name, revision, intervals))
    return runs


def _run(name: str, entry: Mapping[str, Any], intervals: Any) -> Run:
    data = entry.get("data") or {}
    files = data.get("params") or {}
    params = flatten((files.get("params.yaml") or {}).get("data") or {})
    found = {
        Path(path).stem: item["data"]
        for path, item in (data.get("metrics") or {}).items()
        if path.startswith(_SYSTEMS) and item.get("data")
    }
    if not found:
        error = (entry.get("error") or {}).get("msg", "") if entry.get("error") else ""
        return Run(name, params, {}, error or "it has no metrics")
    kept = intervals(entry["rev"]) or {"systems": {}}
    return Run(
        name,
        params,
        {
            system: _estimates(numbers, read_estimates(kept["systems"].get(system, {})))
            for system, numbers in found.items()
        },
    )


def _estimates(numbers: Mapping[str, Any], kept: Estimates) -> Estimates:
    """Means from the metrics file with the intervals that belong to exactly these means."""
    result: Estimates = {}
    for metric, columns in numbers.items():
        for name, mean in columns.items():
            item = kept.get(metric, {}).get(name)
            if item is None or item.mean != mean:
                item = Estimate(mean, mean, mean, 0)
            result.setdefault(metric, {})[name] = item
    return result


def read_intervals(root: Path, revision: str) -> dict[str, Any] | None:
    """metrics/intervals.json of a revision (or of "workspace"), None where it has none."""
    if revision == "workspace":
        path = root / INTERVALS
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    command = ["git", "show", f"{revision}:{INTERVALS}"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def find_run(runs: Sequence[Run], wanted: Mapping[str, Any]) -> Run | None:
    """The first finished run whose params equal those of the first run, but for `wanted`."""
    expected = dict(runs[0].params) | dict(wanted)
    for run in runs:
        if not run.broken and same_params(run.params, expected):
            return run
    return None


def same_params(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """Whether two flattened settings mean the same; 1, 1.0, inf and "inf" are compared as numbers.

    Keys that only one side has count as a difference.
    """
    if left.keys() != right.keys():
        return False
    return all(_plain(left[key]) == _plain(right[key]) for key in left)


def _plain(value: Any) -> Any:
    if isinstance(value, str) and value.strip().lower() in {"inf", ".inf"}:
        return float("inf")
    return value
