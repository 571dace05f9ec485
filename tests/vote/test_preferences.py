"""Pairs of scored candidates, and the lines that hold them: which are read, refused, drawn."""

import json
import math
from collections import Counter
from dataclasses import replace
from hashlib import blake2b

import pytest
from pool_rows import pooled

from brido.rouge import similarity_matrix
from brido.tables import CORPUS, POOL, SCORES, write_table
from brido.tables.documents import CandidateDocument
from brido.tables.join import SplitTables
from brido.utils.errors import BridoError
from brido.vote.preferences import pairs, read_scored, read_votes

ROW = {
    "id": "x",
    "document": "A cat sat.",
    "candidates": ["a", "b", "c", "d"],
    "scores": [0.5, None, 0.75, 0.5],
    "order": [2, 0, 3],
    "sources": ["p", None, 7, "q"],
}


def read(*rows):
    return list(read_scored((json.dumps(row).encode() for row in rows), "scored.jsonl"))


def test_lines_are_documents_with_scores_sources_and_order():
    """Equal scores may stand in any order; without an id the line's number is one."""
    first, second, third = read(
        ROW, ROW | {"id": None, "order": [2, 3, 0], "sources": ["p"]}, ROW | {"id": 0}
    )
    assert (first.id, second.id, third.id) == ("x", "2", "0")
    for document in (first, second, third):
        assert (document.document, document.candidates) == ("A cat sat.", ROW["candidates"])
        assert math.isnan(document.scores[1])
        assert [document.scores[place] for place in (0, 2, 3)] == [0.5, 0.75, 0.5]
    assert (first.order, second.order) == ([2, 0, 3], [2, 3, 0])
    assert first.sources == ["p", None, "7", "q"]
    assert second.sources == [None] * 4


@pytest.mark.parametrize("missing", ["document", "candidates", "scores", "order"])
def test_a_line_that_lacks_a_key_is_named(missing):
    row = {key: value for key, value in ROW.items() if key != missing}
    with pytest.raises(BridoError, match=rf"^scored\.jsonl, line 2: .*`{missing}`"):
        read(ROW, row)


def test_a_blank_document_makes_no_prompt():
    with pytest.raises(BridoError, match=r"line 2: `document` .* not blank"):
        read(ROW, ROW | {"document": " \u200b"})


@pytest.mark.parametrize(
    "order",
    [
        [2, 0],
        [2, 0, 0],
        [2, 0, 1],
        [0, 2, 3],
        [2, 0, 3, 1],
        [2, 0, 3.0],
        [2, False, 3],
        "203",
        None,
    ],
)
def test_an_order_ranks_each_candidate_with_a_score_once(order):
    with pytest.raises(BridoError, match=r"line 1: `scores` must be 4 numbers and `order`"):
        read(ROW | {"order": order})


@pytest.mark.parametrize(
    "change",
    [
        {"candidates": ["a", "b", "c"]},
        {"candidates": ["a", "b", "c", None]},
        {"candidates": "abcd"},
        {"scores": [0.5, None, 0.75, "0.5"]},
        {"scores": [0.5, None, 0.75]},
        {"scores": {"0": 0.5}},
        *({"scores": [0.5, None, score, 0.5]}
          for score in (True, 10**400, -(10**400), math.inf, math.nan)),
    ],
)  # fmt: skip
def test_candidates_and_scores_are_lists_of_one_length(change):
    with pytest.raises(BridoError, match=r"line 1: `(candidates|scores)`"):
        read(ROW | change)


def test_a_line_that_is_no_object_is_named():
    with pytest.raises(BridoError, match=r"^scored\.jsonl, line 2: not JSON"):
        list(read_scored([json.dumps(ROW).encode(), b"{"], "scored.jsonl"))


