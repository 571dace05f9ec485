"""Trains the examiner and compares it with the world's exact check.

`python -m experiments.examiner` reads params.yaml (`data.world`) and the summaries
under data/decoded, trains into .brido/examiner (kept; --again trains anew), runs QAFactEval with
the trained models, and prints, for every system, both means, and over all documents Spearman's
correlation.
"""

import argparse
import json
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
from transformers.utils.logging import disable_progress_bar

from brido.evaluation.world_qa import questions as exact_questions
from brido.settings.load import load_params
from brido.tables import DECODED, WORLD_CORPUS, read_rows
from brido.utils.device import choose_device
from brido.utils.errors import BridoError, run_command
from brido.utils.progress import Progress, say
from brido.utils.store import ResultStore
from brido.work.shards import content_hash
from brido.world import documents

FOLDER = Path(".brido/examiner")
TRAINING_DOCUMENTS = 3000
SEED = 0
MEASURES = ("lerc", "f1", "em", "is_answered")


def train_examiner(folder: Path, rows: list[dict[str, Any]], seed: int = SEED) -> None:
    """Train every model of the examiner into `folder`, which QAFactEval.load then reads."""
    from experiments.examiner import chunks, examples, scorer, training

    texts = [text for row in rows for text in (row["document"], row["summary"])]
    asked = [question for *_, question in examples.questions(rows[:1000])]
    training.byte_pairs(folder / "byte_pairs", texts + asked)
    training.word_pieces(folder / "word_pieces", texts + asked)
    converted = folder / "converted"
    chunks.train_pipeline(rows[:1000], folder / "spacy", seed, epochs=3)
    training.train_questions(rows[:3000], folder / "byte_pairs", converted / "questions", seed)
    training.train_reader(rows, folder / "word_pieces", converted / "answering", seed, epochs=1)
    scorer.train_scorer(rows[:1500], folder / "word_pieces", converted / "lerc", seed)


def load_metric(folder: Path, device: str = "auto") -> Any:
    """QAFactEval with the models that `train_examiner` made."""
    from brido.evaluation.qafacteval.answering import Reader
    from brido.evaluation.qafacteval.answers import load_pipeline
    from brido.evaluation.qafacteval.metric import QAFactEval
    from brido.evaluation.qafacteval.questions import QuestionGenerator
    from experiments.examiner.scorer import Lerc

    place, converted = choose_device(device), folder / "converted"
    parts = {name: converted / name for name in ("questions", "answering", "lerc")}
    return QAFactEval(
        load_pipeline(str(folder / "spacy")),
        QuestionGenerator(parts["questions"], place, faithful=False),
        Reader(parts["answering"], place, faithful=False),
        Lerc(parts["lerc"], place),
        {"answers": "noun_chunks", "scorer": "lerc", "faithful": False},
        {part: content_hash(model)[:16] for part, model in parts.items()},
        ResultStore(),
    )


def read_systems(folder: Path, names: list[str]) -> dict[str, dict[str, str]]:
    """The test summaries of each system by document id; BridoError where a table is missing."""
    tables = {name: read_rows(folder / name / "test.parquet", DECODED, "decode") for name in names}
    return {name: {row["id"]: row["summary"] for row in rows} for name, rows in tables.items()}


def compare(
    metric: Any, corpus: list[dict[str, Any]], systems: dict[str, dict[str, str]]
) -> dict[str, Any]:
    """Both metrics' means per system, and Spearman over all documents of all systems."""
    found: dict[str, dict[str, list[float]]] = {}
    for name, summaries in systems.items():
        texts = [summaries[row["id"]] for row in corpus]
        rows = metric.score([row["document"] for row in corpus], texts, Progress)
        exact = [
            exact_questions(text, row["facts"]) for text, row in zip(texts, corpus, strict=True)
        ]
        learned = {measure: [row[measure] for row in rows] for measure in MEASURES}
        learned |= {
            f"world_{measure}": [
                sum(item[measure] for item in asked) / max(len(asked), 1) for asked in exact
            ]
            for measure in ("is_answered", "f1", "em")
        }
        learned["n_questions"] = [row["n_questions"] for row in rows]
        found[name] = learned
    means = {
        name: {measure: round(float(np.mean(values)), 4) for measure, values in learned.items()}
        for name, learned in found.items()
    }
    return {"means": means, "spearman": _correlations(found)}


def _correlations(found: dict[str, dict[str, list[float]]]) -> dict[str, float]:
    from scipy.stats import spearmanr

    together = {
        measure: [value for learned in found.values() for value in learned[measure]]
        for measure in next(iter(found.values()))
    }
    pairs = [(measure, "world_f1") for measure in MEASURES] + [("is_answered", "world_is_answered")]
    found_in = ((f"{ours} with {exact}", together[ours], together[exact]) for ours, exact in pairs)
    return {
        names: round(float(spearmanr(ours, exact).statistic), 4) for names, ours, exact in found_in
    }


def main(arguments: list[str] | None = None) -> None:
    """Train where needed, compare, and print the result as JSON."""
    parser = argparse.ArgumentParser(prog="python -m experiments.examiner", description=__doc__)
    parser.add_argument("--again", action="store_true", help="train anew")
    parser.add_argument("--documents", type=int, default=500, help="test documents compared")
    options = parser.parse_args(arguments)
    disable_progress_bar()  # of fractions of a second
    params = load_params()
    if params.data.source != "world":
        raise BridoError("the examiner knows the embedded world alone: data.source must be world")
    corpus = read_rows(Path("data/corpus/test.parquet"), WORLD_CORPUS, "download")
    systems = read_systems(Path("data/decoded"), params.systems)
    started = time.perf_counter()
    if options.again or not (FOLDER / "converted" / "lerc" / "model.safetensors").is_file():
        train_examiner(FOLDER, list(documents(params.data.world, "train", TRAINING_DOCUMENTS)))
        say(f"trained in {time.perf_counter() - started:.0f} s")
    metric = load_metric(FOLDER, params.runtime.device)
    started = time.perf_counter()
    corpus = random.Random(SEED).sample(corpus, min(options.documents, len(corpus)))
    result = compare(metric, corpus, systems)
    say(f"compared in {time.perf_counter() - started:.0f} s")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    run_command(main)
