"""Which pairs of candidates are told apart clearly enough to train on. Arrays only."""

import numpy as np
from numpy.typing import NDArray

from brido.utils.errors import BridoError


def smallest_gap(scores: NDArray[np.floating], quantile: float) -> float:
    """The gap of two scores below which the share `quantile` of all gaps within documents lies.

    scores [D, N]; all N (N - 1) / 2 pairs of every document count, those with a NaN left out. Of n
    gaps in order it is the one at ceil(quantile * (n - 1)), counted from 0: one that occurs. 0 for
    quantile 0, where every pair is kept.

    Raises:
        BridoError: the quantile is no share below 1.
    """
    if not 0 <= quantile < 1:
        raise BridoError(f"quantile must be from 0 to below 1, not {quantile}")
    first, second = np.triu_indices(scores.shape[1], 1)
    gaps = abs(scores[:, first] - scores[:, second]).ravel()
    gaps = gaps[~np.isnan(gaps)]
    if quantile == 0 or not len(gaps):
        return 0.0
    return float(np.quantile(gaps, quantile, method="higher"))
