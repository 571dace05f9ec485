"""Stage train: contrastive fine-tuning of the base model on the candidates' order (Eq. 1 and 3)."""

import pyarrow as pa
from accelerate import PartialState
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from brido.atomic import atomic_folder
from brido.config import load_params
from brido.errors import run_command
from brido.progress import say
from brido.seq2seq.checkpoint import save
from brido.settings import Params
from brido.shards import fingerprint, work_root
from brido.tables import CANDIDATES, CORPUS, SCORES, read_batches
from brido.training.batches import Encoder
from brido.training.checkpointing import Checkpoints, remove_stale
from brido.training.documents import RankedDocuments
from brido.training.loop import Task, train
from stages import paths

HISTORY = paths.METRICS / "training.csv"


def main() -> None:
    """Write data/checkpoints/tuned and metrics/training.csv."""
    params = load_params()
    task = make_task(params)
    state = train(task)
    if PartialState().is_main_process:
        with atomic_folder(paths.checkpoint("tuned")) as temporary:
            save(task.model, task.encoder.tokenizer, temporary)
        Checkpoints(task.folder).clear()
        say(f"train: {state.finished}, update {state.update}; kept: {params.training.keep}")


def make_task(params: Params) -> Task:
    """The training run that the settings and the tables describe."""
    settings = params.training
    base = paths.checkpoint("base")
    documents, validation = ranked("train"), ranked("validation")
    inputs = [base]
    for split in ("train", "validation"):
        inputs += [paths.corpus(split), paths.candidates(split), paths.scores(split)]
    folder = work_root() / "train" / fingerprint(settings, inputs)
    model = AutoModelForSeq2SeqLM.from_pretrained(base, dtype="float32")
    encoder = Encoder(
        AutoTokenizer.from_pretrained(base),
        model,
        settings.max_source_tokens,
        settings.max_candidate_tokens,
        settings.decoder_prefix,
    )
    sample = validation.sample(settings.validation.documents)
    remove_stale(folder)
    return Task(model, encoder, documents, sample, settings, params.runtime, folder, HISTORY)


def ranked(split: str) -> RankedDocuments:
    """The documents of a split with their candidates in the order of the vote."""
    documents = RankedDocuments(
        _table(paths.corpus(split), CORPUS, "download", ["id", "document", "summary"]),
        _table(paths.candidates(split), CANDIDATES, "generate", ["id", "candidates"]),
        _table(paths.scores(split), SCORES, "score", ["id", "scores", "order"]),
    )
    if documents.skipped:
        say(
            f"train: {len(documents.skipped)} {split} documents have fewer than two distinct "
            f"candidates and are left out: {', '.join(documents.skipped[:5])}"
        )
    return documents


def _table(path, schema: pa.Schema, made_by: str, columns: list[str]) -> pa.Table:  # type: ignore[no-untyped-def]
    batches = list(read_batches(path, schema, made_by, columns))
    chosen = pa.schema([schema.field(name) for name in columns])
    return pa.Table.from_batches(batches, batches[0].schema if batches else chosen)


if __name__ == "__main__":
    run_command(main)
