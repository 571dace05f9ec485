"""The command of all studies: `python -m experiments.study PLAN`."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import click
import pandas as pd

from brido.report.style import COLOURS, MARKERS, drawing
from brido.utils.atomic import write_text
from brido.utils.commands import invoke
from brido.utils.errors import BridoError, run_command
from brido.utils.progress import say
from experiments.costs import collect_costs, costs
from experiments.numbers import gaps, interval
from experiments.plan import PLANS, Chain, StudyPlan, read_plan
from experiments.rows import (
    CHAIN,
    by_chain,
    chosen,
    read_rows,
    read_settings,
    write_rows,
    write_settings,
)
from experiments.tables import tables, usual

README = "README.md"
ROWS = "rows.csv"
HEAD = """\
# Tables of the studies

`python -m experiments.study --show experiments/plans/PLAN.yaml` prints all tables of a plan from
its rows, `PLAN.csv`, and writes its section here: a row for each setting, the first one's systems.

Shares are per cent of the test summaries, differences are points paired by document; brackets are
95 % bootstrap intervals over seeds and documents.

* `unsupported`: with at least one mention that the document does not support. `well-formed`: a
  sentence of the world's grammar. `good`: such a sentence with nothing unsupported in it.
* `- base`: minus base's own output, decoded in the same way (elected: base with beams).
  `- shuffled`: minus the control, the same steps on each document's scores, shuffled.
* `beams at base's length`: with the length penalty at which the system writes as many words as base
  on validation documents. `out of reach for 1`: under one seed no length penalty reaches it.
