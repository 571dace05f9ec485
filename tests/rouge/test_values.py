"""Hits and lengths to values, against rouge_score's arithmetic written out in Python's floats."""

import numpy as np
import pytest

from brido.rouge import values

KINDS = {
    "fmeasure": values.FMEASURE,
    "precision": values.PRECISION,
    "recall": values.RECALL,
    "mean_f_precision": values.MEAN_F_PRECISION,
}


def value(hits, predicted, wanted, kind):
    """One measure of a pair, as `rouge_score.scoring` and `rouge_scorer` have it."""
    precision = hits / max(predicted, 1)
    recall = hits / max(wanted, 1)
    if kind == "fmeasure":
        total = precision + recall
        return 2 * precision * recall / total if total > 0 else 0.0
    return precision if kind == "precision" else recall


def combined(hits, predicted, wanted, kind):
    """R of a pair: hits of ROUGE-1, ROUGE-2 and, for the mean of three, ROUGE-Lsum."""
    if kind == "mean_f_precision":
        parts = [combined(hits, predicted, wanted, one) for one in ("fmeasure", "precision")]
        return sum(parts) / 2
    first = value(hits[0], predicted, wanted, kind)
    second = value(hits[1], predicted - 1, wanted - 1, kind)
    if len(hits) == 3:
        return (first + second + value(hits[2], predicted, wanted, kind)) / 3
    return 2 * first * second / (first + second) if first + second > 0 else 0.0


def drawn(seed, documents, measures, size):
    """Lengths with empty texts and single words among them, and hits that such texts can have."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(0, 9, (documents, size + 1)).astype(np.int32)
    hits = np.zeros((documents, measures, size, size + 1), np.int32)
    for document, one in enumerate(lengths):
        for row in range(size):
            for column in range(size + 1):
                most = max(min(one[row], one[column]), 0)
                for measure, limit in enumerate((most, max(most - 1, 0), most)[:measures]):
                    hits[document, measure, row, column] = generator.integers(0, limit + 1)
        # Shared n-grams are the same both ways; the positions that ROUGE-Lsum marks are not.
        for measure in range(2):
            for row in range(size):
                hits[document, measure, row, :row] = hits[document, measure, :row, row]
    return hits, lengths


@pytest.mark.parametrize("measures", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_similarity_is_the_arithmetic_written_out_and_rounded_once(size, kind, measures):
    hits, lengths = drawn(size, 12, measures, size)
    found = np.full((12, size, size + 1), np.nan, np.float32)
    values.fill_similarity(hits, lengths, KINDS[kind], found)
    for (document, row, column), number in np.ndenumerate(found):
        predicted, wanted = int(lengths[document, row]), int(lengths[document, column])
        pair = [int(count) for count in hits[document, :, row, column]]
        expected = 0.0 if row == column else combined(pair, predicted, wanted, kind)
        assert number == np.float32(expected), (document, row, column)


@pytest.mark.parametrize("kind", ["fmeasure", "precision", "recall"])
def test_values_are_the_arithmetic_written_out(kind):
    hits, lengths = drawn(0, 6, 2, 5)
    for document in range(6):
        predicted, wanted = lengths[document, :5].astype(np.int64), lengths[document].astype(int)
        found = np.full((5, 6), np.nan)
        values.fill_values(hits[document, 0], predicted, wanted, KINDS[kind], found)
        for (row, column), number in np.ndenumerate(found):
            pair = int(hits[document, 0, row, column]), int(predicted[row]), int(wanted[column])
            assert number == value(*pair, kind)
