"""Joining corpus, candidates and scores, and what is refused."""

import pyarrow as pa
from training_runs import table

from brido.training.batches import RankedDocument, RankedDocuments, SummaryPairs, notes

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


def test_documents_without_reference_are_counted():
    documents = ranked(reference=["ra", None])
    assert [document.reference for document in documents] == ["ra", None]
    assert documents.unlabelled == 1


def test_pairs_are_documents_without_candidates():
    pairs = SummaryPairs([("d0", "r0"), ("d1", "r1")])
    assert list(pairs) == [RankedDocument(f"{n}", f"d{n}", f"r{n}") for n in (0, 1)]
    assert (len(pairs), pairs.num_candidates) == (2, 0)


def test_a_sample_is_spread_over_all():
    documents = RankedDocuments(table(10))
    assert [document.id for document in documents.sample(4)] == ["d0", "d2", "d5", "d7"]
    assert len(documents.sample(99)) == 10