* `elected - base, validation` is what the check sees before anything is tuned."""


@click.command()
@click.argument("plans", nargs=-1, type=click.Path(path_type=Path))
@click.option("--show", is_flag=True, help="run nothing, show what has been measured")
@click.option("--workers", default=1, show_default=True, help="chains at the same time")
def command(plans: tuple[Path, ...], show: bool, workers: int) -> None:
    """Run the missing chains of PLANS (default: experiments/plans/world.yaml), print the tables.

    The rows are kept as CSV in metrics/ and are not measured again under the same settings. A
    stopped study continues where it was. README.md beside the rows has the first tables.

    \b
    Example:
        python -m experiments.study experiments/plans/control.yaml --workers 2
    """
    for path in plans or [PLANS / "world.yaml"]:
        plan = read_plan(path)
        if not show:
            run_plan(plan, path, workers)
        if not plan.table.is_file():
            raise BridoError(
                f"{plan.table} is missing; make it: python -m experiments.study {path}"
            )
        rows = read_rows(plan.table)
        click.echo("\n\n".join(tables(rows, plan)))
        if plan.costs.is_file():
            click.echo(f"\nMinutes of a processor for 1,000 documents\n\n{costs(plan.costs)}")
        write_section(plan.folder / README, plan.name, "\n\n".join(tables(rows, plan, whole=False)))
        if plan.name == "world":
            draw_plane(rows, plan.folder)


def draw_plane(rows: pd.DataFrame, folder: Path) -> None:
    """Write world.png and world.svg: a point for each chain, with 95 % intervals, in points.

    Across: elected minus base on validation documents. Up: tuned minus base on test documents.
    """
    with drawing(folder, "world", width=6.4, height=5.2) as axes:
        axis = axes[0, 0]
        axis.axhline(0, color="#444444", linewidth=1)
        axis.axvline(0, color="#444444", linewidth=1)
        for _, chain in by_chain(rows):
            way = usual(chain)
            found = (
                (chosen(chain, "elected", "", "validation"),
                 chosen(chain, "base", way, "validation")),
                (chosen(chain, "tuned", way), chosen(chain, "base", way)),
            )  # fmt: skip
            across, up = ([100 * value for value in interval(gaps(*two))] for two in found)
            axis.plot(across[1:], [up[0]] * 2, color=COLOURS[0], alpha=0.25, linewidth=0.8)
            axis.plot([across[0]] * 2, up[1:], color=COLOURS[0], alpha=0.25, linewidth=0.8)
            axis.plot(across[0], up[0], linestyle="", marker=MARKERS[0], color=COLOURS[0])
        # In the corners that are empty while the check is right.
        for corner, text in (((0.98, 0.02), "tuning helps"), ((0.17, 0.95), "tuning harms")):
            axis.text(*corner, text, transform=axis.transAxes, color="#444444", ha="right")
        axis.set_xlabel("elected - base, validation documents, points")
        axis.set_ylabel("tuned - base, test documents, points")
        axis.set_title("Summaries with something unsupported")


def write_section(path: Path, name: str, text: str) -> None:
    """Put a plan's first tables into the README beside its rows; the other plans' stay."""
    old = path.read_text(encoding="utf-8").split("\n## ")[1:] if path.is_file() else []
    sections = {part.partition("\n")[0]: f"## {part.strip()}" for part in old}
    sections[name] = f"## {name}\n\n{text}"
    write_text(path, "\n\n".join([HEAD, *(sections[key] for key in sorted(sections))]) + "\n")


def run_plan(plan: StudyPlan, path: Path, workers: int) -> None:
    """Run every chain that is not done; all failures are listed at the end."""
    _check_settings(plan)
    rows = read_rows(plan.table)
    waiting = [chain for chain in plan.chains if not chain.is_done(rows)]
    say(f"study: {len(plan.chains)} chains, {len(plan.chains) - len(waiting)} done already")
    failures = []
    with ThreadPoolExecutor(workers) as pool:
        runs = {pool.submit(_run_chain, chain, plan, path, workers): chain for chain in waiting}
        for number, run in enumerate(as_completed(runs), 1):
            seconds, failure = run.result()
            failures += [failure] if failure else []
            state = "failed" if failure else f"done in {seconds:.0f} s"
            collect(plan, runs[run])
            say(f"study: [{number}/{len(waiting)}] {runs[run].name}: {state}")
    if failures:
        raise BridoError.from_problems("these failed; run again to continue:", failures)


def _check_settings(plan: StudyPlan) -> None:
    """Refuse to add rows to those of the same setting under other values of params.yaml.

    A key that only one side has does not count: rows stay when a key is removed or added.
    """
    recorded = read_settings(plan.recorded)
    now = {chain.setting: chain.settings for chain in plan.chains}
    known = set(read_rows(plan.table).setting)
    wrong = {name: differences(now[name], recorded.get(name, {})) for name in known & now.keys()}
    problems = [f"{name}: {', '.join(keys)}" for name, keys in wrong.items() if keys]
    if problems:
        how = f"remove their rows from {plan.table}, or rename the settings"
        raise BridoError.from_problems(f"measured under other values; {how}:", problems)
    write_settings(plan.recorded, now | {name: recorded[name] for name in known & recorded.keys()})


def differences(now: Mapping[str, Any], then: Mapping[str, Any]) -> list[str]:
    """The keys that both have with different values."""
    return sorted(key for key in now.keys() & then.keys() if now[key] != then[key])


def _run_chain(chain: Chain, plan: StudyPlan, path: Path, workers: int) -> tuple[float, str]:
    """Run a chain in a process and a folder of its own: seconds, and what failed."""
    folder = chain.folder
    folder.mkdir(parents=True, exist_ok=True)
    # Relative paths of the user's own files are relative to the project.
    if (own := Path("my")).is_dir() and not (folder / own).exists():
        (folder / own).symlink_to(own.resolve())
    known = dict(by_chain(read_rows(plan.table))).get((chain.setting, chain.seed))
    if known is not None and not (folder / ROWS).is_file():
        write_rows(folder / ROWS, known)
    work = {"BRIDO_WORK": str((folder / "work").resolve())}
    environment = os.environ | dict(chain.environment) | work
    command = [sys.executable, "-m", "experiments.chain", str(path), chain.name, str(folder)]
    log, start = folder / "log", time.monotonic()
    with log.open("w", encoding="utf-8") as output:
        where = {} if workers == 1 else {"stdout": output, "stderr": subprocess.STDOUT}
        done = subprocess.run(command, env=environment, check=False, **where)
    failure = f"{chain.name}: see {'above' if workers == 1 else log}" if done.returncode else ""
    if done.returncode == -signal.SIGKILL:
        failure = f"{chain.name}: killed by the system; if memory ran out, take fewer --workers"
    return time.monotonic() - start, failure


def collect(plan: StudyPlan, chain: Chain) -> None:
    """Put a chain's rows into the plan's table."""
    own, others = read_rows(chain.folder / ROWS), read_rows(plan.table)
    if len(own):
        others = others[(others.setting != chain.setting) | (others.seed != chain.seed)]
        rows = pd.concat([others, own]) if len(others) else own
        write_rows(plan.table, rows.sort_values(CHAIN[::-1], kind="stable"))
    collect_costs(plan.costs, chain.setting, chain.seed, chain.folder)


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.study"))
