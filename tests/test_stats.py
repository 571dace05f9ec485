"""Bootstrap means and intervals against a slow version and against scipy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from brido.stats import bootstrap_interval, means

VALUES = st.lists(
    st.lists(st.one_of(st.none(), st.floats(-50, 50)), min_size=2, max_size=2),
    min_size=1,
    max_size=12,
)


def table(rows):
    return np.array([[np.nan if cell is None else cell for cell in row] for row in rows])


@given(VALUES)
def test_means_are_over_the_documents_that_have_a_number(rows):
    found = means(table(rows))
    for index in range(2):
        numbers = [row[index] for row in rows if row[index] is not None]
        if numbers:
            assert found[index] == pytest.approx(sum(numbers) / len(numbers), abs=1e-9)
        else:
            assert np.isnan(found[index])


@settings(max_examples=40)
@given(VALUES, st.integers(0, 5))
def test_interval_equals_the_slow_version(rows, seed):
    # 130 samples: more than one chunk of resamples.
    values = table(rows)
    low, high = bootstrap_interval(values, 130, 0.9, seed)
    random = np.random.default_rng(seed)
    count = len(rows)
    draws = [random.multinomial(count, [1 / count] * count) for _ in range(130)]
    for index in range(2):
        resampled = []
        for draw in draws:
            drawn = [
                row[index]
                for row, times in zip(rows, draw, strict=True)
                for _ in range(times)
                if row[index] is not None
            ]
            if drawn:
                resampled.append(sum(drawn) / len(drawn))
        if not resampled:
            assert np.isnan(low[index])
            assert np.isnan(high[index])
            continue
        expected = np.quantile(resampled, [0.05, 0.95])
        assert [low[index], high[index]] == pytest.approx(expected, abs=1e-9)


def test_interval_agrees_with_scipy_on_many_documents():
    values = np.random.default_rng(1).gamma(2.0, 3.0, 400)
    low, high = bootstrap_interval(values[:, None], 4000, 0.95, 0)
    other = stats.bootstrap((values,), np.mean, n_resamples=4000, method="percentile", rng=2)
    width = other.confidence_interval.high - other.confidence_interval.low
    assert low[0] == pytest.approx(other.confidence_interval.low, abs=0.08 * width)
    assert high[0] == pytest.approx(other.confidence_interval.high, abs=0.08 * width)


def test_no_documents_have_neither_means_nor_intervals():
    none = np.zeros((0, 2))
    assert np.isnan([means(none), *bootstrap_interval(none, 130, 0.9, 0)]).all()
