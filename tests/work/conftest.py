"""Work folders of each test's own, and the shards that every engine must make."""

import pytest
from toy_workers import UNITS, contents, maker

from brido.tables import DECODED
from brido.work import Shards, run


@pytest.fixture(autouse=True)
def work(tmp_path, monkeypatch):
    monkeypatch.setenv("BRIDO_WORK", str(tmp_path / "work"))
    return tmp_path


@pytest.fixture
def expected(work):
    """The shards of one worker here."""
    shards = Shards("expected", "key", DECODED)
    folder = work / "expected"
    folder.mkdir()
    run(shards, UNITS, maker(folder))
    return contents(shards)
