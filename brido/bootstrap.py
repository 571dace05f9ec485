"""Bootstrap intervals over documents, the same resamples for every system and metric."""

import numpy as np
from numpy.typing import NDArray

# Resamples handled at once: bounds the memory at 100 x documents numbers.
_CHUNK = 100


def means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over documents of each column, NaN where a column has no number.

    values: [documents, columns], NaN where not measured.
    """
    measured = ~np.isnan(values)
    count = measured.sum(axis=0)
    total = np.where(measured, values, 0.0).sum(axis=0)
    return np.divide(total, count, out=np.full(values.shape[1], np.nan), where=count > 0)


def bootstrap_interval(
    values: NDArray[np.float64], samples: int, confidence: float, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Percentile bootstrap interval of each column's mean: (low [columns], high [columns]).

    Documents are drawn with replacement (Efron 1979); the draws depend on `seed`, `samples` and
    the number of documents alone, so that equal arguments give paired resamples. NaN is not
    measured and counts in no mean; a column without numbers gets NaN.
    """
    documents, columns = values.shape
    low = np.full(columns, np.nan)
    high = np.full(columns, np.nan)
    measured = ~np.isnan(values)
    some = measured.any(axis=0)
    if not some.any():
        return low, high
    weights = measured[:, some].astype(np.float64)
    filled = np.where(measured, values, 0.0)[:, some]
    random = np.random.default_rng(seed)
    draws = []
    for start in range(0, samples, _CHUNK):
        size = min(_CHUNK, samples - start)
        chosen = random.multinomial(documents, np.full(documents, 1 / documents), size)
        counts = chosen.astype(np.float64)
        total = counts @ weights
        draws.append(
            np.divide(counts @ filled, total, out=np.full_like(total, np.nan), where=total > 0)
        )
    tail = (1 - confidence) / 2
    resampled = np.concatenate(draws)
    low[some], high[some] = np.nanquantile(resampled, [tail, 1 - tail], axis=0)
    return low, high
