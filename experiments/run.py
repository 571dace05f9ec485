"""Runs grids of named DVC experiments, one after the other: `python -m experiments.run`.

Each run is `dvc exp run --temp`: the workspace stays as it is. A run that is there already, with
the very params it should have, is skipped, so a sweep that was stopped goes on where it was. A
failed run does not stop the others; all failures are listed at the end, with their logs.
"""

import argparse
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from brido.utils.errors import BridoError, run_command
from brido.utils.progress import say
from brido.work.folder import work_root
from experiments.curves import draw_curves
from experiments.grids import Experiment, load_experiments
from experiments.paper_tables import filled_tables
from experiments.render import terminal
from experiments.runs import Run, read_runs, same_params

CURVES = Path("metrics/sweep")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run every grid that fits the data, or the grids named, then print the tables."""
    parser = argparse.ArgumentParser(prog="python -m experiments.run", description=__doc__)
    parser.add_argument("grids", nargs="*", type=Path, help="files such as experiments/alpha.yaml")
    parser.add_argument("--list", action="store_true", help="show what would run, run nothing")
    options = parser.parse_args(arguments)
    experiments = load_experiments(Path("params.yaml"), options.grids)
    runs = {run.name: run for run in read_runs()[1:]}
    waiting = [item for item in experiments if not finished(item, runs.get(item.name))]
    say(f"sweep: {len(experiments)} experiments, {len(experiments) - len(waiting)} done already")
    if options.list:
        for item in experiments:
            state = "to run" if item in waiting else "done"
            print(f"{item.name:24} {state:7} {', '.join(item.changes)}")
        return
    failures = []
    for number, item in enumerate(waiting, 1):
        failure = run(item, f"{number}/{len(waiting)}", replace=item.name in runs)
        failures += [failure] if failure else []
    runs_now = read_runs()
    if not all(one.broken for one in runs_now):
        print(terminal(filled_tables(runs_now)), end="")
        for path in draw_curves(CURVES, runs_now):
            print(f"drawn: {path}")
    if failures:
        raise BridoError.from_problems(
            f"{len(failures)} of {len(waiting)} experiments failed; run again to try these only:",
            failures,
        )


def finished(experiment: Experiment, run: Run | None) -> bool:
    """Whether `run`, found under the experiment's name, is it: with metrics and its params."""
    return run is not None and not run.broken and same_params(run.params, experiment.params)


def run(experiment: Experiment, place: str, replace: bool) -> str | None:
    """Run one experiment; None when it went well, else its name, last words and log.

    `replace` removes an outdated run of the same name first.
    """
    log = work_root().resolve() / "sweep" / f"{experiment.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    say(f"sweep: [{place}] {experiment.name}: {', '.join(experiment.changes)}")
    start = time.monotonic()
    # Unfinished shards are kept with the workspace's, so that a stopped run resumes as well; and
    # what the user's relative paths name (answers of a judge, files, models) stays in one place.
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
    run_command(main)
