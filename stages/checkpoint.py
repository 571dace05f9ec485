"""Stage checkpoint: one system's model and tokenizer become data/checkpoints/SYSTEM.

A hub id or a folder is stored as it is; `embedded` trains a BART from scratch on the corpus. No
later stage can tell them apart.
"""

import json

from brido import tables
from brido.atomic import atomic_folder, write_text
from brido.config import load_params
from brido.errors import run_command
from brido.models.checkpoint import store_checkpoint
from brido.progress import Progress
from brido.settings import EmbeddedSettings, RuntimeSettings
from stages import paths
from stages.arguments import system_named


def main() -> None:
    """Write data/checkpoints/SYSTEM for the system that the command line names."""
    params = load_params()
    system = system_named("checkpoint", params.checkpoints, "a key of `checkpoints`")
    settings = params.checkpoints[system]
    if settings.source == "embedded":
        _train(system, settings.embedded, params.runtime)
    else:
        store_checkpoint(
            settings.source, settings.revision, paths.checkpoint(system), f"checkpoints.{system}"
        )


def _train(system: str, settings: EmbeddedSettings, runtime: RuntimeSettings) -> None:
    """Train the embedded BART on the corpus' training split."""
    from brido.device import choose_device
    from brido.models.embedded import train_embedded

    rows = tables.read_rows(paths.corpus("train"), tables.CORPUS, "download")
    pairs = [(row["document"], row["summary"]) for row in rows]
    device = choose_device(runtime.device, runtime.threads)
    total = len(pairs) * settings.epochs
    with (
        atomic_folder(paths.checkpoint(system)) as folder,
        Progress(f"train {system} from scratch", total, interval=runtime.log_seconds) as progress,
    ):
        found = train_embedded(pairs, settings, folder, str(device), progress.advance)
        record = {"source": "embedded", "settings": settings.model_dump(mode="json"), **found}
        write_text(folder / "source.json", json.dumps(record, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    run_command(main)
