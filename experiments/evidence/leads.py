"""What training on the vote, and on chance, does to what a model writes by habit.

    python -m experiments.evidence experiments/evidence/control.yaml
    python -m experiments.evidence.leads tuned random

Of the chains that the first command made it trains the named systems once more, and asks base and
each of them how likely they find the candidates of the validation documents and base's own output
there: f, log p over length to the power of the plan's beta, as its ranking has it. The *lead* of
base's own output is its f above the mean of the candidates'.
"""

import argparse
import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from brido.candidates.probability import ProbabilityWorker
from brido.tables import POOL, read_rows
from brido.utils.errors import BridoError, run_command
from experiments.evidence.chain import BEAMS, Measuring, folder_of, forget, texts_of
from experiments.evidence.plan import PLAN, Chain, read_chains
from experiments.evidence.table import LABELS
from experiments.study.table import interval
from stages import paths

SPLIT = "validation"
OWN = ("base", BEAMS, SPLIT)
# A column of the table and its heading.
COLUMNS = {
    "spread": "standard deviation of f among a document's candidates",
    "wrong": "lead of base's output where it says something unsupported",
    "right": "lead where it does not",
    "above_wrong": "candidates likelier than it where it does",
    "above_right": "where it does not",
}
Leads = Mapping[str, NDArray[np.float64]]


def leads(f: NDArray[np.float64], wrong: NDArray[np.bool_]) -> Leads:
    """What stands in a row of the table, a value a document.

    f [D, N + 1]: of N candidates and, last, of base's own output; wrong [D]: whether that says
    something unsupported.
    """
    candidates, own = f[:, :-1], f[:, -1:]
    lead, above = (own - candidates).mean(1), (candidates > own).mean(1)
    return {
        "spread": candidates.std(1),
        "wrong": lead[wrong],
        "right": lead[~wrong],
        "above_wrong": above[wrong],
        "above_right": above[~wrong],
    }


def measure(chain: Chain, systems: Sequence[str]) -> dict[str, Leads]:
    """The leads under base and each system, in the present folder, where the chain has been run."""
    kept = Measuring(chain)
    row = kept.has(*OWN)
    if row is None or not texts_of(OWN).is_file():
        raise BridoError(f"{Path.cwd()} holds no chain that was run: run the plan first")
    documents = {
        found["id"]: found["document"] for found in read_rows(paths.corpus(SPLIT), None, "download")
    }
    own = dict(zip(documents, json.loads(texts_of(OWN).read_text("utf-8")), strict=True))
    unsupported = dict(zip(documents, row.flags > 0, strict=True))
    pool = read_rows(paths.pool(SPLIT), POOL, "pool")
    voted = [documents[found["id"]] for found in pool]
    texts = [[*found["candidates"], own[found["id"]]] for found in pool]
    wrong = np.array([unsupported[found["id"]] for found in pool])
    f = {"base": _likelihoods(kept, "base", voted, texts)}
    for name in systems:
        kept.tune(chain.systems[name])
        f[name] = _likelihoods(kept, "tuned", voted, texts)
        forget("train")
    return {name: leads(values, wrong) for name, values in f.items()}


def _likelihoods(
    kept: Measuring, model: str, documents: list[str], texts: list[list[str]]
) -> NDArray[np.float64]:
    """f of the texts of each document, [D, N + 1]."""
    params = kept.run.use({})
    how = params.reading_of("base"), params.runtime, paths.tables(SPLIT), "", lambda done: None
    worker = ProbabilityWorker(paths.checkpoint(model), *how)
    found = worker.score(documents, texts)
    sums, lengths = (np.array(values, float) for values in zip(*found, strict=True))
    return sums / lengths**params.training.length_penalty


def table(found: Sequence[Mapping[str, Leads]]) -> str:
    """A row a model, over the seeds, in Markdown."""
    lines = [f"| {len(found)} seeds | {' | '.join(COLUMNS.values())} |"]
    lines.append("|---" * (1 + len(COLUMNS)) + "|")
    for name in found[0]:
        cells = [LABELS.get(name, name)]
        for column in COLUMNS:
            mean, low, high = interval([one[name][column] for one in found])
            if column.startswith("above"):
                cells.append(f"{100 * mean:.1f} % [{100 * low:.1f}, {100 * high:.1f}]")
            else:
                cells.append(f"{mean:.4f} [{low:.4f}, {high:.4f}]")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table of a setting's chains."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.evidence.leads",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("systems", nargs="+", help="as the plan names them")
    parser.add_argument("--plan", type=Path, default=PLAN.with_name("control.yaml"))
    parser.add_argument("--setting", help="of the plan; default: its first")
    options = parser.parse_args(arguments)
    chains = read_chains(options.plan)
    setting = options.setting or chains[0].setting
    own = [chain for chain in chains if chain.setting == setting]
    if not own or not set(options.systems) <= own[0].systems.keys():
        raise BridoError(f"{options.plan} has no {setting!r} with {', '.join(options.systems)}")
    found = []
    for chain in own:
        folder = folder_of(chain)
        if not folder.is_dir():
            raise BridoError(f"{folder} is missing: python -m experiments.evidence {options.plan}")
        os.environ["BRIDO_WORK"] = str((folder / "work").resolve())
        with contextlib.chdir(folder):
            found.append(measure(chain, options.systems))
    print(table(found))


if __name__ == "__main__":
    run_command(main)
