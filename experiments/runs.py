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
_MAKES_BASE = ("data.", "checkpoints.", "reading.", "decoding.", "evaluation.")

# (revision, path) -> the text of the file, None where there is none.
ReadFile = Callable[[str, str], str | None]


@dataclass(frozen=True)
class Run:
    """One run: its name, its flattened params (dotted keys), and its systems' estimates.

    `broken` says why a run has no numbers; it is empty for a finished run.
    """

    name: str
    params: dict[str, Any]
    systems: dict[str, Estimates]
    broken: str = ""


def compared(params: Mapping[str, Any]) -> dict[str, Any]:
    """Params as one level with dotted keys; what changes no number is left out."""
    return {key: _plain(value) for key, value in flatten(params).items()
            if not key.startswith(_IGNORED)}  # fmt: skip


def read_runs() -> list[Run]:
    """The workspace first, then every experiment of HEAD.

    Raises:
        BridoError: `dvc exp show` fails: no DVC project, no commit, or no dvc on the PATH.
    """
    command = ["dvc", "exp", "show", "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise BridoError("dvc is not on the PATH: activate .venv, or `make setup`") from None
    except subprocess.CalledProcessError as error:
        raise BridoError(f"`{' '.join(command)}` failed: {error.stderr.strip()}") from None
    return parse_runs(json.loads(done.stdout), read_file)


def parse_runs(shown: Sequence[Mapping[str, Any]], read: ReadFile) -> list[Run]:
    """The runs in the output of `dvc exp show --json`; `read` gives files of a revision."""
    runs = []
    for commit in shown:
        runs.append(_run(commit.get("name") or commit["rev"], commit, read))
        for experiment in commit.get("experiments") or []:
            # A running experiment shows its params beside the metrics of the commit below it.
            state = (experiment.get("executor") or {}).get("state", "success")
            for revision in experiment["revs"][:1]:
                name = revision.get("name") or experiment.get("name") or revision["rev"]
                runs.append(_run(name, revision, read, state))
    return runs


def _run(name: str, entry: Mapping[str, Any], read: ReadFile, state: str = "success") -> Run:
    files = (entry.get("data") or {}).get("params") or {}
    params = compared((files.get("params.yaml") or {}).get("data") or {})
    kept = json.loads(read(entry["rev"], INTERVALS) or '{"systems": {}}')
    broken = f"it is {state}" if state != "success" else ""
    if entry.get("error"):
        broken = entry["error"].get("msg", "it failed")
    elif not broken and not kept["systems"]:
        broken = "it has no metrics"
    elif not broken and (changed := stale_keys(params, read(entry["rev"], LOCK))):
        broken = f"its metrics are of other params ({', '.join(changed)})"
    systems = {} if broken else NAMED_ESTIMATES.validate_python(kept["systems"])
    return Run(name, params, systems, broken)


def stale_keys(params: Mapping[str, Any], lock: str | None) -> list[str]:
    """Keys whose value is not the one that dvc.lock (its text) says the metrics were made with."""
    # A key may stand at several stages, some of them of systems that are no longer there.
    used: dict[str, list[Any]] = {}
    for stage in (YAML(typ="safe").load(lock or "{}").get("stages") or {}).values():
        for key, value in compared((stage.get("params") or {}).get("params.yaml") or {}).items():
            used.setdefault(key, []).append(value)
    return sorted(key for key, value in params.items() if key in used and value not in used[key])


def read_file(revision: str, path: str) -> str | None:
    """A file of a revision (or of "workspace") as text, None where it has none."""
    if revision == "workspace":
        return Path(path).read_text(encoding="utf-8") if Path(path).is_file() else None
    command = ["git", "show", f"{revision}:{path}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def find_base(runs: Sequence[Run]) -> Run | None:
    """The first finished run whose base and reference are those of the first run's params.

    They depend on data, checkpoints, reading, decoding and evaluation, not on how tuned was made.
    """
    wanted, *others = (
        {key: value for key, value in run.params.items() if key.startswith(_MAKES_BASE)}
        for run in (runs[0], *runs)
    )
    found = zip(runs, others, strict=True)
    return next((run for run, own in found if not run.broken and own == wanted), None)


def find_run(runs: Sequence[Run], wanted: Mapping[str, Any]) -> Run | None:
    """The first finished run whose params equal those of the first run, but for `wanted`."""
    expected = runs[0].params | dict(wanted)
    return next((run for run in runs if not run.broken and run.params == expected), None)


def different_keys(left: Mapping[str, Any], right: Mapping[str, Any]) -> list[str]:
    """The keys in which two flattened settings differ, those that one side lacks included."""
    return sorted(key for key in left.keys() | right.keys() if left.get(key) != right.get(key))


def _plain(value: Any) -> Any:
    """A value as it is meant: YAML's infinity may come as a text."""
    infinite = isinstance(value, str) and value.strip().lower() in {"inf", ".inf"}
    return float("inf") if infinite else value
