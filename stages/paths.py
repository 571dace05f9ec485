"""Where every table of the pipeline lives: the one place that knows the folders."""

from pathlib import Path

DATA = Path("data")
METRICS = Path("metrics")
REPORT = Path("report")


def corpus(split: str) -> Path:
    """data/corpus/SPLIT.parquet."""
    return DATA / "corpus" / f"{split}.parquet"


def checkpoint(system: str) -> Path:
    """data/checkpoints/SYSTEM, a folder in save_pretrained's format."""
    return DATA / "checkpoints" / system


def candidates(split: str) -> Path:
    """data/candidates/SPLIT.parquet."""
    return DATA / "candidates" / f"{split}.parquet"


def similarity(split: str) -> Path:
    """data/similarity/SPLIT.parquet."""
    return DATA / "similarity" / f"{split}.parquet"


def scores(split: str) -> Path:
    """data/scores/SPLIT.parquet."""
    return DATA / "scores" / f"{split}.parquet"


def decoded(system: str, split: str) -> Path:
    """data/decoded/SYSTEM/SPLIT.parquet."""
    return DATA / "decoded" / system / f"{split}.parquet"


def evaluation(metric: str, system: str) -> Path:
    """data/evaluation/METRIC/SYSTEM.parquet."""
    return DATA / "evaluation" / metric / f"{system}.parquet"
