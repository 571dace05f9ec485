"""What `brido init` sees in files: columns, references, bad rows, doubtful summaries, names."""

import json
from pathlib import Path

import pytest

from brido.cli.init.data import look
from brido.corpus.files import FilesSource
from brido.corpus.settings import FilesSettings
from brido.utils.errors import BridoError


def dialogues(number: int, **changes: object) -> list[dict]:
    """Rows in DialogSum's form."""
    return [
        {
            "fname": f"d{n}",
            "dialogue": f"#Person1#: Can you meet me at {n}? #Person2#: At {n + 1} it is.",
            **{f"summary{k}": f"Two people meet at {n}, says annotator {k}." for k in (1, 2, 3)},
            "topic": "time",
            **changes,
        }
        for n in range(number)
    ]


def write(path: Path, rows: list[dict]) -> str:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return str(path)


@pytest.fixture
def file(tmp_path: Path) -> str:
    return write(tmp_path / "a.jsonl", dialogues(120))


def test_several_summary_columns_and_an_id_column(file):
    data = look({"train": [file]}, "dialogue", ("summary1", "summary2", "summary3"), "fname")
    assert data.files["summary_column"] == ["summary1", "summary2", "summary3"]
    assert data.files["id_column"] == "fname"
    assert sum(data.documents.values()) == 120
    row = next(FilesSource(FilesSettings(**data.files)).rows("test"))
    assert row.id.startswith("d")
    assert [row.summary, *row.references] == [
        f"Two people meet at {row.id[1:]}, says annotator {k}." for k in (1, 2, 3)
    ]
    assert data.summaries[0].endswith("annotator 1.")


def test_repeated_ids_are_one_fault_with_a_way_out(tmp_path: Path):
    rows = [
        {"id": number % 50, "document": row["dialogue"], "summary": row["summary1"]}
        for number, row in enumerate(dialogues(120))
    ]
    file = write(tmp_path / "a.jsonl", rows)
    with pytest.raises(BridoError, match="--id-column") as error:
        look({"train": [file]})
    assert str(error.value).count("id was seen before") == 1
    assert "id was seen before: 70 (" in str(error.value)
    data = look({"train": [file]}, identity="none")
    assert data.files["id_column"] is None
    assert sum(data.documents.values()) == 120


def test_files_may_call_their_columns_otherwise(tmp_path: Path, file):
    rows = [{"key": f"t{n}", "text": f"A talk of {n}.", "gist": f"Talk {n}."} for n in range(30)]
    other = write(tmp_path / "t.jsonl", rows)
    files, names = {"train": [file], "test": [other]}, ("dialogue", ["summary1"], "fname")
    rename = ["text=dialogue", "gist=summary1", "key=fname"]
    data = look(files, *names, rename)
    assert data.documents["test"] == 30
    row = next(FilesSource(FilesSettings(**data.files)).rows("test"))
    assert (row.id, row.document, row.summary) == ("t0", "A talk of 0.", "Talk 0.")
    with pytest.raises(BridoError, match=r"t\.jsonl has no column 'summary1', .*gist"):
        look(files, *names, rename[::2])
    with pytest.raises(BridoError, match="--rename 'text': write OTHER=NAME"):
        look(files, *names, ["text"])
