"""One chain of a plan, in a folder of its own.

    python -m experiments.chain PLAN NAME FOLDER

Every row is written when it is measured, and what has a row is not done again: a chain that was
stopped goes on where it was.
"""

import contextlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import pandas as pd

from brido.utils.atomic import write_text
from brido.utils.commands import invoke
from brido.utils.errors import BridoError, run_command
from brido.work.folder import work_root
from experiments.pipeline import Pipeline, mean_words
from experiments.plan import (
    AT_BASE_LENGTH,
    BEAMS,
    ELECTED,
    MEASURED,
    Chain,
    Named,
    System,
    elected_before,
    read_plan,
    texts_of,
)
from experiments.rows import PLACE, chosen, make_rows, read_rows, write_rows

ROWS = Path("rows.csv")
# The folders of second rounds, by system.
ROUNDS = Path("rounds")
PENALTY = "decoding.length_penalty"
# Tried outwards from the usual one. A higher penalty makes longer summaries where scores are
# negative, as log p is. Guidance's may be positive, and then the other direction is tried.
PENALTIES = (-5.0, -3.0, -2.0, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0)


class Measuring:
    """A chain's pipeline in the current folder, and the rows of what has been measured in it."""

    def __init__(self, chain: Chain) -> None:
        """Continue after the folder's rows."""
        self.chain = chain
        self.run = Pipeline(chain.params, chain.name)
        self.rows = read_rows(ROWS)

    def has(self, *named: str) -> bool:
        """Whether a system, decoding and split has a row."""
        return len(chosen(self.rows, *named)) > 0

    def keep(
        self, named: Named, texts: Callable[[], Sequence[str]], penalty: float | None = None
    ) -> None:
        """Measure summaries of all documents of a split, unless they have a row.

        named: system, decoding and split.
        """
        if not self.has(*named):
            found = texts()
            write_text(texts_of(named), json.dumps(found, ensure_ascii=False, indent=0))
            self._add(named, penalty, self.run.measured(named[-1], found))

    def _add(self, named: Named, penalty: float | None, found: Mapping[str, Any]) -> None:
        place = dict(zip(PLACE, (self.chain.setting, self.chain.seed, *named), strict=True))
        row = make_rows([place | {"length_penalty": penalty} | dict(found)])
        self.rows = pd.concat([self.rows, row], ignore_index=True) if len(self.rows) else row
        write_rows(ROWS, self.rows)

    def keep_decoded(
        self,
        model: str,
        name: str,
        decodings: Iterable[str],
        guidance: Mapping[str, Any] | None = None,
    ) -> None:
        """Measure a model decoded in these ways; with guidance `model` is a name for base."""
        for decoding in decodings:
            changes = self.chain.decodings[decoding]
            if not all(self.has(name, decoding, split) for split in MEASURED):
                self.run.decode(model, changes, guidance=guidance)
            for split in MEASURED:
                texts = partial(self.run.decoded, model, split)
                self.keep((name, decoding, split), texts, changes.get(PENALTY))

    def keep_at_base_length(
        self, model: str, name: str, guidance: Mapping[str, Any] | None = None
    ) -> None:
        """Measure a model with beams that write as many words as base's on average.

        model, name, guidance: as `keep_decoded` takes them. Validation documents decide the length
        penalty. The row has no documents if no penalty reaches that length.
        """
        named = (name, AT_BASE_LENGTH, "test")
        if self.has(*named):
            return
        beams = self.chain.decodings[BEAMS]
        target, own = (
            float(chosen(self.rows, each, BEAMS, "validation").words.iloc[0])
            for each in ("base", name)
        )

        def decode(penalty: float, split: str) -> list[str]:
            self.run.decode(model, {**beams, PENALTY: penalty}, (split,), guidance)
            return self.run.decoded(model, split)

        penalty = penalty_for(
            target, beams[PENALTY], own, lambda tried: mean_words(decode(tried, "validation"))
        )
        if penalty is None:
            self._add(named, None, {"words": target, "r1": 0.0, "r2": 0.0})
        else:
            self.keep(named, lambda: decode(penalty, "test"), penalty)

    def keep_base(self, decoding: str) -> None:
        """Measure base decoded in one way, the references, and the elected candidates."""
        changes = self.chain.decodings[decoding]
        # Also where another machine measured it: the support check reads what base writes.
        self.run.once("base decoded", partial(self.run.decode, "base", changes))
        for split in MEASURED:
            texts = partial(self.run.decoded, "base", split)
            self.keep(("base", decoding, split), texts, changes.get(PENALTY))
            self.keep(("reference", "", split), partial(self.run.references, split))
        for name, vote in ELECTED.items():
            self.keep_elected(name, vote)

    def keep_elected(self, name: str, changes: Mapping[str, Any]) -> None:
        """Measure the candidates that a vote elects, under further changes of params."""
        if all(self.has(name, "", split) for split in MEASURED):
            return
        self.run.look(self.run.use(changes))
        for split in MEASURED:
            self.keep((name, "", split), partial(self._elect, split, changes))

    def _elect(self, split: str, changes: Mapping[str, Any]) -> list[str]:
        # A document without candidates that ended keeps what the model writes for it.
        return self.run.elected(split, changes, self.written(split))

    def written(self, split: str) -> list[str]:
        """What base writes in the first decoding; decoded again if another machine measured it."""
        decoding = next(iter(self.chain.decodings))
        path = texts_of(("base", decoding, split))
        if not path.is_file():
            self.run.decode("base", self.chain.decodings[decoding], (split,))
            write_text(path, json.dumps(self.run.decoded("base", split), ensure_ascii=False))
        return json.loads(path.read_text(encoding="utf-8"))

    def keep_system(self, name: str, system: System) -> None:
        """Guide base, elect, or tune and decode, and measure one system."""
        if system.after is not None:
            self.keep_round(name, system)
            return
        if not system.tune:
            self.keep_elected(name, system.changes)
            return
        model = "tuned" if system.guidance is None else "guided"
        if system.guidance is None:
            self.tune(name, system)
        self.keep_decoded(model, name, self.chain.decodings, system.guidance)
        if system.at_base_length:
            self.keep_at_base_length(model, name, system.guidance)
        # What a tuned model wrote is measured.
        forget("train")

    def tune(self, name: str, system: System) -> None:
        """Tune one system; those that go on after it get its model."""
        size = self.run.cut(system.documents, system.candidates)
        self.run.tune(size | dict(system.changes))
        for later, other in self.chain.systems.items():
            if other.after == name:
                self.run.hand_on(ROUNDS / later)

    def keep_round(self, name: str, system: System) -> None:
        """Measure a second round, in a folder of its own where the tuned model is the base."""
        if system.after and not (ROUNDS / name).is_dir():
            self.tune(system.after, self.chain.systems[system.after])
        with contextlib.chdir(ROUNDS / name):
            again = Measuring(self.chain)
            if again.rows.empty:
                # Lengths are made equal to the first base's.
                again.rows = self.rows
            again.run.make_base()
            again.keep_elected(elected_before(name), system.changes)
            again.keep_system(name, replace(system, after=None))
        self.rows = again.rows
        write_rows(ROWS, self.rows)
        forget("train")


