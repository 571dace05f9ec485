"""The download stage: what it writes, that it writes the same twice, and how it refuses."""

import json
from pathlib import Path

import pytest

from brido import tables
from stages import download, paths

SMALL = {"train": 30, "validation": 6, "test": 5}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose params.yaml asks for a small world."""
    monkeypatch.chdir(tmp_path)
    set_data(tmp_path, {"world": SMALL})
    return tmp_path


def set_data(folder: Path, data: dict) -> None:
    base = {"source": "embedded", "embedded": {"world": None}}
    metrics = ["rouge", "mentions", *(["world_judge"] if "world" in data else [])]
    params = {
        "data": data,
        "checkpoints": {"base": base},
        "evaluation": {"metrics": metrics} | {name: {} for name in metrics},
    }
    (folder / "params.yaml").write_text(json.dumps(params))


def test_the_world_becomes_three_tables_and_the_reference_a_system(project: Path):
    download.main()
    corpus, decoded = project / "data" / "corpus", project / "data" / "decoded" / "reference"
    for split, count in SMALL.items():
        rows = tables.read_rows(corpus / f"{split}.parquet", tables.WORLD_CORPUS, "")
        assert len(rows) == count
        assert all(row["references"] == [row["summary"]] and row["facts"] for row in rows)
        metadata = tables.read_metadata(corpus / f"{split}.parquet", "")
        assert (metadata["source"], metadata["split"]) == ("world", split)
        if split != "train":
            system = tables.read_rows(decoded / f"{split}.parquet", tables.DECODED, "")
            assert system == [
                {"id": row["id"], "summary": row["summary"], "score": 0.0} for row in rows
            ]
    assert sorted(path.name for path in decoded.iterdir()) == ["test.parquet", "validation.parquet"]
    record = json.loads((corpus / "source.json").read_text())
    assert record["splits"]["test"] == {"documents": 5, "left_out": {}}
    # DVC warns of an empty output at every run.
    assert list(paths.checkpoint("none").iterdir())
    first = (corpus / "train.parquet").read_bytes()
    download.main()
    assert (corpus / "train.parquet").read_bytes() == first
