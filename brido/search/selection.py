"""The loops of a step's selection, compiled for a processor.

A step selects from thousands of short rows, group after group. As calls of PyTorch's operators that
costs more than the selecting itself, so `groups.row_top_k` and `groups.choose` run these loops
on a processor and operators elsewhere. Among equal values these loops keep the one they see first.
"""

import numpy as np
from numba import njit

from brido.utils.compiling import cached

# The columns of a lane when the best of a long row are looked for.
DEPTH = 16


@njit(nogil=True)
def _insert(value, place, count, best, places):
    """Put `value` into best [K], sorted and `count` long, unless it is full of better ones."""
    limit = len(best)
    if count == limit:
        if not value > best[limit - 1]:
            return count
        count -= 1
    slot = count
    while slot > 0 and value > best[slot - 1]:
        best[slot] = best[slot - 1]
        places[slot] = places[slot - 1]
        slot -= 1
    best[slot] = value
    places[slot] = place
    return count + 1


@njit(nogil=True)
def _lane_maxima(row, depth, maxima):
    """Fill maxima [L] with the largest of every L-th element of the row's first L * depth."""
    lanes = len(maxima)
    maxima[:] = row[:lanes]
    for level in range(1, depth):
        stretch = row[level * lanes : (level + 1) * lanes]
        for lane in range(lanes):
            value = stretch[lane]
            maxima[lane] = value if value > maxima[lane] else maxima[lane]


@cached(nogil=True)
def top_k(values, best, columns):
    """Fill best float32 [R, K] and columns int64 [R, K] from values [R, V], K <= V.

    A long row is cut into lanes (every L-th column), those into groups. The K-th largest maximum of
    a group is a threshold that K elements reach, so the K largest lie in lanes that reach it.
    """
    rows, size = values.shape
    k = best.shape[1]
    lanes = size // DEPTH
    if lanes < 2 * k:
        lanes = 0
    lanes_a_group = lanes // (2 * k)
    maxima = np.empty(lanes, values.dtype)
    group_maxima = np.empty(lanes // max(1, lanes_a_group), values.dtype)
    top_maxima = np.empty(k, values.dtype)
    unused = np.empty(k, np.int64)
    for row in range(rows):
        count = 0
        if lanes:
            _lane_maxima(values[row], DEPTH, maxima)
            _lane_maxima(maxima, lanes_a_group, group_maxima)
            found = 0
            for group in range(len(group_maxima)):
                found = _insert(group_maxima[group], group, found, top_maxima, unused)
            threshold = top_maxima[k - 1]
            for lane in range(lanes):
                if maxima[lane] >= threshold:
                    for column in range(lane, lanes * DEPTH, lanes):
                        value = values[row, column]
                        if value >= threshold:
                            count = _insert(value, column, count, best[row], columns[row])
        for column in range(lanes * DEPTH, size):
            count = _insert(values[row, column], column, count, best[row], columns[row])


@njit(nogil=True)
def _is_end(token, ends):
    for end in ends:  # noqa: SIM110 - compiled
        if token == end:
            return True
    return False


@cached(nogil=True)
def choose_groups(
    values, tokens, running, done, cost, penalty, vocabulary, ends, pad, found, following
):
    """Fill the candidates and the next beams of every group; arguments as in `groups.GroupOptions`.

    found and following are (scores, tokens, beams) of [B, G, C] and [B, G, S]; penalty is float32;
    an empty cost is 1 throughout.
    """
    documents, beams, depth = values.shape
    groups = done.shape[1]
    size = beams // groups
    candidates = found[0].shape[2]
    taken = np.zeros(vocabulary, values.dtype)
    best = np.empty(candidates, values.dtype)
    places = np.empty(candidates, np.int64)
    for document in range(documents):
        taken[:] = 0
        for group in range(groups):
            count = 0
            for beam in range(group * size, (group + 1) * size):
                for k in range(depth):
                    token = tokens[document, beam, k]
                    diversity = taken[token] * penalty
                    if cost.size:
                        diversity *= cost[document, beam, k]
                    score = values[document, beam, k] - diversity
                    score += running[document, beam]
                    count = _insert(score, beam * depth + k, count, best, places)
            chosen = 0
            # Candidates that end stand behind those that go on.
            for ending in (False, True):
                for candidate in range(candidates):
                    beam, k = divmod(places[candidate], depth)
                    token = tokens[document, beam, k]
                    if _is_end(token, ends) != ending:
                        continue
                    found[0][document, group, candidate] = best[candidate]
                    found[1][document, group, candidate] = token
                    found[2][document, group, candidate] = beam
                    if chosen < size:
                        is_done = done[document, group]
                        following[0][document, group, chosen] = 0 if is_done else best[candidate]
                        following[1][document, group, chosen] = pad if is_done else token
                        following[2][document, group, chosen] = beam
                        taken[pad if is_done else token] += 1
                        chosen += 1