def penalty_for(
    target: float, usual: float, words: float, tried: Callable[[float], float]
) -> float | None:
    """The length penalty at which a system writes `target` words; None where none gets that far.

    words: mean words at the `usual` penalty; tried(penalty): those at another one.
    """
    lengths = {usual: words}
    higher = [penalty for penalty in PENALTIES if penalty > usual]
    lower = [penalty for penalty in reversed(PENALTIES) if penalty < usual]
    found = matched_penalty(lengths, target)
    for penalty in [*higher, *lower] if words < target else [*lower, *higher]:
        if found is not None:
            break
        lengths[penalty] = tried(penalty)
        found = matched_penalty(lengths, target)
    return found


def matched_penalty(lengths: Mapping[float, float], target: float) -> float | None:
    """The length penalty at which a system would write `target` words, by interpolation.

    lengths: mean words at each penalty that was tried. None where they do not enclose it.
    """
    for penalty, words in lengths.items():
        if words == target:
            return penalty
    for low, high in pairwise(sorted(lengths)):
        first, second = lengths[low], lengths[high]
        if min(first, second) < target < max(first, second):
            return round(low + (high - low) * (target - first) / (second - first), 3)
    return None


def run_chain(chain: Chain) -> None:
    """Run what is missing of a chain in the current folder; it writes rows.csv."""
    kept = Measuring(chain)
    if chain.is_done(kept.rows):
        return
    kept.run.make_base()
    forget("checkpoint")
    first, *others = chain.decodings
    kept.keep_base(first)
    kept.keep_decoded("base", "base", others)
    for name, system in chain.systems.items():
        if not all(kept.has(*named) for named in chain.rows_of(name)):
            kept.keep_system(name, system)


def forget(stage: str) -> None:
    """Remove a stage's unfinished work (gigabytes), if the work folder is the chain's own."""
    if work_root().resolve().is_relative_to(Path.cwd()):
        shutil.rmtree(work_root() / stage, ignore_errors=True)


@click.command()
@click.argument("plan", type=click.Path(path_type=Path))
@click.argument("name")
@click.argument("folder", type=click.Path(path_type=Path))
def command(plan: Path, name: str, folder: Path) -> None:
    """Run the chain NAME of PLAN in FOLDER."""
    chains = {chain.name: chain for chain in read_plan(plan).chains}
    if name not in chains:
        raise BridoError(f"{plan} has no chain {name!r}")
    with contextlib.chdir(folder):
        run_chain(chains[name])


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.chain"))
