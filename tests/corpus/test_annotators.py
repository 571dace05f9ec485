"""Rows of one document: one document with several references, in one split."""

import json
from pathlib import Path

import pytest

from brido import tables
from brido.corpus.files import FilesSource
from brido.corpus.settings import FilesData, FilesSettings
from brido.corpus.write import write_corpus


def annotated(identity: str) -> list[dict]:
    """Twenty documents of three annotators each, who come one after the other."""
    return [
        {"id": identity.format(n=n, k=k), "document": f"Two  people\nmeet at {n}." if k else
         f"Two people meet at {n}.", "summary": f"They meet at {n}, says {k}."}
        for k in range(3) for n in range(20)
    ]  # fmt: skip


@pytest.mark.parametrize("identity", ["task_{n}", "row_{n}_{k}", None])
def test_rows_of_one_document_are_one_document_in_one_split(tmp_path: Path, capsys, identity):
    rows = annotated(identity or "")
    for row in [] if identity else rows:
        del row["id"]
    # A row that cannot be used gives no reference, and a row that stands twice gives its own once.
    rows += [rows[0] | {"summary": " "} | ({"id": "bad"} if identity else {}), rows[20]]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = FilesSettings(
        train=str(tmp_path / "a.jsonl"), validation_fraction=0.3, test_fraction=0.3
    )
    settings = FilesData(files=files, max_bad_fraction=0.2)
    write_corpus(FilesSource(files), settings, tmp_path / "corpus", 10.0)
    found = {
        split: tables.read_rows(tmp_path / f"corpus/{split}.parquet", tables.CORPUS, "")
        for split in ("train", "validation", "test")
    }
    assert all(found.values())
    every = {row["document"]: row for split in found.values() for row in split}
    assert len(every) == sum(map(len, found.values())) == 20
    for n in range(20):
        row = every[f"Two people meet at {n}."]
        assert row["summary"] == f"They meet at {n}, says 0."
        assert row["references"] == [f"They meet at {n}, says {k}." for k in range(3)]
        if identity:
            assert row["id"] == identity.format(n=n, k=0)
    said = capsys.readouterr().err
    assert "rows repeat the document of one before them" in said
    assert "stand in" not in said
