"""Stage checkpoint: one system's model and tokenizer become data/checkpoints/SYSTEM.

A hub id, a folder or a GGUF file is stored as it is, or fine-tuned first; `embedded` trains a small
model from scratch. No later stage can tell them apart.
"""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from brido.candidates.settings import NO_CHECKPOINT
from brido.corpus.settings import WorldSettings
from brido.models.checkpoint import store_checkpoint
from brido.models.settings import (
    EmbeddedCheckpoint,
    EmbeddedSettings,
    FineTuningSettings,
    StoredCheckpoint,
    WorldShare,
)
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import CORPUS, read_metadata, read_rows
from brido.training.launch import is_main, relaunch
from brido.utils.atomic import atomic_folder, write_text
from brido.utils.errors import BridoError, run_command
from brido.utils.paths import user_path
from brido.utils.progress import say
from brido.work.folder import leave, work_root
from brido.work.settings import RuntimeSettings
from brido.work.shards import fingerprint
from brido.world import documents
from stages import paths
from stages.arguments import name_given


def main() -> None:
    """Write data/checkpoints/SYSTEM for the system that the command line names."""
    params = load_params()
    make(params, name_given("checkpoint", "SYSTEM", params.checkpoints, "a key of `checkpoints`"))


def make(params: Params, system: str) -> None:
    """Train or store the system's checkpoint; `none` is an empty folder."""
    settings = params.checkpoints[system]
    if settings.source == NO_CHECKPOINT:
        with atomic_folder(paths.checkpoint(system)):
            say(f"checkpoint {system}: checkpoints.{system}.source is none: no model is loaded")
    elif isinstance(settings, EmbeddedCheckpoint):
        _train(system, settings.embedded, params.runtime)
    elif settings.fine_tuning is None:
        _store(settings, paths.checkpoint(system), f"checkpoints.{system}")
    else:
        _fine_tune(params, system, settings, settings.fine_tuning)


def _store(settings: StoredCheckpoint, folder: Path, key: str) -> None:
    store_checkpoint(settings.source, settings.revision, folder, key, settings.adapter)


def _train(system: str, settings: EmbeddedSettings, runtime: RuntimeSettings) -> None:
    from brido.training.pretraining import train_embedded

    pairs = pairs_to_learn(f"checkpoints.{system}.embedded.world", settings.world)
    work = work_root() / "checkpoint" / system / fingerprint([settings, pairs])
    with atomic_folder(paths.checkpoint(system)) as folder:
        found = train_embedded(system, pairs, settings, runtime, work, folder)
        record = {"source": "embedded", "settings": settings.model_dump(mode="json"), **found}
        _write_record(folder, record)
    leave(work)


def _fine_tune(
    params: Params, system: str, settings: StoredCheckpoint, tuning: FineTuningSettings
) -> None:
    from brido.training.fine_tuning import fine_tune

    key, reading = f"checkpoints.{system}", params.reading_of(system)
    pairs = pairs_to_learn(f"{key}.fine_tuning.world", tuning.world)[: tuning.documents]
    origins = (user_path(name) for name in (settings.source, settings.adapter) if name)
    inputs = [path for path in origins if path.exists()]
    work = work_root() / "checkpoint" / system / fingerprint([settings, reading, pairs], inputs)
    loaded = work / "loaded"
    if not loaded.is_dir():
        _store(settings, loaded, key)
    relaunch("stages.checkpoint")
    with atomic_folder(paths.checkpoint(system)) if is_main() else nullcontext(work) as folder:
        found = fine_tune(system, loaded, pairs, tuning, reading, params.runtime, work, folder)
        if is_main():
            record = json.loads((loaded / "source.json").read_text(encoding="utf-8"))
            record["fine_tuning"] = tuning.model_dump(mode="json") | found
            _write_record(folder, record)
    if is_main():
        leave(work)


def pairs_to_learn(key: str, share: WorldShare | None) -> list[tuple[str, str]]:
    """Documents and references: of the training split, or articles of the corpus' world, of another
    share of supported facts and in none of its splits. Which world that is, the corpus says itself.
    """
    if share is None:
        rows = read_rows(paths.corpus("train"), CORPUS, "download")
        return [(row["document"], row["summary"]) for row in rows]
    corpus = read_metadata(paths.corpus("train"), "download", source=str, settings=dict)
    if corpus.get("source") != "world":
        raise BridoError(
            f"{key}: the corpus is not the embedded world: write null to learn from the training "
            "split"
        )
    knobs = WorldSettings.model_validate(corpus["settings"] | {"support_rate": share.support_rate})
    made = documents(knobs, "base", share.documents)
    return [(row["document"], row["summary"]) for row in made]


def _write_record(folder: Path, record: dict[str, Any]) -> None:
    write_text(folder / "source.json", json.dumps(record, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    run_command(main)
