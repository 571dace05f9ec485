"""ROUGE of all pairs of texts, equal to rouge_score 0.1.2 to the last bit, and R of Eq. 2.

`counts` has whole numbers (what two texts share), `values` makes ROUGE of them.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from brido.rouge import pltrdy
from brido.rouge.counts import count_hits
from brido.rouge.values import combined, value_of
from brido.utils.arguments import as_list, as_number, as_texts, check_choices
from brido.utils.errors import ArgumentError, quoted

Combination = Literal["harmonic_r1_r2", "mean_r1_r2_rlsum"]
Value = Literal["fmeasure", "precision", "recall", "mean_f_precision"]
Implementation = Literal["rouge_score", "pltrdy"]
Tokenizer = Literal["rouge_score", "unicode"]

_MEASURES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
_COMBINATIONS = {
    "harmonic_r1_r2": ("rouge1", "rouge2"),
    "mean_r1_r2_rlsum": ("rouge1", "rouge2", "rougeLsum"),
}
# A tile of a matrix: little enough memory.
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
    are parted by newlines: `brido.text.words.one_sentence_a_line`). `value`: fmeasure, precision or
    recall. A text without tokens scores 0. `tokenizer`: rouge_score's own, which knows a-z and 0-9,
    or unicode, which reads every script (`brido.text.words.UnicodeTokenizer`).

    Raises:
        ArgumentError: an unknown measure or value, one text in place of a list, or a text that is
            no str.

    Example:
        >>> rouge_matrix(["the cat sat"], ["the cat", "a dog"])["rouge1"]
        array([[0.8, 0. ]])
    """
    check_choices(
        {"value": (value, get_args(Value)[:3]), "tokenizer": (tokenizer, get_args(Tokenizer))}
    )
    measures = as_texts("measures", measures)
    for measure in measures:
        check_choices({"measure": (measure, _MEASURES)})
    predictions = as_texts("predictions", predictions)
    targets = as_texts("targets", targets)
    found = {name: np.zeros((len(predictions), len(targets))) for name in measures}
    for rows in _tiles(predictions):
        for columns in _tiles(targets):
            tile = [*predictions[rows], *targets[columns]]
            first_target = rows.stop - rows.start
            hits, grams = count_hits(
                tile, measures, first_target, first_target, use_stemmer, tokenizer == "unicode"
            )
            for name, counted, sizes in zip(measures, hits, grams, strict=True):
                sides = sizes[:first_target], sizes[first_target:]
                found[name][rows, columns] = value_of(counted, *sides, value)
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
    three, sentences parted by newlines (`brido.text.words.one_sentence_a_line` does it as the
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
            "value": (value, get_args(Value)),
            "implementation": (implementation, get_args(Implementation)),
            "tokenizer": (tokenizer, get_args(Tokenizer)),
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

    def fill(index: int) -> None:
        if implementation == "pltrdy":
            found = pltrdy.similarity(documents[index], combination, value)
        else:
            found = _similarity(documents[index], combination, value, use_stemmer, tokenizer)
        similarity[index] = found
        np.fill_diagonal(similarity[index], 0)

    with ThreadPoolExecutor(threads) as pool:
        run = map if threads == 1 else pool.map
        list(run(fill, range(len(documents))))
    return similarity


def _similarity(
    document: Sequence[str],
    combination: Combination,
    value: Value,
    use_stemmer: bool,
    tokenizer: Tokenizer,
) -> NDArray[np.float64]:
    """R of a document's candidates and, the last text, its reference: [N, N + 1]."""
    measures, last = _COMBINATIONS[combination], len(document) - 1
    hits, grams = count_hits(document, measures, last, 0, use_stemmer, tokenizer == "unicode")
    pairs = list(zip(hits, grams, strict=True))
    kinds = ("fmeasure", "precision") if value == "mean_f_precision" else (value,)
    found = [combined([value_of(h, n[:last], n, kind) for h, n in pairs]) for kind in kinds]
    return found[0] if len(found) == 1 else (found[0] + found[1]) / 2


def _tiles(texts: Sequence[str]) -> Iterator[slice]:
    """Consecutive slices of at most so many texts and letters, at least one text each."""
    first = total = 0
    for index, text in enumerate(texts):
        if index > first and (index - first == _TILE_TEXTS or total + len(text) > _TILE_LETTERS):
            yield slice(first, index)
            first, total = index, 0
        total += len(text)
    if first < len(texts):
        yield slice(first, len(texts))


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
    documents = [
        [*as_list(f"candidates[{index}]", texts, "a list of texts"), reference]
        for index, (texts, reference) in enumerate(zip(candidates, references, strict=True))
    ]
    problems = []
    for index, document in enumerate(documents):
        if len(document) == 1:
            problems.append(f"document {index} has no candidates")
        elif len(document) != len(documents[0]):
            sizes = len(document) - 1, len(documents[0]) - 1
            problems.append(
                f"document {index} has {sizes[0]} candidates, document 0 has {sizes[1]}"
            )
        names = [*(f"candidate {place}" for place in range(len(document) - 1)), "the reference"]
        problems += [
            f"document {index}: {name} is {quoted(text)}, not a text"
            for name, text in zip(names, document, strict=True)
            if not isinstance(text, str)
        ]
    if problems:
        raise ArgumentError.from_problems("each document needs equally many texts:", problems[:20])
    return documents
