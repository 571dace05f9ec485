"""The join of a split's tables: what is read, in which order, and what does not belong together."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pool_rows import pooled

from brido.tables import (
    CORPUS,
    DECODED,
    LIKELIHOOD,
    POOL,
    SCORES,
    SUPPORT,
    WORLD_CORPUS,
    similarity_schema,
    write_table,
)
from brido.tables.fingerprint import content_hash
from brido.tables.join import (
    SplitTables,
    parts_of,
    read_documents,
)
from brido.utils.errors import BridoError

N = 3


def corpus_row(name):
    return {"id": name, "document": f"document {name}", "summary": None, "references": [name] * 2}


def pool_row(name, size=N):
    row = pooled(name, [f"{name} {place}" for place in range(size)])
    return row | {"eligible": [place > 0 for place in range(size)]}


def write_split(folder, corpus, ids, facts=False):
    """All tables of a split: the corpus has `corpus`, and `ids` of them have candidates."""
    tables = SplitTables.at(folder, "validation", ["reference", "base"], "vote")
    fact = [{"slot": "town", "type": "place", "value": "X", "in_document": True}]
    rows = [corpus_row(name) | ({"facts": fact} if facts else {}) for name in corpus]
    write_table(tables.corpus, [rows], WORLD_CORPUS if facts else CORPUS)
    write_table(tables.pool, [[pool_row(name) for name in ids]], POOL)
    about = {"candidates": content_hash(tables.pool)}
    values = {name: float(place) for place, name in enumerate(ids)}
    rows = [
        {"id": name, "similarity": [values[name] + n for n in range(N * (N + 1))]} for name in ids
    ]
    write_table(tables.similarity, [rows], similarity_schema(N), about)
    rows = [
        {"id": name, "scores": [float("nan"), 1.0, values[name]], "order": [1, 2, 0]}
        for name in ids
    ]
    write_table(tables.scores, [rows], SCORES, about)
    rows = [
        {"id": name, "support": [1.0] * N, "unsupported": [0] * N, "words": [9] * N}
        | {"whole": [True] * N, "copied": [0.5] * N}
        for name in ids
    ]
    write_table(tables.support, [rows], SUPPORT, about)
    rows = [
        {"id": name, "log_probability": [-1.0] * N, "prior": None, "tokens": [4] * N}
        for name in ids
    ]
    write_table(tables.likelihood, [rows], LIKELIHOOD, about)
    for system, path in tables.decoded.items():
        rows = [{"id": name, "summary": f"{system} {name}", "score": 0.0} for name in corpus]
        write_table(path, [rows], DECODED)
    return tables


@settings(max_examples=15)
@given(
    chosen=st.sets(st.integers(0, 2600), min_size=1, max_size=40) | st.just(set(range(2600))),
    size=st.integers(1, 1500),
)
def test_a_walk_equals_a_join_by_dictionary(tmp_path_factory, chosen, size):
    folder = tmp_path_factory.mktemp("split")
    corpus = [f"d{number}" for number in range(2601)]
    ids = [corpus[number] for number in sorted(chosen)]
    tables = SplitTables(pool=folder / "pool", corpus=folder / "corpus", scores=folder / "scores")
    write_table(tables.corpus, [[corpus_row(name) for name in corpus]], CORPUS)
    write_table(tables.pool, [[pool_row(name) for name in ids]], POOL)
    rows = [{"id": name, "scores": [1.0, 2.0, 0.5], "order": [1, 0, 2]} for name in ids]
    write_table(tables.scores, [rows], SCORES)

    columns = ["document", "candidates", "scores"]
    documents = [one for batch in read_documents(tables, columns) for one in batch]
    assert [one.id for one in documents] == ids
    for one in documents:
        assert one.document == f"document {one.id}"
        assert one.candidates == pool_row(one.id)["candidates"]
        assert one.scores == [1.0, 2.0, 0.5]

    parts = parts_of(tables, size)
    assert sum(map(len, parts)) == len(ids)
    assert max(map(len, parts)) <= size
    again = [
        one for part in parts for batch in read_documents(tables, columns, part) for one in batch
    ]
    assert again == documents


def test_every_column_is_where_it_belongs(tmp_path):
    tables = write_split(tmp_path, "abcde", "bd", facts=True)
    columns = ["reference", "references", "facts", "eligible", "similarity", "order", "summaries"]
    (batch,) = read_documents(tables, columns)
    first, second = batch
    assert (first.id, second.id) == ("b", "d")
    assert first.reference is None
    assert first.references == ["b", "b"]
    assert first.facts[0]["value"] == "X"
    assert first.eligible == [False, True, True]
    assert second.order == [1, 2, 0]
    assert second.summaries == {"reference": "reference d", "base": "base d"}
    assert first.document == ""
    assert second.similarity.tolist() == np.arange(1.0, 13.0).reshape(3, 4).tolist()

    columns = ["scores", "voters", "similarity", "words", "log_probability"]
    (batch,) = read_documents(tables, columns)
    assert {name: batch.array(name).shape for name in columns} == {
        "scores": (2, 3),
        "voters": (2, 3),
        "similarity": (2, 3, 4),
        "words": (2, 3),
        "log_probability": (2, 3),
    }
    assert np.isnan(batch.array("scores")[:, 0]).all()


@pytest.mark.parametrize(
    ("name", "ids", "said"),
    [
        ("scores", "ac", "scores.*'c'.*dvc repro score"),
        ("scores", "ab", "scores.*'c'.*dvc repro score"),
        ("scores", "abcd", "scores.*'d'.*dvc repro score"),
        ("scores", "acb", "scores.*'c'.*dvc repro score"),
        ("corpus", "ac", "corpus.*'b'.*dvc repro pool"),
        ("corpus", "acb", "corpus.*'c'.*dvc repro pool"),
    ],
)
def test_other_documents_are_named_with_the_stage(tmp_path, name, ids, said):
    tables = write_split(tmp_path, "abcd", "abc")
    path = getattr(tables, name)
    if name == "corpus":
        write_table(path, [[corpus_row(one) for one in ids]], CORPUS)
    else:
        rows = [{"id": one, "scores": [1.0] * N, "order": [0, 1, 2]} for one in ids]
        write_table(path, [rows], SCORES)
    with pytest.raises(BridoError, match=said):
        list(read_documents(tables, ["document", "scores"]))
    if name == "corpus":
        with pytest.raises(BridoError, match=said):
            parts_of(tables, 2)


def test_tables_of_other_candidates_are_all_named(tmp_path):
    tables = write_split(tmp_path, "abc", "abc")
    rows = [pool_row(name) | {"raw": ["other"] * N} for name in "abc"]
    write_table(tables.pool, [rows], POOL)
    with pytest.raises(BridoError, match="dvc repro -sf pairwise support"):
        list(read_documents(tables, ["similarity", "support", "candidates"]))


def test_a_list_of_another_length_names_table_id_and_column(tmp_path):
    tables = write_split(tmp_path, "abc", "abc")
    rows = [{"id": name, "scores": [1.0] * (3 + (name == "b")), "order": [0]} for name in "abc"]
    write_table(tables.scores, [rows], SCORES)
    with pytest.raises(BridoError, match=r"scores.*'b': `scores` must have 3 values"):
        list(read_documents(tables, ["candidates", "scores"]))
    rows = [pool_row(name) | {"candidates": ["x", None, "y"]} for name in "abc"]
    with pytest.raises(BridoError, match=r"`candidates` holds a null"):
        write_table(tables.pool, [rows], POOL)
    loose = pa.schema([field.with_nullable(True) for field in POOL])
    pq.write_table(pa.Table.from_pylist(rows, schema=loose), tables.pool)
    with pytest.raises(BridoError, match=r"pool.*`candidates` holds a null"):
        list(read_documents(tables, ["candidates"]))
