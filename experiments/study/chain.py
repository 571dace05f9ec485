"""One chain of the study: the pipeline's own stages, called in one process, in a folder of its own.

The stages read params.yaml and data/ of the folder they run in, so here they do what `dvc repro`
makes them do; starting Python a dozen times would take longer than most of them.

    python -m experiments.study.chain NAME FOLDER [PLAN]
"""

import argparse
import contextlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML

from brido.candidates.documents import Documents
from brido.candidates.generate import describe, generate
from brido.candidates.sources import Request
from brido.config import load_params, read_yaml
from brido.consensus import consensus_scores, ranking
from brido.errors import BridoError, run_command
from brido.evaluation import Inputs
from brido.evaluation.registry import find_metric
from brido.settings import Params
from brido.tables import DECODED, POOL, WORLD_CORPUS, read_rows, similarity_schema
from experiments.grids import changed
from experiments.preset import flatten
from experiments.study.lengths import penalty_for
from experiments.study.plan import PLAN, Chain, read_chains
from experiments.study.records import Row, write_rows
from stages import checkpoint, decode, download, pairwise, paths, pool, score, train

SPLITS = ("train", "validation", "test")
MEASURED = ("validation", "test")
# A checkpoint says how it is decoded; params.yaml has null there.
PENALTY = "decoding.length_penalty"
OWN_PENALTY = "checkpoints.base.embedded.length_penalty"
# Neither changes a weight.
QUIET = {"training.validation.every": 10**6, "runtime.log_seconds": 600.0}


class Pipeline:
    """The stages in the present folder, under params that change between them."""

    def __init__(self, params: Mapping[str, Any], chain: Chain) -> None:
        """`params` is the whole params.yaml, raw."""
        self.chain = chain
        self._raw = changed(params, chain.overrides | QUIET, chain.name)
        self.params = self.use({})
        self.rows: list[Row] = []

    def use(self, changes: Mapping[str, Any]) -> Params:
        """Make params.yaml the chain's, but for `changes`."""
        with Path("params.yaml").open("w", encoding="utf-8") as stream:
            YAML().dump(changed(self._raw, changes, self.chain.name), stream)
        self.params = load_params()
        return self.params

    def make_base(self) -> None:
        """Corpus and base model, its own output, and candidates of every split, compared."""
        download.main()
        checkpoint.make(self.params, "base")
        decode.decode(self.params, "base")
        documents = {split: Documents(paths.corpus(split), None, "refuse") for split in SPLITS}
        settings, reading = self.params.generation["base"], self.params.reading_of("base")
        request = Request(
            "base", settings, reading, self.params.runtime, paths.checkpoint("base"), documents
        )
        work = generate(request)
        for split in SPLITS:
            work.write(split, paths.candidates("base", split), describe(request, split, work))
            pool.join(split, self.params)
            pairwise.compare(split, self.params)
        work.clear()

    def tune(self, changes: Mapping[str, Any]) -> None:
        """Scores, tuned model and its output, under further changes of params."""
        self.use(changes)
        score.write_scores(self.params)
        train.main()
        decode.decode(self.params, "tuned")

    def keep(self, name: str, split: str, texts: Sequence[str], penalty: float | None) -> None:
        """Measure summaries of all documents of a split and keep the row."""
        corpus = read_rows(paths.corpus(split), WORLD_CORPUS, "download")
        columns = (
            [row[key] for row in corpus] for key in ("id", "document", "references", "facts")
        )
        ids, documents, references, facts = columns
        inputs = Inputs(ids, documents, texts, references, facts)
        mentions, rouge = (find_metric(name).measure(inputs) for name in ("mentions", "rouge"))
        means = rouge.means()
        flags = "".join(str(int(row["unsupported"])) for row in mentions.rows)
        place = self.chain.key
        self.rows.append(
            Row(*place, name, split, penalty, mean_words(texts), means["r1"], means["r2"], flags)
        )

    def keep_decoded(self, system: str, name: str) -> None:
        """The rows of a system that has been decoded as usual."""
        for split in MEASURED:
            self.keep(name, split, self.decoded(system, split), self.usual)

    def keep_at_length(self, system: str, name: str, words: Mapping[str, float]) -> None:
        """The row of a system decoded at as many words as another one has.

        The penalty is chosen on validation documents (words["target"], and words["own"] at the
        usual penalty); test documents are decoded with it once.
        """
        penalty = penalty_for(
            words["target"], self.usual, words["own"], lambda value: self._words(system, value)
        )
        if penalty is not None:
            decode.decode(self._at(penalty), system, ("test",))
            self.keep(name, "test", self.decoded(system, "test"), penalty)

    @property
    def usual(self) -> float:
        """The length penalty of decoding as usual."""
        params = flatten(self._raw)
        return params[OWN_PENALTY if params[PENALTY] is None else PENALTY]

    def _at(self, penalty: float) -> Params:
        return self.use({PENALTY: penalty})

    def _words(self, system: str, penalty: float) -> float:
        decode.decode(self._at(penalty), system, ("validation",))
        return mean_words(self.decoded(system, "validation"))

    def decoded(self, system: str, split: str) -> list[str]:
        """The summaries of a system, in the corpus' order."""
        return [
            row["summary"] for row in read_rows(paths.decoded(system, split), DECODED, "decode")
        ]

    def keep_elected(self, name: str, alpha: float) -> None:
        """The candidates that a vote puts first, of validation and test documents."""
        for split in MEASURED:
            candidates = read_rows(paths.pool(split), POOL, "pool")
            size = self.params.num_candidates
            rows = read_rows(paths.similarity(split), similarity_schema(size), "pairwise")
            similarity = np.array([row["similarity"] for row in rows], np.float32)
            scores = consensus_scores(similarity.reshape(-1, size, size + 1), alpha)
            best = ranking(scores)[:, 0]
            texts = [row["candidates"][i] for row, i in zip(candidates, best, strict=True)]
            self.keep(name, split, texts, None)


