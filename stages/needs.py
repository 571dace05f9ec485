"""Stage needs: of which splits the orders of all systems need support and likelihood.

Stages support and likelihood depend on its two files and not on sections scoring and tuned: a
changed order that needs no more of them reruns neither.
"""

from collections.abc import Callable

from brido.settings.load import load_params
from brido.settings.params import Params
from brido.utils.atomic import write_text
from brido.utils.errors import run_command
from brido.utils.stored import json_text
from brido.vote.settings import ScoringSettings
from stages import paths


def main() -> None:
    """Write data/needs/{support,likelihood}.json."""
    params = load_params()
    orders = [params.scoring, *(params.scoring_of(name) for name in params.tuned)]
    needs = {
        "support": {"splits": splits_needed(params, lambda scoring: scoring.asks_support)},
        "likelihood": {
            "splits": splits_needed(params, lambda scoring: scoring.asks_likelihood),
            "prior": any(scoring.asks_prior for scoring in orders),
        },
    }
    for table, content in needs.items():
        write_text(paths.needs(table), json_text(content))


def splits_needed(params: Params, asks: Callable[[ScoringSettings], bool]) -> list[str]:
    """The splits whose candidates an order asks about."""
    if asks(params.scoring):  # of the system `elected` too
        return list(params.documents.splits)
    if any(asks(params.scoring_of(name)) for name in params.tuned):
        return list(paths.TUNING_SPLITS)
    return []


if __name__ == "__main__":
    run_command(main)
