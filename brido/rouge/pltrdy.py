"""pltrdy's ROUGE, equal to the PyPI package `rouge` 1.0.1 with its default settings.

It is another metric: sentences end at every full stop, words at white space, case and punctuation
count, nothing is stemmed, n-grams are sets. Its ROUGE-L is the set of words on longest common
subsequences of any two sentences over the sets of all words. Where the package raises (a text of
nothing but full stops, or empty) the value here is 0.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from brido.rouge.counts import common_on_subsequences, ngram_counts
from brido.rouge.kernels import common_counts
from brido.rouge.tokens import as_lines, number_words
from brido.rouge.values import combined

_MEASURES = ("rouge-1", "rouge-2", "rouge-l")
_KINDS = {"fmeasure": "f", "precision": "p", "recall": "r"}


def similarity(texts: Sequence[str], combination: str, value: str) -> NDArray[np.float64]:
    """R [N, N + 1] of a document's N candidates and, the last text, its reference.

    As `pairwise.similarity_matrix`; in `mean_r1_r2_rlsum` ROUGE-L takes the place of ROUGE-Lsum.
    Newlines are white space.
    """
    measures = _MEASURES if combination == "mean_r1_r2_rlsum" else _MEASURES[:2]
    found = pltrdy_matrix(texts[:-1], texts, measures)
    kinds = ("f", "p") if value == "mean_f_precision" else (_KINDS[value],)
    values = [combined([found[measure][kind] for measure in measures]) for kind in kinds]
    return values[0] if len(values) == 1 else (values[0] + values[1]) / 2


def pltrdy_matrix(
    hypotheses: Sequence[str], references: Sequence[str], measures: Sequence[str] = _MEASURES
) -> dict[str, dict[str, NDArray[np.float64]]]:
    """{measure: {"f", "p", "r": [hypotheses, references]}}, as `Rouge().get_scores` names them.

    Every number equals rouge 1.0.1's; 0 where it raises an error for an empty text.
    """
    # On a longest common subsequence ties move in the hypothesis, and in ours in the target: here
    # the hypotheses are the targets.
    first = len(references)
    texts = [[part for part in text.split(".") if part] for text in (*references, *hypotheses)]
    tokens = number_words(texts, lambda part: " ".join(part.split()).split(" "), str)
    joined = as_lines(tokens)
    words = np.minimum(ngram_counts(joined, 1), 1)
    found = {}
    for measure in measures:
        sets = np.minimum(ngram_counts(joined, 2), 1) if measure == "rouge-2" else words
        if measure == "rouge-l":
            common = common_on_subsequences(tokens, words, first, first)
        else:
            common = common_counts(sets, first, first)
        found[measure] = _scores(common.T, sets.sum(1)[first:, None], sets.sum(1)[:first])
    return found


def _scores(
    common: NDArray[np.int64], predicted: NDArray[np.int64], wanted: NDArray[np.int64]
) -> dict[str, NDArray[np.float64]]:
    precision = common / np.maximum(predicted, 1)
    recall = common / np.maximum(wanted, 1)
    f = 2.0 * ((precision * recall) / (precision + recall + 1e-8))
    return {"f": f, "p": precision, "r": recall}
