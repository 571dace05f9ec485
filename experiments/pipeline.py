"""The pipeline's own stages, called in one process, in a folder of its own: what studies run.

The stages read params.yaml and data/ of the folder they run in, so here they do what `dvc repro`
makes them do; starting Python a dozen times would take longer than most of them.
"""

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML

from brido.evaluation import Inputs
from brido.evaluation.registry import find_metric
from brido.search.settings import GuidedSystem
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import CANDIDATES, DECODED, count_rows, read_metadata, read_rows, write_table
from brido.vote.consensus import ranking
from brido.vote.select import score_documents
from brido.work.shards import fingerprint
from experiments.costs import timed
from experiments.plan import MEASURED, changed
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
TUNED_AS_BASE = (paths.checkpoint("tuned"), paths.checkpoint("base"))


class Pipeline:
    """The stages in the current folder, under params that change between them."""

    def __init__(self, params: Mapping[str, Any], name: str) -> None:
        """`params` is a whole params.yaml, raw; `name` stands in errors."""
        self.name = name
        self.raw = changed(params, QUIET, name)
        self.likelihood_of = ""
        self.params = self.use({})

    def use(self, changes: Mapping[str, Any]) -> Params:
        """Write this pipeline's params.yaml with some keys changed, and load it."""
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
        """Make the corpus, the base model, and candidates of every split, compared; each once."""
        self.once("corpus", download.main)
        self.once("base", lambda: checkpoint.make(self.params, "base"))
        self.once("candidates", self._make_candidates)
        self.once("compared", lambda: [self.compare(split) for split in SPLITS])

    def _make_candidates(self) -> None:
        # The election is measured on all documents of these splits.
        whole = self.use({f"documents.{split}": None for split in MEASURED})
        with timed("candidates", lambda: size(paths.candidates("base", split) for split in SPLITS)):
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
        """Compute the scores and train, under further changes of params."""
        params = self.use(changes)
        self.look(params)
        score.write_scores(params)
        with timed("train", lambda: size([paths.scores("train")])):
            train.main()

    def hand_on(self, folder: Path) -> None:
        """Make a folder in which the tuned model is base and the corpus the same."""
        unfinished = folder.with_name(f"{folder.name}-unfinished")
        for made in (folder, unfinished):
            shutil.rmtree(made, ignore_errors=True)
        for kept, name in ((paths.corpus("train").parent,) * 2, TUNED_AS_BASE):
            shutil.copytree(kept, unfinished / name)
        (unfinished / DONE).mkdir()
        for name in ("corpus", "base"):
            (unfinished / DONE / name).touch()
        unfinished.rename(folder)

    def look(self, params: Params) -> None:
        """Make the tables, beside the similarity, that these params' scores read."""
        if params.scoring.support:
            support.main()
        if params.scoring.information:
            # Another share of the same signal asks for the same table.
            pools = map(paths.pool, SPLITS)
            key = fingerprint([params.likelihood, params.scoring.prior_weight > 0], pools)
            if self.likelihood_of != key:
                with timed("likelihood", self._read_for_likelihood):
                    likelihood.main()
            self.likelihood_of = key

    def _read_for_likelihood(self) -> int:
        """Documents that candidates were scored with; validation has others beside its own."""
        others = self.params.likelihood.others
        tables = {split: paths.likelihood(split) for split in SPLITS}
        counts = {split: size([path]) for split, path in tables.items() if path.is_file()}
        return sum(counts.values()) + others * counts["validation"]

    def decode(
        self,
        system: str,
        changes: Mapping[str, Any],
        splits: Sequence[str] = MEASURED,
        guidance: Mapping[str, Any] | None = None,
    ) -> None:
        """Decode a system under further changes of params; with guidance it is base, guided."""
        guided = None if guidance is None else GuidedSystem(**guidance)
        params, way = self.use(changes), "decode" if guided is None else "guide"
        beams = params.decoding.num_beams
        step = f"{way}, {beams} beams" if beams > 1 else f"{way}, greedy"
        with timed(step, lambda: size(paths.corpus(split) for split in splits)):
            decode.decode(params, system, splits, guided)

    def decoded(self, system: str, split: str) -> list[str]:
        """The summaries of a system, in the corpus' order."""
        rows = read_rows(paths.decoded(system, split), DECODED, "decode")
        return [row["summary"] for row in rows]

    def elected(
        self, split: str, changes: Mapping[str, Any], otherwise: Sequence[str]
    ) -> list[str]:
        """Elect a candidate of each document under further changes of params, in the corpus' order.

        otherwise: the text of each document, used where it has no candidates to elect from. `look`
        comes before.
        """
        params = self.use(changes)
        first: dict[str, str] = {}
        found = score_documents(paths.tables(split), params.scoring, None, ["candidates"])
        for documents, scores in found:
            best = ranking(scores)[:, 0].tolist()
            first |= {
                one.id: one.candidates[place] for one, place in zip(documents, best, strict=True)
            }
        ids = [row["id"] for row in self.corpus(split)]
        return [first.get(name, text) for name, text in zip(ids, otherwise, strict=True)]

    def corpus(self, split: str) -> list[dict[str, Any]]:
        """The rows of the corpus."""
        return read_rows(paths.corpus(split), None, "download")

    def references(self, split: str) -> list[str]:
        """The references of a split."""
        return [row["summary"] for row in self.corpus(split)]

    def measured(self, split: str, texts: Sequence[str]) -> dict[str, Any]:
        """Measure summaries of all documents of a split: a row's means and digits.

        See `experiments.rows` for the columns.
        """
        corpus = self.corpus(split)
        ids, documents, references = (
            [row[key] for row in corpus] for key in ("id", "document", "references")
        )
        facts = [row["facts"] for row in corpus] if "facts" in corpus[0] else None
        inputs = Inputs(ids, documents, texts, references, facts)
        mentions, rouge = (find_metric(name).measure(inputs) for name in ("mentions", "rouge"))
        means = rouge.means()
        unsupported = (
            sum(not mention["supported"] for mention in detail["mentions"])
            for detail in mentions.details
        )
        row = {"words": mean_words(texts), "r1": means["r1"], "r2": means["r2"]}
        row["unsupported"] = digits(unsupported)
        if facts is not None:
            judged = find_metric("world_judge").measure(inputs).rows
            row |= {name: digits(one[name] for one in judged) for name in ("fluency", "sound")}
        return row


def size(tables: Iterable[Path]) -> int:
    """The rows of tables."""
    return sum(count_rows(path, "a stage") for path in tables)


def digits(values: Iterable[float]) -> str:
    """Whole numbers as a digit each; 9 stands for nine or more."""
    return "".join(str(min(int(value), 9)) for value in values)


def mean_words(texts: Sequence[str]) -> float:
    """Mean number of words."""
    return float(np.mean([len(text.split()) for text in texts]))
