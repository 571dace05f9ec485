"""pltrdy's ROUGE equals the package `rouge` 1.0.1 wherever that answers, and is 0 elsewhere."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge import Rouge

from brido.rouge import similarity_matrix
from brido.rouge.pltrdy import pltrdy_matrix

ORACLE = Rouge()
WORDS = [
    *("the", "The", "cat", "cats", "cat,", "a", "b", "é", "İ", ".", "...", "b.a"),
    *(" ", "\n", "\u2003"),
]
TEXT = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join),
    st.lists(st.sampled_from(["a", "b", "c", "d", "."]), max_size=90).map(" ".join),
    st.text(max_size=20),
    st.sampled_from(["", ".", "...", " ", "\n"]),
)


@settings(max_examples=150)
@given(st.lists(TEXT, min_size=1, max_size=3), st.lists(TEXT, min_size=1, max_size=3))
def test_every_number_equals_the_package(hypotheses, references):
    found = pltrdy_matrix(hypotheses, references)
    for (i, hypothesis), (j, reference) in itertools.product(
        enumerate(hypotheses), enumerate(references)
    ):
        try:
            expected = ORACLE.get_scores(hypothesis, reference)[0]
        except ValueError:
            expected = {measure: dict.fromkeys("fpr", 0) for measure in found}
        for measure, kind in itertools.product(found, "fpr"):
            assert found[measure][kind][i, j] == expected[measure][kind]


@pytest.mark.parametrize("combination", ["harmonic_r1_r2", "mean_r1_r2_rlsum"])
@pytest.mark.parametrize("value", ["fmeasure", "precision", "recall", "mean_f_precision"])
def test_similarity_combines_them(combination, value):
    texts = ["The cat sat. It slept.", "A cat sat down. It slept well.", "Dogs bark. The cat sat"]
    similarity = similarity_matrix(
        texts[:2], texts[2], combination, value=value, implementation="pltrdy"
    )
    for i, j in itertools.product(range(2), range(3)):
        if i == j:
            assert similarity[i, j] == 0
            continue
        scores = ORACLE.get_scores(texts[i], texts[j])[0]
        combined = []
        for kind in {"fmeasure": "f", "precision": "p", "recall": "r"}.get(value, "fp"):
            r1, r2, long = (scores[f"rouge-{n}"][kind] for n in "12l")
            harmonic = 2 * r1 * r2 / (r1 + r2) if r1 + r2 else 0.0
            combined.append((r1 + r2 + long) / 3 if "mean" in combination else harmonic)
        assert similarity[i, j] == np.float32(sum(combined) / len(combined))
