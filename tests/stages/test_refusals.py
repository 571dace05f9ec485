"""What a stage of a finished run cannot use: a message with the way out, and nothing is written."""

import shutil
from collections.abc import Callable
from pathlib import Path

import finished_run
import pytest

from brido.tables import CORPUS, DECODED, POOL, evaluation_schema, read_rows, write_table
from brido.utils.errors import BridoError
from stages import paths

Damage = Callable[[], object]


def gone(path: str | Path) -> Damage:
    """A file or a folder is not there."""

    def remove() -> None:
        shutil.rmtree(path) if Path(path).is_dir() else Path(path).unlink()

    return remove


def changed(**sections: dict) -> Damage:
    """Other keys in sections of params.yaml."""
    return lambda: finished_run.write_params(Path(), **sections)


def nothing() -> None:
    """Everything is as the run left it."""


def other_candidates() -> None:
    """Same ids, same N, other texts: only the fingerprint tells."""
    rows = read_rows(paths.pool("train"), POOL, "")
    for row in rows:
        row["candidates"].reverse()
    write_table(paths.pool("train"), [rows], POOL)


def renamed(path: Path, schema: object = None) -> Damage:
    """The first document of a table has another id."""

    def write() -> None:
        first, *rest = read_rows(path, None, "")
        names = [name for name in first if "." in name]
        rows = [first | {"id": "another"}, *rest]
        write_table(path, [rows], schema or evaluation_schema(names), {"signature": {}})

    return write


def without_facts() -> None:
    """A corpus that is not the world's."""
    path = paths.corpus("test")
    rows = [{name: row[name] for name in CORPUS.names} for row in read_rows(path, CORPUS, "")]
    write_table(path, [rows], CORPUS)


def left_empty() -> None:
    """There is no base: `checkpoints.base.source` is none."""
    shutil.rmtree(paths.checkpoint("base"))
    paths.checkpoint("base").mkdir()


NO_BASE = r"(?s)checkpoints\.base\.source.*dvc repro score elect"
# What is wrong, the stage, and a part of what it says.
CASES: list[tuple[Damage, tuple[str, ...], str]] = [
    # Names that are none of params.yaml.
    *((nothing, ("decode", *names), "usage: python -m stages.decode SYSTEM")
      for names in (("reference",), ("base", "vote"), ("tuned",), ())),
    *((nothing, ("score", *names), r"stages.score SYSTEM, .*\(vote, information, control\)")
      for names in ((), ("base",), ("vote", "control"))),
    (nothing, ("evaluate", "rouge"), "usage: python -m stages.evaluate SYSTEM"),
    # Tables and models that are missing name the stage that makes them.
    (gone("data/checkpoints/base"), ("generate", "base"), "data/checkpoints/base is missing"),
    (gone("data/decoded/base"), ("evaluate", "base"), "dvc repro decode_base"),
    (gone("data/scores/vote/train.parquet"), ("train", "vote"), "dvc repro score"),
    (gone("data/evaluation/base/validation.parquet"), ("choose",), "evaluation/base.*evaluate"),
    (gone("metrics/training/vote.csv"), ("report",), "metrics/training.*dvc repro train@vote"),
    (gone("data/chosen/model.safetensors"), ("report",), "data/chosen.*dvc repro choose"),
    (gone("data/checkpoints/base/source.json"), ("report",), "dvc repro checkpoint@base"),
    (nothing, ("report", "--show"), "takes no arguments"),
    # Tables that do not belong together.
    (other_candidates, ("train", "vote"), "other candidates"),
    (renamed(paths.evaluation("vote", "validation")), ("choose",),
     "vote and base .*different validation documents"),
    (renamed(paths.decoded("vote", "test"), DECODED), ("evaluate", "vote"),
     "(?s)other documents.*dvc repro decode@vote"),
    (without_facts, ("evaluate", "vote"), "world_qa needs the column `facts`"),
    # Settings that the data or the model do not allow.
    (changed(reading={"default": {"max_source_tokens": 41}}), ("generate", "base"),
     r"max_source_tokens \(41\) is more than the model's 40"),
    (changed(variants={"guided": {"checkpoint": "base", "guidance": {"others": 16}}}),
     ("vary", "guided"), "needs 16 other"),
    (changed(likelihood={"others": 16}), ("likelihood",),
     "likelihood.others: each document needs 16 other"),
    # No base.
    (gone("data/checkpoints/base"), ("likelihood",), "base has no weights.*checkpoint@base"),
    (left_empty, ("train", "vote"), NO_BASE), (left_empty, ("vary", "short"), NO_BASE),
    (left_empty, ("evaluate", "base"), NO_BASE), (left_empty, ("report",), NO_BASE),
]  # fmt: skip


def content() -> dict[str, bytes]:
    files = (path for part in ("data", "metrics", "report") for path in Path(part).rglob("*"))
    return {str(path): path.read_bytes() for path in files if path.is_file()}


@pytest.mark.parametrize(("damage", "stage", "message"), CASES, ids=[case[2] for case in CASES])
def test_it_is_named_and_nothing_is_written(
    finished: Path, monkeypatch: pytest.MonkeyPatch, damage: Damage, stage: tuple[str, ...], message
):
    damage()
    before = content()
    with pytest.raises(BridoError, match=message):
        finished_run.run(monkeypatch, *stage)
    assert content() == before
