"""A user's own files: every format gives the same rows, splits are stable, bad input is named."""

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brido import tables
from brido.corpus.files import FilesSource
from brido.corpus.settings import FilesData, FilesSettings
from brido.corpus.write import write_corpus

# What UTF-8 and all four formats can hold; csv cannot write NUL.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)


def row(number: int | str, **changes: object) -> dict:
    """A good row, with some values changed."""
    values = {"id": f"a{number}", "document": f"Text {number} is long.", "summary": f"S {number}."}
    return {**values, **changes}


def write(path: Path, rows: list[dict]) -> Path:
    """Write rows in the format that the ending names."""
    name = path.name.removesuffix(".gz").removesuffix(".zst")
    plain = path.with_name(name)
    if name.endswith(".jsonl"):
        lines = [json.dumps(item, ensure_ascii=False) + "\n" for item in rows]
        plain.write_text("".join(lines), encoding="utf-8")
    elif name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows), plain)
    else:
        with plain.open("w", encoding="utf-8", newline="") as stream:
            delimiter = "," if name.endswith(".csv") else "\t"
            writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
            writer.writeheader()
            writer.writerows(rows)
    if path.name != name:
        kind = "gzip" if path.suffix == ".gz" else "zstd"
        with pa.output_stream(str(path), compression=kind) as stream:
            stream.write(plain.read_bytes())
        plain.unlink()
    return path


def corpus(folder: Path, data: dict | None = None, **files: object) -> dict[str, list[dict]]:
    """The corpus tables that files make, by split."""
    every = FilesData(files=FilesSettings(**files), **(data or {}))
    write_corpus(FilesSource(every.files), every, folder / "corpus", 10.0)
    return {
        split: tables.read_rows(folder / "corpus" / f"{split}.parquet", tables.CORPUS, "")
        for split in ("train", "validation", "test")
    }


def splits(folder: Path, **rows: list[dict]) -> dict[str, str]:
    """A file of each split that is named."""
    return {split: str(write(folder / f"{split}.jsonl", own)) for split, own in rows.items()}


def three(
    folder: Path, train: list[dict] | Path, name: str = "rows.jsonl", **others: object
) -> dict[str, str]:
    """Files of the three splits: rows or a file for train, one good row for each of the others."""
    path = train if isinstance(train, Path) else write(folder / name, train)
    rows = {split: [row(split, **others)] for split in ("validation", "test")}
    return {"train": str(path), **splits(folder, **rows)}


@pytest.mark.parametrize(
    "name",
    ["r.jsonl.gz", "r.csv.zst", "r.tsv", "r.parquet"],
)
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(TEXT, min_size=1, max_size=4))
def test_every_format_gives_back_what_was_written(tmp_path: Path, name: str, texts: list[str]):
    rows = [row(i, document=f"Start {i} {text} end.") for i, text in enumerate(texts)]
    found = corpus(tmp_path, **three(tmp_path, rows, name))["train"]
    assert found == [
        {
            "id": item["id"],
            "document": "\n".join(
                filter(None, (" ".join(line.split()) for line in item["document"].splitlines()))
            ),
            "summary": item["summary"],
            "references": [item["summary"]],
        }
        for item in rows
    ]


def test_column_names_lower_case_and_further_references(tmp_path: Path):
    other = {"text": "Some Text.", "gist": "A.", "all": ["A.", "B.", " b. ", ""]}
    numbers = {"train": 0, "validation": 1, "test": 2}
    paths = splits(tmp_path, **{split: [{"key": n} | other] for split, n in numbers.items()})
    names = {"id_column": "key", "document_column": "text", "summary_column": "gist"}
    found = corpus(tmp_path, {"lowercase": True}, **paths, **names, references_column="all")
    assert found["train"] == [
        {"id": "0", "document": "some text.", "summary": "a.", "references": ["a.", "b."]}
    ]


def test_splits_are_cut_by_a_seeded_hash_that_only_the_id_decides(tmp_path: Path):
    rows = [row(number) for number in range(2000)]
    cut = {"validation_fraction": 0.1, "test_fraction": 0.2}
    first = corpus(tmp_path, train=str(write(tmp_path / "a.jsonl", rows)), **cut)
    assert {split: len(found) for split, found in first.items()} == {
        "train": pytest.approx(1400, abs=60),
        "validation": pytest.approx(200, abs=40),
        "test": pytest.approx(400, abs=60),
    }
    half = corpus(tmp_path, train=str(write(tmp_path / "b.jsonl", rows[::-2])), **cut)
    for split, found in half.items():
        assert {item["id"] for item in found} < {item["id"] for item in first[split]}
    other = corpus(tmp_path, train=str(tmp_path / "a.jsonl"), split_seed=1, **cut)
    assert other["test"] != first["test"]


def test_max_evaluated_cuts_what_systems_are_measured_on_and_nothing_else(tmp_path: Path):
    starts = {"train": 0, "validation": 20, "test": 40}
    rows = {split: [row(start + n) for n in range(9)] for split, start in starts.items()}
    paths = splits(tmp_path, **rows)
    found = corpus(tmp_path, {"max_evaluated": 3}, **paths)
    assert [len(found[split]) for split in ("train", "validation", "test")] == [9, 3, 3]
    # What base learns from has the same bytes, so DVC does not train it again.
    train = (tmp_path / "corpus/train.parquet").read_bytes()
    corpus(tmp_path, {"max_evaluated": 5}, **paths)
    assert (tmp_path / "corpus/train.parquet").read_bytes() == train
    found = corpus(tmp_path, {"max_evaluated": 3, "max_documents": 2}, **paths)
    assert {len(rows) for rows in found.values()} == {2}


def test_several_summary_columns_are_several_references(tmp_path: Path):
    rows = [
        {"id": "a", "document": "T.", "summary1": "One.", "summary2": "Two.", "summary3": " "},
        {"id": "b", "document": "U.", "summary1": "Eins.", "summary2": None, "summary3": "Eins."},
    ]
    files = splits(tmp_path, **{
        split: [{**r, "id": split + r["id"]} for r in rows]
        for split in ("train", "validation", "test")
    })  # fmt: skip
    named = ["summary1", "summary2", "summary3"]
    read = corpus(tmp_path, **files, summary_column=named)["train"]
    assert [(r["summary"], r["references"]) for r in read] == [
        ("One.", ["One.", "Two."]), ("Eins.", ["Eins."]),
    ]  # fmt: skip
