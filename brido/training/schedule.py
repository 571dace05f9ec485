"""Learning rates as functions of the update alone: nothing to store, nothing to restore."""

from typing import Literal

Schedule = Literal["noam", "linear"]


def warmup_updates(warmup: float, total: int) -> int:
    """Return `warmup_steps` as updates of a run of `total`; below 1 it is the share of them."""
    return round(warmup * total) if warmup < 1 else int(warmup)


def learning_rate(
    update: int, total: int, highest: float, warmup: int, schedule: Schedule
) -> float:
    """Return the learning rate of `update` (1 to total).

    noam, as BRIO writes it: highest * min(update^-0.5, update * warmup^-1.5). `highest` is a factor
    here: the largest rate, at update = warmup, is highest / sqrt(warmup) (2e-3 and 10,000: 2e-5).
    linear: from highest / warmup up to highest at update = warmup, then straight down to
    highest / (total - warmup) at the last update.
    """
    if schedule == "noam":
        rising = update * warmup**-1.5 if warmup else float("inf")
        return highest * min(update**-0.5, rising)
    if update <= warmup:
        return highest * update / warmup
    return highest * (total - update + 1) / (total - warmup)
