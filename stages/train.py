"""Stage train: contrastive fine-tuning of the base model on the candidates' order (Eq. 1 and 3).

    python -m stages.train SYSTEM

`BRIDO_LAUNCH="--num_processes 8"` runs it on several accelerators (see `brido.training.launch`).
"""

from brido.models import LanguageModel
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.training.batches import notes, read_ranked
from brido.training.contrastive import ContrastiveTask
from brido.training.launch import is_main, relaunch
from brido.training.sample import sample_generator
from brido.training.train import train
from brido.utils.atomic import atomic_folder
from brido.utils.errors import run_command
from brido.utils.progress import say
from brido.work.folder import leave, work_root
from brido.work.shards import fingerprint
from stages import paths
from stages.arguments import name_given


def main() -> None:
    """Write data/checkpoints/SYSTEM and metrics/training/SYSTEM.csv for SYSTEM."""
    params = load_params()
    system = name_given("train", "SYSTEM", params.tuned, "a key of `tuned`")
    paths.check_base(f"train {system}")
    relaunch("stages.train")
    task = make_task(params, system)
    state = train(task)
    if is_main():
        with atomic_folder(paths.checkpoint(system)) as temporary:
            task.language.save(temporary)
        # The model is safe: the state of the run is not needed any more.
        leave(task.folder)
        say(f"{task.name}: {state.update} updates done; kept: {task.settings.keep}")
        if state.micro_batch != params.runtime.candidate_micro_batch:
            say(
                f"{task.name}: memory was short: only {state.micro_batch} candidates of a document "
                "ran at once"
            )


def make_task(params: Params, system: str) -> ContrastiveTask:
    """Return the training run of a system, as settings and tables describe it."""
    settings = params.training_of(system)
    base, reading = paths.checkpoint("base"), params.reading_of("base")
    name, history = f"train {system}", paths.history(system)
    tables = {
        split: (paths.corpus(split), paths.pool(split), paths.scores(system, split))
        for split in paths.TUNING_SPLITS
    }
    documents, validation = (read_ranked(*files) for files in tables.values())
    inputs = [base, *tables["train"], *tables["validation"]]
    folder = work_root() / "train" / system / fingerprint([settings, reading], inputs)
    if is_main():
        for note in notes(documents, validation, settings.cross_entropy):
            say(f"{name}: {note}")
    # Trained in float32, however it was stored; autocast may run products in bfloat16.
    language = LanguageModel.load(base, reading)
    language.adapt(settings.lora, settings.seed)
    sample = validation.sample(settings.validation.documents)
    task = ContrastiveTask(
        language, documents, sample, settings, params.runtime, folder, history, name=name
    )
    # At each validation the model ranks the sample's candidates, and summarizes the sample itself.
    task.generator = sample_generator(task, paths.corpus("validation"))
    task.tracked = settings.model_dump(mode="json")
    return task


if __name__ == "__main__":
    run_command(main)
