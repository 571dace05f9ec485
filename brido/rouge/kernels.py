"""The compiled entries: bytes of many documents in, hits of all pairs of texts out, without GIL.

All arithmetic up to here is on whole numbers; `pairwise` turns hits and lengths into values. Each
entry is compiled when it is first needed and kept on disk, so that a process that is killed while
it compiles has less to do the next time.
"""

import numpy as np
from numba import njit

from brido.rouge.bitcounts import padded
from brido.rouge.ngrams import count_common, ngram_bits
from brido.rouge.subsequence_hits import subsequence_lengths, summary_hits
from brido.rouge.tokens import find_tokens, intern
from brido.rouge.vectors import ROOM, entry

ROUGE1, ROUGE2, ROUGE_L, ROUGE_LSUM = 1, 2, 3, 4


def count_hits(
    data, documents, texts, predictions, first_target, use_stemmer, measures, hits, lengths
):
    """Fill hits and lengths for all documents; see `tokens.text_bytes` for `data`.

    A document has `texts` texts; its predictions are the first, its targets those from first_target
    on. measures holds codes of measures; hits int32 [documents, measures, predictions, targets] is
    what a prediction and a target share, lengths int32 [documents, texts] the numbers of tokens.
    """
    token_types, types, text_tokens, bounds, text_sentences = _find_types(
        data, documents, texts, use_stemmer, lengths
    )
    words = token_types, types, text_tokens
    for index, measure in enumerate(measures):
        place = predictions, first_target, index, hits
        if measure <= ROUGE2:
            _ngram_hits(*words, measure, *place)
        elif measure == ROUGE_L:
            _subsequence_hits(*words, *place)
        else:
            _summary_hits(*words, bounds, text_sentences, *place)


@njit
def _slots(items):
    """The size of a hash table for `items` items, at most half full."""
    slots = 16
    while slots < 2 * items:
        slots *= 2
    return slots


@njit
def _most_tokens(text_tokens, texts):
    """The most tokens of a document."""
    most = 0
    for first in range(0, len(text_tokens) - 1, texts):
        most = max(most, text_tokens[first + texts] - text_tokens[first])
    return most


@entry()
def _find_types(data, documents, texts, use_stemmer, lengths, room=ROOM):
    """What the other entries read of all documents; fills lengths.

    token_types uint32 [tokens], types int64 [documents]: how many a document has; places where
    texts begin, in token_types [texts + 1] and in bounds, and in bounds where sentences do.
    """
    total = documents * texts
    starts = np.empty(len(data) // 2 + 1, np.uint32)
    sizes = np.empty(len(data) // 2 + 1, np.uint32)
    bounds = np.empty(len(data) // 2 + 1, np.int64)
    text_tokens = np.empty(total + 1, np.int64)
    text_sentences = np.empty(total + 1, np.int64)
    tokens = find_tokens(data, total, starts, sizes, text_tokens, text_sentences, bounds)
    token_types = np.empty(tokens, np.uint32)
    types = np.empty(documents, np.int64)
    most = _most_tokens(text_tokens, texts)
    words = np.zeros((_slots(most), 4), np.uint64)
    stems = np.zeros((_slots(most), 4), np.uint64)
    pool = np.empty(len(data) + 16 * most + 64, np.uint8)
    for document in range(documents):
        first = document * texts
        places = text_tokens[first : first + texts + 1]
        types[document] = intern(
            *(data, starts, sizes, places[0], places[texts], use_stemmer, words, stems, pool),
            *(np.uint64(document + 1), token_types),
        )
        for text in range(texts):
            lengths[document, text] = places[text + 1] - places[text]
    return token_types, types, text_tokens, bounds, text_sentences


@entry()
def _ngram_hits(
    token_types, types, text_tokens, order, predictions, first_target, index, hits, room=ROOM
):
    """Fill hits[:, index] for ROUGE-1 or ROUGE-2 (order 1, 2)."""
    texts = (len(text_tokens) - 1) // len(types)
    most = _most_tokens(text_tokens, texts)
    bigrams = np.zeros((_slots(most), 2), np.uint64)
    chains = np.empty((most + 1, 3), np.int64)
    bits = np.empty((most // 64 + 1, padded(texts)), np.uint64)
    square = np.empty((padded(texts), padded(texts)), np.int64)
    for document in range(len(types)):
        places = text_tokens[document * texts : (document + 1) * texts + 1]
        stamp = np.uint64(document + 1)
        rows = ngram_bits(
            token_types, types[document], places, texts, order, bigrams, stamp, chains, bits
        )
        found = hits[document, index]
        count_common(bits, rows, texts, predictions, first_target, square, found)


@entry()
def _subsequence_hits(
    token_types, types, text_tokens, predictions, first_target, index, hits, room=ROOM
):
    """Fill hits[:, index] for ROUGE-L."""
    texts = (len(text_tokens) - 1) // len(types)
    for document in range(len(types)):
        places = text_tokens[document * texts : (document + 1) * texts + 1]
        subsequence_lengths(
            *(token_types, types[document], places, predictions, first_target),
            hits[document, index],
        )


@entry()
def _summary_hits(
    token_types, types, text_tokens, bounds, text_sentences, predictions, first_target, index, hits,
    room=ROOM,
):  # fmt: skip
    """Fill hits[:, index] for ROUGE-Lsum."""
    texts = (len(text_tokens) - 1) // len(types)
    for document in range(len(types)):
        first, last = document * texts, (document + 1) * texts
        sentences = text_sentences[first : last + 1]
        summary_hits(
            *(token_types, types[document], text_tokens[first : last + 1]),
            *(bounds[sentences[0] : sentences[texts] + 1], sentences - sentences[0]),
            *(predictions, first_target, hits[document, index]),
        )
