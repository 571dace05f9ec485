"""What the vote does on the embedded world, over several seeds: `make study`.

Every system of experiments/study.yaml runs through all stages under every seed. Then it is decoded
once more, with the length penalty at which it writes as many words as base on the validation
documents: a summary that says less says less that is wrong, so only equal length compares. All of
it are named DVC experiments: a study that was stopped goes on where it was.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import dvc.api
import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from brido.config import read_yaml
from brido.errors import BridoError, run_command
from experiments.grids import Experiment, load_experiments, seeded
from experiments.run import finished, run
from experiments.runs import read_runs
from experiments.study_table import Measured, matched_penalty, study_table
from stages import paths

GRID = Path("experiments/study.yaml")
PENALTY = "decoding.length_penalty"
# What decoding takes where params.yaml has null there.
OWN_PENALTY = "checkpoints.base.embedded.length_penalty"
# A higher penalty makes longer summaries.
PENALTIES = (-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.study", description=__doc__)
    parser.add_argument("grid", nargs="?", type=Path, default=GRID, help=f"default: {GRID}")
    path = parser.parse_args(arguments).grid
    experiments = {item.name: item for item in load_experiments(Path("params.yaml"), [path])}
    grid = read_yaml(path)
    if "seeds" not in grid:
        raise BridoError(f"{path}: a study's grid has seeds")
    study = Study()
    usual: dict[str, list[Measured]] = {"reference": [], "base": []}
    matched: dict[str, list[Measured | None]] = {"base": []}
    for seed in grid["seeds"]:
        for name in grid["runs"]:
            item = experiments[seeded(name, seed)]
            study.ensure(item)
            usual.setdefault(name, []).append(measured(item, "tuned"))
            matched.setdefault(name, []).append(study.at_base_length(item))
        for system in ("reference", "base"):
            usual[system].append(measured(item, system))
        matched["base"].append(measured(item, "base"))
    print(study_table(usual, matched))


class Study:
    """Runs experiments unless DVC knows them already."""

    def __init__(self) -> None:
        self.known = {one.name: one for one in read_runs()[1:]}
        self.done: set[str] = set()

    def ensure(self, item: Experiment) -> None:
        """Run the experiment where it is missing or outdated; BridoError where it fails."""
        if item.name not in self.done and not finished(item, self.known.get(item.name)):
            failure = run(item, "study", replace=item.name in self.known)
            if failure:
                raise BridoError(f"{failure}; `make study` goes on from there")
        self.done.add(item.name)

    def at_base_length(self, item: Experiment) -> Measured | None:
        """The test summaries at base's length; None where no penalty tried gets that far.

        The penalty is chosen on validation documents; test documents are decoded with it once.
        """
        target, words = (validation_words(item, system) for system in ("base", "tuned"))
        usual = item.params[OWN_PENALTY if item.params[PENALTY] is None else PENALTY]
        lengths = {usual: words}
        higher = [penalty for penalty in PENALTIES if penalty > usual]
        lower = [penalty for penalty in reversed(PENALTIES) if penalty < usual]
        for penalty in higher if words < target else lower:
            tried = self._decoded(item, penalty)
            lengths[penalty] = validation_words(tried, "tuned")
            found = matched_penalty(lengths, target)
            if found is not None:
                return measured(self._decoded(item, found), "tuned")
        return None

    def _decoded(self, item: Experiment, penalty: float) -> Experiment:
        """The run with another length penalty in decoding."""
        changed = item.varied(f"penalty-{penalty:g}", {PENALTY: penalty})
        self.ensure(changed)
        return changed


def measured(item: Experiment, system: str) -> Measured:
    """What the evaluation of a finished run says of a system's test summaries."""
    unsupported = column(item, paths.evaluation("mentions", system), "unsupported")
    words = column(item, paths.evaluation("extractiveness", system), "length")
    return Measured(unsupported.astype(float), words.astype(float))


def validation_words(item: Experiment, system: str) -> float:
    """Mean words of a system's validation summaries."""
    texts = column(item, paths.decoded(system, "validation"), "summary")
    return float(np.mean([len(text.split()) for text in texts]))


def column(item: Experiment, path: Path, name: str) -> NDArray:
    """A column of a table of a finished run, from DVC's cache."""
    with dvc.api.open(str(path), rev=item.name, mode="rb") as file:
        return pq.read_table(file, columns=[name])[name].to_numpy()


if __name__ == "__main__":
    run_command(main)
