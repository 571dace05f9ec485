"""Where every table of the pipeline lives: the one place that knows the folders."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from brido.tables.join import SplitTables

DATA = Path("data")
METRICS = Path("metrics")
REPORT = Path("report")
# The splits whose documents get scores; those of test get candidates for the system `elected`.
TUNING_SPLITS = ("train", "validation")
# What the vote knows. Stage train reads it without depending on it: it repeats a sentence of it.
VOTES = METRICS / "votes.json"
# Who wrote what, who is elected, and who agrees with whom.
SOURCES = METRICS / "sources.json"


def tables(split: str, systems: Sequence[str] = ()) -> SplitTables:
    """All tables of a split, to be read side by side, with the summaries of these systems."""
    return SplitTables.at(DATA, split, systems)


def _of_split(folder: str, split: str) -> Path:
    return DATA / folder / f"{split}.parquet"


# data/corpus/SPLIT.parquet, and so on; support/base.parquet is of base's own summaries.
corpus = partial(_of_split, "corpus")
pool = partial(_of_split, "pool")
similarity = partial(_of_split, "similarity")
support = partial(_of_split, "support")
likelihood = partial(_of_split, "likelihood")
scores = partial(_of_split, "scores")


def no_checkpoint() -> Path:
    """data/checkpoints/none, a folder without a model: where a source has no checkpoint."""
    return checkpoint("none")


def checkpoint(system: str) -> Path:
    """data/checkpoints/SYSTEM, a folder in save_pretrained's format."""
    return DATA / "checkpoints" / system


def candidates(source: str, split: str) -> Path:
    """data/candidates/SOURCE/SPLIT.parquet."""
    return DATA / "candidates" / source / f"{split}.parquet"


def pool_counts() -> Path:
    """data/pool/counts.json: what was cleaned and who does not vote, for each source."""
    return DATA / "pool" / "counts.json"


def decoded(system: str, split: str) -> Path:
    """data/decoded/SYSTEM/SPLIT.parquet."""
    return DATA / "decoded" / system / f"{split}.parquet"


def evaluation(metric: str, system: str) -> Path:
    """data/evaluation/METRIC/SYSTEM.parquet."""
    return DATA / "evaluation" / metric / f"{system}.parquet"
