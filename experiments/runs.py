"""Finished runs: their settings, as `dvc exp show` knows them, and their numbers, from Git."""

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from brido.report.metrics import NAMED_ESTIMATES, Estimates
from brido.settings.presets import flatten
from brido.utils.errors import BridoError

INTERVALS = "metrics/intervals.json"
LOCK = "dvc.lock"
# Neither changes a number of a summary: runs that differ only here are the same run.
_IGNORED = ("runtime.", "report.")
_MAKES_BASE = ("data.", "text.", "checkpoints.", "reading.", "decoding.", "evaluation.")

# (revision, path) -> the text of the file, None where there is none.
ReadFile = Callable[[str, str], str | None]


@dataclass(frozen=True)
class Run:
    """One run: its name, its flattened params (dotted keys), and its systems' estimates.

    `broken` says why a run has no numbers, "" where it has. `base`: which base they belong to
    (see `brido.report`), "" if an older version made them.
    """

    name: str
    params: dict[str, Any]
    systems: dict[str, Estimates]
    broken: str = ""
    base: str = ""


def compared(params: Mapping[str, Any]) -> dict[str, Any]:
    """Params as one level with dotted keys; what changes no number is left out."""
    leaves = flatten(params)
    return {key: value for key, value in leaves.items() if not key.startswith(_IGNORED)}


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
    return parse_runs(json.loads(done.stdout), lambda *place: read_file(root, *place))


def parse_runs(shown: Sequence[Mapping[str, Any]], read: ReadFile) -> list[Run]:
    """The runs in the output of `dvc exp show --json`; `read` gives files of a revision."""
    runs = []
    for commit in shown:
        name = commit.get("name") or _short(commit["rev"])
        runs.append(_run(name, commit, read))
        for experiment in commit.get("experiments") or []:
            # A running experiment shows its params beside the metrics of the commit below it.
            state = (experiment.get("executor") or {}).get("state", "success")
            for revision in experiment["revs"][:1]:
                name = revision.get("name") or experiment.get("name") or _short(revision["rev"])
                broken = "" if state == "success" else f"it is {state}"
                runs.append(_run(name, revision, read, broken))
    return runs


def _short(revision: str) -> str:
    return revision if revision == "workspace" else revision[:7]


def _run(name: str, entry: Mapping[str, Any], read: ReadFile, broken: str = "") -> Run:
    data = entry.get("data") or {}
    files = data.get("params") or {}
    params = compared((files.get("params.yaml") or {}).get("data") or {})
    kept = json.loads(read(entry["rev"], INTERVALS) or '{"systems": {}}')
    if entry.get("error"):
        broken = entry["error"].get("msg", "it failed")
    elif not broken and not kept["systems"]:
        broken = "it has no metrics"
    elif not broken:
        changed = stale_keys(params, read(entry["rev"], LOCK))
        broken = f"its metrics are of other params ({', '.join(changed)})" if changed else ""
    if broken:
        return Run(name, params, {}, broken)
    systems = NAMED_ESTIMATES.validate_python(kept["systems"])
    return Run(name, params, systems, base=kept.get("base", ""))


def different_bases(runs: Sequence[Run]) -> str:
    """A sentence where runs that stand together are of different bases, else ""."""
    names: dict[str, dict[str, None]] = {}
    for run in runs:
        names.setdefault(run.base or "unknown", {})[run.name] = None
    if len(names) < 2:
        return ""
    listed = "; ".join(f"{base}: {', '.join(of)}" for base, of in names.items())
    return (
        f"rows of different bases ({listed}): another machine or training made them, and what "
        "differs between them is not the settings alone"
    )


def stale_keys(params: Mapping[str, Any], lock: str | None) -> list[str]:
    """Keys whose value is not the one that dvc.lock (its text) says the metrics were made with."""
    if lock is None:
        return []
    # A key may stand at several stages, some of them of systems that are no longer there.
    used: dict[str, list[Any]] = {}
    for stage in (YAML(typ="safe").load(lock).get("stages") or {}).values():
        for key, value in compared((stage.get("params") or {}).get("params.yaml") or {}).items():
            used.setdefault(key, []).append(_plain(value))
    return sorted(
        key for key, value in params.items() if key in used and _plain(value) not in used[key]
    )


def read_file(root: Path, revision: str, path: str) -> str | None:
    """A file of a revision (or of "workspace") as text, None where it has none."""
    if revision == "workspace":
        file = root / path
        return file.read_text(encoding="utf-8") if file.is_file() else None
    command = ["git", "show", f"{revision}:{path}"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def find_base(runs: Sequence[Run]) -> Run | None:
    """The first finished run whose base and reference are those of the first run's params.

    They depend on data, checkpoints, reading, decoding and evaluation, not on how tuned was made.
    """
    wanted = _of_base(runs[0].params)
    for run in runs:
        if not run.broken and same_params(_of_base(run.params), wanted):
            return run
    return None


def _of_base(params: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in params.items() if key.startswith(_MAKES_BASE)}


def find_run(runs: Sequence[Run], wanted: Mapping[str, Any]) -> Run | None:
    """The first finished run whose params equal those of the first run, but for `wanted`."""
    expected = dict(runs[0].params) | dict(wanted)
    for run in runs:
        if not run.broken and same_params(run.params, expected):
            return run
    return None


def same_params(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """Whether two flattened settings mean the same; 1, 1.0, inf and "inf" are compared as numbers.

    A key that only one side has is a difference.
    """
    return not different_keys(left, right)


def different_keys(left: Mapping[str, Any], right: Mapping[str, Any]) -> list[str]:
    """The keys in which two flattened settings differ, see `same_params`."""
    return [
        key
        for key in sorted(left.keys() | right.keys())
        if key not in left or key not in right or _plain(left[key]) != _plain(right[key])
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, str) and value.strip().lower() in {"inf", ".inf"}:
        return float("inf")
    return value
