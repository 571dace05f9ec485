"""Stage train: contrastive fine-tuning of the base model on the candidates' order (Eq. 1 and 3).

`BRIDO_LAUNCH="--num_processes 8"` runs it on several accelerators (see `brido.training.launch`).
"""

from brido.atomic import atomic_folder
from brido.config import load_params
from brido.errors import run_command
from brido.models import LanguageModel
from brido.progress import say
from brido.settings import Params
from brido.training.checkpointing import Checkpoints
from brido.training.documents import read_ranked
from brido.training.launch import is_main, relaunch
from brido.training.loop import Task, documents_at_once, train
from brido.training.measures import sample_measures
from brido.training.sample import SampleGenerator
from brido.work.shards import fingerprint, remove_stale, work_root
from stages import paths

HISTORY = paths.METRICS / "training.csv"
SPLITS = ("train", "validation")


def main() -> None:
    """Write data/checkpoints/tuned and metrics/training.csv."""
    params = load_params()
    relaunch("stages.train")
    task = make_task(params)
    state = train(task)
    if is_main():
        with atomic_folder(paths.checkpoint("tuned")) as temporary:
            task.language.save(temporary)
        Checkpoints(task.folder).clear()
        say(f"train: {state.finished}, {state.update} updates; kept: {params.training.keep}")
        if state.micro_batch != params.runtime.candidate_micro_batch:
            say(f"train: memory was short, {state.micro_batch} candidates ran at once")


def make_task(params: Params) -> Task:
    """The training run that the settings and the tables describe."""
    settings, base, reading = params.training, paths.checkpoint("base"), params.reading_of("base")
    tables = {
        split: (paths.corpus(split), paths.candidates(split), paths.scores(split))
        for split in SPLITS
    }
    documents, validation = (read_ranked(*tables[split]) for split in SPLITS)
    inputs = [base, *(path for split in SPLITS for path in tables[split])]
    folder = work_root() / "train" / fingerprint([settings, reading], inputs)
    if is_main():
        remove_stale(folder)
        for split, ranked in zip(SPLITS, (documents, validation), strict=True):
            if ranked.skipped:
                say(f"train: {ranked.skipped_note(split)}")
    # Trained in float32 whatever it was stored in; autocast may run products in bfloat16.
    language = LanguageModel.load(base, reading)
    sample = validation.sample(settings.validation.documents)
    task = Task(language, documents, sample, settings, params.runtime, folder, HISTORY)
    texts = [document.document for document in sample]
    measure = sample_measures(sample, paths.corpus("validation"))
    task.generator = SampleGenerator(texts, documents_at_once(task), measure)
    return task


if __name__ == "__main__":
    run_command(main)
