"""Two systems side by side: which documents, in which order, and what is marked."""

import json

import pytest
import small_project
from hypothesis import given
from hypothesis import strategies as st

from brido.cli.main import main
from brido.report.side_by_side import _changes, _pieces, as_html, most_changed, pairs
from brido.tables import DECODED, write_table
from brido.tables.schemas import evaluation_schema
from brido.utils.errors import BridoError, run_command

DOCUMENTS = ["Ann met Bob in Leeds.", "Tim went to York.", "Eve sang <b>.", "Max slept."]
BASE = ["Ann met Bob.", "Tim saw Rome in 1999.", "Eve sang <b>.", "Max met Tom."]
TUNED = ["Ann met Kim.", "Tim saw York.", "Eve sang <b>.", "Max met Kim."]
GOOD = {"base": [1.0, 0.0, 1.0, 0.0], "guided": [0.0, 0.0, 1.0, 0.0]}
BY = ("mentions", "good")


@pytest.fixture
def project(tmp_path, monkeypatch):
    small_project.write_params(tmp_path)
    small_project.write_corpus(tmp_path, "test", DOCUMENTS)
    for system, texts in (("base", BASE), ("guided", TUNED)):
        rows = [{"id": f"test-{n}", "summary": text, "score": 0.0} for n, text in enumerate(texts)]
        write_table(tmp_path / f"data/decoded/{system}/test.parquet", [rows], DECODED)
        names = [f"mentions.{name}" for name in ("precision", "unsupported", "whole", "good")]
        rows = [
            {"id": f"test-{n}", "detail": "{}", **dict.fromkeys(names, 0.0), "mentions.good": value}
            for n, value in enumerate(GOOD[system])
        ]
        path = tmp_path / f"data/evaluation/{system}/test.parquet"
        write_table(path, [rows], evaluation_schema(names), {"signature": {}})
    (tmp_path / "metrics").mkdir()
    choice = {"chosen": "guided", "by": "mentions.good"}
    (tmp_path / "metrics/choice.json").write_text(json.dumps(choice))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(project, by=BY):
    return pairs(project / "data", ("base", "guided"), True, by, ["guided"])


def test_what_decides_comes_before_the_mentions_that_went(project):
    first, second, last = found(project)
    assert [pair.id for pair in (first, second, last)] == ["test-0", "test-1", "test-3"]
    assert [pair.gain for pair in (first, second, last)] == [(-1.0, -1), (0.0, 2), (0.0, 0)]
    assert [pair.gain for pair in found(project, None)] == [(0.0, -1), (0.0, 2), (0.0, 0)]
    assert (second.first.unsupported, second.second.unsupported) == (2, 0)
    assert (first.first.quality, first.second.quality) == (1.0, 0.0)


def test_lower_is_better_where_the_metric_says_so(project):
    by = ("mentions", "unsupported")
    path = project / "data/evaluation/base/test.parquet"
    names = [f"mentions.{name}" for name in ("precision", "unsupported", "whole", "good")]
    rows = [{"id": f"test-{n}", "detail": "{}", **dict.fromkeys(names, 1.0)} for n in range(4)]
    write_table(path, [rows], evaluation_schema(names), {"signature": {}})
    assert [pair.gain[0] for pair in found(project, by)] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("gains", "count", "improved", "damaged"),
    [
        ([3, 1, 2, -1, -3, 0], 4, [3, 2], [-3, -1]),
        ([3, 1, 2, -1, -3, 0], 3, [3, 2], [-3]),
        ([3, 1, 2, -1], 10, [3, 2, 1], [-1]),
        ([1, -1, -2, -3], 3, [1], [-3, -2]),
        ([0, 0], 3, [], []),
        ([-1, -2], 1, [], [-2]),
    ],
)
def test_the_most_improved_and_the_most_damaged(project, gains, count, improved, damaged):
    one = found(project)[0]
    many = [type(one)(**{**vars(one), "gain": (0.0, gain)}) for gain in gains]
    shown = most_changed(many, count)
    assert [[pair.gain[1] for pair in own] for own in shown] == [improved, damaged]


