"""Text to token types: rouge_score's tokenizer over the bytes of many texts at once.

A token is a run of letters and digits of ASCII, lower-cased, stemmed if longer than three letters.
Within a document every distinct token (stem) is numbered from 0 in order of appearance. Nothing is
kept from one document to the next, so memory is constant and threads share nothing.
"""

from collections.abc import Sequence

import numpy as np
from numba import njit

from brido.rouge.stemmer import PAD, stem
from brido.rouge.vectors import break_bits, compiled, inlined, load8, word_bits, zeros_below

_MARGIN = b"\xff" * 80  # vectors read past the end of the last text
_NEWLINE = 10
_LOWER = np.uint64(0x2020202020202020)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_EIGHT, _KEY_BYTES, _PAD = np.uint64(8), np.uint64(16), np.uint64(PAD)
# Row n keeps the first n bytes of two numbers of 8; a branch on the length costs more.
_KEY_MASKS = np.array(
    [[2 ** (8 * min(n, 8)) - 1, 2 ** (8 * max(n - 8, 0)) - 1] for n in range(17)],
    np.uint64,
)
_UNSTEMMED = np.uint64(3)  # letters of the longest token that is not stemmed
_MIX_LOW, _MIX_HIGH = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


def text_bytes(texts: Sequence[str]) -> np.ndarray:
    """Return the UTF-8 of all texts, uint8 [bytes], each followed by 0xFF, which no UTF-8 holds.

    Lower case is left to the kernel, which knows ASCII only: the two other characters whose lower
    case holds a letter of ASCII (U+0130: i and a mark, U+212A: k) are replaced here.
    """
    encoded = [text.encode() if text.isascii() else _encode(text) for text in texts]
    return np.frombuffer(b"\xff".join(encoded) + _MARGIN, np.uint8)


def _encode(text: str) -> bytes:
    lowered = text.replace("\u0130", "i\u0307").replace("\u212a", "k")
    # Half a surrogate pair is not a letter and may pass.
    return lowered.encode("utf-8", "surrogatepass")


@compiled()
def find_tokens(data, texts, starts, lengths, text_tokens, text_sentences, sentence_tokens):
    """The number of tokens; fills where tokens, sentences and texts begin.

    Tokens of text t: text_tokens[t] to text_tokens[t + 1] - 1; likewise its sentences in
    text_sentences and a sentence's tokens in sentence_tokens. Only newlines part sentences;
    sentences without tokens are left out. Sizes: starts and lengths half the bytes, text_tokens and
    text_sentences texts + 1, sentence_tokens tokens + 1.
    """
    token = sentence = text = 0
    block = position = 0
    text_tokens[0] = text_sentences[0] = sentence_tokens[0] = 0
    while text < texts:
        words = word_bits(data, block)
        # A run that began in an earlier block is skipped: `position` is behind its end.
        skip = np.uint64(position - block) if position > block else np.uint64(0)
        if skip >= np.uint64(64):
            block += 64
            continue
        begins = words & ~(words << np.uint64(1))
        events = (begins | break_bits(data, block)) >> skip << skip
        while events:
            position = block + np.int64(zeros_below(events))
            events &= events - np.uint64(1)
            byte = data[position]
            if byte == _NEWLINE or byte == 0xFF:
                if token > sentence_tokens[sentence]:
                    sentence += 1
                    sentence_tokens[sentence] = token
                if byte == 0xFF:
                    text += 1
                    text_tokens[text] = token
                    text_sentences[text] = sentence
                    if text == texts:
                        return token
                position += 1
            else:
                length = np.int64(zeros_below(~(words >> np.uint64(position - block))))
                end = position + length
                if end >= block + 64:
                    end = _run_end(data, block + 64)
                starts[token] = position
                lengths[token] = end - position
                token += 1
                position = end
        block += 64
    return token


@compiled()
def _run_end(data, block):
    """Where the run of letters that reaches `block` ends."""
    while True:
        length = np.int64(zeros_below(~word_bits(data, block)))
        if length < 64:
            return block + length
        block += 64


@inlined()
def _keys(data, start, length):
    """The first 16 letters, lower-cased, as two numbers; missing letters are 0."""
    kept = length if length < _KEY_BYTES else _KEY_BYTES
    low = (load8(data, start) | _LOWER) & _KEY_MASKS[kept, 0]
    return low, (load8(data, start + _EIGHT) | _LOWER) & _KEY_MASKS[kept, 1]


@compiled()
def _same_rest(data, first, second, length):
    """Whether two words of equal length agree behind their keys."""
    for k in range(_KEY_BYTES, length):  # noqa: SIM110 - compiled
        if data[first + k] | 0x20 != data[second + k] | 0x20:
            return False
    return True


@inlined()
def _find(table, data, low, high, start, length, stamp):
    """The slot of a word: the one that holds it, or a free one.

    table uint64 [slots, 4], slots a power of two: keys, start << 32 | length, stamp << 32 | type.
    A slot with another stamp belongs to an earlier document and is free.
    """
    mask = np.uint64(table.shape[0] - 1)
    slot = ((low ^ (high * _MIX_HIGH)) * _MIX_LOW >> np.uint64(32)) & mask
    while table[slot, 3] >> np.uint64(32) == stamp:
        if (
            table[slot, 0] == low
            and table[slot, 1] == high
            and table[slot, 2] & _LOW_HALF == length
            and (
                length <= _KEY_BYTES
                or _same_rest(data, table[slot, 2] >> np.uint64(32), start, length)
            )
        ):
            break
        slot = (slot + np.uint64(1)) & mask
    return slot


@inlined()
def _insert(table, slot, low, high, start, length, stamp, number):
    table[slot, 0] = low
    table[slot, 1] = high
    table[slot, 2] = start << np.uint64(32) | length
    table[slot, 3] = stamp << np.uint64(32) | number


@njit
def intern(data, starts, lengths, first, last, use_stemmer, words, stems, pool, stamp, token_types):
    """The number of types among tokens first to last - 1; fills token_types.

    `words` and `stems` are tables of `_find`, `stamp` a positive number not used on them before;
    `pool` holds the stems: as many bytes as the text of the tokens and 16 + PAD for each.
    """
    count = np.uint64(0)
    filled = np.uint64(0)
    for token in range(first, last):
        start, length = np.uint64(starts[token]), np.uint64(lengths[token])
        low, high = _keys(data, start, length)
        slot = _find(words, data, low, high, start, length, stamp)
        if words[slot, 3] >> np.uint64(32) == stamp:
            token_types[token] = words[slot, 3] & _LOW_HALF
            continue
        # The word goes into the pool behind PAD zeros, is stemmed there, and stays if it is new.
        begin = filled + _PAD
        pool[filled:begin] = 0
        for k in range(length):
            pool[begin + k] = data[start + k] | 0x20
        pool[begin + length : begin + length + _PAD] = 0
        size = length
        if use_stemmer and length > _UNSTEMMED:
            size = np.uint64(stem(pool[filled:], np.int64(length)))
        stem_low, stem_high = _keys(pool, begin, size)
        stem_slot = _find(stems, pool, stem_low, stem_high, begin, size, stamp)
        if stems[stem_slot, 3] >> np.uint64(32) != stamp:
            _insert(stems, stem_slot, stem_low, stem_high, begin, size, stamp, count)
            filled = begin + size
            count += np.uint64(1)
        number = stems[stem_slot, 3] & _LOW_HALF
        _insert(words, slot, low, high, start, length, stamp, number)
        token_types[token] = number
    return np.int64(count)
