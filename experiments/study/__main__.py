"""The embedded world's study, resumable: `make study`.

It runs the chains of experiments/study/plan.yaml that are not done, several at a time, keeps what
they measured in metrics/study, prints the tables and draws the picture. A chain that was
stopped starts again; what the table has of a chain under the same settings is not measured again:
remove the table and .brido/study after a change of the code.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from brido.settings.load import read_yaml
from brido.settings.presets import flatten
from brido.utils.errors import BridoError, run_command
from brido.utils.progress import say
from experiments.study.picture import draw
from experiments.study.plan import NATIVE, PLAN, Chain, read_chains, settings_of
from experiments.study.records import Row, read_rows, write_rows
from experiments.study.table import (
    among_well_formed,
    foretold,
    plane_table,
    repeat_table,
    summary_table,
)

WORK = Path(".brido/study")
FOLDER = Path("metrics/study")
TABLE = FOLDER / "chains.csv"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, print the tables, draw the picture."""
    parser = argparse.ArgumentParser(prog="python -m experiments.study", description=__doc__)
    parser.add_argument("plan", nargs="?", type=Path, default=PLAN, help=f"default: {PLAN}")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="chains at once")
    parser.add_argument("--show", action="store_true", help=f"run nothing, show {TABLE}")
    options = parser.parse_args(arguments)
    params = read_yaml(Path("params.yaml"))
    every = read_chains(options.plan, flatten(params))
    if not options.show:
        run_chains(params, every, options.plan, options.workers)
    elif not TABLE.is_file():
        raise BridoError(f"{TABLE} is missing: `make study` makes it")
    rows = read_rows(TABLE)
    for table in (summary_table, among_well_formed, repeat_table):
        print(table(rows, every[0]), end="\n\n")
    print(plane_table(rows), end="\n\n")
    print(foretold(rows))
    draw(FOLDER, rows)


def run_chains(params: Mapping[str, Any], every: Sequence[Chain], plan: Path, workers: int) -> None:
    """Run every chain that is not done; all failures are told at the end."""
    folders = {chain.name: WORK / f"{chain.name}-{settings_of(params, chain)}" for chain in every}
    _take_over({folders[chain.name]: chain for chain in every}, params)
    waiting = [chain for chain in every if not (folders[chain.name] / "rows.csv").is_file()]
    say(f"study: {len(every)} chains, {len(every) - len(waiting)} done already")
    failures = []
    with ThreadPoolExecutor(workers) as pool:
        started = {pool.submit(_run, chain, folders[chain.name], plan): chain for chain in waiting}
        for number, future in enumerate(as_completed(started), 1):
            seconds, failure = future.result()
            failures += [failure] if failure else []
            state = "failed" if failure else f"done in {seconds:.0f} s"
            say(f"study: [{number}/{len(waiting)}] {started[future].name}: {state}")
            _collect(folders.values())
    if failures:
        raise BridoError.from_problems(
            "these chains failed; run again to try these only:", failures
        )


def _take_over(every: Mapping[Path, Chain], params: Mapping[str, Any]) -> None:
    """Give back to their folders what the table has of chains under the same settings."""
    kept = read_rows(TABLE) if TABLE.is_file() else []
    for folder, chain in every.items():
        wanted = (*chain.key, settings_of(params, chain))
        rows = [row for row in kept if (*row.chain, row.params) == wanted]
        if rows and not (folder / "rows.csv").is_file():
            folder.mkdir(parents=True, exist_ok=True)
            write_rows(folder / "rows.csv", rows)


def _run(chain: Chain, folder: Path, plan: Path) -> tuple[float, str | None]:
    """Run a chain in a process of its own: seconds, and what went wrong."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = os.environ | {
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "BRIDO_WORK": str((folder / "work").resolve()),
    }
    if chain.processor != NATIVE:
        environment["ATEN_CPU_CAPABILITY"] = chain.processor
    command = [sys.executable, "-m", "experiments.study.chain", chain.name, str(folder), str(plan)]
    log, start = folder / "log", time.monotonic()
    with log.open("w", encoding="utf-8") as output:
        done = subprocess.run(
            command, stdout=output, stderr=subprocess.STDOUT, env=environment, check=False
        )
    if done.returncode:
        return time.monotonic() - start, f"{chain.name}: see {log}"
    for item in folder.iterdir():
        if item.is_dir():
            shutil.rmtree(item)
    return time.monotonic() - start, None


def _collect(folders: Iterable[Path]) -> None:
    """Put the rows of finished chains into one table."""
    finished = [folder / "rows.csv" for folder in folders if (folder / "rows.csv").is_file()]
    rows: list[Row] = [row for path in finished for row in read_rows(path)]
    write_rows(TABLE, rows)


if __name__ == "__main__":
    run_command(main)
