"""The planned studies: their rows and runs, setting by setting, in the order of docs/results.md."""

import pandas as pd

from experiments.replay import Options, planned
from experiments.rows import read_planned

# Those with rows have a place in every table.
SETTINGS = (
    "the default world",
    "the default world, other kernels",
    "a base from noisy articles",
    "a base that makes up little",
    "two optional facts a reference",
    "SmolLM2, 800 articles",
    "SmolLM2, 3,200 articles",
    "SmolLM2, MTS-Dialog",
    "SmolLM2, SciTLDR",
)


def settings() -> list[str]:
    """The settings that have rows."""
    return [name for name in SETTINGS if (read_planned().setting == name).any()]


def of(setting: str) -> pd.DataFrame:
    """The rows of a setting."""
    return read_planned()[read_planned().setting == setting]


def runs_of(setting: str) -> list[Options]:
    """The runs of a setting."""
    return [run for run in planned() if run.setting == setting]
