"""What the vote does on the embedded world: `make study`, or python -m benchmarks.study --help.

For each seed (of the world, the base model and the tuning alike): the base model, BRIDO at alpha 0
and N-1, BRIO (alpha inf) and a control that only goes on with MLE, at several values of beta. Each
is decoded with the usual length penalty and with the one at which, on validation data, it writes as
many words as the base model: a summary that says less says less that is wrong, so only equal length
compares. Everything else is params.yaml's. Results are kept under .brido/study: run it again to go
on, or with more seeds.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.study_measures import Numbers, matched_penalty, measure, votes
from benchmarks.study_systems import Seed, Variant, tuning_variants
from benchmarks.study_table import study_tables
from brido.atomic import write_text
from brido.config import load_params
from brido.errors import run_command
from brido.progress import say

PENALTIES = (-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
USUAL = 1.0
SWEPT = ("unsupported", "consistency", "words")


def main() -> None:
    """Run what is missing and write the tables."""
    options = _options()
    params = load_params()
    if options.margin is not None:
        training = params.training.model_copy(update={"margin": options.margin})
        params = params.model_copy(update={"training": training})
    half = float(params.generation.num_candidates - 1)
    alphas = [("BRIDO, alpha 0", 0.0), (f"BRIDO, alpha {half:g}", half), ("BRIO", float("inf"))]
    gamma = params.training.gamma if options.gamma is None else options.gamma
    variants = tuning_variants(gamma, alphas, options.betas)
    default = Variant(*alphas[0], gamma, params.training.length_penalty)
    if default not in variants:
        variants.insert(0, default)
    work = [(params, seed, variants, options.threads) for seed in options.seeds]
    if options.jobs == 1:
        results = [run_seed(item) for item in work]
    else:
        with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
            results = list(pool.map(run_seed, work))
    text = study_tables(results, variants, params, gamma)
    write_text(options.output, text)
    say(f"{text}\nwritten to {options.output}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--betas", type=float, nargs="+", default=[1.0, 1.5, 2.0])
    parser.add_argument("--gamma", type=float, help="default: training.gamma of params.yaml")
    parser.add_argument("--margin", type=float, help="default: training.margin of params.yaml")
    parser.add_argument("--jobs", type=int, default=2, help="seeds at a time")
    parser.add_argument("--threads", type=int, default=1, help="threads of each job")
    parser.add_argument("--output", type=Path, default=Path(".brido/study/study.md"))
    return parser.parse_args()


def run_seed(work: tuple[Any, int, list[Variant], int]) -> dict[str, Any]:
    """All systems of one seed: their measures, penalties and lengths, and the votes."""
    import torch

    params, number, variants, threads = work
    torch.set_num_threads(threads)
    seed = Seed(params, number)
    base = seed.base()
    say(f"seed {number}: base model ready")
    target = _words(seed.decode(base, "validation", USUAL))
    systems = {"base": run_system(seed, base, target)}
    for variant in variants:
        systems[key(variant)] = run_system(seed, seed.tuned(variant), target)
        say(f"seed {number}: {key(variant)} done")
    systems["reference"] = {"usual": measure(seed.rows["test"], _references(seed))}
    return {"seed": number, "systems": systems, "votes": seed_votes(seed)}


def run_system(seed: Seed, checkpoint: Path, target: float) -> dict[str, Any]:
    """One model: test measures at the usual and the matched penalty, and the validation sweep.

    The penalty is chosen on validation data; test data are decoded with it once.
    """
    sweep: dict[float, Numbers] = {}
    for penalty in PENALTIES:
        summaries = seed.decode(checkpoint, "validation", penalty)
        sweep[penalty] = measure(seed.rows["validation"], summaries, SWEPT)
    lengths = {penalty: numbers["words"].mean() for penalty, numbers in sweep.items()}
    penalty = matched_penalty(lengths, target)
    test = seed.rows["test"]
    found = {
        "usual": measure(test, seed.decode(checkpoint, "test", USUAL)),
        "validation": sweep[USUAL],
        "sweep": {
            penalty: {name: values.mean() for name, values in numbers.items()}
            for penalty, numbers in sweep.items()
        },
        "penalty": penalty,
    }
    if penalty is not None:
        found["matched"] = measure(test, seed.decode(checkpoint, "test", penalty))
    return found


def seed_votes(seed: Seed) -> list[dict[str, float]]:
    """The table of votes of a seed's validation candidates, consensus beside reference."""
    table = seed.candidates("validation")
    orders = {
        name: [row["order"] for row in seed.scores("validation", alpha)]
        for name, alpha in (("consensus", 0.0), ("reference", float("inf")))
    }
    elected = {
        name: (lambda index, order=order: int(order[index][0])) for name, order in orders.items()
    }
    rows = seed.rows["validation"][: len(table)]
    return votes(rows, [row["candidates"] for row in table], elected)


def key(variant: Variant) -> str:
    """The row's name: the ranking, and beta where it matters."""
    return f"{variant.name}, beta {variant.beta:g}" if variant.gamma else variant.name


def _words(summaries: list[str]) -> float:
    return float(np.mean([len(text.split()) for text in summaries]))


def _references(seed: Seed) -> list[str]:
    return [row["summary"] for row in seed.rows["test"]]


if __name__ == "__main__":
    run_command(main)
