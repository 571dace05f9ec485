"""Further references of a user's files: of several columns, or of a column of lists."""

from pathlib import Path

import pytest

from brido.corpus.files import FilesSource
from brido.corpus.settings import FilesSettings
from brido.utils.errors import BridoError


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


def test_some_splits_may_lack_the_column_of_further_references(tmp_path: Path) -> None:
    texts = {split: f"document,summary\n{split}.,One.\n" for split in ("train", "validation")}
    texts["test"] = "document,summary,references\ntest.,One.,Two.\n"
    for split, text in texts.items():
        (tmp_path / f"{split}.csv").write_text(text)
    files = {split: str(tmp_path / f"{split}.csv") for split in texts}
    source = FilesSource(FilesSettings(**files, references_column="references"))
    found = {split: [row.references for row in source.rows(split)] for split in texts}
    assert found == {"train": [None], "validation": [None], "test": [["Two."]]}
    with pytest.raises(BridoError, match="references_column: no file has a column 'reference'"):
        FilesSource(FilesSettings(**files, references_column="reference"))
