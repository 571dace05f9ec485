"""What the steps of a chain cost: processor seconds, kept in costs.csv of the chain's folder.

A study puts those of its chains into NAME-costs.csv beside its rows.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from brido.utils.atomic import write_text

COSTS = Path("costs.csv")
COLUMNS = ["step", "documents", "seconds"]


@contextmanager
def timed(step: str, documents: Callable[[], int]) -> Iterator[None]:
    """Note what the block takes of the processor, all threads of this process together.

    documents: counts, after the block, those that it went through.
    """
    start = time.process_time()
    yield
    seconds = time.process_time() - start
    made = pd.DataFrame([[step, documents(), round(seconds, 1)]], columns=COLUMNS)
    known = [pd.read_csv(COSTS)] if COSTS.is_file() else []
    write_text(COSTS, pd.concat([*known, made]).to_csv(index=False))


def collect_costs(table: Path, setting: str, seed: int, folder: Path) -> None:
    """Put what a chain's steps cost into a study's table, instead of what is there of the chain."""
    if not (folder / COSTS).is_file():
        return
    own = pd.read_csv(folder / COSTS)
    # A step that went on after a kill took less than it costs.
    own = own.sort_values(["documents", "seconds"]).groupby("step", as_index=False).last()
    own.insert(0, "setting", setting)
    own.insert(1, "seed", seed)
    if table.is_file():
        known = pd.read_csv(table)
        other = (known.setting != setting) | (known.seed != seed)
        own = pd.concat([known[other], own])
    write_text(table, own.sort_values(["seed", "setting"], kind="stable").to_csv(index=False))


def minutes(table: Path) -> pd.DataFrame:
    """Minutes of one processor for 1,000 documents: a row a step, a column a setting, means."""
    rows = pd.read_csv(table)
    rows["minutes"] = rows.seconds / rows.documents * 1000 / 60
    return rows.pivot_table("minutes", "step", "setting", sort=False)


def costs(table: Path) -> str:
    """The same as a table."""
    return minutes(table).map("{:.1f}".format, na_action="ignore").fillna("").to_markdown()
