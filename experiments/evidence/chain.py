"""One chain of the evidence, in a folder of its own: stopped at any moment, it goes on.

    python -m experiments.evidence.chain NAME FOLDER [PLAN]

Every row is written when it is measured, and what a row has is not done again.
"""

import argparse
import contextlib
import json
import math
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path

from brido.settings.presets import flatten
from brido.utils.atomic import write_text
from brido.utils.errors import BridoError, run_command
from brido.work.folder import work_root
from brido.work.shards import fingerprint
from experiments.evidence.plan import PLAN, Chain, System, read_chains
from experiments.evidence.records import Row, find, read_rows, write_rows
from experiments.pipeline import MEASURED, Measured, Pipeline, mean_words
from experiments.study.lengths import penalty_for

ROWS = Path("rows.csv")
WORK = Path(".brido/evidence")
# Only beams listen to a length penalty.
BEAMS = "beams"
AT_BASE_LENGTH = f"{BEAMS} at base's length"
PENALTY = "decoding.length_penalty"
# What elects, by alpha.
ELECTED = {"elected": 0.0, "elected by the reference": math.inf}


def settings_of(chain: Chain) -> str:
    """Changes with everything that a chain's rows depend on but the code and what is tuned."""
    used = flatten(chain.params).items()
    how = {key: value for key, value in used if not key.startswith(("runtime.", "report."))}
    return fingerprint([how, chain.decodings])[:8]


def folder_of(chain: Chain) -> Path:
    """Where a chain runs."""
    return WORK / f"{chain.name}-{settings_of(chain)}"


class Measuring:
    """A chain's pipeline in the present folder, and the rows of what has been measured in it."""

    def __init__(self, chain: Chain) -> None:
        """Goes on where the folder's rows end."""
        self.chain, self.params = chain, settings_of(chain)
        self.run = Pipeline(chain.params, chain.name)
        self.rows = read_rows(ROWS) if ROWS.is_file() else []

    def has(self, system: str, decoding: str, split: str) -> Row | None:
        """The row, where there is one."""
        return find(self.rows, (self.chain.setting, self.chain.seed, system, decoding, split))

    def keep(
        self,
        named: tuple[str, str, str],
        texts: Callable[[], Sequence[str]],
        penalty: float | None = None,
    ) -> None:
        """Measure summaries of all documents of a split, unless their row is there.

        named: system, decoding and split.
        """
        if self.has(*named):
            return
        found = texts()
        write_text(texts_of(named), json.dumps(found, ensure_ascii=False, indent=0))
        self._add(named, penalty, self.run.measured(named[-1], found))

    def _add(self, named: tuple[str, str, str], penalty: float | None, found: Measured) -> None:
        digits = "".join(str(min(count, 9)) for count in found.unsupported)
        place = (self.chain.setting, self.chain.seed, self.params)
        fluency = "".join(map(str, found.fluency))
        means = (found.words, found.r1, found.r2)
        self.rows.append(Row(*place, *named, penalty, *means, digits, fluency))
        write_rows(ROWS, self.rows)

    def keep_decoded(self, model: str, name: str, decodings: Iterable[str]) -> None:
        """The rows of a model decoded in these ways."""
        for decoding in decodings:
            changes = self.chain.decodings[decoding]
            if not all(self.has(name, decoding, split) for split in MEASURED):
                self.run.decode(model, changes)
            for split in MEASURED:
                texts = partial(self.run.decoded, model, split)
                self.keep((name, decoding, split), texts, changes.get(PENALTY))

    def keep_at_length(self, model: str, name: str, target: float) -> None:
        """The row of a model whose beams write `target` words, which validation documents decide;
        a row without documents where no penalty gets that far."""
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
        """The row of base's beams cut after so many words that `target` are left on average, which
        validation documents decide: what shortness alone does. No sentence need be left whole.
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
        """Make `tuned` this system's model."""
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

    def has_base(self) -> bool:
        """Whether every row is there of what is measured before anything is tuned."""
        rows = product(["base"], self.chain.decodings, MEASURED)
        others = product(["reference", *ELECTED], [""], MEASURED)
        return all(self.has(*row) for row in (*rows, *others))

    def is_done(self, name: str, system: System) -> bool:
        """Whether every row of a system is there."""
        rows = list(product([name], self.chain.decodings, MEASURED))
        rows += at_length(name) if system.at_base_length else []
        return all(self.has(*row) for row in rows)


def texts_of(named: tuple[str, str, str]) -> Path:
    """Where the summaries stay that a row was measured on, a JSON list in the corpus' order.

    named: system, decoding and split.
    """
    return Path("texts") / f"{'-'.join(part for part in named if part)}.json".replace(" ", "-")


def at_length(name: str) -> list[tuple[str, str, str]]:
    """System, decoding and split: a system at base's length, and base at the system's."""
    return [
        (name, AT_BASE_LENGTH, "test"),
        ("base", f"{BEAMS} at {name}'s length", "test"),
    ]


def cut_to(name: str) -> str:
    """What rows call base's beams cut to a system's length."""
    return f"{BEAMS} cut to {name}'s words"


def cut(texts: Sequence[str], words: int) -> list[str]:
    """The first so many words of each."""
    return [" ".join(text.split()[:words]) for text in texts]


def run_chain(chain: Chain) -> None:
    """Run a chain in the present folder, as far as it is not done; it leaves rows.csv."""
    kept = Measuring(chain)
    waiting = {name: it for name, it in chain.systems.items() if not kept.is_done(name, it)}
    if not waiting and kept.has_base():
        return
    kept.run.make_base()
    forget("checkpoint")
    first, *others = chain.decodings
    kept.run.once("base decoded", partial(measure_base, kept, first))
    kept.keep_decoded("base", "base", others)
    for name, system in waiting.items():
        kept.make_system(name, system)


def forget(stage: str) -> None:
    """Remove what a stage would go on from, gigabytes; only in a work folder of the chain's own."""
    if work_root().resolve().is_relative_to(Path.cwd()):
        shutil.rmtree(work_root() / stage, ignore_errors=True)


def measure_base(kept: Measuring, decoding: str) -> None:
    """The rows of base decoded in one way, of references, and of elected candidates."""
    run = kept.run
    run.decode("base", kept.chain.decodings[decoding])
    kept.keep_decoded("base", "base", [decoding])
    for split in MEASURED:
        kept.keep(("reference", "", split), partial(run.references, split))
        for name, alpha in ELECTED.items():
            # A document without candidates that ended keeps what the model writes for it.
            written = run.decoded("base", split)
            kept.keep((name, "", split), partial(run.elected, split, alpha, written))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the chain that the command line names in FOLDER."""
    parser = argparse.ArgumentParser(prog="python -m experiments.evidence.chain")
    parser.add_argument("name")
    parser.add_argument("folder", type=Path)
    parser.add_argument("plan", nargs="?", type=Path, default=PLAN)
    options = parser.parse_args(arguments)
    known: Mapping[str, Chain] = {chain.name: chain for chain in read_chains(options.plan)}
    if options.name not in known:
        raise BridoError(f"{options.plan} has no chain {options.name!r}")
    with contextlib.chdir(options.folder):
        run_chain(known[options.name])


if __name__ == "__main__":
    run_command(main)
