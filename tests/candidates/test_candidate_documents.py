"""The documents of a split: checked once, read part by part."""

import pickle

import pytest

from brido.candidates.documents import SplitDocuments, cut_warning
from brido.tables import CORPUS, write_table
from brido.utils.errors import BridoError


def corpus(path, documents, ids=None):
    ids = ids or [f"d{number}" for number in range(len(documents))]
    rows = [
        {"id": name, "document": document, "summary": "s", "references": ["s"]}
        for name, document in zip(ids, documents, strict=True)
    ]
    write_table(path, [rows], CORPUS)
    return path


def test_documents_are_read_part_by_part_over_row_groups(tmp_path):
    path = corpus(tmp_path / "train.parquet", [f"text {n}" for n in range(2500)])
    parts = SplitDocuments(path, 2300, "refuse").parts(700)
    assert list(map(len, parts)) == [700, 700, 700, 200]
    rows = [row for part in parts for row in part.read()]
    assert rows == [(f"d{n}", f"text {n}") for n in range(2300)]
    assert parts[1].read()[0] == ("d700", "text 700")
    assert len(pickle.dumps(parts[1])) < 1000, "documents are read where they are needed"


@pytest.mark.parametrize(
    ("empty", "kept"), [("leave_out", ["d0", "d2"]), ("keep", ["d0", "d1", "d2"])]
)
def test_empty_documents_by_key(tmp_path, empty, kept):
    path = corpus(tmp_path / "train.parquet", ["x", " \n", "z", "w"])
    documents = SplitDocuments(path, 3, empty)
    assert [name for name, _ in documents.parts(10)[0].read()] == kept
    assert documents.left_out == (["d1"] if empty == "leave_out" else [])


def test_repeated_ids_and_empty_documents_are_named_together(tmp_path):
    path = corpus(tmp_path / "train.parquet", ["x", "", "z"], ["a", "b", "a"])
    with pytest.raises(BridoError) as error:
        SplitDocuments(path, None, "refuse", "documents.empty")
    for part in ("1 ids occur more than once: a", "1 documents are empty: b", "documents.empty"):
        assert part in str(error.value)


@pytest.mark.parametrize(
    ("cut", "unread", "read"), [(3, 1500, "85 %"), (10, 9999, "0 %"), (2, 1500, None), (0, 0, None)]
)
def test_more_than_one_in_five_cut_documents_are_a_warning(cut, unread, read):
    warning = cut_warning(cut, unread, 10, 512)
    assert (warning is None) == (read is None)
    if read:
        assert f"{cut} of 10 " in warning
        assert "512" in warning
        assert f" {read} " in warning
        assert "reading.default.max_source_tokens" in warning
    assert cut_warning(0, 0, 0, 512) is None
