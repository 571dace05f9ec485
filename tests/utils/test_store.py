"""A store that several processes use at the same moment."""

import sqlite3
import threading

import pytest

from brido.utils.store import ResultStore


@pytest.mark.parametrize("made", [False, True])
def test_one_waits_until_another_has_written(tmp_path, made):
    path = tmp_path / "a.sqlite"
    if made:
        ResultStore(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    found = []

    def use():
        with ResultStore(path) as store:
            store.write([("key", 1)])
            found.append(store.read(["key"]))

    waiting = threading.Thread(target=use)
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive()
    other.execute("COMMIT")
    waiting.join(60)
    assert found == [{"key": 1}]
