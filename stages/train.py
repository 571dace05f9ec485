"""Stage train: contrastive fine-tuning of the base model on the candidates' order (Eq. 1 and 3).

`BRIDO_LAUNCH="--num_processes 8"` runs it on several accelerators (see `brido.training.launch`).
"""

import json

from brido.models import LanguageModel
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.training.contrastive import ContrastiveTask
from brido.training.documents import notes, read_ranked
from brido.training.launch import is_main, relaunch
from brido.training.loop import train
from brido.training.sample import sample_generator, sample_trackers
from brido.utils.atomic import atomic_folder
from brido.utils.errors import run_command
from brido.utils.progress import say
from brido.work.folder import leave, work_root
from brido.work.shards import fingerprint
from stages import paths

HISTORY = paths.METRICS / "training.csv"


def main() -> None:
    """Write data/checkpoints/tuned and metrics/training.csv."""
    params = load_params()
    relaunch("stages.train")
    task = make_task(params)
    if is_main() and params.training.gamma:
        warn()
    task.trackers = sample_trackers(task)
    try:
        state = train(task)
    finally:
        task.trackers.finish()
    if is_main():
        with atomic_folder(paths.checkpoint("tuned")) as temporary:
            task.language.save(temporary)
        # The model is safe: the state of the run is not needed any more.
        leave(task.folder)
        say(f"train: {state.update} updates done; kept: {params.training.keep}")
        if state.micro_batch != params.runtime.candidate_micro_batch:
            say(
                f"train: memory was short: only {state.micro_batch} candidates of a document ran "
                "at once"
            )


def warn() -> None:
    """Repeat stage score's verdict if the vote does not help, before training costs anything."""
    # It changes no result, so the file is not among the stage's deps: another judge trains nothing.
    if paths.VOTES.is_file():
        told = json.loads(paths.VOTES.read_text(encoding="utf-8"))
        election = told.get("election")
        if election and (election["verdict"] != "beats" or told.get("warnings")):
            say(f"train: warning: {election['sentence']}")


def make_task(params: Params) -> ContrastiveTask:
    """Return the training run that settings and tables describe."""
    settings, base, reading = params.training, paths.checkpoint("base"), params.reading_of("base")
    tables = {
        split: (paths.corpus(split), paths.pool(split), paths.scores(split))
        for split in ("train", "validation")
    }
    documents, validation = (read_ranked(*files) for files in tables.values())
    inputs = [base, *tables["train"], *tables["validation"]]
    folder = work_root() / "train" / fingerprint([settings, reading], inputs)
    if is_main():
        for note in notes(documents, validation, settings.cross_entropy):
            say(f"train: {note}")
    # Trained in float32, however it was stored; autocast may run products in bfloat16.
    language = LanguageModel.load(base, reading)
    language.adapt(settings.lora, settings.seed)
    sample = validation.sample(settings.validation.documents)
    task = ContrastiveTask(language, documents, sample, settings, params.runtime, folder, HISTORY)
    # At each validation the model ranks the sample's candidates, and summarizes the sample itself.
    task.generator = sample_generator(task, paths.corpus("validation"))
    return task


if __name__ == "__main__":
    run_command(main)
