"""The paper's Tables 1 to 4 with our numbers: `python -m experiments.paper_tables`.

Reads `dvc exp show`: the workspace and every experiment of the current commit. A row is filled by
the run whose params are the workspace's but for the row's own (alpha, eta). Below each number
stands its interval, below each row the paper's numbers where the data set is the paper's.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from brido.utils.atomic import write_text
from brido.utils.errors import BridoError, run_command
from experiments.curves import draw_curves
from experiments.layouts import FilledTable, fill, layouts_for
from experiments.render import RENDERERS, terminal
from experiments.runs import Run, read_runs


def main(arguments: Sequence[str] | None = None) -> None:
    """Print or write the tables that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m experiments.paper_tables", description=__doc__)
    # No `choices`: Python 3.11 checks them against the empty list as well.
    parser.add_argument("tables", nargs="*", type=int, metavar="1|2|3|4",
                        help="which tables (all)")  # fmt: skip
    parser.add_argument("--format", choices=RENDERERS, default="terminal")
    parser.add_argument("--output", type=Path, help="a file instead of the terminal")
    parser.add_argument("--curves", type=Path, metavar="FOLDER",
                        help="also draw the alpha and eta curves there")  # fmt: skip
    parser.add_argument("--all-commits", action="store_true",
                        help="experiments of all commits, not of the current one")  # fmt: skip
    options = parser.parse_args(arguments)
    if not set(options.tables) <= {1, 2, 3, 4}:
        parser.error("the paper's tables are 1, 2, 3 and 4")
    runs = read_runs(all_commits=options.all_commits)
    tables = [
        table
        for table in filled_tables(runs)
        if not options.tables or table.number in options.tables
    ]
    if options.format == "terminal" and options.output is None:
        text = terminal(tables, colour=sys.stdout.isatty())
    else:
        text = RENDERERS[options.format](tables)
    if options.output is None:
        print(text, end="")
    else:
        write_text(options.output, text)
    if options.curves is not None:
        for path in draw_curves(options.curves, runs):
            print(f"drawn: {path}", file=sys.stderr)


def filled_tables(runs: Sequence[Run]) -> list[FilledTable]:
    """The paper's four tables filled from `runs`, the workspace first.

    Raises:
        BridoError: no run has numbers, with the reason for each.
    """
    if all(run.broken for run in runs):
        reasons = [f"{run.name}: {run.broken}" for run in runs]
        raise BridoError.from_problems("no run has numbers; `dvc repro` makes them:", reasons)
    return [fill(layout, runs) for layout in layouts_for(runs[0].params)]


if __name__ == "__main__":
    run_command(main)
