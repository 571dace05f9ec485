"""ROUGE-L and ROUGE-Lsum: hits of all pairs of texts by longest common subsequences.

ROUGE-Lsum (rouge_score 0.1.2): for every sentence of the target, the union over the sentences of
the prediction of the positions on one longest common subsequence (`subsequence`); a token type
counts no more often than it stands in the prediction. A union is kept as bits, in units of 64.
"""

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
from brido.rouge.vectors import bit_count

_MIX = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True)
def _same_tokens(token_types, first, second, count):
    for k in range(count):
        if token_types[first + k] != token_types[second + k]:
            return False
    return True


@njit(cache=True)
def unique_sentences(token_types, bounds, first, last, unique, distinct):
    """The number of distinct sentences among sentences first to last - 1.

    unique[s - first] is the number of sentence s, distinct[u] a sentence with number u.
    """
    slots = 16
    while slots < 2 * (last - first):
        slots *= 2
    table = np.full(slots, -1, np.int64)
    count = 0
    for sentence in range(first, last):
        begin, size = bounds[sentence], bounds[sentence + 1] - bounds[sentence]
        mixed = np.uint64(size)
        for k in range(begin, begin + size):
            mixed = (mixed ^ np.uint64(token_types[k])) * _MIX
            mixed ^= mixed >> np.uint64(29)
        slot = np.int64(mixed & np.uint64(slots - 1))
        while table[slot] >= 0:
            other = bounds[distinct[table[slot]]]
            same_size = bounds[distinct[table[slot]] + 1] - other == size
            if same_size and _same_tokens(token_types, begin, other, size):
                break
            slot = (slot + 1) & (slots - 1)
        if table[slot] < 0:
            table[slot] = count
            distinct[count] = sentence
            count += 1
        unique[sentence - first] = table[slot]
    return count


@njit(cache=True)
def _number_units(bounds, first, text_sentences, unique, count, texts, first_target, units, limbs):
    """The number of units of 64 positions that the target's distinct sentences take.

    units[u] is the first unit of sentence u or -1 if no target has it, limbs[u] their number.
    """
    units[:count] = -1
    total = 0
    for sentence in range(text_sentences[first_target], text_sentences[texts]):
        number = unique[sentence - first]
        if units[number] < 0:
            size = bounds[sentence + 1] - bounds[sentence]
            units[number] = total
            limbs[number] = (size + 64) // 64  # the sentinel takes a bit
            total += limbs[number]
    return total


@njit(cache=True)
def _occurrences(first, text_sentences, unique, count, predictions, heads, following, owners):
    """Fill linked lists of where sentence u stands in the predictions.

    heads[u] is the last such sentence or -1, following[s] the one before, owners[s] its text.
    """
    heads[:count] = -1
    for text in range(predictions):
        for sentence in range(text_sentences[text] - first, text_sentences[text + 1] - first):
            owners[sentence] = text
            following[sentence] = heads[unique[sentence]]
            heads[unique[sentence]] = sentence


@njit(cache=True)
def _union_short(
    token_types, types, bounds, distinct, heads, following, owners, targets, units, unions
):
    """Fill unions [units, predictions] for at most LANES target sentences of SHORT_TOKENS."""
    predictions = unions.shape[1]
    positions = np.zeros(types * LANES, np.uint32)
    for lane in range(len(targets)):
        begin = bounds[distinct[targets[lane]]]
        for k in range(bounds[distinct[targets[lane]] + 1] - begin):
            positions[token_types[begin + k] * LANES + lane] |= np.uint32(2) << np.uint32(k)
    longest = 0
    for number in range(len(distinct)):
        longest = max(longest, bounds[distinct[number] + 1] - bounds[distinct[number]])
    columns = np.empty(longest * LANES, np.uint32)
    marks = np.empty(LANES, np.uint32)
    merged = np.zeros(predictions * LANES, np.uint32)
    for number in range(len(distinct)):
        sentence = heads[number]
        if sentence >= 0:
            begin = bounds[distinct[number]]
            size = bounds[distinct[number] + 1] - begin
            mark_short(positions, token_types, begin, size, columns, marks)
            while sentence >= 0:
                merge_short(marks, merged, owners[sentence] * LANES)
                sentence = following[sentence]
    for lane in range(len(targets)):
        row = unions[units[targets[lane]]]
        for prediction in range(predictions):
            row[prediction] = merged[prediction * LANES + lane]


