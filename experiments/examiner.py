"""An examiner for the embedded world: QAFactEval's models, small, trained where answers are known.

`python -m experiments.examiner` trains a question generator, a reader and noun chunks in minutes on
a CPU, into .brido/examiner (kept; remove it to train anew). They learn from the facts of the
world's training documents. Then it runs QAFactEval with them on the summaries under data/decoded,
and prints for every system its means beside the world's exact check, and Spearman's correlation
over all documents. A rule takes the place of LERC, so LERC's column says nothing here.
"""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from brido.evaluation.qafacteval.answering import Reader
from brido.evaluation.qafacteval.answers import load_pipeline
from brido.evaluation.qafacteval.lerc import Comparison
from brido.evaluation.qafacteval.metric import QAFactEval
from brido.evaluation.qafacteval.overlap import normalise, token_f1
from brido.evaluation.qafacteval.questions import QuestionGenerator
from brido.evaluation.world_qa import questions as exact_questions
from brido.settings.load import load_params
from brido.tables import DECODED, WORLD_CORPUS, read_rows
from brido.utils.commands import invoke
from brido.utils.device import choose_device
from brido.utils.errors import run_command
from brido.utils.progress import Progress
from brido.utils.store import ResultStore
from brido.work.shards import content_hash
from brido.world import documents
from experiments.examiner_training import SEED, train_examiner

FOLDER = Path(".brido/examiner")
TRAINING_DOCUMENTS, COMPARED_DOCUMENTS = 3000, 500
MEASURES = ("f1", "em", "is_answered")


class OverlapScorer:
    """Marks a pair of answers by rule: 5 for the same answer, else 1 + 3 x token F1."""

    def encode(self, comparison: Comparison) -> list[Comparison]:
        """The comparison itself, as a batch of one."""
        return [comparison]

    def score(self, batch: Sequence[list[Comparison]]) -> list[float]:
        """The marks of a batch."""
        pairs = [(one.answer, one.prediction) for (one,) in batch]
        same = [normalise(answer) == normalise(prediction) for answer, prediction in pairs]
        return [
            5.0 if equal else 1.0 + 3.0 * token_f1(*pair)
            for equal, pair in zip(same, pairs, strict=True)
        ]


def load_metric(folder: Path, device: str = "auto") -> QAFactEval:
    """QAFactEval with the models that `train_examiner` made."""
    place, parts = choose_device(device), ("questions", "answering")
    return QAFactEval(
        load_pipeline(str(folder / "spacy")),
        QuestionGenerator(folder / "questions", place, faithful=False),
        Reader(folder / "answering", place, faithful=False),
        OverlapScorer(),
        {"answers": "noun_chunks", "scorer": "overlap", "faithful": False},
        {part: content_hash(folder / part)[:16] for part in parts} | {"overlap": "rule"},
        ResultStore(),
    )


def compare(
    metric: Any, corpus: Sequence[Mapping[str, Any]], systems: Mapping[str, Mapping[str, str]]
) -> pd.DataFrame:
    """Measure every summary both ways: a row for each system and document.

    systems: the summaries of each by document id. Columns: system, n_questions, QAFactEval's
    measures, and the exact check's with `world_` before their names.
    """
    records = []
    for name, summaries in systems.items():
        texts = [summaries[row["id"]] for row in corpus]
        learned = metric.score([row["document"] for row in corpus], texts, Progress)
        for row, text, found in zip(corpus, texts, learned, strict=True):
            asked = exact_questions(text, row["facts"])
            exact = {
                f"world_{key}": float(np.mean([one[key] for one in asked] or [0.0]))
                for key in MEASURES
            }
            own = {key: found[key] for key in ("n_questions", *MEASURES)}
            records.append({"system": name, **own, **exact})
    return pd.DataFrame(records)


def correlations(found: pd.DataFrame) -> dict[str, float]:
    """Spearman's correlation of each measure with the exact one, over all rows."""
    both = found.drop(columns="system").corr(method="spearman")
    return {key: round(float(both.loc[key, f"world_{key}"]), 4) for key in MEASURES}


@click.command()
def command() -> None:
    """Train the examiner where needed, and compare it with the world's exact check.

    \b
    Example:
        dvc repro && python -m experiments.examiner
    """
    params = load_params()
    corpus = read_rows(Path("data/corpus/test.parquet"), WORLD_CORPUS, "download")
    systems = {
        name: {row["id"]: row["summary"] for row in read_rows(
            Path("data/decoded") / name / "test.parquet", DECODED, "decode"
        )}
        for name in [*params.systems, *params.tuned]
    }  # fmt: skip
    if not (FOLDER / "answering" / "model.safetensors").is_file():
        train_examiner(FOLDER, list(documents(params.data.world, "train", TRAINING_DOCUMENTS)))
    corpus = random.Random(SEED).sample(corpus, min(COMPARED_DOCUMENTS, len(corpus)))
    found = compare(load_metric(FOLDER, params.runtime.device), corpus, systems)
    click.echo(found.groupby("system", sort=False).mean().round(4).to_markdown())
    click.echo(f"\nSpearman over {len(found):,} summaries: {correlations(found)}")


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.examiner"))
