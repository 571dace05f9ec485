"""Arguments and units that travel: paths arrive as copies of what stood there."""

from functools import partial
from pathlib import Path

import pytest

from brido.work.travel import Packer, Unpacker


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A folder with files below it, named by a relative path."""
    monkeypatch.chdir(tmp_path)
    folder = Path("data/model")
    (folder / "parts").mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "parts" / "weights.bin").write_bytes(b"\0weights")
    (folder.parent / "table.parquet").write_bytes(b"rows")
    return folder


def arrive(packer, parcel, folder):
    return Unpacker(folder).unpack(parcel, lambda number: packer.stored[number])


def test_files_and_folders_arrive_with_their_content(model, tmp_path):
    packer = Packer(bytes)
    table, missing = model.parent / "table.parquet", Path("data/nothing")
    item = partial(print, model, [table], missing=missing, limit=3)
    found = arrive(packer, packer.pack(item), tmp_path / "node")
    assert found.func is print
    there, (other,) = found.args
    assert there.name == "model"
    assert (there / "config.json").read_text() == "{}"
    assert (there / "parts" / "weights.bin").read_bytes() == b"\0weights"
    assert other.name == "table.parquet"
    assert other.read_bytes() == b"rows"
    assert there.is_relative_to(tmp_path / "node")
    assert found.keywords == {"missing": missing, "limit": 3}


def test_what_travels_again_is_stored_and_laid_down_once(model, tmp_path):
    packer, fetched = Packer(bytes), []
    parcels = [packer.pack((model, rows)) for rows in (range(3), range(3, 6))]
    assert len(packer.stored) == 2
    node = Unpacker(tmp_path / "node")

    def fetch(number):
        fetched.append(number)
        return packer.stored[number]

    (first, rows), (second, others) = (node.unpack(parcel, fetch) for parcel in parcels)
    assert first == second
    assert (rows, others) == (range(3), range(3, 6))
    assert fetched == [0, 1]


def test_on_a_shared_file_system_paths_stay_as_they_are(model, tmp_path):
    packer = Packer(None)
    assert arrive(packer, packer.pack([model]), tmp_path / "node") == [model]
    assert not packer.stored
