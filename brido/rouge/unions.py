"""Which positions of a target sentence are on a common subsequence with some prediction sentence.

For every target sentence and every prediction the union, over the prediction's sentences, of the
positions on one longest common subsequence (see `subsequence`). Equal sentences are compared once:
candidates of one beam search share many. A union takes units of 64 bits, token k at bit k + 1.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from brido.rouge.subsequence import (
    LANES,
    LONG_LANES,
    SHORT_TOKENS,
    fill_columns,
    mark_long,
    mark_short,
    merge_short,
)
from brido.rouge.vectors import ROOM, compiled, entry

_MIX = np.uint64(0x9E3779B97F4A7C15)


class Sentences(NamedTuple):
    """The sentences of a document; `number` is that of a distinct sentence."""

    token_types: np.ndarray  # uint32
    bounds: np.ndarray  # [sentences + 1]: where a sentence's tokens begin
    numbers: np.ndarray  # [sentences]
    begins: np.ndarray  # [numbers]: its first token in one place where it stands
    sizes: np.ndarray  # [numbers]: its tokens
    units: np.ndarray  # [numbers]: the first unit of its unions, -1 if no target has it
    limbs: np.ndarray  # [numbers]: how many units
    heads: np.ndarray  # [numbers]: the last sentence of a prediction that is it, or -1
    following: np.ndarray  # [sentences]: the one before that, or -1
    owners: np.ndarray  # [sentences]: its text


@compiled()
def _same_tokens(token_types, first, second, count):
    for k in range(count):  # noqa: SIM110 - compiled
        if token_types[first + k] != token_types[second + k]:
            return False
    return True


@compiled()
def _number_sentences(token_types, bounds, table, numbers, begins, sizes):
    """The number of distinct sentences; table [a power of two, at most half full] is all -1."""
    mask = np.uint64(len(table) - 1)
    count = 0
    for sentence in range(len(numbers)):
        begin = bounds[sentence]
        size = bounds[sentence + 1] - begin
        mixed = np.uint64(size)
        for k in range(begin, begin + size):
            mixed = (mixed ^ np.uint64(token_types[k])) * _MIX
        slot = (mixed >> np.uint64(32)) & mask
        while table[slot] >= 0:
            other = table[slot]
            if sizes[other] == size and _same_tokens(token_types, begin, begins[other], size):
                break
            slot = (slot + np.uint64(1)) & mask
        if table[slot] < 0:
            table[slot] = count
            begins[count] = begin
            sizes[count] = size
            count += 1
        numbers[sentence] = table[slot]
    return count


@compiled()
def _link(sentences, text_sentences, predictions, first_target):
    """The number of units; fills units, limbs, heads, following and owners."""
    total = 0
    for text in range(len(text_sentences) - 1):
        for sentence in range(text_sentences[text], text_sentences[text + 1]):
            number = sentences.numbers[sentence]
            sentences.owners[sentence] = text
            if text < predictions:
                sentences.following[sentence] = sentences.heads[number]
                sentences.heads[number] = sentence
            if text >= first_target and sentences.units[number] < 0:
                sentences.units[number] = total
                sentences.limbs[number] = (sentences.sizes[number] + 64) // 64  # and the sentinel
                total += sentences.limbs[number]
    return total


# Cached by itself: it takes longer to compile than all around it.
@entry()
def find_unions(
    token_types, types, bounds, text_sentences, predictions, first_target, stride, room=ROOM
):
    """The document's Sentences and their unions, uint64 [units * stride], a column a prediction.

    bounds [sentences + 1] are places in token_types, text_sentences [texts + 1] in bounds. The
    predictions are the first texts, the targets those from first_target on.
    """
    size = len(bounds) - 1
    slots = 16
    while slots < 2 * size:
        slots *= 2
    numbers, begins = np.empty(size, np.int64), np.empty(size, np.int64)
    sizes = np.empty(size, np.int64)
    table = np.full(slots, -1, np.int64)
    count = _number_sentences(token_types, bounds, table, numbers, begins, sizes)
    sentences = Sentences(
        token_types,
        bounds,
        numbers,
        begins[:count],
        sizes[:count],
        np.full(count, -1, np.int64),
        np.empty(count, np.int64),
        np.full(count, -1, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
    )
    total = _link(sentences, text_sentences, predictions, first_target)
    unions = np.zeros(total * stride, np.uint64)
    short = np.empty(count, np.int64)
    long = np.empty(count, np.int64)
    shorts = longs = longest = 0
    for number in range(count):
        longest = max(longest, sizes[number])
        if sentences.units[number] >= 0:
            if sizes[number] <= SHORT_TOKENS:
                short[shorts] = number
                shorts += 1
            else:
                long[longs] = number
                longs += 1
    for block in range(0, shorts, LANES):
        targets = short[block : min(block + LANES, shorts)]
        _union_short(sentences, types, targets, predictions, longest, stride, unions)
    for block in range(0, longs, LONG_LANES):
        targets = long[block : min(block + LONG_LANES, longs)]
        _union_long(sentences, types, targets, longest, stride, unions)
    return sentences, unions


@njit
def _union_short(sentences, types, targets, predictions, longest, stride, unions):
    """Fill the unions of at most LANES target sentences of at most SHORT_TOKENS tokens."""
    positions = np.zeros(types * LANES, np.uint32)
    for lane in range(len(targets)):
        begin = sentences.begins[targets[lane]]
        for k in range(sentences.sizes[targets[lane]]):
            at = np.int64(sentences.token_types[begin + k]) * LANES + lane
            positions[at] |= np.uint32(2) << np.uint32(k)
    columns = np.empty(longest * LANES, np.uint32)
    marks = np.empty(LANES, np.uint32)
    merged = np.zeros(predictions * LANES, np.uint32)
    _compare_short(sentences, positions, columns, marks, merged)
    for lane in range(len(targets)):
        row = sentences.units[targets[lane]] * stride
        for prediction in range(predictions):
            unions[row + prediction] = merged[prediction * LANES + lane]


@compiled()
def _compare_short(sentences, positions, columns, marks, merged):
    tokens = sentences.token_types
    for number in range(len(sentences.heads)):
        sentence = sentences.heads[number]
        if sentence >= 0:
            begin, size = sentences.begins[number], sentences.sizes[number]
            mark_short(positions, tokens, begin, size, columns, marks)
            while sentence >= 0:
                merge_short(marks, merged, sentences.owners[sentence] * LANES)
                sentence = sentences.following[sentence]


@njit
def long_positions(token_types, types, begins, sizes, limbs):
    """The array `positions` of fill_columns for at most LONG_LANES targets."""
    positions = np.zeros(types * limbs * LONG_LANES, np.uint64)
    for lane in range(len(begins)):
        for k in range(sizes[lane]):
            kind = np.int64(token_types[begins[lane] + k])
            at = (kind * limbs + ((k + 1) >> 6)) * LONG_LANES + lane
            positions[at] |= np.uint64(1) << np.uint64((k + 1) & 63)
    return positions


@njit
def first_columns(longest, limbs):
    """The array `columns` of fill_columns for `longest` tokens, its first column filled."""
    columns = np.empty((longest + 1) * limbs * LONG_LANES, np.uint64)
    columns[: limbs * LONG_LANES] = ~np.uint64(0)
    columns[:LONG_LANES] = ~np.uint64(1)
    return columns


@njit
def _union_long(sentences, types, targets, longest, stride, unions):
    """Fill the unions of at most LONG_LANES target sentences of any length."""
    limbs = sentences.limbs[targets].max()
    begins, sizes = sentences.begins[targets], sentences.sizes[targets]
    positions = long_positions(sentences.token_types, types, begins, sizes, limbs)
    columns = first_columns(longest, limbs)
    cursors = np.empty(limbs * LONG_LANES, np.uint64)
    marks = np.empty(limbs * LONG_LANES, np.uint64)
    for number in range(len(sentences.heads)):
        if sentences.heads[number] >= 0:
            begin, size = sentences.begins[number], sentences.sizes[number]
            cursors[:] = ~np.uint64(0)
            marks[:] = 0
            tokens = sentences.token_types
            fill_columns(positions, tokens, begin, size, limbs, columns)
            mark_long(positions, tokens, begin, size, limbs, columns, cursors, marks)
            _merge_long(sentences, targets, marks, sentences.heads[number], stride, unions)


@compiled()
def _merge_long(sentences, targets, marks, sentence, stride, unions):
    while sentence >= 0:
        for lane in range(len(targets)):
            unit = sentences.units[targets[lane]]
            for limb in range(sentences.limbs[targets[lane]]):
                at = (unit + limb) * stride + sentences.owners[sentence]
                unions[at] |= marks[limb * LONG_LANES + lane]
        sentence = sentences.following[sentence]
