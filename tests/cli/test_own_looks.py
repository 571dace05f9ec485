"""What `brido init` sees in files: columns, references, bad rows, doubtful summaries, names."""

import json
import os
from itertools import islice
from pathlib import Path

import pytest

from brido.cli.init.data import look
from brido.cli.init.doubts import doubts, example
from brido.corpus.checks import SplitChecks
from brido.corpus.duplicates import DocumentsSeen
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


def test_columns_that_may_be_meant_are_named_by_their_options(file):
    with pytest.raises(BridoError, match=r"--summary-column.*did you mean summary1\?") as error:
        look({"train": [file]})
    assert "data.files" not in str(error.value)
    with pytest.raises(BridoError, match=r"--id-column.*did you mean fname\?"):
        look({"train": [file]}, None, ["summary1"], "name")


def test_a_spreadsheets_capitals_are_usual_names(tmp_path: Path):
    rows = [{"ID": row["fname"], "Text": row["dialogue"], "Summary": row["summary1"]}
            for row in dialogues(120)]  # fmt: skip
    files = look({"train": [write(tmp_path / "a.jsonl", rows)]}).files
    columns = [files[f"{name}_column"] for name in ("id", "document", "summary")]
    assert columns == ["ID", "Text", "Summary"]
    assert next(FilesSource(FilesSettings(**files)).rows("test")).id.startswith("d")
    # The exact spelling comes first.
    rows = [{**row, "text": row["Text"], "Text": "Not this one."} for row in rows]
    files = look({"train": [write(tmp_path / "a.jsonl", rows)]}).files
    assert files["document_column"] == "text"


def test_the_source_of_an_article_is_not_its_text(tmp_path: Path):
    rows = [{"source": "BBC", "content": row["dialogue"], "summary": row["summary1"]}
            for row in dialogues(120)]  # fmt: skip
    files = look({"train": [write(tmp_path / "a.jsonl", rows)]}).files
    assert files["document_column"] == "content"


@pytest.mark.parametrize(
    ("value", "used"),
    [(["One."], True), (None, True), ("One.", True), (12, False), ([{"title": "A paper"}], False)],
)
def test_the_references_of_a_paper_are_no_references_for_rouge(tmp_path: Path, value, used):
    rows = [{"body": row["dialogue"], "abstract": row["summary1"], "references": value}
            for row in dialogues(120)]  # fmt: skip
    files = look({"train": [write(tmp_path / "a.jsonl", rows)]}).files
    assert (files.get("references_column") == "references") == used


def test_further_references_of_some_splits_alone_are_used(tmp_path: Path):
    rows = [{"document": row["dialogue"], "summary": row["summary1"]} for row in dialogues(120)]
    test = [{**row, "document": f"In test: {row['document']}", "references": ["Two people meet."]}
            for row in rows]  # fmt: skip
    train, other = write(tmp_path / "a.jsonl", rows), write(tmp_path / "t.jsonl", test)
    files = look({"train": [train], "test": [other]}).files
    assert files["references_column"] == "references"
    assert "references_column" not in look({"train": [train]}).files
    # Where the first rows leave the key out, as they have no further reference.
    late = write(tmp_path / "l.jsonl", [*rows[:9], *test[9:]])
    assert look({"train": [late]}).files["references_column"] == "references"


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


def test_bad_rows_are_counted_over_what_is_cut_from_one_file(tmp_path: Path):
    rows = [{**row, "id": row["fname"]} for row in dialogues(60)]
    file = write(tmp_path / "a.jsonl", rows)
    good = look({"train": [file]}, "dialogue", ["summary1"]).files
    # Two bad rows in a small split: 3 % of all rows, but a larger share of that split.
    tested = [row.id for row in FilesSource(FilesSettings(**good)).rows("test")][:2]
    for row in rows:
        if row["fname"] in tested:
            row["summary1"] = " "
    file = write(tmp_path / "a.jsonl", rows)
    data = look({"train": [file]}, "dialogue", ["summary1"])
    assert data.bad_share > 0.05
    assert any("test" in line and "2" in line for line in data.bad)
    for row in rows[:10]:
        row["summary1"] = None
    with pytest.raises(BridoError, match="--train: 1[0-2] of 60 rows are bad") as error:
        look({"train": [write(tmp_path / "a.jsonl", rows)]}, "dialogue", ["summary1"])
    assert "max_bad_fraction" not in str(error.value)


