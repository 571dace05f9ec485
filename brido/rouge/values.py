"""Hits and lengths to ROUGE values, with rouge_score's operations in rouge_score's order."""

import numpy as np

from brido.rouge.vectors import ROOM, compiled, entry, inlined

FMEASURE, PRECISION, RECALL, MEAN_F_PRECISION = range(4)


@inlined(error_model="numpy")
def _value(hits, predicted, wanted, value):
    """One pair; `predicted` and `wanted` are the n-grams of prediction and target."""
    precision = hits / max(predicted, 1)
    recall = hits / max(wanted, 1)
    if value == PRECISION:
        return precision
    if value == RECALL:
        return recall
    total = precision + recall
    quotient = 2 * precision * recall / total
    return quotient if total > 0 else 0.0


@entry(error_model="numpy")
def fill_values(hits, predicted, wanted, value, values, room=ROOM):
    """Fill values float64 [predictions, targets] from hits int32 of the same shape.

    predicted int64 [predictions], wanted int64 [targets]: how many n-grams the texts have.
    """
    for row in range(len(predicted)):
        for column in range(len(wanted)):
            values[row, column] = _value(hits[row, column], predicted[row], wanted[column], value)


@inlined(error_model="numpy")
def _harmonic(first, second):
    total = first + second
    quotient = 2 * first * second / total
    return quotient if total > 0 else 0.0


@inlined(error_model="numpy")
def _combined(hits, row, column, predicted, wanted, value):
    """R of one pair: the mean of three measures, or the harmonic mean of two."""
    first = _value(hits[0, row, column], predicted, wanted, value)
    second = _value(hits[1, row, column], predicted - 1, wanted - 1, value)
    if len(hits) == 2:
        return _harmonic(first, second)
    return (first + second + _value(hits[2, row, column], predicted, wanted, value)) / 3


@compiled(error_model="numpy")
def _fill_fmeasures(hits, sizes, totals, similarity):
    """As fill_similarity for F-measures and one document; totals float64 [N + 1] is scratch.

    Those of ROUGE-1 and ROUGE-2 are the same in both directions, and division is what costs. The
    loops along a row are apart from those along a column so that they become vector code.
    """
    last = similarity.shape[0]
    for row in range(last):
        count = sizes[row]
        for column in range(row + 1, last + 1):
            first = _value(hits[0, row, column], count, sizes[column], FMEASURE)
            second = _value(hits[1, row, column], count - 1, sizes[column] - 1, FMEASURE)
            totals[column] = _harmonic(first, second) if len(hits) == 2 else first + second
        if len(hits) == 2:
            for column in range(row + 1, last + 1):
                similarity[row, column] = np.float32(totals[column])
            for column in range(row + 1, last):
                similarity[column, row] = np.float32(totals[column])
        else:
            for column in range(row + 1, last + 1):
                third = _value(hits[2, row, column], count, sizes[column], FMEASURE)
                similarity[row, column] = np.float32((totals[column] + third) / 3)
            for column in range(row + 1, last):
                third = _value(hits[2, column, row], sizes[column], count, FMEASURE)
                similarity[column, row] = np.float32((totals[column] + third) / 3)


@entry(error_model="numpy")
def fill_similarity(hits, lengths, value, similarity, room=ROOM):
    """Fill similarity float32 [documents, N, N + 1]; the diagonal gets 0.

    hits int32 [documents, measures, N, N + 1]: ROUGE-1, ROUGE-2 and, for CNN/DM's combination,
    ROUGE-Lsum; lengths int32 [documents, N + 1].
    """
    totals = np.empty(similarity.shape[2])
    for document in range(len(hits)):
        found, sizes, filled = hits[document], lengths[document], similarity[document]
        if value == FMEASURE:
            _fill_fmeasures(found, sizes, totals, filled)
        else:
            for row in range(filled.shape[0]):
                for column in range(filled.shape[1]):
                    predicted, wanted = sizes[row], sizes[column]
                    if value == MEAN_F_PRECISION:
                        total = _combined(found, row, column, predicted, wanted, FMEASURE)
                        total += _combined(found, row, column, predicted, wanted, PRECISION)
                        filled[row, column] = np.float32(total / 2)
                    else:
                        combined = _combined(found, row, column, predicted, wanted, value)
                        filled[row, column] = np.float32(combined)
        for row in range(filled.shape[0]):
            filled[row, row] = 0
