"""Stage needs: of which splits the orders of all systems need support and likelihood.

Stages support and likelihood depend on its two files and not on sections scoring and tuned: a
changed order that needs no more of them reruns neither.
"""

import json

from brido.settings.load import load_params
from brido.settings.params import Params
from brido.utils.atomic import write_text
from brido.utils.errors import run_command
from brido.vote.settings import ScoringSettings
from stages import paths


def main() -> None:
    """Write data/needs/{support,likelihood}.json."""
    params = load_params()
    likelihood = splits_needed(params, "asks_likelihood")
    prior = any(scoring.asks_prior for scoring in _orders(params))
    files = {
        "support": {"splits": splits_needed(params, "asks_support")},
        "likelihood": {"splits": likelihood, "prior": prior},
    }
    for table, needs in files.items():
        write_text(paths.needs(table), json.dumps(needs, indent=2) + "\n")


def _orders(params: Params) -> list[ScoringSettings]:
    return [params.scoring, *map(params.scoring_of, params.tuned)]


def splits_needed(params: Params, asks: str) -> list[str]:
    """The splits whose candidates an order asks about; validation always, for the check.

    asks: the property of ScoringSettings that says so.
    """
    if getattr(params.scoring, asks):  # of the system `elected` too
        return list(params.documents.splits)
    tuned = any(getattr(params.scoring_of(name), asks) for name in params.tuned)
    return list(paths.TUNING_SPLITS) if tuned else ["validation"]


if __name__ == "__main__":
    run_command(main)
