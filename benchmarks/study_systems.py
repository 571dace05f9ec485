"""The systems of the study: each step is a library call whose result is kept in a folder.

The folder's name is a fingerprint of everything that the step depends on, so a study that was
stopped goes on where it was, and one with other settings shares what it can.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from brido.atomic import atomic_folder, write_text
from brido.corpus.world import documents
from brido.settings import Params, Section, TrainingSettings
from brido.tables import (
    CANDIDATES,
    CORPUS,
    SCORES,
    WORLD_CORPUS,
    read_rows,
    similarity_schema,
    write_table,
)
from brido.work.shards import fingerprint, work_root

SPLITS = ("validation", "test")


@dataclass(frozen=True)
class Variant:
    """A way to tune: a name for the table, alpha of Eq. 2, gamma of Eq. 3, beta of f."""

    name: str
    alpha: float
    gamma: float
    beta: float


class Seed:
    """Everything of one seed: its own world, base model, candidates and tuned models."""

    def __init__(self, params: Params, seed: int) -> None:
        """`params` with every seed replaced by `seed`."""
        self.seed = seed
        base = params.checkpoints["base"]
        embedded = _with(base.embedded, seed=seed)
        generation = params.generation
        if generation.method == "sampling":
            generation = _with(generation, seed=seed)
        self.params = params.model_copy(
            update={
                "data": _with(params.data, world=_with(params.data.world, seed=seed)),
                "checkpoints": {"base": _with(base, embedded=embedded)},
                "generation": generation,
                "training": _with(params.training, seed=seed),
            }
        )
        made_of = ("generation", "pairwise", "reading")
        shared = [self.params.data.world, embedded, *(getattr(self.params, n) for n in made_of)]
        self.folder = work_root().parent / "study" / f"seed-{seed}-{fingerprint(shared)}"

    @cached_property
    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """The documents of every split."""
        world = self.params.data.world
        return {split: list(documents(world, split)) for split in ("train", *SPLITS)}

    def base(self) -> Path:
        """The base model's folder, trained if need be."""
        from brido.models.embedded import train_embedded

        path = self.folder / "base"
        if not path.is_dir():
            pairs = [(row["document"], row["summary"]) for row in self.rows["train"]]
            with atomic_folder(path) as temporary:
                train_embedded(pairs, self.params.checkpoints["base"].embedded, temporary)
        return path

    def candidates(self, split: str) -> list[dict[str, Any]]:
        """The candidates table of a split."""
        from brido.candidates.local import Generator
        from brido.candidates.worker import search_method

        path = self.folder / f"candidates-{split}.parquet"
        if not path.is_file():
            settings = self.params.generation
            rows = self.rows[split][: getattr(settings, f"{split}_documents")]
            reading = self.params.reading_of("base")
            generator = Generator(self.base(), self.params.runtime, reading)
            ids = [row["id"] for row in rows]
            texts = [row["document"] for row in rows]
            found = generator.generate(ids, texts, search_method(settings))
            table = [
                {"id": name, "candidates": candidates, "search_scores": scores}
                for name, candidates, scores in zip(ids, found.texts, found.scores, strict=True)
            ]
            write_table(path, [table], CANDIDATES)
        return read_rows(path, CANDIDATES, "")

    def similarity(self, split: str) -> np.ndarray:
        """The similarity of all pairs of a split's candidates: [documents, N, N + 1]."""
        from brido.rouge import similarity_batch

        settings = self.params.pairwise
        size = self.params.generation.num_candidates
        path = self.folder / f"similarity-{split}.parquet"
        if not path.is_file():
            table = self.candidates(split)
            matrices = similarity_batch(
                [row["candidates"] for row in table],
                [row["summary"] for row in self.rows[split][: len(table)]],
                settings.combination,
                value=settings.value,
                implementation=settings.implementation,
                use_stemmer=settings.use_stemmer,
            )
            flat = [
                {"id": row["id"], "similarity": np.asarray(matrix).ravel()}
                for row, matrix in zip(table, matrices, strict=True)
            ]
            write_table(path, [flat], similarity_schema(size))
        rows = read_rows(path, similarity_schema(size), "")
        return np.array([row["similarity"] for row in rows]).reshape(-1, size, size + 1)

    def scores(self, split: str, alpha: float) -> list[dict[str, Any]]:
        """The scores table of a split: Eq. 2 and the order of the vote."""
        from brido.consensus import consensus_scores, ranking

        rows = []
        for row, matrix in zip(self.candidates(split), self.similarity(split), strict=True):
            scores = consensus_scores(matrix, alpha, self.params.scoring.normalization)
            rows.append({"id": row["id"], "scores": scores, "order": ranking(scores)})
        return rows

    def tuned(self, variant: Variant) -> Path:
        """The folder of the base model tuned as `variant` says."""
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        from brido.models.checkpoint import save
        from brido.training.batches import Encoder
        from brido.training.loop import Task, train

        settings = _with(self.params.training, gamma=variant.gamma, length_penalty=variant.beta)
        path = self.folder / f"tuned-{fingerprint([settings, str(variant.alpha)])}"
        if path.is_dir():
            return path
        model = AutoModelForSeq2SeqLM.from_pretrained(self.base(), dtype="float32")
        tokenizer = AutoTokenizer.from_pretrained(self.base())
        reading = self.params.reading_of("base")
        encoder = Encoder(
            tokenizer,
            model,
            reading.max_source_tokens,
            settings.max_candidate_tokens,
            reading.decoder_prefix,
        )
        ranked = {split: self._ranked(split, variant.alpha) for split in ("train", "validation")}
        sample = ranked["validation"].sample(settings.validation.documents)
        unfinished = path.with_name(f"{path.name}-unfinished")
        history = path.with_name(f"{path.name}.csv")
        runtime = self.params.runtime
        task = Task(model, encoder, ranked["train"], sample, settings, runtime, unfinished, history)
        train(task)
        with atomic_folder(path) as temporary:
            save(task.model, tokenizer, temporary)
        return path

    def _ranked(self, split: str, alpha: float) -> Any:
        from brido.training.documents import RankedDocuments

        corpus = pa.Table.from_pylist(self.rows[split], schema=WORLD_CORPUS).select(CORPUS.names)
        candidates = pa.Table.from_pylist(self.candidates(split), schema=CANDIDATES)
        scores = pa.Table.from_pylist(self.scores(split, alpha), schema=SCORES)
        return RankedDocuments(corpus, candidates, scores)

    def decode(self, checkpoint: Path, split: str, length_penalty: float) -> list[str]:
        """A model's summaries of a split under one length penalty of the search."""
        from brido.candidates.local import Generator
        from stages.decode import search_settings

        path = checkpoint.parent / "decoded" / f"{checkpoint.name}-{split}-{length_penalty:g}.json"
        if not path.is_file():
            from brido.search import SearchSettings

            search = search_settings(checkpoint, self.params.decoding)
            search["length_penalty"] = length_penalty
            generator = Generator(checkpoint, self.params.runtime, self.params.reading_of("base"))
            rows = self.rows[split]
            found = generator.generate(
                [row["id"] for row in rows],
                [row["document"] for row in rows],
                SearchSettings(**search, num_return_sequences=1),
            )
            path.parent.mkdir(exist_ok=True)
            write_text(path, json.dumps([texts[0] for texts in found.texts]))
        return json.loads(path.read_text())


def _with(section: Section, **changes: Any) -> Any:
    return section.model_copy(update=changes)


def tuning_variants(
    gamma: float, alphas: Sequence[tuple[str, float]], betas: Sequence[float]
) -> list[Variant]:
    """Every ranking at every beta, and the control that only goes on with MLE (gamma 0)."""
    ranked = [Variant(name, alpha, gamma, beta) for name, alpha in alphas for beta in betas]
    return [*ranked, Variant("MLE only", 0.0, 0.0, 1.0)]


__all__ = ["SPLITS", "Seed", "TrainingSettings", "Variant", "tuning_variants"]