def test_bad_rows_may_be_among_the_first_which_are_all_that_a_run_takes(tmp_path: Path):
    files = {}
    for split in ("train", "validation", "test"):
        rows = [{**row, "id": row["fname"], "dialogue": f"{split}: {row['dialogue']}"}
                for row in dialogues(100)]  # fmt: skip
        for row in rows[:5]:
            row["summary1"] = " "
        files[split] = [write(tmp_path / f"{split}.jsonl", rows)]
    data = look(files, "dialogue", ["summary1"])
    checks = SplitChecks("validation", False, data.bad_share, DocumentsSeen())
    # As data.max_evaluated of the smallest run cuts it.
    first = islice(FilesSource(FilesSettings(**data.files)).rows("validation"), 40)
    assert len(list(checks.keep_good(first))) == 35
    assert checks.problem() is None


def test_files_of_their_own_are_judged_by_themselves(tmp_path: Path, file):
    other = write(tmp_path / "v.jsonl", dialogues(12, summary1=None))
    with pytest.raises(BridoError, match="--validation: 12 of 12"):
        look({"train": [file], "validation": [other]}, None, ["summary1"], "fname")


def test_splits_that_stand_in_train_are_said(tmp_path: Path, file):
    files = {"train": [file]}
    for split in ("validation", "test"):
        rows = [{**row, "fname": f"{split}{row['fname']}"} for row in dialogues(20)]
        files[split] = [write(tmp_path / f"{split}.jsonl", rows)]
    told = look(files, None, ["summary1"], "fname").doubts
    assert "validation: of 20 documents 20 stand in train" in told[0]
    assert "test: of 20 documents 20 stand in train" in told[1]


def test_doubtful_texts_are_said():
    texts = [f"Document {n} tells of a town and of {n} lorries." for n in range(30)]
    good = [f"Lorries: {n}." for n in range(30)]
    assert list(doubts(texts, good)) == []
    assert list(doubts(texts, [])) == []
    (alike,) = doubts(texts, ["See the paper."] * 10 + good[10:])
    assert "10 of 30" in alike
    (copied,) = doubts(texts, [text.split(" tells")[0] for text in texts])
    assert "30 of 30" in copied
    (longer,) = doubts(good, texts)
    assert "30 of 30" in longer
    assert list(doubts(texts[:1], good[:1])) == []
    for sign in ("<p>", "</DIV>", "<br/>", '<a href="x">', "&nbsp;", "&#39;"):
        (html,) = doubts([f"{text} {sign}" for text in texts[:9]] + texts[9:], good)
        assert f"9 of {len(texts)} documents hold HTML" in html
    odd = [f"{text} a < b > c <unk> AT&T; R&D" for text in texts]
    assert list(doubts(odd, good)) == []
    (html,) = doubts(texts, [f"<b>{summary}" for summary in good])
    assert "30 of 30 summaries hold HTML" in html
    (script,) = doubts(["猫在垫子上。"] * 2 + ["A cat."], ["猫。", "狗。", "Cat."])
    assert "pairwise.tokenizer" in script


def test_one_document_is_shown_with_its_summary():
    shown = example(["A\x1b[2Jb " * 100, "other"], ["Short."])
    assert shown["summary"] == "Short."
    assert shown["document"].endswith("...")
    assert "\x1b" not in shown["document"]
    assert example(["猫在垫子上。"], []) == {"document": "猫在垫子上。"}


def test_rows_of_several_annotators_are_documents_that_are_cut_in_three(tmp_path: Path):
    first = [row | {"id": f"task_{n}"} for n, row in enumerate(dialogues(60))]
    rows = first + [row | {"summary1": row["summary2"]} for row in first]
    data = look({"train": [write(tmp_path / "a.jsonl", rows)]}, None, ["summary1"])
    assert data.documents == {"train": 20, "validation": 20, "test": 20}
    assert data.repeats == 60
    assert not any("stand in" in text for text in data.doubts)
    row = next(FilesSource(FilesSettings(**data.files)).rows("test"))
    assert [row.summary[-1:], *(text[-2] for text in row.references)] == [".", "2"]


def test_few_test_documents_are_said(tmp_path: Path):
    file = write(tmp_path / "a.jsonl", dialogues(30))
    told = look({"train": [file]}, None, ["summary1"], "fname").doubts
    assert any("test documents" in text for text in told)


@pytest.mark.parametrize(
    "name", ["", " ", "a\0b", "a\nb", "\udc80", os.fsdecode(b"\xff"), "x" * 5000]
)
@pytest.mark.parametrize("option", ["train", "test", "document", "summary", "identity"])
def test_names_that_no_file_or_column_has_are_sentences(file, option, name):
    files = {"train": [file]} | ({option: [name]} if option in ("train", "test") else {})
    columns = {option: [name] if option == "summary" else name} if option not in files else {}
    with pytest.raises(BridoError, match=f"--{option.replace('identity', 'id')}"):
        look(files, **{"document": "dialogue", "summary": ["summary1"]} | columns)
