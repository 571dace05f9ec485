"""Joining corpus, candidates and scores, and what is refused."""

import pyarrow as pa

from brido.training.batches import RankedDocument, RankedDocuments, notes

SMALL = pa.table(
    {
        "id": ["a", "b"],
        "document": ["da", "db"],
        "reference": ["ra", "rb"],
        "candidates": [["p", "q", "r"], ["s", "t", "s"]],
        "scores": [[0.1, 0.3, 0.2], [0.5, 0.5, 0.7]],
    }
)


def ranked(**columns):
    """The documents of SMALL with other columns."""
    return RankedDocuments(pa.table(SMALL.to_pydict() | columns))


def test_documents_come_with_candidates_best_first():
    documents = ranked()
    assert len(documents) == 2
    assert documents.num_candidates == 3
    assert documents[0] == RankedDocument("a", "da", "ra", ["q", "r", "p"], [0.3, 0.2, 0.1])
    # Equal scores keep the order of the search.
    assert documents[1] == RankedDocument("b", "db", "rb", ["s", "s", "t"], [0.7, 0.5, 0.5])
    assert documents.skipped == []


def test_documents_without_two_distinct_candidates_are_left_out_and_named():
    documents = ranked(candidates=[["p", "p", "p"], ["s", "t", "s"]])
    assert [document.id for document in documents] == ["b"]
    assert documents.skipped == ["a"]


def test_who_cannot_be_elected_is_no_candidate():
    nan = float("nan")
    documents = ranked(
        scores=[[0.1, 0.3, nan], [0.5, nan, 0.7]],
    )
    assert list(documents) == [RankedDocument("a", "da", "ra", ["q", "p"], [0.3, 0.1])]
    # The two of "b" that are left are one text.
    assert documents.skipped == ["b"]
    (said,) = notes(ranked(), documents, "elected")
    assert said.startswith("1 validation documents")
    assert said.endswith(": b")
