"""The compiled entry: bytes of many documents in, hits of all pairs of texts out, without the GIL.

All arithmetic up to here is on whole numbers; `pairwise` turns hits and lengths into values.
"""

import numpy as np
from numba import njit

from brido.rouge.bitcounts import padded
from brido.rouge.ngrams import count_common, ngram_bits
from brido.rouge.sentences import subsequence_lengths, summary_hits
from brido.rouge.tokens import find_tokens, intern
from brido.rouge.vectors import ROOM, entry

ROUGE1, ROUGE2, ROUGE_L, ROUGE_LSUM = 1, 2, 3, 4


@njit
def _slots(items):
    """The size of a hash table for `items` items, at most half full."""
    slots = 16
    while slots < 2 * items:
        slots *= 2
    return slots


@entry()
def count_hits(
    data,
    documents,
    texts,
    predictions,
    first_target,
    use_stemmer,
    measures,
    hits,
    lengths,
    room=ROOM,
):
    """Fill hits and lengths for all documents; see `tokens.text_bytes` for `data`.

    A document has `texts` texts; its predictions are the first, its targets those from first_target
    on. measures holds codes of measures; hits int32 [documents, measures, predictions, targets] is
    what a prediction and a target share, lengths int32 [documents, texts] the numbers of tokens.
    """
    total = documents * texts
    starts = np.empty(len(data) // 2 + 1, np.uint32)
    sizes = np.empty(len(data) // 2 + 1, np.uint32)
    bounds = np.empty(len(data) // 2 + 1, np.int64)
    text_tokens = np.empty(total + 1, np.int64)
    text_sentences = np.empty(total + 1, np.int64)
    tokens = find_tokens(data, total, starts, sizes, text_tokens, text_sentences, bounds)
    token_types = np.empty(tokens, np.uint32)
    most = 0
    for document in range(documents):
        first = document * texts
        most = max(most, text_tokens[first + texts] - text_tokens[first])
    words = np.zeros((_slots(most), 4), np.uint64)
    stems = np.zeros((_slots(most), 4), np.uint64)
    bigrams = np.zeros((_slots(most), 2), np.uint64)
    pool = np.empty(len(data) + 16 * most + 64, np.uint8)
    chains = np.empty((most + 1, 3), np.int64)
    bits = np.empty((most // 64 + 1, padded(texts)), np.uint64)
    square = np.empty((padded(texts), padded(texts)), np.int64)
    for document in range(documents):
        first = document * texts
        stamp = np.uint64(document + 1)
        places = text_tokens[first : first + texts + 1]
        types = intern(
            *(data, starts, sizes, places[0], places[texts], use_stemmer, words, stems, pool),
            *(stamp, token_types),
        )
        for text in range(texts):
            lengths[document, text] = places[text + 1] - places[text]
        for index in range(len(measures)):
            measure = measures[index]
            found = hits[document, index]
            if measure <= ROUGE2:
                rows = ngram_bits(
                    token_types, types, places, texts, measure, bigrams, stamp, chains, bits
                )
                count_common(bits, rows, texts, predictions, first_target, square, found)
            elif measure == ROUGE_L:
                subsequence_lengths(token_types, types, places, predictions, first_target, found)
            else:
                sentences = text_sentences[first : first + texts + 1]
                summary_hits(
                    *(token_types, types, places, bounds[sentences[0] : sentences[texts] + 1]),
                    *(sentences - sentences[0], predictions, first_target, found),
                )