def test_marks_stand_where_they_belong(project):
    second = found(project)[1]
    marked = [(piece.text, piece.changed, piece.unsupported) for piece in second.first.pieces]
    assert marked == [
        ("Tim saw ", False, False),
        ("Rome", True, True),
        (" ", False, False),
        ("in", True, False),
        (" ", False, False),
        ("1999", True, True),
        (".", True, False),
    ]


TEXTS = st.lists(st.sampled_from(["a", "bb", "c.", "d\n"]), max_size=8).map(" ".join)


@given(TEXTS, TEXTS)
def test_what_is_not_marked_is_the_same_in_both(first, second):
    same = []
    for text, changed in zip((first, second), _changes(first, second), strict=True):
        pieces = list(_pieces(text, changed, []))
        assert "".join(piece.text for piece in pieces) == text
        same.append("".join(piece.text for piece in pieces if not piece.changed).split())
    assert same[0] == same[1]
    if first.split() == second.split():
        assert same[0] == first.split()


def test_a_page_keeps_texts_texts(project):
    (project / "data/decoded/guided/test.parquet").unlink()
    rows = [{"id": f"test-{n}", "summary": f"<script>{n}</script>", "score": 0.0} for n in range(4)]
    write_table(project / "data/decoded/guided/test.parquet", [rows], DECODED)
    page = as_html(("base", "guided"), BY, {"Improved": found(project)})
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<article>") == 4
    assert "default-src 'none'" in page


def compare(*arguments):
    try:
        run_command(lambda: main(["compare", *arguments]))
    except SystemExit as end:
        return end.code
    return 0


def test_the_command_shows_the_choice_beside_base(project, capsys):
    assert compare("--documents", "2") == 0
    out, err = capsys.readouterr()
    assert "[!Rome]" in out
    assert out.index("test-1") < out.index("test-0")
    assert "1 are improved, 1 damaged" in err
    assert compare("base", "guided", "--html", "page.html") == 0
    assert "test-0" in (project / "page.html").read_text()


def test_a_text_cannot_write_on_the_terminal(project, capsys):
    (project / "data/decoded/guided/test.parquet").unlink()
    rows = [
        {"id": f"test-{n}", "summary": "In \x1b[31mParis\x1b]52;c;aGk=\u202e.", "score": 0.0}
        for n in range(4)
    ]
    write_table(project / "data/decoded/guided/test.parquet", [rows], DECODED)
    assert compare("--documents", "2") == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "\ufffd" in out


def test_documents_that_differ_in_words_alone_come_last(project, capsys):
    assert compare("--documents", "3") == 0
    out, err = capsys.readouterr()
    assert out.index("test-0") < out.index("test-3")
    assert "1 neither" in err
    assert compare("--documents", "2") == 0
    assert "test-3" not in capsys.readouterr().out
    assert compare("--documents", "9", "--html", "page.html") == 0
    assert "test-3" in (project / "page.html").read_text()
    assert "3 documents" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["base", "gided"], "did you mean guided"),
        (["guided", "chosen"], "the others are reference, base"),
        (["base", "reference"], "dvc repro"),
    ],
)
def test_bad_names_are_one_sentence(project, capsys, arguments, words):
    assert compare(*arguments) == 2
    assert words in capsys.readouterr().err


def test_tables_of_other_documents_and_a_damaged_choice_are_refused(project, capsys):
    rows = [{"id": "x", "summary": "", "score": 0.0}]
    write_table(project / "data/decoded/guided/test.parquet", [rows], DECODED)
    with pytest.raises(BridoError, match="other documents.*dvc repro vary@guided"):
        found(project)
    (project / "metrics/choice.json").write_text('{"chosen": "guided"}')
    assert compare() == 2
    assert "dvc repro choose" in capsys.readouterr().err
