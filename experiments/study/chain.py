"""One chain of the study: the whole pipeline under one seed, in a folder of its own.

python -m experiments.study.chain NAME FOLDER [PLAN]
"""

import argparse
import contextlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brido.settings.load import read_yaml
from brido.settings.presets import flatten
from brido.utils.errors import BridoError, run_command
from experiments.grids import changed
from experiments.pipeline import MEASURED, Pipeline, mean_words
from experiments.study.lengths import penalty_for
from experiments.study.plan import PLAN, Chain, read_chains, settings_of
from experiments.study.records import Row, write_rows

# A checkpoint says how it is decoded; params.yaml has null there.
PENALTY = "decoding.length_penalty"
OWN_PENALTY = "checkpoints.base.embedded.length_penalty"


class Measuring:
    """A chain's pipeline, and the rows of what has been measured in it."""

    def __init__(self, params: Mapping[str, Any], chain: Chain) -> None:
        """`params` is the whole params.yaml, raw."""
        self.chain, self.params = chain, settings_of(params, chain)
        self.run = Pipeline(changed(params, chain.overrides, chain.name), chain.name)
        self.rows: list[Row] = []

    def keep(self, name: str, split: str, texts: Sequence[str], penalty: float | None) -> None:
        """Measure summaries of all documents of a split and keep the row."""
        found = self.run.measured(split, texts)
        flags = "".join(str(int(count > 0)) for count in found.unsupported)
        place = (*self.chain.key, self.params)
        fluency = "".join(map(str, found.fluency))
        means = (found.words, found.r1, found.r2)
        self.rows.append(Row(*place, name, split, penalty, *means, flags, fluency))

    def keep_decoded(self, system: str, name: str) -> None:
        """The rows of a system, decoded as usual."""
        self.run.decode(system, {})
        for split in MEASURED:
            self.keep(name, split, self.run.decoded(system, split), self.usual)

    def keep_at_length(self, system: str, name: str, words: Mapping[str, float]) -> None:
        """The row of a system decoded at as many words as another one has.

        The penalty is chosen on validation documents (words["target"], and words["own"] at the
        usual penalty); test documents are decoded with it once.
        """
        penalty = penalty_for(
            words["target"], self.usual, words["own"], lambda value: self._words(system, value)
        )
        if penalty is not None:
            self.run.decode(system, {PENALTY: penalty}, ("test",))
            self.keep(name, "test", self.run.decoded(system, "test"), penalty)

    @property
    def usual(self) -> float:
        """The length penalty of decoding as usual."""
        params = flatten(self.run.raw)
        return params[OWN_PENALTY if params[PENALTY] is None else PENALTY]

    def _words(self, system: str, penalty: float) -> float:
        self.run.decode(system, {PENALTY: penalty}, ("validation",))
        return mean_words(self.run.decoded(system, "validation"))


def run_chain(params: Mapping[str, Any], chain: Chain) -> list[Row]:
    """Run a chain in the present folder and return its rows; `params` is params.yaml, raw."""
    kept = Measuring(params, chain)
    run = kept.run
    run.make_base()
    for split in MEASURED:
        kept.keep("reference", split, run.references(split), None)
        kept.keep("elected", split, run.elected(split, 0.0), None)
        kept.keep("elected by the reference", split, run.elected(split, math.inf), None)
    kept.keep_decoded("base", "base")
    base = mean_words(run.decoded("base", "validation"))
    for name, changes in chain.systems.items():
        run.tune(changes)
        kept.keep_decoded("tuned", name)
        if name in chain.at_equal_length:
            tuned = mean_words(run.decoded("tuned", "validation"))
            kept.keep_at_length("tuned", f"{name} at base's length", {"target": base, "own": tuned})
            kept.keep_at_length("base", f"base at {name}'s length", {"target": tuned, "own": base})
    return kept.rows


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
