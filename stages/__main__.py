"""The whole pipeline, like `dvc repro`, with stages of different systems side by side.

    python -m stages

What all systems share runs first, in order. Then each system is a lane of its own: score, train,
decode and evaluate of one, while another core does those of the next. The tables are the same.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from brido.settings.load import load_params
from brido.settings.params import Params
from brido.utils.errors import BridoError, run_command
from brido.work.worker import usable_cores
from stages.seconds import SHOWN_LATER, begin_run

# What the lanes have in common; `dvc repro` makes what these need.
SHARED = ("sensitivity", "pairwise", "support", "likelihood")
# Waits where another lane's `dvc` writes DVC's own files.
_DVC = ("dvc", "--wait-for-lock", "repro")


def main() -> None:
    """Run every stage that is not up to date, and print the tables and the verdict."""
    if sys.argv[1:]:
        raise BridoError(
            "`python -m stages` takes no arguments and runs the whole pipeline; one stage: "
            "`dvc repro STAGE`"
        )
    params = load_params()
    begin_run()
    _run(shared(params))
    with ThreadPoolExecutor(lanes_at_once(params)) as pool:
        codes = list(pool.map(lambda lane: _code(["--single-item", *lane]), lanes(params)))
    _check(codes)
    _run([])
    # Here, since it imports much that need not wait beside the stages.
    from stages.report import show

    show()


def shared(params: Params) -> list[str]:
    """The targets of `dvc repro` that run before all lanes.

    A checkpoint that only a variant decodes with is behind none of SHARED.
    """
    return [*SHARED, *(f"checkpoint@{name}" for name in params.checkpoints)]


def lanes_at_once(params: Params) -> int:
    """One lane a core; one alone where a stage uses all cores, or a GPU that lanes would share."""
    launched = os.environ.get("BRIDO_LAUNCH")
    alone = params.runtime.threads != 1 or launched or shutil.which("nvidia-smi")
    return 1 if alone else usable_cores()


def lanes(params: Params) -> list[list[str]]:
    """The stages of each system, in order, as targets of `dvc repro`: the longest lanes first."""
    tuned = [
        [f"{stage}@{name}" for stage in ("score", "train", "decode", "evaluate_tuned")]
        for name in params.tuned
    ]
    # A variant of a tuned model has to wait for it: the last `dvc repro` makes it.
    variants = [
        [f"vary@{name}", f"evaluate_variants@{name}"]
        for name, variant in params.variants.items()
        if variant.checkpoint not in params.tuned
    ]
    own = {"base": ["decode_base"], "elected": ["elect"]}
    others = [[*own.get(name, []), f"evaluate@{name}"] for name in params.systems]
    return [*tuned, *variants, *others]


def _run(targets: Sequence[str]) -> None:
    _check([_code(targets)])


def _check(codes: Sequence[int]) -> None:
    if any(codes):
        raise BridoError("a stage failed, see above; finished work is kept, run again to go on")


def _code(arguments: Sequence[str]) -> int:
    later = os.environ | {SHOWN_LATER: "1"}
    return subprocess.run([*_DVC, *arguments], check=False, env=later).returncode


if __name__ == "__main__":
    run_command(main)
