"""What two texts share, counted for all pairs of texts: the loops that numba compiles.

numba's cache of machine code looks at this file alone: nothing here calls compiled code of another.
The predictions are the first texts, the targets those from `first_target` on.
"""

import numpy as np
from numba import njit

_ONE, _ALL = np.uint64(1), ~np.uint64(0)


def _cached(function):
    """Compile; the code is kept beside this file, in the user's caches, or in NUMBA_CACHE_DIR."""
    try:
        return njit(nogil=True, cache=True)(function)
    except RuntimeError:  # no folder can be written
        return njit(nogil=True)(function)


@_cached
def common_counts(counts, predictions, first_target):
    """The sizes of the intersections of multisets, int64 [predictions, targets].

    counts int32 [texts, types]: how often a text has an element.
    """
    texts, types = counts.shape
    common = np.empty((predictions, texts - first_target), np.int64)
    for row in range(predictions):
        for column in range(first_target, texts):
            total = 0
            for kind in range(types):
                total += min(counts[row, kind], counts[column, kind])
            common[row, column - first_target] = total
    return common


@_cached
def common_words(words, bounds, lines, texts, units, marks, most, first_target):
    """How many words of each target are marked, int64 [targets, predictions].

    words, bounds, lines, texts: see `tokens.Tokens`; units, marks: see mark_lines; most int64
    [types, predictions]: how often a word counts at most.
    """
    common = np.zeros((len(texts) - 1 - first_target, most.shape[1]), np.int64)
    left = most.copy()
    for target in range(len(common)):
        own = lines[texts[first_target + target] : texts[first_target + target + 1]]
        for line in own:
            for place in range(bounds[line + 1] - bounds[line]):
                word, unit = words[bounds[line] + place], units[line] + (place >> 6)
                for row in range(most.shape[1]):
                    marked = np.int64(marks[unit, row] >> np.uint64(place & 63) & _ONE)
                    taken = min(marked, left[word, row])
                    left[word, row] -= taken
                    common[target, row] += taken
        for line in own:
            for word in words[bounds[line] : bounds[line + 1]]:
                left[word] = most[word]
    return common


@_cached
def mark_lines(words, bounds, units, owners, targets, types, marks):
    """Mark the words of lines on a longest common subsequence with any line of a prediction.

    marks uint64 [units, predictions]: word k of a line is bit k % 64 of unit units[line] + k / 64.
    words, bounds: see `tokens.Tokens`; owners bool [lines, predictions]: who has the line; targets:
    the lines to mark, all of equally many units; types: how many different words there are.
    """
    limbs, lanes = units[targets[0] + 1] - units[targets[0]], len(targets)
    positions = np.zeros((types, limbs, lanes), np.uint64)  # bits of where a line has a word
    for lane in range(lanes):
        begin, end = bounds[targets[lane]], bounds[targets[lane] + 1]
        for k in range(end - begin):
            positions[words[begin + k], k >> 6, lane] |= _ONE << np.uint64(k & 63)
    found = np.empty((limbs, lanes), np.uint64)
    for line in range(len(owners)):
        rows = np.flatnonzero(owners[line])
        if len(rows):
            prediction = words[bounds[line] : bounds[line + 1]]
            _read_path(prediction, positions, _table(prediction, positions), found)
            for lane in range(lanes):
                for limb in range(limbs):
                    for row in rows:
                        marks[units[targets[lane]] + limb, row] |= found[limb, lane]


@_cached
def _table(prediction, positions):
    """The tables t[i][j] of longest common subsequences (i words of a target, j of the prediction).

    Bit i of column j, uint64 [words of the prediction + 1, limbs, lanes], is 0 where
    t[i + 1][j] > t[i][j]. A column follows from the one before by an addition (Hyyro 2004,
    "Bit-parallel LCS-length computation revisited").
    """
    limbs, lanes = positions.shape[1:]
    columns = np.empty((len(prediction) + 1, limbs, lanes), np.uint64)
    columns[0] = _ALL
    carry = np.empty(lanes, np.uint64)
    for j in range(len(prediction)):
        carry[:] = 0
        for limb in range(limbs):
            match = positions[prediction[j], limb]
            before, after = columns[j, limb], columns[j + 1, limb]
            for lane in range(lanes):
                both = before[lane] & match[lane]
                partial = before[lane] + both
                total = partial + carry[lane]
                carry[lane] = np.uint64(partial < both) | np.uint64(total < partial)
                after[lane] = total | (before[lane] ^ both)
    return columns


@_cached
def _read_path(prediction, positions, columns, found):
    """Fill found [limbs, lanes]: the subsequence that rouge_score reads from the table, as bits.

    From the end it goes diagonally at a match, else to the previous word of the prediction only if
    t[i][j - 1] > t[i - 1][j], which is where t[i][j] > t[i - 1][j]. So in a column it goes down to
    the highest bit that is a match or a step. `open_bits` are those that it has not passed.
    """
    limbs, lanes = found.shape
    open_bits = np.full((limbs, lanes), _ALL)
    stopped = np.empty(lanes, np.uint64)  # all ones where a higher limb has had the bit
    found[:] = 0
    for j in range(len(prediction) - 1, -1, -1):
        stopped[:] = 0
        for limb in range(limbs - 1, -1, -1):
            match, column = positions[prediction[j], limb], columns[j + 1, limb]
            left, marked = open_bits[limb], found[limb]
            for lane in range(lanes):
                stop = (match[lane] | ~column[lane]) & left[lane]
                upto = stop | stop >> np.uint64(1)  # all bits up to the highest
                for shift in (2, 4, 8, 16, 32):
                    upto |= upto >> np.uint64(shift)
                hit = (upto ^ upto >> np.uint64(1)) & match[lane] & ~stopped[lane]
                marked[lane] |= hit
                left[lane] = (upto | stopped[lane]) ^ hit
                stopped[lane] |= _ALL if stop else np.uint64(0)
