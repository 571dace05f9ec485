"""The pipeline's own stages, called in one process, in a folder of its own: what studies run.

The stages read params.yaml and data/ of the folder they run in, so here they do what `dvc repro`
makes them do; starting Python a dozen times would take longer than most of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML

from brido.evaluation import Inputs
from brido.evaluation.registry import find_metric
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import CANDIDATES, DECODED, read_metadata, read_rows, write_table
from brido.vote.consensus import ranking
from brido.vote.select import score_documents
from experiments.grid import changed
from experiments.plan import MEASURED
from stages import (
    checkpoint,
    decode,
    download,
    generate,
    likelihood,
    pairwise,
    paths,
    pool,
    score,
    support,
    train,
)

SPLITS = ("train", "validation", "test")
# Neither changes a weight.
QUIET = {"training.validation.every": 10**6, "runtime.log_seconds": 600.0}
# What has been made in this folder, an empty file each.
DONE = Path("done")


@dataclass(frozen=True)
class Measured:
    """Summaries of all documents of a split: mean words, mean ROUGE F-measures in points, of each
    the number of mentions that its document does not support, and in the world its fluency (3: a
    sentence of the world's grammar; docs/metrics.md), else nothing."""

    words: float
    r1: float
    r2: float
    unsupported: tuple[int, ...]
    fluency: tuple[int, ...] = ()


class Pipeline:
    """The stages in the present folder, under params that change between them."""

    def __init__(self, params: Mapping[str, Any], name: str) -> None:
        """`params` is a whole params.yaml, raw; `name` stands in errors."""
        self.name = name
        self.raw = changed(params, QUIET, name)
        self.params = self.use({})

    def use(self, changes: Mapping[str, Any]) -> Params:
        """Make params.yaml this pipeline's, but for `changes`."""
        with Path("params.yaml").open("w", encoding="utf-8") as stream:
            YAML().dump(changed(self.raw, changes, self.name), stream)
        self.params = load_params()
        return self.params

    def once(self, name: str, step: Callable[[], object]) -> None:
        """Do a step unless it has been done in this folder."""
        if not (mark := DONE / name).is_file():
            step()
            DONE.mkdir(exist_ok=True)
            mark.touch()

    def make_base(self) -> None:
        """The corpus, the base model, and candidates of every split, compared; each made once."""
        self.once("corpus", download.main)
        self.once("base", lambda: checkpoint.make(self.params, "base"))
        self.once("candidates", self._make_candidates)
        self.once("compared", lambda: [self.compare(split) for split in SPLITS])

    def _make_candidates(self) -> None:
        # The election is measured on all documents of these splits.
        whole = self.use({f"documents.{split}": None for split in MEASURED})
        for name in whole.generation:
            generate.make(whole, name)
        self.use({})

    def compare(self, split: str) -> None:
        """Pool a split's candidates and compare all pairs."""
        pool.join(split, self.params)
        pairwise.compare(split, self.params)

    def cut(self, documents: int | None, candidates: int | None) -> dict[str, int]:
        """Tune on the first so many documents with the first so many candidates of each; None: all.

        All that were made stay beside the table of candidates. Returns what changes in params.
        """
        size = {} if candidates is None else {"generation.base.num_candidates": candidates}
        self.use(size)
        table = paths.candidates("base", "train")
        whole = table.with_name("train-whole.parquet")
        if not whole.is_file():
            table.rename(whole)
        rows = read_rows(whole, CANDIDATES, "generate")[:documents]
        columns = [name for name in CANDIDATES.names if name != "id"]
        shorter = [row | {name: row[name][:candidates] for name in columns} for row in rows]
        write_table(table, [shorter], CANDIDATES, read_metadata(whole, "generate"))
        self.compare("train")
        return size

    def tune(self, changes: Mapping[str, Any]) -> None:
        """Scores and tuned model, under further changes of params."""
        params = self.use(changes)
        if params.scoring.support:
            support.main()
        if params.scoring.information:
            likelihood.main()
        score.write_scores(params)
        train.main()

    def decoded(self, system: str, split: str) -> list[str]:
        """The summaries of a system, in the corpus' order."""
        rows = read_rows(paths.decoded(system, split), DECODED, "decode")
        return [row["summary"] for row in rows]

    def decode(
        self, system: str, changes: Mapping[str, Any], splits: Sequence[str] = MEASURED
    ) -> None:
        """Decode a system under further changes of params."""
        decode.decode(self.use(changes), system, splits)

    def elected(
        self, split: str, alpha: float, otherwise: Sequence[str] | None = None
    ) -> list[str]:
        """The candidate that the present scoring's vote puts first, in the corpus' order.

        otherwise: the text of each document that has no candidates to elect from; None: all have.
        """
        first: dict[str, str] = {}
        found = score_documents(paths.tables(split), self.params.scoring, alpha, ["candidates"])
        for documents, scores in found:
            best = ranking(scores)[:, 0].tolist()
            first |= {
                one.id: one.candidates[place] for one, place in zip(documents, best, strict=True)
            }
        ids = [row["id"] for row in read_rows(paths.corpus(split), None, "download")]
        if otherwise is None:
            return [first[name] for name in ids]
        return [first.get(name, text) for name, text in zip(ids, otherwise, strict=True)]

    def references(self, split: str) -> list[str]:
        """The references of a split."""
        return [row["summary"] for row in read_rows(paths.corpus(split), None, "download")]

    def measured(self, split: str, texts: Sequence[str]) -> Measured:
        """What summaries of all documents of a split are like."""
        corpus = read_rows(paths.corpus(split), None, "download")
        columns = [[row[key] for row in corpus] for key in ("id", "document", "references")]
        ids, documents, references = columns
        facts = [row["facts"] for row in corpus] if "facts" in corpus[0] else None
        inputs = Inputs(ids, documents, texts, references, facts)
        mentions, rouge = (find_metric(name).measure(inputs) for name in ("mentions", "rouge"))
        means = rouge.means()
        unsupported = (
            sum(not mention["supported"] for mention in detail["mentions"])
            for detail in mentions.details
        )
        fluency: tuple[int, ...] = ()
        if facts is not None:
            marks = find_metric("world_judge").measure(inputs)
            fluency = tuple(int(row["fluency"]) for row in marks.rows)
        return Measured(mean_words(texts), means["r1"], means["r2"], tuple(unsupported), fluency)


def mean_words(texts: Sequence[str]) -> float:
    """Mean number of words."""
    return float(np.mean([len(text.split()) for text in texts]))
