"""Shards that a stage keeps for its next run, and what tells whether they are still right."""

from toy_workers import UNITS, Toy, behave

from brido.tables import DECODED
from brido.vote.settings import ScoringSettings
from brido.work import shards as kept
from brido.work.running import Splits
from brido.work.worker import Workers

KEYS = [f"key-{number}" for number in range(len(UNITS))]


def finish(folder, numbers):
    """Make a table of these units; which of them were made."""
    units = {"train": [UNITS[number] for number in numbers]}
    keys = {"train": [KEYS[number] for number in numbers]}
    done = []

    def make(device, advance):
        toy = Toy(folder, behave, device, advance)
        return lambda unit: (done.append(UNITS.index(unit)), toy(unit))[1]

    work = Splits("toy", str(numbers), DECODED, units, keys)
    work.run(make, Workers(), "toy", 10.0)
    path = folder / "train.parquet"
    work.write("train", path, {})
    work.clear()
    return done, path.read_bytes()


def test_the_last_runs_units_are_not_made_again(tmp_path):
    done, first = finish(tmp_path, [0, 1, 2])
    assert done == [0, 1, 2]
    assert finish(tmp_path, [0, 1, 2]) == ([], first)
    done, other = finish(tmp_path, [3, 2, 0])
    assert done == [3]
    # Unit 1 was not of the last run.
    files = sorted(path.name for path in (tmp_path / "work/kept/toy").iterdir())
    assert files == ["key-0.parquet", "key-2.parquet", "key-3.parquet"]
    assert finish(tmp_path, [0, 1, 2]) == ([1], first)
    assert other != first


def test_the_key_of_the_code_follows_each_file_and_version(tmp_path, monkeypatch):
    package = tmp_path / "brido"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.setattr(kept.brido, "__file__", str(package / "__init__.py"))
    keys = [kept.code_key.__wrapped__()]
    (package / "search.py").write_text("BEAMS = 1")
    keys.append(kept.code_key.__wrapped__())
    (package / "search.py").write_text("BEAMS = 2")
    keys.append(kept.code_key.__wrapped__())
    (package / "search.py").rename(package / "beams.py")
    keys.append(kept.code_key.__wrapped__())
    # The words of the world decide what a checker finds.
    (package / "crash.yaml").write_text("leads: []")
    keys.append(kept.code_key.__wrapped__())
    monkeypatch.setattr(kept, "version", lambda name: "0.0")
    keys.append(kept.code_key.__wrapped__())
    assert len(set(keys)) == len(keys)
    assert kept.code_key.__wrapped__() == keys[-1]


def test_fingerprint_follows_settings_and_content(tmp_path):
    path = tmp_path / "in"
    path.write_text("one")
    first = kept.fingerprint(ScoringSettings(alpha=1.0), [path])
    assert first == kept.fingerprint(ScoringSettings(alpha=1.0), [path])
    assert first != kept.fingerprint(ScoringSettings(alpha=2.0), [path])
    path.write_text("two")
    assert first != kept.fingerprint(ScoringSettings(alpha=1.0), [path])
