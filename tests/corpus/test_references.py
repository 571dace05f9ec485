"""Further references of a user's files: of several columns, or of a column of lists."""

from pathlib import Path

import pytest

from brido.corpus.files import FilesSource
from brido.corpus.settings import FilesSettings


@pytest.mark.parametrize("mark", ["NaN", "#N/A", "\\N", " ", ""])
@pytest.mark.parametrize("named", [{"summary_column": ["summary", "more"]},
                                   {"references_column": "more"}])  # fmt: skip
def test_the_mark_of_a_missing_value_is_no_reference(tmp_path: Path, mark: str, named) -> None:
    rows = ["id,document,summary,more", f"a,T.,One.,{mark}", "b,U.,Eins.,Zwei."]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    source = FilesSource(FilesSettings(train=str(tmp_path / "a.csv"), test_fraction=1e-9,
                                       validation_fraction=1e-9, **named))  # fmt: skip
    first, second = source.rows("train")
    assert not first.references
    assert second.references == ["Zwei."]
