"""Which order of one model's candidates agrees with readers: metrics/evidence/candidates.md."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from brido.vote.check import pair_accuracy
from experiments.numbers import Record
from experiments.rows import EVIDENCE

# What orders the candidates, higher is better.
ORDERS = {
    "vote": lambda rows: rows.vote,
    "reference": lambda rows: rows.reference,
    "shorter first": lambda rows: -rows.words,
    "share copied": lambda rows: rows.copied,
    "log p": lambda rows: rows.log_p,
    "log p a token": lambda rows: rows.log_p / rows.tokens,
    "fewer unsupported": lambda rows: -rows.unsupported,
}
SAMPLES = 1000


def candidates() -> Iterator[Record]:
    """Pairs that an order puts as the readers do, in per cent: of like lengths, and of any."""
    rows = pd.read_csv(EVIDENCE / "candidates.csv")
    rows = rows[rows.candidate >= 0]
    for name, own in rows.groupby("texts", sort=False):
        marks, lengths = _wide(own, own.counter + own.signer), _wide(own, own.words)
        asked = {order: (_wide(own, score(own)), marks) for order, score in ORDERS.items()}
        asked["a reader by the other"] = (_wide(own, -own.signer), _wide(own, own.counter))
        for told, tolerance in (("like lengths", 0.15), ("any", 1.0)):
            _, pairs = pair_accuracy(*asked["vote"], lengths, tolerance)
            found = {order: _shares(*pair, lengths, tolerance) for order, pair in asked.items()}
            gap = found["log p"] - found["vote"]
            texts = {order: _text(shares) for order, shares in found.items()}
            own_row = {"texts": f"{name}, {told}", "pairs": f"{pairs}"}
            yield own_row | texts | {"log p - vote": _text(gap, "+.1f")}


def _shares(
    scores: np.ndarray, marks: np.ndarray, lengths: np.ndarray, tolerance: float
) -> np.ndarray:
    """`pair_accuracy` in per cent: of all documents, then of bootstrap samples of them.

    scores, marks, lengths: [D, N]; marks: more is worse.
    """
    drawn = np.random.default_rng(0).integers(len(scores), size=(SAMPLES, len(scores)))
    samples = [np.arange(len(scores)), *drawn]
    one_by_one = (
        pair_accuracy(scores[own], marks[own], lengths[own], tolerance) for own in samples
    )
    return 100 * np.array([share for share, _ in one_by_one])


def _text(shares: np.ndarray, style: str = ".1f") -> str:
    """What `_shares` has found, or a difference of two, with its interval."""
    low, high = np.nanpercentile(shares[1:], [2.5, 97.5])
    return f"{shares[0]:{style}} [{low:{style}}, {high:{style}}]"


def _wide(rows: pd.DataFrame, values: pd.Series) -> np.ndarray:
    """Values of rows as [documents, candidates], NaN where a document has fewer."""
    return (
        rows.assign(value=values).pivot(index="id", columns="candidate", values="value").to_numpy()
    )
