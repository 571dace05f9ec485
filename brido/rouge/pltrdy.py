"""pltrdy's ROUGE, equal to the PyPI package `rouge` 1.0.1 with its default settings.

It is another metric: sentences end at every full stop, words at white space, case and punctuation
count, nothing is stemmed, n-grams are sets. Its ROUGE-L is the set of words on longest common
subsequences of any two sentences over the sets of all words. On a longest common subsequence, ties
move in the hypothesis. Where the package raises (a text of nothing but full stops, or empty) the
value here is 0.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from brido.rouge.unions import find_unions
from brido.rouge.vectors import ROOM, compiled, entry


def fill_similarity(
    texts: Sequence[str], combination: str, value: str, similarity: NDArray[np.float32]
) -> None:
    """Fill similarity float32 [N, N + 1] of one document: N candidates, then the reference.

    As `pairwise.similarity_matrix`; in `mean_r1_r2_rlsum` ROUGE-L takes the place of ROUGE-Lsum.
    Newlines are white space.
    """
    size = len(texts) - 1
    measures = ["rouge-1", "rouge-2", "rouge-l"]
    if combination == "harmonic_r1_r2":
        measures = measures[:2]
    found = pltrdy_matrix(texts[:size], texts, measures)
    names = {"fmeasure": "f", "precision": "p", "recall": "r"}
    kinds = ["f", "p"] if value == "mean_f_precision" else [names[value]]
    combined = [_combine([found[measure][kind] for measure in measures]) for kind in kinds]
    similarity[:] = combined[0] if len(combined) == 1 else (combined[0] + combined[1]) / 2
    np.fill_diagonal(similarity, 0)


def pltrdy_matrix(
    hypotheses: Sequence[str],
    references: Sequence[str],
    measures: Sequence[str] = ("rouge-1", "rouge-2", "rouge-l"),
) -> dict[str, dict[str, NDArray[np.float64]]]:
    """{measure: {"f", "p", "r": [hypotheses, references]}}, as `Rouge().get_scores` names them.

    Every number equals rouge 1.0.1's; 0 where it raises an error for an empty text.
    """
    # The recorded subsequence of (reference, hypothesis) is rouge_score's of (hypothesis,
    # reference): the hypotheses are the targets of `find_unions`, the references its predictions.
    sentences = [_sentences(text) for text in [*references, *hypotheses]]
    numbers: dict[str, int] = {}
    words = [
        [[numbers.setdefault(word, len(numbers)) for word in sentence] for sentence in text]
        for text in sentences
    ]
    found = {}
    for measure in measures:
        if measure == "rouge-l":
            common, sizes = _common_subsequences(words, len(references), len(numbers))
        else:
            common, sizes = _common_ngrams(words, len(references), int(measure[-1]))
        wanted, predicted = sizes[: len(references)], sizes[len(references) :]
        found[measure] = _scores(common, predicted[:, None], wanted[None, :])
    return found


def _combine(values: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    if len(values) == 3:
        return (values[0] + values[1] + values[2]) / 3
    total = values[0] + values[1]
    return np.divide(2 * values[0] * values[1], total, out=np.zeros_like(total), where=total > 0)


def _sentences(text: str) -> list[list[str]]:
    return [" ".join(part.split()).split(" ") for part in text.split(".") if part]


def _scores(
    common: NDArray[np.int64], predicted: NDArray[np.int64], wanted: NDArray[np.int64]
) -> dict[str, NDArray[np.float64]]:
    precision = common / np.maximum(predicted, 1)
    recall = common / np.maximum(wanted, 1)
    f = 2.0 * ((precision * recall) / (precision + recall + 1e-8))
    return {"f": f, "p": precision, "r": recall}


def _common_ngrams(
    texts: list[list[list[int]]], references: int, order: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Shared distinct n-grams [hypotheses, references] and every text's distinct n-grams."""
    numbers: dict[tuple[int, ...], int] = {}
    sets = []
    for text in texts:
        words = [word for sentence in text for word in sentence]
        grams = {tuple(words[k : k + order]) for k in range(len(words) - order + 1)}
        sets.append([numbers.setdefault(gram, len(numbers)) for gram in grams])
    # Counts stay far below 2**24, so float32 products are exact.
    member = np.zeros((len(texts), len(numbers)), np.float32)
    for row, elements in zip(member, sets, strict=True):
        row[elements] = 1
    common = member[references:] @ member[:references].T
    return common.astype(np.int64), np.array([len(elements) for elements in sets])


def _common_subsequences(
    texts: list[list[list[int]]], references: int, types: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct words on common subsequences, and every text's distinct words."""
    sentences = [sentence for text in texts for sentence in text]
    words = np.array([word for sentence in sentences for word in sentence], np.uint32)
    bounds = np.cumsum([0, *map(len, sentences)])
    text_sentences = np.cumsum([0, *map(len, texts)])
    common = np.zeros((len(texts) - references, references), np.int64)
    _count_words(words, types, bounds, text_sentences, references, common)
    sizes = [len({word for sentence in text for word in sentence}) for text in texts]
    return common, np.array(sizes)


@entry()
def _count_words(words, types, bounds, text_sentences, references, common, room=ROOM):
    """Fill common [hypotheses, references] with the words marked in any sentence."""
    sentences, unions = find_unions(
        words, types, bounds, text_sentences, references, references, references
    )
    seen = np.full(types, -1, np.int64)
    _count_distinct(sentences, unions, text_sentences, references, seen, common)


@compiled()
def _count_distinct(sentences, unions, text_sentences, references, seen, common):
    for hypothesis in range(len(common)):
        text = references + hypothesis
        for reference in range(references):
            pair = hypothesis * references + reference
            for sentence in range(text_sentences[text], text_sentences[text + 1]):
                number = sentences.numbers[sentence]
                begin, unit = sentences.begins[number], sentences.units[number]
                for k in range(1, sentences.sizes[number] + 1):
                    bits = unions[(unit + (k >> 6)) * references + reference]
                    word = np.int64(sentences.token_types[begin + k - 1])
                    if bits >> np.uint64(k & 63) & np.uint64(1) and seen[word] != pair:
                        seen[word] = pair
                        common[hypothesis, reference] += 1
