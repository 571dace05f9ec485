"""Draw a token of each row of probabilities, compiled for a processor.

Truncation asks for the most probable tokens first, but to sort a vocabulary costs more than a step
of a small model. Here one pass adds up a row's probabilities by size, in buckets that are 3 % wide.
Whole buckets are counted or left out; only those are sorted where a rule ends or the draw falls.
"""

import numpy as np
from numba import njit

from brido.utils.compiling import cached

# A bucket: all probabilities with the same exponent and the same first 5 bits of the fraction.
_SHIFT = 18
_BUCKETS = (int(np.float32(1.0).view(np.int32)) >> _SHIFT) + 1


@cached(nogil=True)
def draw_rows(probabilities, keys, uniforms, top_k, top_p, min_p, drawn):
    """Fill drawn int64 [R] with the column that each of uniforms [R] draws from its row [R, V].

    keys: the probabilities as float32, read as int32. What rules leave (top_k 0, top_p 1, min_p 0:
    all) stands in order, the most probable first, of equal ones the first column. Without rules
    the order is that of the columns. A row without a positive number draws column 0.
    """
    mass, count = np.empty(_BUCKETS), np.empty(_BUCKETS, np.int64)
    for row in range(len(probabilities)):
        values, own = probabilities[row], keys[row]
        if not top_k and top_p >= 1 and not min_p:
            drawn[row] = _in_columns(values, uniforms[row])
            continue
        mass[:] = 0
        count[:] = 0
        largest = _fill(values, own, mass, count)
        if not largest > 0:
            drawn[row] = 0
            continue
        last = 0
        while not count[last]:
            last += 1
        inside, total = count[last], 1.0
        if top_k:
            last, inside = _first(values, own, count, top_k, last, inside)
            total = _total(values, own, mass, count, last, inside)
        if top_p < 1:
            last, inside = _reach(values, own, mass, count, top_p * total, False, last, inside)
        if min_p:
            last, inside = _at_least(values, own, count, min_p * np.float64(largest), last, inside)
        total = _total(values, own, mass, count, last, inside)
        target = uniforms[row] * total
        bucket, place = _reach(values, own, mass, count, target, True, last, inside)
        drawn[row] = _members(values, own, bucket, count[bucket])[place - 1]


@njit(nogil=True)
def _in_columns(values, uniform):
    """The column where the sum of the values so far passes `uniform` times their sum."""
    total = 0.0
    for value in values:
        if value > 0:
            total += value
    target, reached, found = uniform * total, 0.0, 0
    for column in range(len(values)):
        if values[column] > 0:
            found = column
            reached += values[column]
            if reached > target or reached >= total:
                break
    return found


@njit(nogil=True)
def _fill(values, keys, mass, count):
    """Add up the positive values of each bucket, and count them; return the largest."""
    largest = values[0]
    for column in range(len(values)):
        value = values[column]
        if value > 0:
            bucket = keys[column] >> _SHIFT
            mass[bucket] += value
            count[bucket] += 1
            if not largest >= value:
                largest = value
    return largest


@njit(nogil=True)
def _members(values, keys, bucket, size):
    """The `size` columns of a bucket in order."""
    columns, negative = np.empty(size, np.int64), np.empty(size, values.dtype)
    found = 0
    for column in range(len(values)):
        if keys[column] >> _SHIFT == bucket and values[column] > 0:
            columns[found] = column
            negative[found] = -values[column]
            found += 1
    return columns[np.argsort(negative, kind="mergesort")]


@njit(nogil=True)
def _total(values, keys, mass, count, last, inside):
    """The sum of all buckets above `last` and of the first `inside` members of that one."""
    total = 0.0
    for bucket in range(_BUCKETS - 1, last, -1):
        total += mass[bucket]
    if inside == count[last]:
        return total + mass[last]
    for column in _members(values, keys, last, count[last])[:inside]:
        total += values[column]
    return total


@njit(nogil=True)
def _first(values, keys, count, wanted, last, inside):
    """Where the first `wanted` values end, and those that are equal to the last of them."""
    before = 0
    for bucket in range(_BUCKETS - 1, last - 1, -1):
        if before + count[bucket] >= wanted:
            members = _members(values, keys, bucket, count[bucket])
            place = wanted - before
            while place < len(members) and values[members[place]] == values[members[place - 1]]:
                place += 1
            return bucket, place
        before += count[bucket]
    return last, inside


@njit(nogil=True)
def _reach(values, keys, mass, count, target, strictly, last, inside):
    """Bucket and place of the value with which the sum in order is `target` at least, or more.

    strictly: more. The place counts from 1; it is at most `inside` in bucket `last`.
    """
    before = 0.0
    for bucket in range(_BUCKETS - 1, last, -1):
        after = before + mass[bucket]
        if count[bucket] and (after > target or (after == target and not strictly)):
            break
        before = after
    else:
        bucket = last
    limit = inside if bucket == last else count[bucket]
    place = 0
    for column in _members(values, keys, bucket, count[bucket])[:limit]:
        place += 1
        before += values[column]
        if before > target or (before == target and not strictly):
            break
    return bucket, place


@njit(nogil=True)
def _at_least(values, keys, count, threshold, last, inside):
    """Where the values of at least `threshold` end, if that is before the present end."""
    bucket = np.array([threshold], np.float32).view(np.int32)[0] >> _SHIFT
    if bucket < last:
        return last, inside
    place = 0
    for column in _members(values, keys, bucket, count[bucket]):
        if values[column] < threshold:
            break
        place += 1
    return bucket, min(place, inside) if bucket == last else place
