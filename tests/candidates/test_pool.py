"""The pool: sources joined row by row, who votes, who can be elected, and what is refused."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from brido.candidates.pool import Pool
from brido.candidates.settings import PoolSettings
from brido.tables import CANDIDATES, CORPUS, write_table
from brido.utils.errors import BridoError


def row(name, *texts, ended=None):
    """A row of a candidates table."""
    scores = [-0.5 * place for place in range(len(texts))]
    ended = [True] * len(texts) if ended is None else ended
    return {"id": name, "candidates": list(texts), "search_scores": scores, "ended": ended}


@pytest.fixture
def pool(tmp_path):
    """Makes a pool of sources, name=rows."""

    def make(settings=None, documents=(), **sources):
        given = dict(documents)
        ids = given or dict.fromkeys(row["id"] for rows in sources.values() for row in rows)
        corpus = [
            {"id": name, "document": given.get(name, "A text."), "summary": "s", "references": []}
            for name in ids
        ]
        write_table(tmp_path / "corpus.parquet", [corpus], CORPUS)
        tables = {name: tmp_path / f"{name}.parquet" for name in sources}
        for name, rows in sources.items():
            # Other programs write columns that may be null.
            schema = pa.schema([field.with_nullable(True) for field in CANDIDATES])
            pq.write_table(pa.Table.from_pylist(rows, schema=schema), tables[name])
        return Pool(tables, tmp_path / "corpus.parquet", PoolSettings(**(settings or {})))

    return make


def test_sources_are_joined_in_their_order(pool):
    joined = pool(one=[row("a", "x", "y"), row("b", "z", "x")], two=[row("a", "w"), row("b", "v")])
    assert list(joined.rows()) == [
        [
            {
                "id": name,
                "candidates": texts,
                "raw": texts,
                "sources": ["one", "one", "two"],
                "voters": [True] * 3,
                "eligible": [True] * 3,
                "search_scores": [0.0, -0.5, 0.0],
                "ended": [True] * 3,
            }
            for name, texts in (("a", ["x", "y", "w"]), ("b", ["z", "x", "v"]))
        ]
    ]
    assert joined.counts["one"]["candidates"] == 4


def test_what_did_not_end_or_is_empty_neither_votes_nor_can_be_elected(pool):
    joined = pool(
        one=[row("a", "x", " ", "y", "z", ended=[True, True, False, True])], two=[row("a", "w")]
    )
    [[found]] = joined.rows()
    assert found["voters"] == found["eligible"] == [True, False, False, True, True]
    assert +joined.counts["one"] == {"candidates": 4, "not_ended": 1, "empty": 1}
    assert +joined.counts["two"] == {"candidates": 1}
    assert list(joined.notes()) == ["of 4 candidates of one: 1 not ended, 1 empty"]


def test_candidates_are_cleaned_counted_and_kept_as_they_were(pool):
    raw = ["Here is a summary: x y", "<think>so", "I'm sorry, but I cannot help.", '**x**  "y"']
    joined = pool(one=[row("a", *raw)])
    [[found]] = joined.rows()
    assert found["raw"] == raw
    assert found["candidates"] == ["x y", "", raw[2], 'x "y"']
    assert found["voters"] == [True, False, False, True]
    assert +joined.counts["one"] == {
        "candidates": 4, "cleaned": 3, "empty": 1, "refused": 1,
        "preamble": 1, "think": 1, "refusal": 1, "markdown": 1,
    }  # fmt: skip
    assert list(joined.notes()) == [
        "of 4 candidates of one: 3 cleaned, 1 empty, 1 refused (rules: 1 think, 1 refusal, "
        "1 markdown, 1 preamble)"
    ]
    sources = {"one": [row("a", *raw)], "two": [row("a", "w", "v")]}
    [[found]] = pool({"clean": ["preamble"], "eligible": ["two"]}, **sources).rows()
    assert found["candidates"] == ["x y", *raw[1:3], '**x** "y"', "w", "v"]
    assert all(found["voters"])
    assert found["eligible"] == [False] * 4 + [True] * 2


def test_documents_where_too_few_remain_are_refused_or_left_out(pool):
    rows = [row("a", "x", ""), row("b", "x", "y"), row("c", "", "")]
    with pytest.raises(BridoError, match=r"2 documents have fewer than 2 .*: a, c\. .*too_few"):
        list(pool(one=rows).rows())
    joined = pool({"too_few": "leave_out"}, one=rows)
    assert [[found["id"] for found in batch] for batch in joined.rows()] == [["b"]]
    assert joined.left_out == ["a", "c"]
    assert [line for line in joined.notes() if line.startswith("2 documents are left out")]
