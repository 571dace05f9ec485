"""ROUGE of all pairs of texts, equal to rouge_score 0.1.2 to the last bit, and R of Eq. 2.

For many documents call `similarity_batch`: one call of the compiled code does a chunk of documents
without the GIL, so threads work side by side. The result does not depend on their number.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from brido.rouge import kernels, pltrdy, values
from brido.rouge.scripts import coded
from brido.rouge.tokens import text_bytes
from brido.utils.arguments import as_list, as_number, as_texts, check_choices
from brido.utils.errors import ArgumentError, quoted

Combination = Literal["harmonic_r1_r2", "mean_r1_r2_rlsum"]
Value = Literal["fmeasure", "precision", "recall", "mean_f_precision"]
Implementation = Literal["rouge_score", "pltrdy"]
Tokenizer = Literal["rouge_score", "unicode"]

_MEASURES = {
    "rouge1": kernels.ROUGE1,
    "rouge2": kernels.ROUGE2,
    "rougeL": kernels.ROUGE_L,
    "rougeLsum": kernels.ROUGE_LSUM,
}
_COMBINATIONS = {
    "harmonic_r1_r2": [kernels.ROUGE1, kernels.ROUGE2],
    "mean_r1_r2_rlsum": [kernels.ROUGE1, kernels.ROUGE2, kernels.ROUGE_LSUM],
}
_VALUES = {
    "fmeasure": values.FMEASURE,
    "precision": values.PRECISION,
    "recall": values.RECALL,
    "mean_f_precision": values.MEAN_F_PRECISION,
}
_IMPLEMENTATIONS = ("rouge_score", "pltrdy")
_TOKENIZERS = ("rouge_score", "unicode")
# A chunk of documents or a tile of a matrix: enough work for one call, little enough memory.
_CHUNK_DOCUMENTS, _CHUNK_LETTERS = 16, 1_000_000
_TILE_TEXTS, _TILE_LETTERS = 128, 300_000


def rouge_matrix(
    predictions: Sequence[str],
    targets: Sequence[str],
    measures: Sequence[str] = ("rouge1", "rouge2", "rougeLsum"),
    use_stemmer: bool = True,
    value: str = "fmeasure",
    tokenizer: Tokenizer = "rouge_score",
) -> dict[str, NDArray[np.float64]]:
    """ROUGE of every prediction (row) against every target (column), [P, T] for each measure.

    Every number equals rouge_score 0.1.2's `score(target, prediction)` with the same use_stemmer,
    which is False there unless asked for. Measures: rouge1, rouge2, rougeL, rougeLsum (sentences
    are parted by newlines: `brido.utils.text.one_sentence_a_line`). `value`: fmeasure, precision or
    recall. A text without tokens scores 0. `tokenizer`: rouge_score's own, which knows a-z and 0-9,
    or unicode, which reads every script (`brido.utils.text.UnicodeTokenizer`).

    Raises:
        ArgumentError: an unknown measure or value, one text in place of a list, or a text that is
            no str.

    Example:
        >>> rouge_matrix(["the cat sat"], ["the cat", "a dog"])["rouge1"]
        array([[0.8, 0. ]])
    """
    check_choices({"value": (value, tuple(_VALUES)[:3]), "tokenizer": (tokenizer, _TOKENIZERS)})
    measures = as_texts("measures", measures)
    for measure in measures:
        check_choices({"measure": (measure, tuple(_MEASURES))})
    predictions = as_texts("predictions", predictions)
    targets = as_texts("targets", targets)
    found = {name: np.zeros((len(predictions), len(targets))) for name in measures}
    codes = np.array([_MEASURES[name] for name in measures], np.int64)
    for rows in _spans(predictions, _TILE_TEXTS, _TILE_LETTERS, len):
        for columns in _spans(targets, _TILE_TEXTS, _TILE_LETTERS, len):
            tile = [*predictions[rows], *targets[columns]]
            first_target = rows.stop - rows.start
            how = use_stemmer, tokenizer
            hits, lengths = _count([tile], first_target, first_target, codes, *how)
            sizes = lengths[0].astype(np.int64)
            for name, counted in zip(measures, hits[0], strict=True):
                grams = np.maximum(sizes - (name == "rouge2"), 0)
                values.fill_values(
                    counted,
                    grams[:first_target],
                    grams[first_target:],
                    _VALUES[value],
                    found[name][rows, columns],
                )
    return found


def similarity_matrix(
    candidates: Sequence[str],
    reference: str,
    combination: Combination,
    value: Value = "fmeasure",
    implementation: Implementation = "rouge_score",
    use_stemmer: bool = True,
    tokenizer: Tokenizer = "rouge_score",
) -> NDArray[np.float32]:
    """R(S_i, S_j) of N candidates and, in the last column, R(S_i, S*): float32 [N, N + 1].

    Row = prediction (the candidate judged), column = target; the diagonal is 0. `harmonic_r1_r2`
    (XSum) is 2 R1 R2 / (R1 + R2), 0 where both are 0; `mean_r1_r2_rlsum` (CNN/DM) the mean of
    three, sentences parted by newlines (`brido.utils.text.one_sentence_a_line` does it as the
    commands do). Without a reference give "": its column is 0 then, so leave alpha at 0. Computed
    in float64 and rounded once. mean_f_precision is the mean of R by F-measures and by precisions.
    `tokenizer`: see rouge_matrix; pltrdy has its own.

    Raises:
        ArgumentError: no candidates, one text in place of a list, a text that is no str, or an
            unknown choice.

    Example:
        >>> similarity_matrix(["the cat sat", "the cat slept"], "a cat sat", "harmonic_r1_r2")
        array([[0.       , 0.5714286, 0.5714286],
               [0.5714286, 0.       , 0.       ]], dtype=float32)
    """
    return similarity_batch(
        [candidates],
        [reference],
        combination,
        value=value,
        implementation=implementation,
        use_stemmer=use_stemmer,
        tokenizer=tokenizer,
    )[0]


def similarity_batch(
    candidates: Sequence[Sequence[str]],
    references: Sequence[str],
    combination: Combination,
    threads: int = 1,
    value: Value = "fmeasure",
    implementation: Implementation = "rouge_score",
    use_stemmer: bool = True,
    tokenizer: Tokenizer = "rouge_score",
) -> NDArray[np.float32]:
    """`similarity_matrix` of many documents: float32 [documents, N, N + 1].

    candidates: N texts for each document, the same N everywhere. The result is the same, bit for
    bit, for any number of threads.

    Raises:
        ArgumentError: as similarity_matrix, or different N; the documents are named by their index.

    Example:
        >>> similarity_batch([["the cat", "a dog"]], ["the cat sat"], "harmonic_r1_r2").shape
        (1, 2, 3)
    """
    check_choices(
        {
            "combination": (combination, tuple(_COMBINATIONS)),
            "value": (value, tuple(_VALUES)),
            "implementation": (implementation, _IMPLEMENTATIONS),
            "tokenizer": (tokenizer, _TOKENIZERS),
        }
    )
    if implementation == "pltrdy" and tokenizer != "rouge_score":
        raise ArgumentError(
            "tokenizer unicode needs implementation rouge_score: pltrdy has its own"
        )
    documents = _checked_documents(candidates, references)
    as_number("threads", threads)
    if threads < 1:
        raise ArgumentError(f"threads must be at least 1, not {threads}")
    size = len(documents[0]) - 1 if documents else 0
    similarity = np.zeros((len(documents), size, size + 1), np.float32)

    def fill(span: slice) -> None:
        if implementation == "pltrdy":
            for index in range(span.start, span.stop):
                pltrdy.fill_similarity(documents[index], combination, value, similarity[index])
            return
        codes = np.array(_COMBINATIONS[combination], np.int64)
        hits, lengths = _count(documents[span], size, 0, codes, use_stemmer, tokenizer)
        values.fill_similarity(hits, lengths, _VALUES[value], similarity[span])

    spans = _spans(documents, _CHUNK_DOCUMENTS, _CHUNK_LETTERS, lambda texts: sum(map(len, texts)))
    if threads == 1:
        for span in spans:
            fill(span)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(fill, spans))
    return similarity


def _count(
    documents: Sequence[Sequence[str]],
    predictions: int,
    first_target: int,
    codes: NDArray[np.int64],
    use_stemmer: bool,
    tokenizer: Tokenizer,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Hits [documents, measures, predictions, targets] and tokens [documents, texts]."""
    texts = len(documents[0])
    shape = (len(documents), len(codes), predictions, texts - first_target)
    hits = np.empty(shape, np.int32)
    lengths = np.empty((len(documents), texts), np.int32)
    every: Sequence[str] = [text for document in documents for text in document]
    data = text_bytes(coded(every) if tokenizer == "unicode" else every)
    kernels.count_hits(
        *(data, len(documents), texts, predictions, first_target, use_stemmer, codes),
        *(hits, lengths),
    )
    return hits, lengths


