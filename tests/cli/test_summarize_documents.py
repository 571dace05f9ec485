"""The files of `brido summarize`: what can be wrong with the last is said before the first."""

import json

import pytest

from brido.cli.summarize.documents import GivenDocuments
from brido.utils.errors import BridoError


def test_each_file_is_looked_into_before_the_first_is_summarized(tmp_path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": "A cat sat."}) + "\n{\n")
    (tmp_path / "b.csv").write_text("id,words\n1,A dog ran.\n")
    (tmp_path / "c.csv").write_bytes(b"PK\x03\x04")
    (tmp_path / "d.csv").write_text("id,text\n")
    with pytest.raises(BridoError) as error:
        GivenDocuments([str(tmp_path / name) for name in ("a.jsonl", "b.csv", "c.csv", "d.csv")])
    _, *problems = str(error.value).splitlines()
    assert len(problems) == 3
    for problem, name, words in zip(
        problems, "bcd", ("keys id, words", "Excel", "no rows"), strict=True
    ):
        assert f"{name}.csv" in problem
        assert words in problem


def test_the_column_of_the_run_is_read_before_a_usual_name(tmp_path) -> None:
    (tmp_path / "a.jsonl").write_text('{"article": "https://a.org", "Story": "A cat sat."}\n')
    (tmp_path / "b.jsonl").write_text('{"article": "A dog ran."}\n')
    files = [str(tmp_path / name) for name in ("a.jsonl", "b.jsonl")]
    found = [named.document for named in GivenDocuments(files, learned="Story")]
    assert found == ["A cat sat.", "A dog ran."]
    found = [named.document for named in GivenDocuments(files, "article", learned="Story")]
    assert found == ["https://a.org", "A dog ran."]


def test_a_file_of_one_column_needs_no_quotes(tmp_path) -> None:
    (tmp_path / "a.csv").write_text('text\nA cat, a dog; both ran.\n"He said, ""no""."\n')
    found = [named.document for named in GivenDocuments([str(tmp_path / "a.csv")])]
    assert found == ["A cat, a dog; both ran.", 'He said, "no".']


@pytest.mark.parametrize("first", ["A text, and more.", "Document", "text: a cat sat", "one|two"])
def test_lines_of_text_are_documents(tmp_path, first) -> None:
    (tmp_path / "a.txt").write_text(f"{first}\nA cat sat.\n", encoding="utf-8")
    found = [named.document.strip() for named in GivenDocuments([str(tmp_path / "a.txt")])]
    assert found == [first, "A cat sat."]