@njit(cache=True)
def _long_positions(token_types, types, begins, sizes, limbs):
    """The array `positions` of fill_columns for at most LONG_LANES targets, flat."""
    positions = np.zeros(types * limbs * LONG_LANES, np.uint64)
    for lane in range(len(begins)):
        for k in range(sizes[lane]):
            at = (token_types[begins[lane] + k] * limbs + ((k + 1) >> 6)) * LONG_LANES + lane
            positions[at] |= np.uint64(1) << np.uint64((k + 1) & 63)
    return positions


@njit(cache=True)
def _first_columns(longest, limbs):
    """The array `columns` of fill_columns with its first column, flat."""
    columns = np.empty((longest + 1) * limbs * LONG_LANES, np.uint64)
    columns[: limbs * LONG_LANES] = ~np.uint64(0)
    columns[:LONG_LANES] = ~np.uint64(1)
    return columns


@njit(cache=True)
def _union_long(
    token_types, types, bounds, distinct, heads, following, owners, targets, units, limbs, unions
):
    """Fill unions [units, predictions] for at most LONG_LANES target sentences of any length."""
    begins = np.empty(len(targets), np.int64)
    sizes = np.empty(len(targets), np.int64)
    most = 0
    for lane in range(len(targets)):
        begins[lane] = bounds[distinct[targets[lane]]]
        sizes[lane] = bounds[distinct[targets[lane]] + 1] - begins[lane]
        most = max(most, limbs[targets[lane]])
    positions = _long_positions(token_types, types, begins, sizes, most)
    longest = 0
    for number in range(len(distinct)):
        longest = max(longest, bounds[distinct[number] + 1] - bounds[distinct[number]])
    columns = _first_columns(longest, most)
    cursors = np.empty(most * LONG_LANES, np.uint64)
    marks = np.empty(most * LONG_LANES, np.uint64)
    for number in range(len(distinct)):
        sentence = heads[number]
        if sentence >= 0:
            begin = bounds[distinct[number]]
            size = bounds[distinct[number] + 1] - begin
            cursors[:] = ~np.uint64(0)
            marks[:] = 0
            fill_columns(positions, token_types, begin, size, most, columns)
            mark_long(positions, token_types, begin, size, most, columns, cursors, marks)
            while sentence >= 0:
                for lane in range(len(targets)):
                    for limb in range(limbs[targets[lane]]):
                        unit = units[targets[lane]] + limb
                        unions[unit, owners[sentence]] |= marks[limb * LONG_LANES + lane]
                sentence = following[sentence]


@njit(cache=True)
def _repeated_types(token_types, types, text_tokens, texts, predictions, first_target, rows):
    """Counts int64 [rows, predictions] of the types that some target holds more than once.

    rows[type] is the type's row or -1.
    """
    seen = np.full(types, -1, np.int64)
    rows[:types] = -1
    total = 0
    for text in range(first_target, texts):
        for token in range(text_tokens[text], text_tokens[text + 1]):
            kind = token_types[token]
            if seen[kind] == text and rows[kind] < 0:
                rows[kind] = total
                total += 1
            seen[kind] = text
    counts = np.zeros((total, predictions), np.int64)
    for text in range(predictions):
        for token in range(text_tokens[text], text_tokens[text + 1]):
            row = rows[token_types[token]]
            if row >= 0:
                counts[row, text] += 1
    return counts


@njit(cache=True)
def _add_marked(union, mask, sums):
    for prediction in range(len(sums)):
        sums[prediction] += np.int64(bit_count(union[prediction] & mask))


@njit(cache=True)
def _subtract_surplus(marked, counts, sums):
    for prediction in range(len(sums)):
        sums[prediction] -= max(np.int64(0), marked[prediction] - counts[prediction])


@njit(cache=True)
def _surplus(token_types, bounds, first, begin, end, unique, units, unions, rows, counts, sums):
    """Take from `sums` what the types of sentences begin to end - 1 were marked too often."""
    tokens = bounds[end] - bounds[begin]
    pieces = np.empty((tokens, 2), np.int64)  # unit, piece before
    masks = np.empty(tokens, np.uint64)
    chains = np.zeros((len(counts), 2), np.int64)  # last piece, occurrences
    filled = 0
    for sentence in range(begin, end):
        unit = units[unique[sentence - first]]
        for token in range(bounds[sentence], bounds[sentence + 1]):
            row = rows[token_types[token]]
            if row < 0:
                continue
            place = token - bounds[sentence] + 1
            bit = np.uint64(1) << np.uint64(place & 63)
            chains[row, 1] += 1
            last = chains[row, 0] if chains[row, 1] > 1 else -1
            # A sentence that the target repeats has one unit but counts each time: new pieces.
            if last >= 0 and pieces[last, 0] == unit + (place >> 6) and not masks[last] & bit:
                masks[last] |= bit
                continue
            pieces[filled, 0] = unit + (place >> 6)
            pieces[filled, 1] = last
            masks[filled] = bit
            chains[row, 0] = filled
            filled += 1
    marked = np.empty_like(sums)
    for row in range(len(counts)):
        if chains[row, 1] > 1:
            marked[:] = 0
            piece = chains[row, 0]
            while piece >= 0:
                _add_marked(unions[pieces[piece, 0]], masks[piece], marked)
                piece = pieces[piece, 1]
            _subtract_surplus(marked, counts[row], sums)


