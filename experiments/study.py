"""The command of all studies: `python -m experiments.study PLAN`.

Each run is the pipeline in a folder of its own under build/studies, with a copy of the code. What
was made stays there: a study that was stopped goes on where it was, as `dvc repro` does.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import click
import pandas as pd
from ruamel.yaml import YAML

from brido.utils.atomic import write_text
from brido.utils.commands import invoke
from brido.utils.errors import BridoError, run_command
from brido.utils.progress import say
from experiments.numbers import systems_table
from experiments.plan import WORK, PlannedRun, StudyPlan, read_plan
from experiments.rows import (
    by_run,
    collect,
    read_rows,
    write_rows,
)

CODE = ("brido", "stages")
# One cache for all runs, so those that differ in a late stage share the early ones.
DVC_CONFIG = """\
[core]
    no_scm = true
    analytics = false
[cache]
    dir = {cache}
    type = "reflink,hardlink,copy"
"""


@click.command()
@click.argument("path", metavar="PLAN", type=click.Path(path_type=Path))
@click.option("--workers", default=1, show_default=True, help="runs at the same time")
@click.option("--show", is_flag=True, help="run nothing, show what has been measured")
def command(path: Path, workers: int, show: bool) -> None:
    """Run what is missing of PLAN, keep its rows in metrics/evidence, and print its tables.

    Runs with rows are not made again under the same settings.

    \b
    Example:
        python -m experiments.study experiments/plans/default.yaml --workers 2
    """
    plan = read_plan(path)
    if not show:
        run_plan(plan, workers)
    rows = read_rows(plan.table)
    if rows.empty:
        raise BridoError(f"{plan.table} has no rows; make them: python -m experiments.study {path}")
    for setting in rows.setting.unique():
        click.echo(f"**{setting}**\n\n{systems_table(rows[rows.setting == setting])}\n")


def run_plan(plan: StudyPlan, workers: int) -> None:
    """Run every run that has no rows; all failures are listed at the end."""
    check_settings(plan)
    known = by_run(read_rows(plan.table))
    waiting = [run for run in plan.runs if (run.setting, run.seed) not in known]
    say(f"study: {len(plan.runs)} runs, {len(plan.runs) - len(waiting)} done already")
    failures = []
    with ThreadPoolExecutor(workers) as pool:
        started = {pool.submit(repro, plan, run): run for run in waiting}
        for number, made in enumerate(as_completed(started), 1):
            run, (code, seconds) = started[made], made.result()
            if code:
                failures.append(f"{run.name}: see {plan.folder(run) / 'log'}")
            else:
                keep(plan, run, plan.folder(run))
            state = "failed" if code else f"done in {seconds:.0f} s"
            say(f"study: [{number}/{len(waiting)}] {run.name}: {state}")
    if failures:
        raise BridoError.from_problems("these failed; run again to continue:", failures)


def check_settings(plan: StudyPlan) -> None:
    """Refuse to add rows to those of the same setting under other values of params.yaml.

    A key that only one side has does not count: rows stay when a key is removed or added.
    """
    recorded, wrong = read_settings(plan.recorded), dict[str, list[str]]()
    for run in plan.runs:
        then = recorded.get(run.setting, {})
        keys = run.settings.keys() & then.keys()
        wrong[run.setting] = sorted(key for key in keys if run.settings[key] != then[key])
    if problems := [f"{name}: {', '.join(keys)}" for name, keys in wrong.items() if keys]:
        how = f"remove their rows from {plan.table} and {plan.recorded}, or rename the settings"
        raise BridoError.from_problems(f"measured under other values; {how}:", problems)


def prepare(folder: Path, run: PlannedRun) -> None:
    """Put the code, params.yaml and DVC's settings into a run's folder; its data stay."""
    for name in CODE:
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("dvc.yaml", ".dvcignore"):  # else Python's caches count as changed code
        shutil.copy(name, folder)
    write_text(folder / ".dvc/config", DVC_CONFIG.format(cache=(WORK / "cache").resolve()))
    with (folder / "params.yaml").open("w", encoding="utf-8") as stream:
        YAML().dump(run.params, stream)
    # Relative paths of the user's own files are relative to the project.
    if (own := Path("my")).is_dir() and not (folder / own).exists():
        (folder / own).symlink_to(own.resolve())


def repro(plan: StudyPlan, run: PlannedRun) -> tuple[int, float]:
    """Run the pipeline in a run's folder, or go on with it: its exit code and seconds."""
    folder, start = plan.folder(run), time.monotonic()
    prepare(folder, run)
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = os.environ | dict(run.environment) | {"PATH": programs}
    # The folder's own code, and its own unfinished work.
    for name in ("PYTHONPATH", "BRIDO_WORK"):
        environment.pop(name, None)
    with (folder / "log").open("a", encoding="utf-8") as log:
        made = subprocess.run(
            [sys.executable, "-m", "stages"], cwd=folder, env=environment, check=False,
            stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip
    return made.returncode, time.monotonic() - start


def keep(plan: StudyPlan, run: PlannedRun, folder: Path) -> None:
    """Add a finished run's rows and settings to the plan's files."""
    settings = read_settings(plan.recorded) | {run.setting: run.settings}
    write_text(plan.recorded, json.dumps(settings, indent=0) + "\n")
    kept, own = read_rows(plan.table), collect(folder, run.setting, run.seed)
    rows = pd.concat([kept, own]) if len(kept) else own
    write_rows(plan.table, rows.sort_values(["setting", "seed"], kind="stable"))


def read_settings(path: Path) -> dict[str, dict[str, Any]]:
    """Read which values of params.yaml each setting was measured under; empty without a file."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.study"))
