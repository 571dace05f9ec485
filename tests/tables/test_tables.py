"""Tables: schema checks, atomic writes, equal rows make equal bytes."""

import itertools
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brido import tables
from brido.utils.errors import BridoError


def rows(count):
    return [{"id": str(i), "summary": f"s {i}", "score": i / 3} for i in range(count)]


def test_round_trip_with_metadata(tmp_path):
    path = tmp_path / "deep" / "decoded.parquet"
    assert tables.write_table(path, [rows(10)], tables.DECODED, {"n": 10}) == 10
    assert tables.read_rows(path, tables.DECODED, "decode") == rows(10)
    assert tables.read_metadata(path, "decode") == {"n": 10}
    assert tables.count_rows(path, "decode") == 10


@settings(max_examples=15)
@given(cuts=st.lists(st.integers(1, 2500), max_size=5))
def test_bytes_do_not_depend_on_the_batches(tmp_path_factory, cuts):
    folder = tmp_path_factory.mktemp("cuts")
    bounds = sorted({0, 2500, *cuts})
    whole = rows(2500)
    parts = [whole[a:b] for a, b in itertools.pairwise(bounds)]
    tables.write_table(folder / "whole", [whole], tables.DECODED)
    tables.write_table(folder / "parts", parts, tables.DECODED)
    assert (folder / "whole").read_bytes() == (folder / "parts").read_bytes()


def test_fixed_size_lists(tmp_path):
    schema = tables.similarity_schema(2)
    tables.write_table(tmp_path / "s", [[{"id": "a", "similarity": [0.0] * 6}]], schema)
    tables.open_table(tmp_path / "s", schema, "pairwise").close()
    with pytest.raises(BridoError, match="column `similarity`"):
        tables.open_table(tmp_path / "s", tables.similarity_schema(3), "pairwise")
    with pytest.raises(BridoError, match="does not fit"):
        tables.write_table(tmp_path / "t", [[{"id": "a", "similarity": [0.0] * 5}]], schema)


def test_missing_damaged_and_wrong_tables_name_file_and_stage(tmp_path):
    path = tmp_path / "x.parquet"
    with pytest.raises(BridoError, match=r"x\.parquet is missing.*dvc repro score"):
        tables.open_table(path, tables.SCORES, "score")
    path.write_bytes(b"no parquet at all")
    with pytest.raises(BridoError, match="Parquet"):
        tables.open_table(path, tables.SCORES, "score")
    path.unlink()
    tables.write_table(path, [rows(5000)], tables.DECODED)
    with pytest.raises(BridoError, match="column `scores` must be"):
        tables.open_table(path, tables.SCORES, "score")
    content = path.read_bytes()
    path.write_bytes(content[:100] + b"\0" * 200 + content[300:])
    with pytest.raises(BridoError, match="damaged|readable"):
        tables.read_rows(path, tables.DECODED, "decode")
    pq.write_table(
        pa.table({"id": pa.nulls(1, pa.string()), "summary": ["a"], "score": [0.0]}), path
    )
    # This stage alone: without -s those before it would run again, and base would learn.
    with pytest.raises(BridoError, match="holds a null: .*`dvc repro -sf decode`"):
        tables.read_rows(path, tables.DECODED, "decode")


def test_nulls_and_wrong_types_are_refused_and_nothing_is_left(tmp_path):
    bad = [{"id": None, "summary": "a", "score": 0.0}]
    with pytest.raises(BridoError, match=r"`id` holds a null"):
        tables.write_table(tmp_path / "x", [bad], tables.DECODED)
    with pytest.raises(BridoError, match="does not fit"):
        tables.write_table(
            tmp_path / "x", [[{"id": 3, "summary": "", "score": 0.0}]], tables.DECODED
        )
    assert os.listdir(tmp_path) == []
