"""Where every table of the pipeline lives: the one place that knows the folders."""

from collections.abc import Container, Sequence
from functools import partial
from pathlib import Path

from brido.tables.join import SplitTables
from brido.utils.atomic import atomic_folder, write_text
from brido.utils.errors import BridoError
from brido.utils.progress import say

DATA = Path("data")
METRICS = Path("metrics")
REPORT = Path("report")
# The splits whose documents get scores; those of test get candidates for the system `elected`.
TUNING_SPLITS = ("train", "validation")
# Which system the run keeps, and how it compares; its model, ready for use.
CHOICE = METRICS / "choice.json"
CHOSEN = DATA / "chosen"
# What each check sees, in references with planted errors.
SENSITIVITY = METRICS / "sensitivity.json"
# What was cleaned and who does not vote, for each source.
POOL_COUNTS = DATA / "pool" / "counts.json"


def tables(split: str, systems: Sequence[str] = (), variants: Container[str] = ()) -> SplitTables:
    """All tables of a split but scores, to be read side by side; see `SplitTables.at`."""
    return SplitTables.at(DATA, split, systems, variants=variants)


def _of_split(folder: str, split: str) -> Path:
    return DATA / folder / f"{split}.parquet"


def _of_system(folder: str, system: str, split: str = "test") -> Path:
    return DATA / folder / system / f"{split}.parquet"


# data/corpus/SPLIT.parquet, and so on.
corpus = partial(_of_split, "corpus")
pool = partial(_of_split, "pool")
similarity = partial(_of_split, "similarity")
support = partial(_of_split, "support")
likelihood = partial(_of_split, "likelihood")
# data/candidates/SOURCE/SPLIT.parquet, data/scores/SYSTEM/SPLIT.parquet, and so on.
candidates = partial(_of_system, "candidates")
scores = partial(_of_system, "scores")
decoded = partial(_of_system, "decoded")
evaluation = partial(_of_system, "evaluation")


def needs(table: str) -> Path:
    """data/needs/TABLE.json: of which splits the orders need the table support or likelihood."""
    return DATA / "needs" / f"{table}.json"


def leave_out(table: str) -> None:
    """Write data/TABLE without a table: DVC warns of an empty output at every run."""
    text = f"No order of the candidates asks for {table}.\n"
    with atomic_folder(DATA / table) as folder:
        write_text(folder / "README", text)
    say(f"{table}: {text.strip()}")


def checkpoint(system: str) -> Path:
    """data/checkpoints/SYSTEM, a folder in save_pretrained's format."""
    return DATA / "checkpoints" / system


def is_left_empty(folder: Path) -> bool:
    """Whether a stage left its folder empty, because base is `none`: no model."""
    return folder.is_dir() and not any(folder.iterdir())


def check_base(stage: str) -> None:
    """Check that there is a model named base.

    Raises:
        BridoError: checkpoints.base.source is none.
    """
    if is_left_empty(checkpoint("base")):
        raise BridoError(
            f"{stage}: there is no base to train or to compare with (checkpoints.base.source: "
            "none). Candidates and scores need none: `dvc repro score elect`. For more "
            "name a model there: a hub id or a folder"
        )


def history(system: str) -> Path:
    """metrics/training/SYSTEM.csv: the curves of a training run."""
    return METRICS / "training" / f"{system}.csv"
