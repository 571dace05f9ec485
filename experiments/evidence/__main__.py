"""What the vote does on a real pretrained model, resumable: `make evidence`.

It runs the chains of experiments/evidence/plan.yaml as far as they are not done, one after the
other (sized for a GPU; laptop.yaml is for two cores, control.yaml for one), keeps what they
measured in metrics/evidence, prints the tables and draws the picture. What stands in that table
under the same settings is not measured again; stopped, it goes on.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from brido.utils.errors import BridoError, run_command
from brido.utils.progress import say
from experiments.evidence.chain import ROWS, folder_of, settings_of
from experiments.evidence.picture import draw
from experiments.evidence.plan import PLAN, Chain, read_chains
from experiments.evidence.records import Row, read_rows, write_rows
from experiments.evidence.room import room
from experiments.evidence.table import tables

FOLDER = Path("metrics/evidence")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, print the tables, draw the picture."""
    parser = argparse.ArgumentParser(prog="python -m experiments.evidence", description=__doc__)
    parser.add_argument("plan", nargs="?", type=Path, default=PLAN, help=f"default: {PLAN}")
    parser.add_argument("--show", action="store_true", help=f"run nothing, show what {FOLDER} has")
    options = parser.parse_args(arguments)
    table = FOLDER / f"{options.plan.stem}.csv"
    chains = read_chains(options.plan)
    if not options.show:
        for number, chain in enumerate(chains, 1):
            say(f"evidence: [{number}/{len(chains)}] {chain.name}")
            run_chain(chain, options.plan, table)
    elif not table.is_file():
        raise BridoError(f"{table} is missing: `make evidence` makes it")
    rows = read_rows(table)
    for text in tables(rows):
        print(text, end="\n\n")
    print(room(chains, rows))
    draw(FOLDER, options.plan.stem, rows, chains)


def run_chain(chain: Chain, plan: Path, table: Path) -> None:
    """Run a chain in a process and a folder of its own, and put its rows into the table."""
    folder = folder_of(chain)
    folder.mkdir(parents=True, exist_ok=True)
    # A chain runs in a folder of its own; files of one's own are named from here.
    if (own := Path("my")).is_dir() and not (folder / own).exists():
        (folder / own).symlink_to(own.resolve())
    before = read_rows(table) if table.is_file() else []
    mine = [row for row in before if row.params == settings_of(chain)]
    mine = [row for row in mine if (row.setting, row.seed) == (chain.setting, chain.seed)]
    if mine and not (folder / ROWS).is_file():
        write_rows(folder / ROWS, mine)
    environment = os.environ | {"BRIDO_WORK": str((folder / "work").resolve())}
    command = [sys.executable, "-m", "experiments.evidence.chain", chain.name, str(folder)]
    done = subprocess.run([*command, str(plan)], env=environment, check=False)
    if (folder / ROWS).is_file():
        _collect(chain, before, read_rows(folder / ROWS), table)
    if done.returncode:
        raise BridoError(f"{chain.name} failed (see above); started again, it goes on")


def _collect(chain: Chain, before: Sequence[Row], rows: Sequence[Row], table: Path) -> None:
    """Replace a chain's rows in the table."""
    place = (chain.setting, chain.seed)
    others = [row for row in before if (row.setting, row.seed) != place]
    write_rows(table, sorted([*others, *rows], key=lambda row: (row.seed, row.setting)))


if __name__ == "__main__":
    run_command(main)
