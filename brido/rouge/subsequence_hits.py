"""ROUGE-L and ROUGE-Lsum: hits of all pairs of texts by longest common subsequences.

ROUGE-Lsum (rouge_score 0.1.2): the positions of a target that lie in the unions of `unions`, but a
token type counts no more often than it stands in the prediction.
"""

import numpy as np
from numba import njit

from brido.rouge.bitcounts import add_marked, padded, subtract_surplus
from brido.rouge.subsequence import LONG_LANES, fill_columns
from brido.rouge.unions import find_unions, first_columns, long_positions
from brido.rouge.vectors import bit_count, compiled, inlined


@compiled()
def _count_types(token_types, text_tokens, counts):
    """Fill counts int64 [types * padded(texts)]: how often each text holds each type."""
    texts = len(text_tokens) - 1
    stride = padded(texts)
    for text in range(texts):
        for token in range(text_tokens[text], text_tokens[text + 1]):
            counts[np.int64(token_types[token]) * stride + text] += 1


@inlined()
def _add_sentences(sentences, first, last, unions, stride, sums):
    """Add to `sums` what is marked in sentences first to last - 1."""
    for sentence in range(first, last):
        number = sentences.numbers[sentence]
        add_marked(unions, sentences.units[number], sentences.limbs[number], stride, sums)


@inlined()
def _subtract_repeated(sentences, first, last, text, unions, counts, stride, work, sums):
    """Take from `sums` what the types of sentences first to last - 1 are marked too often.

    Only a type that the target repeats can be. Its places (unit and bit) get a region of their own
    in units and masks. work: the end of a type's region or -1 [types], the repeated types and the
    starts of their regions, units and masks [tokens each].
    """
    ends, kinds, starts, units, masks = work
    filled = repeated = 0
    for sentence in range(first, last):
        unit = sentences.units[sentences.numbers[sentence]]
        begin = sentences.bounds[sentence]
        for token in range(begin, sentences.bounds[sentence + 1]):
            kind = np.int64(sentences.token_types[token])
            occurrences = counts[kind * stride + text]
            if occurrences > 1:
                end = ends[kind]
                if end < 0:
                    kinds[repeated] = kind
                    starts[repeated] = end = filled
                    repeated += 1
                    filled += occurrences
                units[end] = unit + ((token - begin + 1) >> 6)
                masks[end] = np.uint64(1) << np.uint64((token - begin + 1) & 63)
                ends[kind] = end + 1
    for index in range(repeated):
        kind, start = kinds[index], starts[index]
        count = ends[kind] - start
        subtract_surplus(unions, units, masks, start, count, counts, kind, stride, sums)
        ends[kind] = -1


@inlined()
def _write_column(sums, hits, column):
    for prediction in range(len(hits)):
        hits[prediction, column] = sums[prediction]


@compiled()
def _fill_hits(sentences, text_sentences, first_target, unions, counts, work, sums, hits):
    stride = len(sums)
    for text in range(first_target, len(text_sentences) - 1):
        first, last = text_sentences[text], text_sentences[text + 1]
        for prediction in range(stride):
            sums[prediction] = 0
        _add_sentences(sentences, first, last, unions, stride, sums)
        _subtract_repeated(sentences, first, last, text, unions, counts, stride, work, sums)
        _write_column(sums, hits, text - first_target)


@njit
def summary_hits(
    token_types, types, text_tokens, bounds, text_sentences, predictions, first_target, hits
):
    """Fill hits int32 [predictions, targets] of ROUGE-Lsum for one document.

    text_tokens [texts + 1] and bounds [sentences + 1] are places in token_types, text_sentences
    [texts + 1] in bounds. The predictions are the first texts, the targets those from first_target
    on.
    """
    texts = len(text_tokens) - 1
    stride = padded(texts)
    sentences, unions = find_unions(
        token_types, types, bounds, text_sentences, predictions, first_target, stride
    )
    counts = np.zeros(types * stride, np.int64)
    _count_types(token_types, text_tokens, counts)
    longest = 0
    for text in range(first_target, texts):
        longest = max(longest, text_tokens[text + 1] - text_tokens[text])
    work = (
        np.full(types, -1, np.int64),
        np.empty(longest, np.int64),
        np.empty(longest, np.int64),
        np.empty(longest, np.int64),
        np.empty(longest, np.uint64),
    )
    sums = np.empty(stride, np.int64)
    _fill_hits(sentences, text_sentences, first_target, unions, counts, work, sums, hits)


@njit
def subsequence_lengths(token_types, types, text_tokens, predictions, first_target, lengths):
    """Fill lengths int32 [predictions, targets] of the longest common subsequences of texts.

    text_tokens [texts + 1] are places in token_types; predictions and targets as in summary_hits.
    """
    texts = len(text_tokens) - 1
    longest = 0
    for text in range(predictions):
        longest = max(longest, text_tokens[text + 1] - text_tokens[text])
    for block in range(first_target, texts, LONG_LANES):
        end = min(block + LONG_LANES, texts)
        begins = text_tokens[block:end]
        sizes = text_tokens[block + 1 : end + 1] - begins
        limbs = (sizes.max() + 64) // 64
        positions = long_positions(token_types, types, begins, sizes, limbs)
        columns = first_columns(longest, limbs)
        for text in range(predictions):
            begin, size = text_tokens[text], text_tokens[text + 1] - text_tokens[text]
            fill_columns(positions, token_types, begin, size, limbs, columns)
            for lane in range(end - block):
                length = -1  # the sentinel
                for limb in range(limbs):
                    column = columns[(size * limbs + limb) * LONG_LANES + lane]
                    length += np.int64(bit_count(~column))
                lengths[text, block - first_target + lane] = length
