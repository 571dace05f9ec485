"""ROUGE-1 and ROUGE-2: sizes of the intersections of multisets of n-grams, for all pairs of texts.

The k-th occurrence of an n-gram in a text is an element of its own. So a multiset becomes a set, a
set becomes bits, and an intersection is an AND and a count of bits.
"""

import numpy as np

from brido.rouge.bitcounts import TILE_LANES, TILE_ROWS, overlap_tile
from brido.rouge.vectors import compiled, inlined

_MIX = np.uint64(0x9E3779B97F4A7C15)
_LOW_HALF = np.uint64(0xFFFFFFFF)


@inlined()
def _bigram(table, first, second, stamp, count):
    """The number of a bigram; `count` if it is new.

    table uint64 [slots, 2], slots a power of two: the bigram, stamp << 32 | number. A slot with
    another stamp is free.
    """
    mask = np.uint64(table.shape[0] - 1)
    key = np.uint64(first) << np.uint64(32) | np.uint64(second)
    slot = (key * _MIX >> np.uint64(32)) & mask
    while table[slot, 1] >> np.uint64(32) == stamp:
        if table[slot, 0] == key:
            return np.int64(table[slot, 1] & _LOW_HALF)
        slot = (slot + np.uint64(1)) & mask
    table[slot, 0] = key
    table[slot, 1] = stamp << np.uint64(32) | np.uint64(count)
    return count


@compiled()
def ngram_bits(token_types, types, text_tokens, texts, order, table, stamp, chains, bits):
    """The number of 64-element words that the sets of n-grams take; fills `bits`.

    order 1 or 2; `types` is the number of token types; text_tokens [texts + 1] are places in
    token_types; table as in `_bigram`; chains int64 [tokens, 3] is scratch; bits uint64
    [words, padded(texts)] gets element e of text t at bit e % 64 of bits[e // 64, t].
    """
    count = types if order == 1 else 0  # elements; a type's first occurrence has its number
    words = (count + 63) // 64  # rows of bits that are cleared
    _clear(bits, 0, words)
    for element in range(count):
        chains[element, 0] = chains[element, 2] = -1
    for text in range(texts):
        for token in range(text_tokens[text], text_tokens[text + 1] - order + 1):
            head = np.int64(token_types[token])
            if order == 2:
                head = _bigram(table, head, token_types[token + 1], stamp, count)
            element = head
            # chains: the text seen last, the element that it used last, the next occurrence's.
            if head < count and chains[head, 0] == text:
                last = chains[head, 1]
                element = chains[last, 2]
                if element < 0:
                    chains[last, 2] = element = count
            if element == count:
                chains[element, 0] = chains[element, 2] = -1
                count += 1
                if count > 64 * words:
                    _clear(bits, words, words + 1)
                    words += 1
            chains[head, 0] = text
            chains[head, 1] = element
            bits[element >> 6, text] |= np.uint64(1) << np.uint64(element & 63)
    return words


@compiled()
def _clear(bits, first, last):
    for word in range(first, last):
        for text in range(bits.shape[1]):
            bits[word, text] = 0


@compiled()
def count_common(bits, words, texts, predictions, first_target, square, common):
    """Fill common int32 [predictions, texts - first_target]: n-grams that two texts share.

    The predictions are texts 0 to predictions - 1, the targets texts from first_target on;
    square int64 [padded(texts), padded(texts)] is scratch.
    """
    stride = bits.shape[1]
    for row in range(0, predictions, TILE_ROWS):
        for lane in range(first_target // TILE_LANES * TILE_LANES, texts, TILE_LANES):
            overlap_tile(bits, words, stride, row, lane, square)
    for row in range(predictions):
        for target in range(texts - first_target):
            common[row, target] = square[row, first_target + target]
