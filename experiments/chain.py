"""One chain of a plan, in a folder of its own: stopped at any moment, it goes on.

    python -m experiments.chain PLAN NAME FOLDER

Every row is written when it is measured, and what has a row is not done again.
"""

import contextlib
import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import click

from brido.utils.atomic import write_text
from brido.utils.commands import invoke
from brido.utils.errors import BridoError, run_command
from brido.work.folder import work_root
from experiments.lengths import penalty_for
from experiments.pipeline import Measured, Pipeline, mean_words
from experiments.plan import (
    BEAMS,
    ELECTED,
    MEASURED,
    Chain,
    Named,
    System,
    at_length,
    cut_to,
    read_plan,
    texts_of,
)
from experiments.rows import Row, find, read_rows, write_rows

ROWS = Path("rows.csv")
PENALTY = "decoding.length_penalty"


class Measuring:
    """A chain's pipeline in the present folder, and the rows of what has been measured in it."""

    def __init__(self, chain: Chain) -> None:
        """Continue after the folder's rows."""
        self.chain = chain
        self.run = Pipeline(chain.params, chain.name)
        self.rows = read_rows(ROWS)

    def has(self, system: str, decoding: str, split: str) -> Row | None:
        """The row, None if it was not measured."""
        return find(self.rows, (self.chain.setting, self.chain.seed, system, decoding, split))

    def keep(
        self,
        named: Named,
        texts: Callable[[], Sequence[str]],
        penalty: float | None = None,
    ) -> None:
        """Measure summaries of all documents of a split, unless they have a row.

        named: system, decoding and split.
        """
        if self.has(*named):
            return
        found = texts()
        write_text(texts_of(named), json.dumps(found, ensure_ascii=False, indent=0))
        self._add(named, penalty, self.run.measured(named[-1], found))

    def _add(self, named: Named, penalty: float | None, found: Measured) -> None:
        digits = "".join(str(min(count, 9)) for count in found.unsupported)
        place = (self.chain.setting, self.chain.seed)
        fluency = "".join(map(str, found.fluency))
        means = (found.words, found.r1, found.r2)
        self.rows.append(Row(*place, *named, penalty, *means, digits, fluency))
        write_rows(ROWS, self.rows)

    def keep_decoded(self, model: str, name: str, decodings: Iterable[str]) -> None:
        """Measure a model decoded in these ways."""
        for decoding in decodings:
            changes = self.chain.decodings[decoding]
            if not all(self.has(name, decoding, split) for split in MEASURED):
                self.run.decode(model, changes)
            for split in MEASURED:
                texts = partial(self.run.decoded, model, split)
                self.keep((name, decoding, split), texts, changes.get(PENALTY))

    def keep_at_length(self, model: str, name: str, target: float) -> None:
        """Measure a model whose beams write `target` words on average on validation documents.

        The row has no documents if no length penalty reaches that length.
        """
        named = at_length(name)[model == "base"]
        if self.has(*named):
            return
        beams = self.chain.decodings[BEAMS]
        own = self.has(named[0], BEAMS, "validation").words

        def words(penalty: float) -> float:
            self.run.decode(model, {**beams, PENALTY: penalty}, ("validation",))
            return mean_words(self.run.decoded(model, "validation"))

        penalty = penalty_for(target, beams[PENALTY], own, words)
        if penalty is None:
            self._add(named, None, Measured(target, 0.0, 0.0, ()))
        else:
            self.run.decode(model, {**beams, PENALTY: penalty}, ("test",))
            self.keep(named, partial(self.run.decoded, model, "test"), penalty)

    def keep_cut(self, name: str, target: float) -> None:
        """Measure base's beams cut after so many words that `target` are left on average.

        Validation documents decide the number; this is what shortness alone does. Sentences may
        break off.
        """
        written = {split: texts_of(("base", BEAMS, split)) for split in MEASURED}
        if not all(path.is_file() for path in written.values()):
            return  # measured on another machine
        texts = {split: json.loads(path.read_text("utf-8")) for split, path in written.items()}
        longest = max(len(text.split()) for text in texts["validation"])
        limit = min(
            range(1, longest + 1),
            key=lambda words: abs(mean_words(cut(texts["validation"], words)) - target),
        )
        self.keep(("base", cut_to(name), "test"), partial(cut, texts["test"], limit))

    def tune(self, system: System) -> None:
        """Train this system; the model is in the folder of `tuned`."""
        size = self.run.cut(system.documents, system.candidates)
        self.run.tune(size | dict(system.changes))

    def make_system(self, name: str, system: System) -> None:
        """Tune, decode and measure one system."""
        self.tune(system)
        self.keep_decoded("tuned", name, self.chain.decodings)
        if system.at_base_length:
            words = {each: self.has(each, BEAMS, "validation").words for each in ("base", name)}
            self.keep_at_length("tuned", name, words["base"])
            self.keep_at_length("base", name, words[name])
            self.keep_cut(name, words[name])
        # What it wrote is measured.
        forget("train")


def cut(texts: Sequence[str], words: int) -> list[str]:
    """Keep the first so many words of each text."""
    return [" ".join(text.split()[:words]) for text in texts]


def run_chain(chain: Chain) -> None:
    """Run what is missing of a chain in the current folder; it writes rows.csv."""
    kept = Measuring(chain)
    if chain.is_done(kept.rows):
        return
    kept.run.make_base()
    forget("checkpoint")
    first, *others = chain.decodings
    kept.run.once("base decoded", partial(measure_base, kept, first))
    kept.keep_decoded("base", "base", others)
    for name, system in chain.systems.items():
        if not all(kept.has(*named) for named in chain.rows_of(name)):
            kept.make_system(name, system)


def forget(stage: str) -> None:
    """Remove a stage's unfinished work (gigabytes), if the work folder is the chain's own."""
    if work_root().resolve().is_relative_to(Path.cwd()):
        shutil.rmtree(work_root() / stage, ignore_errors=True)


def measure_base(kept: Measuring, decoding: str) -> None:
    """Measure base decoded in one way, the references, and the elected candidates."""
    run = kept.run
    run.decode("base", kept.chain.decodings[decoding])
    kept.keep_decoded("base", "base", [decoding])
    for split in MEASURED:
        kept.keep(("reference", "", split), partial(run.references, split))
        for name, alpha in ELECTED.items():
            # A document without candidates that ended keeps what the model writes for it.
            written = run.decoded("base", split)
            kept.keep((name, "", split), partial(run.elected, split, alpha, written))


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
