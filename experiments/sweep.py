"""Runs grids of named DVC experiments, one after the other: `make sweep`."""

import os
import subprocess
import time
from pathlib import Path

import click

from brido.utils.commands import invoke
from brido.utils.errors import BridoError, run_command
from brido.utils.progress import say
from brido.work.folder import work_root
from experiments.curves import draw_curves
from experiments.grid import CURVES, Experiment, load_experiments
from experiments.paper_fill import filled_tables
from experiments.paper_tables import show
from experiments.runs import Run, read_runs, same_params


@click.command()
@click.argument("grids", nargs=-1, type=click.Path(path_type=Path))
@click.option("--list", "only_list", is_flag=True, help="show what would run, run nothing")
def command(grids: tuple[Path, ...], only_list: bool) -> None:
    """Run the experiments of GRIDS (default: every grid for these data), then print the tables.

    Each is `dvc exp run --temp`: the workspace stays as it is. A run that exists with the same
    settings is skipped, so a stopped sweep continues where it was. All failures are listed at the
    end, with their logs.

    \b
    Example:
        python -m experiments.sweep experiments/grids/alpha.yaml --list
    """
    experiments = load_experiments(Path("params.yaml"), grids)
    runs = {run.name: run for run in read_runs()[1:]}
    waiting = [item for item in experiments if not finished(item, runs.get(item.name))]
    say(f"sweep: {len(experiments)} experiments, {len(experiments) - len(waiting)} done already")
    if only_list:
        for item in experiments:
            state = "to run" if item in waiting else "done"
            click.echo(f"{item.name:24} {state:7} {', '.join(item.changes)}")
        return
    failures = []
    for number, item in enumerate(waiting, 1):
        failure = run(item, f"{number}/{len(waiting)}", replace=item.name in runs)
        failures += [failure] if failure else []
    runs_now = read_runs()
    if not all(one.broken for one in runs_now):
        show(filled_tables(runs_now), runs_now)
        for path in draw_curves(CURVES, runs_now):
            click.echo(f"drawn: {path}")
    if failures:
        raise BridoError.from_problems(
            f"{len(failures)} of {len(waiting)} experiments failed; run again to try these only:",
            failures,
        )


def finished(experiment: Experiment, run: Run | None) -> bool:
    """Whether `run`, of the experiment's name, has metrics and the experiment's settings."""
    return run is not None and not run.broken and same_params(run.params, experiment.params)


def run(experiment: Experiment, place: str, replace: bool) -> str | None:
    """Run one experiment; None on success, else its name, its error and its log.

    `replace` removes an outdated run of the same name first.
    """
    log = work_root().resolve() / "sweep" / f"{experiment.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    say(f"sweep: [{place}] {experiment.name}: {', '.join(experiment.changes)}")
    start = time.monotonic()
    # Unfinished shards are kept with the workspace's, so that a stopped run resumes too; and the
    # user's relative paths (answers of a judge, files, models) are relative to this folder.
    environment = os.environ | {
        "BRIDO_WORK": str(work_root().resolve()),
        "BRIDO_HOME": str(Path.cwd()),
    }
    if replace:  # a killed run is listed as well, and there is nothing to remove
        subprocess.run(["dvc", "exp", "remove", experiment.name], check=False, capture_output=True)
    command = ["dvc", "exp", "run", "--temp", "--name", experiment.name]
    for change in experiment.changes:
        command += ["--set-param", change]
    with log.open("w", encoding="utf-8") as output:
        done = subprocess.run(
            command, stdout=output, stderr=subprocess.STDOUT, env=environment, check=False
        )
    if done.returncode == 0:
        say(f"sweep: [{place}] {experiment.name}: done in {time.monotonic() - start:.0f} s")
        return None
    say(f"sweep: [{place}] {experiment.name}: failed, see {log}")
    return f"{experiment.name}: {_last_words(log)} (log: {log})"


def _last_words(log: Path) -> str:
    """The first line of a log that names an error, else its last line."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8").splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["no output"])[0 if errors else -1]


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.sweep"))
