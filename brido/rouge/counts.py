"""What pairs of texts share, from their words as numbers: n-grams and words on subsequences.

The predictions are the first texts, the targets those from `first_target` on.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from brido.rouge.kernels import common_counts, common_words, mark_lines
from brido.rouge.tokens import Tokens, as_lines, bounds_of, read
from brido.utils.errors import ArgumentError

# Lines compared side by side, and what the two tables of that may hold, in units of 64 bits.
MOST_LANES, MOST_UNITS = 64, 2**25


def count_hits(
    texts: Sequence[str],
    measures: Sequence[str],
    predictions: int,
    first_target: int,
    use_stemmer: bool,
    any_script: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What predictions and targets share by each measure, and what each text has.

    Hits [measures, predictions, targets] and n-grams [measures, texts]: rouge2 counts pairs of
    words, the others words. any_script: see `tokens.read`.
    """
    tokens = read(texts, use_stemmer, any_script)
    joined = as_lines(tokens)
    single, sizes = ngram_counts(joined, 1), np.diff(joined.bounds)
    place = predictions, first_target
    hits, grams = [], []
    for measure in measures:
        grams.append(np.maximum(sizes - (measure == "rouge2"), 0))
        if measure == "rouge1":
            hits.append(common_counts(single, *place))
        elif measure == "rouge2":
            hits.append(common_counts(ngram_counts(joined, 2), *place))
        else:
            lines = joined if measure == "rougeL" else tokens
            hits.append(common_on_subsequences(lines, single, *place))
    return np.array(hits), np.array(grams)


def ngram_counts(texts: Tokens, order: int) -> NDArray[np.int64]:
    """How often each text has each n-gram of all texts, [texts, n-grams].

    texts: of `tokens.as_lines`; order: 1 or 2.
    """
    grams, types, count = texts.words.astype(np.int64), texts.types, len(texts.lines)
    owners = np.repeat(np.arange(count), np.diff(texts.bounds))
    if order == 2:
        inside = owners[1:] == owners[:-1]
        owners = owners[1:][inside]
        pairs = (grams[:-1] * types + grams[1:])[inside]
        different, grams = np.unique(pairs, return_inverse=True)
        types = len(different)
    counts = np.bincount(owners * types + grams, minlength=count * types)
    return counts.reshape(count, types)


def common_on_subsequences(
    tokens: Tokens, most: NDArray[np.int64], predictions: int, first_target: int
) -> NDArray[np.int64]:
    """Words of each target on longest common subsequences with any of a prediction's lines.

    They are [predictions, targets]; most [texts, types]: how often a word of a text counts at most
    where the text is the prediction.

    Raises:
        ArgumentError: a line is too long.
    """
    has = np.zeros((len(most), len(tokens.bounds) - 1), bool)
    has[np.repeat(np.arange(len(most)), np.diff(tokens.texts)), tokens.lines] = True
    owners, targets = has[:predictions].T, np.flatnonzero(has[first_target:].any(0))
    sizes = np.diff(tokens.bounds)
    limbs = (sizes + 63) // 64
    units = bounds_of(limbs)
    marks = np.zeros((units[-1], predictions), np.uint64)
    for width in np.unique(limbs[targets]):
        deep = max(int(sizes.max()), tokens.types) * int(width)
        if deep > MOST_UNITS:
            raise ArgumentError(
                f"a sentence of {int(sizes.max()):,} words is too long for longest common "
                f"subsequences with texts of {tokens.types:,} different words: put a newline after "
                "each sentence, or use harmonic_r1_r2"
            )
        same = targets[limbs[targets] == width]
        lanes = min(MOST_LANES, MOST_UNITS // max(deep, 1))
        for first in range(0, len(same), lanes):
            block = same[first : first + lanes]
            mark_lines(*tokens[:2], units, owners, block, tokens.types, marks)
    left = np.ascontiguousarray(most[:predictions].T)
    return common_words(*tokens[:4], units, marks, left, first_target).T
