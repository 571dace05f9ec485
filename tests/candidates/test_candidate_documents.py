"""The documents of a split: checked once, read part by part."""

import pickle
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brido.candidates.documents import SplitDocuments, WritingWork, cut_warning
from brido.tables import CORPUS, write_table
from brido.work.settings import RuntimeSettings


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
    parts = SplitDocuments(path, 2300).parts(700)
    assert list(map(len, parts)) == [700, 700, 700, 200]
    rows = [row for part in parts for row in part.read()]
    assert rows == [(f"d{n}", f"text {n}") for n in range(2300)]
    assert parts[1].read()[0] == ("d700", "text 700")
    assert len(pickle.dumps(parts[1])) < 1000, "documents are read where they are needed"


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


SIZES = st.lists(st.integers(0, 400), min_size=1, max_size=60)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SIZES, st.integers(1, 900), st.integers(1, 5), st.integers(1, 60), st.integers(1, 90))
def test_shards_follow_the_work(tmp_path, sizes, batch, texts, length, source):
    """As many documents as fit, each in one shard, all in order; a longer one has its own."""
    path = corpus(tmp_path / "train.parquet", ["x" * size for size in sizes])
    runtime, writing = RuntimeSettings(batch_tokens=batch), WritingWork(source, texts * length)
    rows = [part.rows for part in SplitDocuments(path, None).units(runtime, writing)]
    assert [row for part in rows for row in part] == list(range(len(sizes)))
    work = [min(size // 4 + 1, source) + texts * length for size in sizes]
    for part in rows:
        assert len(part) == 1 or sum(work[row] for row in part) <= 2 * batch
        assert len(part) <= 25
    for part, after in pairwise(rows):
        larger = sum(work[row] for row in part) + work[after[0]]
        assert len(part) == 25 or larger > 2 * batch, "it had room for one more"


def test_given_shards_guided_ones_and_ready_candidates_are_counted_in_documents(tmp_path):
    path = corpus(tmp_path / "train.parquet", [f"text {n}" for n in range(250)])
    documents = SplitDocuments(path, None)
    few, long = RuntimeSettings(batch_tokens=1), WritingWork(512, 16 * 64)
    given = RuntimeSettings(batch_tokens=1, shard_documents=100)
    guided = WritingWork(512, 16 * 64, guided=True)
    assert {len(part) for part in documents.units(few, long)} == {1}
    assert [len(part) for part in documents.units(given, long)] == [100, 100, 50]
    assert [len(part) for part in documents.units(few, guided)] == [100, 150]
    assert {len(part) for part in documents.units(few, None)} == {25}
