"""How much the candidates of a document differ."""

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brido.candidates.diversity import distinct_candidates, mean_pairwise_similarity


def naive_similarity(candidates):
    values = []
    for one, other in itertools.combinations(candidates, 2):
        a, b = one.lower().split(), other.lower().split()
        common = sum((Counter(a) & Counter(b)).values())
        values.append(2 * common / (len(a) + len(b)) if a or b else 1.0)
    return sum(values) / len(values)


@given(
    st.lists(st.lists(st.sampled_from(["a", "b", "B", "c"]), max_size=6), min_size=2, max_size=6)
)
def test_similarity_equals_plain_counting(words):
    candidates = [" ".join(text) for text in words]
    assert mean_pairwise_similarity(candidates) == pytest.approx(naive_similarity(candidates))
    assert distinct_candidates(candidates) == len(set(candidates))