@njit(cache=True)
def summary_hits(
    token_types, types, text_tokens, bounds, text_sentences, predictions, first_target, hits
):
    """Fill hits int32 [predictions, targets] of ROUGE-Lsum for one document.

    text_tokens and text_sentences [texts + 1] are places in token_types and in bounds; the
    predictions are the first texts, the targets those from first_target on.
    """
    texts = len(text_tokens) - 1
    first, last = text_sentences[0], text_sentences[texts]
    unique = np.empty(last - first, np.int64)
    distinct = np.empty(last - first, np.int64)
    count = unique_sentences(token_types, bounds, first, last, unique, distinct)
    distinct = distinct[:count]
    units = np.empty(count, np.int64)
    limbs = np.empty(count, np.int64)
    total = _number_units(
        bounds, first, text_sentences, unique, count, texts, first_target, units, limbs
    )
    heads = np.empty(count, np.int64)
    following = np.empty(last - first, np.int64)
    owners = np.empty(last - first, np.int64)
    _occurrences(first, text_sentences, unique, count, predictions, heads, following, owners)
    unions = np.zeros((total, predictions), np.uint64)
    _fill_unions(
        token_types, types, bounds, distinct, heads, following, owners, units, limbs, unions
    )
    rows = np.empty(types, np.int64)
    counts = _repeated_types(
        token_types, types, text_tokens, texts, predictions, first_target, rows
    )
    sums = np.empty(predictions, np.int64)
    for text in range(first_target, texts):
        begin, end = text_sentences[text], text_sentences[text + 1]
        sums[:] = 0
        for sentence in range(begin, end):
            number = unique[sentence - first]
            for unit in range(units[number], units[number] + limbs[number]):
                _add_marked(unions[unit], ~np.uint64(0), sums)
        _surplus(token_types, bounds, first, begin, end, unique, units, unions, rows, counts, sums)
        hits[:, text - first_target] = sums


@njit(cache=True)
def _fill_unions(
    token_types, types, bounds, distinct, heads, following, owners, units, limbs, unions
):
    """Compare the target sentences with the predictions' in blocks of lanes."""
    short = np.empty(len(distinct), np.int64)
    long = np.empty(len(distinct), np.int64)
    shorts = longs = 0
    for number in range(len(distinct)):
        if units[number] >= 0:
            size = bounds[distinct[number] + 1] - bounds[distinct[number]]
            if size <= SHORT_TOKENS:
                short[shorts] = number
                shorts += 1
            else:
                long[longs] = number
                longs += 1
    for block in range(0, shorts, LANES):
        targets = short[block : min(block + LANES, shorts)]
        _union_short(
            token_types, types, bounds, distinct, heads, following, owners, targets, units, unions
        )
    for block in range(0, longs, LONG_LANES):
        targets = long[block : min(block + LONG_LANES, longs)]
        _union_long(
            *(token_types, types, bounds, distinct, heads, following, owners),
            *(targets, units, limbs, unions),
        )


@njit(cache=True)
def subsequence_lengths(token_types, types, text_tokens, predictions, first_target, lengths):
    """Fill lengths int32 [predictions, targets] of the longest common subsequences of texts."""
    texts = len(text_tokens) - 1
    longest = 0
    for text in range(predictions):
        longest = max(longest, text_tokens[text + 1] - text_tokens[text])
    for block in range(first_target, texts, LONG_LANES):
        end = min(block + LONG_LANES, texts)
        begins = text_tokens[block:end]
        sizes = text_tokens[block + 1 : end + 1] - begins
        limbs = (sizes.max() + 64) // 64
        positions = _long_positions(token_types, types, begins, sizes, limbs)
        columns = _first_columns(longest, limbs)
        for text in range(predictions):
            begin, size = text_tokens[text], text_tokens[text + 1] - text_tokens[text]
            fill_columns(positions, token_types, begin, size, limbs, columns)
            for lane in range(end - block):
                length = -1  # the sentinel
                for limb in range(limbs):
                    column = columns[(size * limbs + limb) * LONG_LANES + lane]
                    length += np.int64(bit_count(~column))
                lengths[text, block - first_target + lane] = length
