"""Stage train: contrastive fine-tuning of the base model on the candidates' order (Eq. 1 and 3).

`BRIDO_LAUNCH="--num_processes 8"` runs it on several accelerators (see `brido.training.launch`).
"""

import dataclasses
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

import pyarrow as pa
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from brido.atomic import atomic_folder
from brido.config import load_params
from brido.errors import BridoError, run_command
from brido.evaluation import Evaluation, Inputs, mentions, rouge
from brido.models.checkpoint import save
from brido.progress import say
from brido.settings import MentionsSettings, Params, RougeMetricSettings
from brido.tables import CANDIDATES, CORPUS, SCORES, read_batches, read_metadata, read_rows
from brido.training.batches import Encoder
from brido.training.checkpointing import Checkpoints, remove_stale
from brido.training.documents import RankedDocument, RankedDocuments
from brido.training.launch import is_main, relaunch
from brido.training.loop import Task, documents_at_once, train
from brido.training.sample import SampleGenerator
from brido.work.shards import content_hash, fingerprint, work_root
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
            save(task.model, task.encoder.tokenizer, temporary)
        Checkpoints(task.folder).clear()
        say(f"train: {state.finished}, {state.update} updates; kept: {params.training.keep}")
        if state.micro_batch != params.runtime.candidate_micro_batch:
            say(f"train: memory was short, {state.micro_batch} candidates ran at once")


def make_task(params: Params) -> Task:
    """The training run that the settings and the tables describe."""
    settings, base = params.training, paths.checkpoint("base")
    reading = params.reading_of("base")
    documents, validation = (ranked(split) for split in SPLITS)
    inputs = [base]
    for split in SPLITS:
        inputs += [paths.corpus(split), paths.candidates(split), paths.scores(split)]
    model, tokenizer = _load(base)
    folder = work_root() / "train" / fingerprint([settings, reading], inputs)
    limits = reading.max_source_tokens, settings.max_candidate_tokens
    encoder = Encoder(tokenizer, model, *limits, reading.decoder_prefix)
    sample = validation.sample(settings.validation.documents)
    if is_main():
        remove_stale(folder)
    task = Task(model, encoder, documents, sample, settings, params.runtime, folder, HISTORY)
    texts = [document.document for document in sample]
    measure = measures(sample)
    task.generator = SampleGenerator(encoder, texts, documents_at_once(task), measure)
    return task


def _load(base: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    if not base.is_dir():
        raise BridoError(f"{base} is missing: make it with `dvc repro checkpoint@base`")
    try:
        # Trained in float32 whatever it was stored in; autocast may run products in bfloat16.
        model = AutoModelForSeq2SeqLM.from_pretrained(base, dtype="float32")
        return model, AutoTokenizer.from_pretrained(base)
    except (OSError, ValueError) as error:
        raise BridoError(
            f"{base} cannot be loaded ({str(error).strip().splitlines()[0]}): make it again with "
            "`dvc repro -f checkpoint@base`"
        ) from error


def ranked(split: str) -> RankedDocuments:
    """The documents of a split with their candidates in the order of the vote."""
    _check_same_candidates(split)
    documents = RankedDocuments(
        _table(paths.corpus(split), CORPUS, "download", ["id", "document", "summary"]),
        _table(paths.candidates(split), CANDIDATES, "generate", ["id", "candidates"]),
        _table(paths.scores(split), SCORES, "score", ["id", "scores", "order"]),
    )
    if documents.skipped and is_main():
        say(
            f"train: {len(documents.skipped):,} {split} documents have fewer than two distinct "
            f"candidates and are left out: {', '.join(documents.skipped[:5])}"
        )
    return documents


def _check_same_candidates(split: str) -> None:
    """BridoError where the scores say that they are of another candidates table."""
    candidates, scores = paths.candidates(split), paths.scores(split)
    scored = read_metadata(scores, "score").get("candidates")
    if scored is not None and scored != content_hash(candidates):
        raise BridoError(
            f"{scores} are scores of other candidates than {candidates}: make both again "
            "(`dvc repro score`)"
        )


def measures(sample: Sequence[RankedDocument]) -> Callable[[list[str]], dict[str, float]]:
    """ROUGE and mentions of summaries of the sample; `rouge` is the mean of R-1, R-2, R-Lsum.

    The metrics run with their default settings: no section but `training` changes this stage.
    """
    ids = [document.id for document in sample]
    rows = {row["id"]: row for row in read_rows(paths.corpus("validation"), CORPUS, "download")}
    corpus = [rows[name] for name in ids]
    inputs = Inputs(
        ids,
        [row["document"] for row in corpus],
        [],
        [row["references"] for row in corpus],
        [row["facts"] for row in corpus] if corpus and "facts" in corpus[0] else None,
    )

    def measure(summaries: list[str]) -> dict[str, float]:
        given = dataclasses.replace(inputs, summaries=summaries)
        found = _means(rouge.evaluate(given, RougeMetricSettings(), Path(), _Quiet))
        found["rouge"] = fmean(found[name] for name in ("r1", "r2", "rlsum"))
        mentioned = _means(mentions.evaluate(given, MentionsSettings(), Path(), _Quiet))
        return found | {f"mentions_{name}": value for name, value in mentioned.items()}

    return measure


def _means(evaluation: Evaluation) -> dict[str, float]:
    columns = {name: [row[name] for row in evaluation.rows] for name in evaluation.rows[0]}
    measured = {name: [v for v in values if v is not None] for name, values in columns.items()}
    return {name: fmean(values) if values else math.nan for name, values in measured.items()}


class _Quiet:
    """Progress of a metric that runs inside another progress: shown nowhere."""

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def __enter__(self) -> "_Quiet":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def advance(self, count: int = 1, note: str = "") -> None:
        """Show nothing."""


def _table(path: Path, schema: pa.Schema, made_by: str, columns: list[str]) -> pa.Table:
    batches = list(read_batches(path, schema, made_by, columns))
    empty = pa.schema([schema.field(name) for name in columns])
    return pa.Table.from_batches(batches, batches[0].schema if batches else empty)


if __name__ == "__main__":
    run_command(main)
