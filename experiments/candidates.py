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
            found = {order: _share(*pair, lengths, tolerance) for order, pair in asked.items()}
            yield {"texts": f"{name}, {told}", "pairs": f"{pairs}", **found}


def _share(scores: np.ndarray, marks: np.ndarray, lengths: np.ndarray, tolerance: float) -> str:
    """`pair_accuracy` in per cent with its bootstrap interval over documents; all [D, N].

    marks: more is worse.
    """
    drawn = np.random.default_rng(0).integers(len(scores), size=(SAMPLES, len(scores)))
    shares = [pair_accuracy(scores[own], marks[own], lengths[own], tolerance)[0] for own in drawn]
    low, high = np.nanpercentile(shares, [2.5, 97.5])
    share, _ = pair_accuracy(scores, marks, lengths, tolerance)
    return f"{100 * share:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def _wide(rows: pd.DataFrame, values: pd.Series) -> np.ndarray:
    """Values of rows as [documents, candidates], NaN where a document has fewer."""
    return (
        rows.assign(value=values).pivot(index="id", columns="candidate", values="value").to_numpy()
    )