def run_chain(params: Mapping[str, Any], chain: Chain) -> list[Row]:
    """Run a chain in the present folder and return its rows; `params` is params.yaml, raw."""
    run = Pipeline(params, chain)
    run.make_base()
    corpus = {split: read_rows(paths.corpus(split), WORLD_CORPUS, "download") for split in MEASURED}
    for split, rows in corpus.items():
        run.keep("reference", split, [row["summary"] for row in rows], None)
    run.keep_decoded("base", "base")
    run.keep_elected("elected", 0.0)
    run.keep_elected("elected by the reference", math.inf)
    base = mean_words(run.decoded("base", "validation"))
    for name, changes in chain.systems.items():
        run.tune(changes)
        run.keep_decoded("tuned", name)
        if name in chain.at_equal_length:
            tuned = mean_words(run.decoded("tuned", "validation"))
            run.keep_at_length("tuned", f"{name} at base's length", {"target": base, "own": tuned})
            run.keep_at_length("base", f"base at {name}'s length", {"target": tuned, "own": base})
    return run.rows


def mean_words(texts: Sequence[str]) -> float:
    """Mean number of words."""
    return float(np.mean([len(text.split()) for text in texts]))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the chain that the command line names in FOLDER and write FOLDER/rows.csv."""
    parser = argparse.ArgumentParser(prog="python -m experiments.study.chain", description=__doc__)
    parser.add_argument("name")
    parser.add_argument("folder", type=Path)
    parser.add_argument("plan", nargs="?", type=Path, default=PLAN)
    options = parser.parse_args(arguments)
    params = read_yaml(Path("params.yaml"))
    known = {chain.name: chain for chain in read_chains(options.plan, flatten(params))}
    if options.name not in known:
        raise BridoError(f"{options.plan} has no chain {options.name!r}")
    with contextlib.chdir(options.folder):
        write_rows(Path("rows.csv"), run_chain(params, known[options.name]))


if __name__ == "__main__":
    run_command(main)
