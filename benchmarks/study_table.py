"""The study's results as Markdown."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.study_measures import interval
from brido.settings import Params

Results = Sequence[dict[str, Any]]


def study_tables(results: Results, variants: Sequence[Any], params: Params, gamma: float) -> str:
    """The three tables: test data at the usual penalty and at matched length, validation, votes."""
    world, generation = params.data.world, params.generation
    names = list(results[0]["systems"])
    head = (
        f"Seeds {', '.join(str(result['seed']) for result in results)}; each has its own world "
        f"({world.train:,}/{world.validation}/{world.test} documents), base model and tuning. "
        f"N = {generation.num_candidates}, N_g = {generation.num_beam_groups}, "
        f"eta = {generation.diversity_penalty:g}; gamma = {gamma:g}, "
        f"{params.training.margin_kind} margin {params.training.margin:g}, learning rate "
        f"{params.training.learning_rate:g}, {params.training.epochs} epoch(s). 95 % intervals: "
        "bootstrap over seeds and documents; minus base is paired by document."
    )
    parts = [
        head,
        "Test documents, decoded with length penalty 1 (`unsupported`: share of summaries with an "
        "unsupported mention):",
        _table(results, [*_order(names)], "usual"),
        "The same at matched length: with the length penalty at which the system writes as many "
        "words as base on validation documents:",
        _table(results, [name for name in _order(names) if name != "reference"], "matched"),
        "Validation documents, length penalty 1 (what the default parameters were chosen on):",
        _validation(results, [name for name in names if name != "reference"]),
        "Votes on validation documents: share of candidates with an unsupported mention, and how "
        "often the elected candidate has one:",
        _votes(results),
    ]
    return "\n\n".join(parts) + "\n"


def _order(names: list[str]) -> list[str]:
    return ["reference", *(name for name in names if name != "reference")]


def _table(results: Results, names: list[str], kind: str) -> str:
    lines = [
        "| system | unsupported | minus base | words | R-1 | R-2 | consistency | fluency |"
        + (" penalty |" if kind == "matched" else ""),
        "|---|---|---|---|---|---|---|---|" + ("---|" if kind == "matched" else ""),
    ]
    for name in names:
        found = [result["systems"][name] for result in results]
        if any(kind not in each for each in found):
            missing = sum(kind not in each for each in found)
            lines.append(
                f"| {name} | base's length is out of reach for {missing} of {len(found)} seeds "
                "| | | | | | | |"
            )
            continue
        base = [result["systems"]["base"][kind]["unsupported"] for result in results]
        values = [each[kind]["unsupported"] for each in found]
        difference = "" if name == "base" else _signed(interval(values, base))
        means = {
            column: np.mean([each[kind][column].mean() for each in found])
            for column in ("words", "R-1", "R-2", "consistency", "fluency")
        }
        line = (
            f"| {name} | {_plain(interval(values))} | {difference} | {means['words']:.2f} | "
            f"{means['R-1']:.1f} | {means['R-2']:.1f} | {means['consistency']:.2f} | "
            f"{means['fluency']:.2f} |"
        )
        if kind == "matched":
            line += f" {np.mean([each['penalty'] for each in found]):.2f} |"
        lines.append(line)
    return "\n".join(lines)


def _validation(results: Results, names: list[str]) -> str:
    lines = ["| system | unsupported | words | words against base |", "|---|---|---|---|"]
    base = np.mean([r["systems"]["base"]["validation"]["words"].mean() for r in results])
    for name in names:
        found = [result["systems"][name]["validation"] for result in results]
        values = [each["unsupported"] for each in found]
        words = np.mean([each["words"].mean() for each in found])
        lines.append(
            f"| {name} | {_plain(interval(values))} | {words:.2f} | {words / base - 1:+.1%} |"
        )
    return "\n".join(lines)


def _votes(results: Results) -> str:
    lines = ["| documents | candidates | elected by consensus | elected by reference |"]
    lines.append("|---|---|---|---|")
    # Every seed has the same bins unless one is empty; rows of like rank are then averaged.
    for bins in zip(*(result["votes"] for result in results), strict=False):
        weights = [row["documents"] for row in bins]
        pool, consensus, reference = (
            np.average([row[name] for row in bins], weights=weights)
            for name in ("pool", "consensus", "reference")
        )
        lines.append(f"| {sum(weights):.0f} | {pool:.2f} | {consensus:.2f} | {reference:.2f} |")
    return "\n".join(lines)


def _plain(numbers: tuple[float, float, float]) -> str:
    return f"{numbers[0]:.3f} [{numbers[1]:.3f}, {numbers[2]:.3f}]"


def _signed(numbers: tuple[float, float, float]) -> str:
    return f"{numbers[0]:+.3f} [{numbers[1]:+.3f}, {numbers[2]:+.3f}]"