def test_the_documents_of_tables_have_their_scores(tmp_path):
    """The corpus may hold further documents, and a candidate may have no score."""
    split = SplitTables.at(tmp_path, "train", tuned="vote")
    corpus = [
        {"id": name, "document": f"The document {name}.", "summary": "s", "references": []}
        for name in ("a", "other", "b")
    ]
    write_table(split.corpus, [corpus], CORPUS)
    write_table(split.pool, [[pooled(name, ["one", "two"]) for name in ("a", "b")]], POOL)
    scores = [
        {"id": "a", "scores": [0.25, 0.5], "order": [1, 0]},
        {"id": "b", "scores": [0.75, math.nan], "order": [0, 1]},
    ]
    write_table(split.scores, [scores], SCORES)
    first, second = read_votes(split)
    for document, name in ((first, "a"), (second, "b")):
        assert (document.id, document.document) == (name, f"The document {name}.")
        assert list(document.candidates) == ["one", "two"]
        assert list(document.sources) == ["base", "base"]
    assert (list(first.scores), list(first.order)) == ([0.25, 0.5], [1, 0])
    assert (second.scores[0], list(second.order)) == (0.75, [0, 1])


def ranked(size, **changes):
    """A document whose candidates fall from 0 by 1, best first."""
    texts = [f"text {place}" for place in range(size)]
    document = CandidateDocument("x", "d", None, texts, [-float(n) for n in range(size)])
    return replace(document, order=list(range(size)), **changes)


@pytest.mark.parametrize(("size", "lower"), [(2, [1]), (3, [2]), (4, [2, 3]), (5, [3, 4])])
def test_the_documents_id_draws_one_of_the_lower_half(size, lower):
    for name in ("x", "y", "z", "0", "1"):
        digest = blake2b(f"rejected {name}".encode(), digest_size=8).digest()
        drawn = lower[int.from_bytes(digest) % len(lower)]
        document = ranked(size, id=name)
        assert list(pairs(document, False, 0.0, Counter(), "lower-half")) == [(0, drawn)]
        assert list(pairs(document, False, 0.0, Counter())) == [(0, size - 1)]


def test_where_the_lower_half_repeats_the_best_the_last_of_the_others_is_rejected():
    texts = ["a cat sat", "a dog ran", "a cat ran", "a cat sat", "a cat sat", "a cat sat"]
    document = ranked(6, candidates=texts)
    assert list(pairs(document, False, 0.0, Counter(), "lower-half", 0.9)) == [(0, 2)]


def test_a_similarity_at_the_limit_stands():
    texts = ["a cat sat down", "the cat sat down"]
    limit = float(similarity_matrix(texts, "", "harmonic_r1_r2")[0, 1])
    document = ranked(2, candidates=texts)
    for most, found in ((limit, [(0, 1)]), (limit - 1e-6, [])):
        assert list(pairs(document, False, 0.0, Counter(), "worst", most)) == found


def test_texts_of_any_script_are_similar():
    document = ranked(2, candidates=["кот сидел тут и там", "кот сидел тут и здесь"])
    left_out = Counter()
    assert list(pairs(document, False, 0.0, left_out, "worst", 0.5)) == []
    assert sum(left_out.values()) == 1


def test_pairs_differ_by_more_than_the_gap():
    assert list(pairs(ranked(3), True, 1.0, Counter())) == [(0, 2)]
    assert list(pairs(ranked(3), True, 0.5, Counter())) == [(0, 1), (0, 2), (1, 2)]
    equal = replace(ranked(3), candidates=["same", "same", "same"])
    for gap, count in ((2.0, {}), (1.0, 1), (0.5, 3)):
        left_out = Counter()
        assert list(pairs(equal, True, gap, left_out)) == []
        assert left_out == ({"pairs of equal texts": count} if count else {})


def test_what_is_left_out_is_counted_over_documents():
    left_out = Counter()
    texts = ["text", " ", "a text", "", "another", "some"]
    scores = [0.0, -1.0, math.nan, -3.0, math.nan, -5.0]
    for _ in range(2):
        document = ranked(6, candidates=texts, scores=scores)
        assert list(pairs(document, True, 0.0, left_out)) == [(0, 5)]
        assert list(pairs(document, True, 0.0, left_out, "worst", 0.5)) == [(0, 5)]
        near = ranked(3, candidates=["a cat sat", "a cat sat", "a dog"])
        assert list(pairs(near, True, 0.0, left_out, "worst", 0.9)) == [(0, 2), (1, 2)]
    assert left_out == {
        "empty candidates": 8,
        "candidates that could not be elected": 8,
        "candidates too similar to a better one": 2,
    }
