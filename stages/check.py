"""Stage check: what the orders of section `tuned` know, on validation documents.

Nothing depends on it: it tells what training can learn, and stage `choose` tells what it learned.
"""

from dataclasses import replace

from brido.settings.load import load_params
from brido.utils.errors import run_command
from brido.utils.progress import say
from brido.vote.evidence import write_check
from stages import paths


def main() -> None:
    """Write metrics/votes.json and print its sentences.

    Without a base (`none`) its own output and its likelihood are not known.
    """
    params = load_params()
    tables = paths.tables("validation")
    if tables.likelihood and paths.is_left_empty(tables.likelihood.parent):
        tables = replace(tables, likelihood=None, own=None)
    orders = {name: params.scoring_of(name) for name in params.tuned}
    check = write_check(tables, orders, paths.pool_counts(), paths.VOTES)
    for line in check["lines"]:
        say(f"check: {line}")


if __name__ == "__main__":
    run_command(main)
