"""Whatever a file holds, nothing but a BridoError ever leaves its reader."""

import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brido import tables
from brido.candidates.generate import read_candidates
from brido.cli.evaluate import read_inputs
from brido.cli.rows import good_rows
from brido.cli.score import row_problem, score_row
from brido.corpus.files import FilesSource
from brido.corpus.settings import FilesData, FilesSettings
from brido.corpus.write import write_corpus
from brido.tables.join import SplitTables, read_documents
from brido.utils.errors import BridoError
from brido.utils.outputs import json_line

pytestmark = pytest.mark.slow
FUZZ = settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

# Every character, halves of surrogate pairs, NUL and a terminal's escapes among them.
TEXT = st.text(st.characters(exclude_categories=[]), max_size=12)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | TEXT
    | st.sampled_from(["1e999", "\ud800", "\x1b[2J", "x" * 100_000]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)
ROW = {
    "id": "a",
    "document": "Some text.",
    "summary": "Some.",
    "candidates": ["One.", "Two."],
    "scores": [0.5, 0.25],
    "references": ["Any."],
}
LINES = "".join(json.dumps({**ROW, "id": f"a{n}"}) + "\n" for n in range(20)).encode()
ENDINGS = [".jsonl", ".csv", ".tsv", ".parquet", ".jsonl.gz", ".jsonl.zst", ".csv.gz"]


@st.composite
def rows(draw):
    """Lines of JSON objects with a good row's keys, some of them with any value."""
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        changes = draw(st.dictionaries(st.sampled_from([*ROW, "other"]), JSON, max_size=3))
        lines.append(json.dumps({**ROW, **changes}))
    return "\n".join(lines).encode()


@st.composite
def damaged(draw, whole):
    """A file cut off, with bytes changed, repeated or put in; or anything at all."""
    content = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(content)))
        kind = draw(st.sampled_from(["cut", "change", "insert", "repeat"]))
        if kind == "cut":
            del content[place:]
        elif kind == "change":
            new = draw(st.binary(min_size=1, max_size=4))
            content[place : place + len(new)] = new
        elif kind == "insert":
            content[place:place] = draw(st.binary(max_size=8) | TEXT.map(encoded))
        else:
            content[place:place] = content[place : place + 50] * draw(st.integers(1, 30))
    return bytes(content)


def encoded(text):
    return text.encode("utf-8", "surrogatepass")


def whole(ending):
    """A good file of the ending's format."""
    if ending == ".parquet":
        sink = io.BytesIO()
        row = {name: value for name, value in ROW.items() if name != "scores"}
        pq.write_table(pa.Table.from_pylist([{**row, "id": f"a{n}"} for n in range(20)]), sink)
        return sink.getvalue()
    text = LINES
    if not ending.startswith(".jsonl"):
        sign = "\t" if ending.startswith(".tsv") else ","
        text = "".join(
            sign.join([name, '"Some\ntext."', '"So, ""me"""']) + "\n"
            for name in ["id", *(f"a{n}" for n in range(20))]
        ).encode()
    text = gzip.compress(text, mtime=0) if ending.endswith(".gz") else text
    return pa.Codec("zstd").compress(text, asbytes=True) if ending.endswith(".zst") else text


def quietly(call, *arguments, also=()):
    """A result, or a BridoError that a terminal can bear; every other exception is a failure."""
    try:
        return call(*arguments)
    except also:
        return None
    except BridoError as error:
        message = str(error)
    assert len(message) < 5000
    assert "\x1b" not in message
    return None


def corpus(path):
    files = FilesSettings(train=str(path), references_column="references")
    data = FilesData(files=files, max_bad_fraction=1.0)
    write_corpus(FilesSource(files), data, path.parent / "corpus", 10.0)


def score(path):
    with good_rows(str(path), row_problem, 0.9, "score") as rows:
        for row in rows:
            json_line(row | score_row(row))


READERS = {
    "corpus": corpus,
    "candidates": lambda path: read_candidates(path, ["a"], 2, "own"),
    "evaluate": lambda path: read_inputs(str(path), 0.9),
    "score": score,
}


@pytest.mark.parametrize("reader", READERS)
@FUZZ
@given(content=rows())
def test_rows_of_any_json(tmp_path, reader, content):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    quietly(READERS[reader], path)


@pytest.mark.parametrize("ending", ENDINGS)
@FUZZ
@given(data=st.data())
def test_damaged_files(tmp_path, ending, data):
    path = tmp_path / f"rows{ending}"
    path.write_bytes(data.draw(damaged(whole(ending))))
    for name in ("corpus", "candidates", "evaluate"):
        quietly(READERS[name], path)


@FUZZ
@given(data=st.data())
def test_tables(tmp_path, data):
    path = tmp_path / "data" / "scores" / "vote" / "train.parquet"
    if not path.exists():
        for name, schema in (
            ("corpus", tables.CORPUS),
            ("pool", tables.POOL),
            ("scores", tables.SCORES),
        ):
            both = {key: [True, True] for key in ("voters", "eligible", "ended")}
            row = {"search_scores": [0.0, 0.0], "order": [0, 1], **both, **ROW}
            row |= {"raw": ROW["candidates"], "sources": ["base", "base"]}
            one = {key: row[key] for key in schema.names}
            file = path if name == "scores" else tmp_path / "data" / name / "train.parquet"
            tables.write_table(file, [[one] * 9], schema)
        (tmp_path / "whole").write_bytes(path.read_bytes())
    path.write_bytes(data.draw(damaged((tmp_path / "whole").read_bytes())))
    quietly(tables.read_rows, path, tables.SCORES, "score")
    quietly(tables.read_rows, path, None, "")
    quietly(tables.read_metadata, path, "score")
    columns = ["document", "candidates", "scores", "order"]
    tables_of_run = SplitTables.at(tmp_path / "data", "train", (), "vote")
    quietly(lambda: list(read_documents(tables_of_run, columns)))
