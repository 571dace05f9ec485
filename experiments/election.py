"""The vote at use: what `brido summarize --candidates 16` writes of finished runs' test documents.

python -m experiments.election experiments/plans/default.yaml FOLDER...

metrics/evidence/election.csv gets four rows a run: base and the chosen system, as decoded and
elected. `seconds` is the processor time of the summaries, without loading the model.
"""

import time
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import pandas as pd

from brido.cli.summarize.project import find_model
from brido.settings.load import load_params
from brido.summarizer.model import writing_of
from brido.summarizer.summarizer import Summarizer
from brido.tables import CORPUS, DECODED, read_rows, write_table
from brido.utils.commands import invoke
from brido.utils.errors import run_command
from brido.utils.progress import say
from experiments.plan import read_plan
from experiments.rows import EVIDENCE, collect, renewed, write_rows
from experiments.study import find_run
from stages import paths
from stages.evaluate import evaluate

ELECTIONS = EVIDENCE / "election.csv"
ELECTED = ", elected"
CANDIDATES = 16
SYSTEMS = {"base": "base", "chosen": None}


def measure(folder: Path, setting: str, seed: int) -> pd.DataFrame:
    """The four rows of a finished run."""
    with TemporaryDirectory() as name:
        place = Path(name)
        (place / "data").mkdir()
        (place / "data/corpus").symlink_to((folder / "data/corpus").resolve())
        seconds = {
            f"{system}{ELECTED if count else ''}": _write(folder, place, system, count)
            for system in SYSTEMS
            for count in (None, CANDIDATES)
        }
        rows = collect(place, setting, seed)
    return rows.assign(seconds=rows.system.map(seconds))


def _write(folder: Path, place: Path, system: str, count: int | None) -> float:
    """Write and evaluate a system's summaries below `place`; the seconds that they took."""
    with chdir(folder):
        params = load_params()
        documents = list(read_rows(paths.corpus("test"), CORPUS, "download"))
        model = find_model(None, SYSTEMS[system], {})
        writing = writing_of(model.folder, model.usage, candidates=count)
        summarizer = Summarizer(model.folder, model.usage, writing, params.runtime)
        ids, texts = zip(*((row["id"], row["document"]) for row in documents), strict=True)
        # Kernels are compiled at the first call: that does not count.
        summarizer.summarize(texts[:10], ids[:10])
        start = time.process_time()
        summaries = summarizer.summarize(texts, ids)
        seconds = time.process_time() - start
    name = f"{system}{ELECTED if count else ''}"
    pairs = zip(ids, summaries, strict=True)
    made = [{"id": id_, "summary": each.text, "score": 0.0} for id_, each in pairs]
    with chdir(place):
        write_table(paths.decoded(name, "test"), [made], DECODED, {})
        evaluate(params, name)
    return round(seconds, 1)


@click.command()
@click.argument("path", metavar="PLAN", type=click.Path(path_type=Path, exists=True))
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path, exists=True))
def command(path: Path, folders: tuple[Path, ...]) -> None:
    """Let candidates vote at use in FOLDERS, where runs of PLAN have ended; keep the rows."""
    plan = read_plan(path)
    for folder in folders:
        run = find_run(plan, folder)
        rows = measure(folder, run.setting, run.seed)
        if ELECTIONS.is_file():
            rows = renewed(pd.read_csv(ELECTIONS, dtype={"marks": str}), rows)
        write_rows(ELECTIONS, rows)
        say(f"election: {run.name} is in {ELECTIONS}")


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.election"))