def _spans(
    items: Sequence, most_items: int, most_letters: int, letters: Callable[..., int]
) -> Iterator[slice]:
    """Consecutive slices of at most so many items and letters, at least one item each."""
    first = total = 0
    for index, item in enumerate(items):
        size = letters(item)
        if index > first and (index - first == most_items or total + size > most_letters):
            yield slice(first, index)
            first, total = index, 0
        total += size
    if first < len(items):
        yield slice(first, len(items))


def _checked_documents(
    candidates: Sequence[Sequence[str]], references: Sequence[str]
) -> list[list[str]]:
    """Candidates and reference of each document in one list, checked."""
    candidates = as_list("candidates", candidates, "a list of texts for each document")
    references = as_list("references", references, "a list of texts")
    if len(candidates) != len(references):
        raise ArgumentError(
            f"candidates are {len(candidates)} lists, one a document, but there are "
            f"{len(references)} references"
        )
    problems = []
    documents = []
    candidates = [
        as_list(f"candidates[{index}]", texts, "a list of texts")
        for index, texts in enumerate(candidates)
    ]
    size = len(candidates[0]) if candidates else 0
    for index, (texts, reference) in enumerate(zip(candidates, references, strict=True)):
        document = [*texts, reference]
        documents.append(document)
        if len(document) == size + 1 and size and set(map(type, document)) == {str}:
            continue
        if not texts:
            problems.append(f"document {index} has no candidates")
        elif len(texts) != size:
            problems.append(f"document {index} has {len(texts)} candidates, document 0 has {size}")
        problems += [
            f"document {index}: {'the reference' if place == len(texts) else f'candidate {place}'} "
            f"is {quoted(text)}, not a text"
            for place, text in enumerate(document)
            if not isinstance(text, str)
        ]
    if problems:
        raise ArgumentError.from_problems("each document needs equally many texts:", problems, 20)
    return documents
