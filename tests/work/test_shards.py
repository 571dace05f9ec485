"""Resumable work: fingerprints, finished shards, stale folders."""

from brido.tables import DECODED
from brido.vote.settings import ScoringSettings
from brido.work.shards import Shards, fingerprint


def row(name):
    return {"id": name, "summary": "s", "score": 0.0}


def test_fingerprint_follows_settings_and_content(tmp_path):
    path = tmp_path / "in"
    path.write_text("one")
    first = fingerprint(ScoringSettings(alpha=1.0), [path])
    assert first == fingerprint(ScoringSettings(alpha=1.0), [path])
    assert first != fingerprint(ScoringSettings(alpha=2.0), [path])
    path.write_text("two")
    assert first != fingerprint(ScoringSettings(alpha=1.0), [path])


def test_finished_shards_survive_and_assemble_in_order():
    shards = Shards("generate/train", "k1", DECODED)
    shards.write(1, [row("b")])
    assert not shards.done(0)
    again = Shards("generate/train", "k1", DECODED)
    assert again.done(1)
    again.write(0, [row("a")])
    assert [batch.column("id").to_pylist() for batch in again.read(range(2))] == [["a"], ["b"]]
    again.clear()
    assert not again.folder.exists()


def test_other_settings_start_anew_and_remove_the_stale_folder():
    old = Shards("pairwise", "k1", DECODED)
    old.write(0, [row("a")])
    new = Shards("pairwise", "k2", DECODED)
    assert not new.done(0)
    assert not old.folder.exists()
