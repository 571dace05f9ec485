"""Bootstrap intervals over documents, the same resamples for every system and metric."""

import numpy as np
from numpy.typing import NDArray

from brido.utils.arguments import as_numbers
from brido.utils.errors import ArgumentError

# An interval of fewer documents says too much: of one it has no width.
FEWEST = 20
# Resamples handled at once: bounds the memory at 100 x documents numbers.
_CHUNK = 100


def means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over documents of each column, NaN where a column has no number.

    values: [documents, columns], NaN where not measured.
    """
    values = _table(values)
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

    Raises:
        ArgumentError: values are no [documents, columns], samples are none, or confidence is no
            share such as 0.95.
    """
    values = _table(values)
    if samples < 1 or not 0 < confidence < 1:
        raise ArgumentError(
            f"samples ({samples}) must be at least 1, and confidence ({confidence}) between 0 and "
            "1, such as 0.95"
        )
    measured = ~np.isnan(values)
    filled = np.where(measured, values, 0.0)
    draws = resampled_ratios(filled, measured.astype(np.float64), samples, seed)
    return percentiles(draws, confidence)


def percentiles(
    draws: NDArray[np.float64], confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends (low [columns], high [columns]) between which the middle `confidence` of draws lies.

    draws [samples, columns], NaN where a draw has no number; NaN for a column without any.
    """
    low, high = (np.full(draws.shape[1], np.nan) for _ in range(2))
    some = ~np.isnan(draws).all(axis=0)
    if some.any():
        tail = (1 - confidence) / 2
        low[some], high[some] = np.nanquantile(draws[:, some], [tail, 1 - tail], axis=0)
    return low, high


def resampled_ratios(
    tops: NDArray[np.float64], bottoms: NDArray[np.float64], samples: int, seed: int
) -> NDArray[np.float64]:
    """sum(tops) / sum(bottoms) of each column in every resample of documents, [samples, columns].

    tops, bottoms: [documents, columns] of finite numbers. The draws are those of
    `bootstrap_interval`; a ratio whose lower sum is 0 is NaN.
    """
    documents = len(tops)
    if not documents:
        return np.full((samples, tops.shape[1]), np.nan)
    random = np.random.default_rng(seed)
    draws = []
    for start in range(0, samples, _CHUNK):
        size = min(_CHUNK, samples - start)
        chosen = random.multinomial(documents, np.full(documents, 1 / documents), size)
        counts = chosen.astype(np.float64)
        total = counts @ bottoms
        draws.append(
            np.divide(counts @ tops, total, out=np.full_like(total, np.nan), where=total > 0)
        )
    return np.concatenate(draws)


def _table(values: NDArray[np.float64]) -> NDArray[np.float64]:
    table = as_numbers("values", values, "[documents, columns]").astype(np.float64, copy=False)
    if table.ndim != 2:
        raise ArgumentError(
            f"values must be [documents, columns], not {list(table.shape)}; one column is "
            "values[:, None]"
        )
    return table
