"""Stage check: what the orders of section `tuned` know, on validation documents.

Nothing depends on it: it tells what training can learn, and stage `choose` tells what it learned.
"""

from brido.settings.load import load_params
from brido.utils.errors import run_command
from brido.utils.progress import say
from brido.vote.evidence import write_check
from stages import paths


def main() -> None:
    """Write metrics/votes.json and print its sentences."""
    params = load_params()
    orders = {name: params.scoring_of(name) for name in params.tuned}
    check = write_check(paths.tables("validation"), orders, paths.pool_counts(), paths.VOTES)
    for line in check["lines"]:
        say(f"check: {line}")


if __name__ == "__main__":
    run_command(main)
