"""Maximum likelihood on references, as the paper's bases learned it, before candidates exist."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from brido.models.language_model import LanguageModel
from brido.models.settings import FineTuningSettings, ReadingSettings
from brido.training.batches import SummaryPairs
from brido.training.contrastive import ContrastiveTask
from brido.training.launch import is_main
from brido.training.settings import TrainingSettings, ValidationSettings
from brido.training.train import train
from brido.utils.errors import BridoError
from brido.utils.progress import say
from brido.work.settings import RuntimeSettings

# Rows of losses in a run's history.
ROWS = 20


def fine_tune(
    name: str,
    loaded: Path,
    pairs: Sequence[tuple[str, str | None]],
    settings: FineTuningSettings,
    reading: ReadingSettings,
    runtime: RuntimeSettings,
    work: Path,
    folder: Path,
) -> dict[str, Any]:
    """Train the checkpoint in `loaded` on (document, reference) pairs, write it into `folder`, and
    return what happened: pairs, updates, and the loss of the last tenth of the updates.

    name: the key of `checkpoints`. The unfinished run is kept in `work` (see
    `brido.training.train`). With `lora` the adapter is also written into `folder`/adapter; the
    model in `folder` has it merged. Of several processes the first one writes.

    Raises:
        BridoError: no pair has a reference; see `train`.
    """
    key = f"checkpoints.{name}.fine_tuning"
    whole = [(document, reference) for document, reference in pairs if reference is not None]
    if not whole:
        raise BridoError(f"{key}: no document has a reference to learn from: write null")
    if len(whole) < len(pairs) and is_main():
        say(f"{key}: {len(pairs) - len(whole):,} documents without a reference are left out")
    language = LanguageModel.load(loaded, reading)
    language.adapt(settings.lora, settings.seed)
    task = ContrastiveTask(
        language,
        SummaryPairs(whole),
        None,
        _training(settings, len(whole)),
        runtime,
        work,
        name=f"fine-tune {name}",
        key=key,
        remedy=f"Lower {key}.learning_rate",
    )
    state = train(task)
    if is_main():
        language.save(folder)
    return {
        "pairs": len(whole),
        "updates": task.updates,
        "loss": sum(state.last_losses) / len(state.last_losses),
    }


def _training(settings: FineTuningSettings, pairs: int) -> TrainingSettings:
    updates = settings.epochs * -(-pairs // settings.batch_size)
    same = {"seed", "epochs", "batch_size", "learning_rate", "warmup_steps", "label_smoothing"}
    return TrainingSettings(
        **settings.model_dump(include=same),
        max_candidate_tokens=settings.max_summary_tokens,
        gamma=0.0,
        validation=ValidationSettings(every=-(-updates // ROWS)),
    )
