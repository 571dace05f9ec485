"""Stage train: contrastive fine-tuning of the base model on the candidates' order (Eq. 1 and 3).

`BRIDO_LAUNCH="--num_processes 8"` runs it on several accelerators (see `brido.training.launch`).
"""

import json

from brido.models import LanguageModel
from brido.models.lora import Adapter
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.training.contrastive import ContrastiveTask
from brido.training.documents import read_ranked
from brido.training.launch import is_main, relaunch
from brido.training.loop import train
from brido.training.sample import SampleGenerator, sample_measures
from brido.training.trackers import Trackers, Watch
from brido.utils.atomic import atomic_folder
from brido.utils.errors import run_command
from brido.utils.progress import say
from brido.work.folder import leave, work_root
from brido.work.shards import fingerprint
from stages import paths

HISTORY = paths.METRICS / "training.csv"
SPLITS = ("train", "validation")


def main() -> None:
    """Write data/checkpoints/tuned and metrics/training.csv."""
    params = load_params()
    relaunch("stages.train")
    task, adapter = make_task(params)
    if is_main() and params.training.gamma:
        warn()
    if is_main() and params.runtime.trackers:
        task.trackers = make_trackers(task)
    try:
        state = train(task)
    finally:
        if task.trackers is not None:
            task.trackers.finish()
    if is_main():
        with atomic_folder(paths.checkpoint("tuned")) as temporary:
            if adapter is not None:
                adapter.save(temporary / "adapter")
                adapter.merge()
            task.language.save(temporary)
        leave(task.folder)
        say(f"train: {state.update} updates done; kept: {params.training.keep}")
        if state.micro_batch != params.runtime.candidate_micro_batch:
            say(
                f"train: memory was short: only {state.micro_batch} candidates of a document ran "
                "at once"
            )


def warn() -> None:
    """Repeat the warning of stage score, before training costs anything, if the vote does not help.

    The file changes no result, so it is not a dependency of the stage: another judge or another way
    to decode does not train again.
    """
    if paths.VOTES.is_file():
        told = json.loads(paths.VOTES.read_text(encoding="utf-8"))
        election = told.get("election")
        if election and (election["verdict"] != "beats" or told.get("warnings")):
            say(f"train: warning: {election['sentence']}")


def make_task(params: Params) -> tuple[ContrastiveTask, Adapter | None]:
    """Return the training run that settings and tables describe, and the adapter that it trains."""
    settings, base, reading = params.training, paths.checkpoint("base"), params.reading_of("base")
    tables = {
        split: (paths.corpus(split), paths.pool(split), paths.scores(split)) for split in SPLITS
    }
    documents, validation = (read_ranked(*tables[split]) for split in SPLITS)
    inputs = [base, *(path for split in SPLITS for path in tables[split])]
    folder = work_root() / "train" / fingerprint([settings, reading], inputs)
    if is_main():
        for split, ranked in zip(SPLITS, (documents, validation), strict=True):
            if ranked.skipped:
                say(f"train: {ranked.skipped_note(split)}")
        if documents.unlabelled and settings.cross_entropy == "reference":
            count = documents.unlabelled
            say(
                f"train: {count:,} documents have no reference: the elected candidate takes its "
                "place"
            )
    # Trained in float32, however it was stored; autocast may run products in bfloat16.
    language = LanguageModel.load(base, reading)
    adapter = None
    if settings.lora is not None:
        adapter = Adapter(language.model, settings.lora, settings.seed)
    sample = validation.sample(settings.validation.documents)
    task = ContrastiveTask(language, documents, sample, settings, params.runtime, folder, HISTORY)
    texts = [document.document for document in sample]
    measure = sample_measures(sample, paths.corpus("validation"))
    longest = settings.max_candidate_tokens
    task.generator = SampleGenerator(texts, task.documents_at_once, longest, measure)
    return task, adapter


def make_trackers(task: ContrastiveTask) -> Trackers:
    """Return the trackers that `runtime.trackers` names; a sharded model is not watched."""
    watch, generator = None, task.generator
    if isinstance(generator, SampleGenerator) and not task.runtime.fsdp:
        watch = Watch(
            task.language,
            task.validation or [],
            lambda: generator.written,
            task.settings.max_candidate_tokens,
            task.folder / "own_output.json",
        )
    resumed = (task.folder / "own_output.json").is_file()
    settings = task.settings.model_dump(mode="json")
    return Trackers(task.runtime.trackers, task.name, settings, watch, resumed)


if __name__ == "__main__":
    run_command(main)
