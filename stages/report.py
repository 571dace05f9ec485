"""Stage report: numbers with intervals, figures and the page (`--show` prints the table again)."""

import argparse
import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from brido.atomic import atomic_folder, write_text
from brido.config import load_params
from brido.consensus import consensus_scores, ranking
from brido.errors import BridoError, run_command
from brido.progress import say
from brido.report import figures
from brido.report.explorer import Page, render_page
from brido.report.explorer.data import Document, MarkedText
from brido.report.explorer.results import result_table
from brido.report.mention_finder import CaseMentions, find_mentions
from brido.report.metrics import (
    Estimate,
    Estimates,
    Scores,
    difference,
    estimate,
    intervals_json,
    mean_length,
    read_estimates,
    read_scores,
    system_numbers,
)
from brido.report.questions import METRIC, ExaminedDocument, most_changed, read_examined
from brido.report.settings_text import alpha_text, settings_text
from brido.report.summary import (
    every_column,
    headline_columns,
    length_warning,
    summary_table,
)
from brido.report.validation import Case, read_cases
from brido.report.votes import Ballot, VoteBin, vote_bins
from brido.settings import Params
from stages import paths

INTERVALS = paths.METRICS / "intervals.json"
PAGE = paths.REPORT / "index.html"
EXAMINED_DOCUMENTS = 12
WORLD_MARKS = "The embedded world knows its facts, so every mention is found and checked exactly."
TEXT_MARKS = (
    "Marked are numbers and capitalised words, looked up in the article: an approximation, which "
    "overlooks other words and knows no synonyms."
)


def main() -> None:
    """Make metrics/ and report/ from the tables that params.yaml names, or show the last table."""
    parser = argparse.ArgumentParser(prog="python -m stages.report", description=__doc__)
    parser.add_argument("--show", action="store_true", help="print the table of the last report")
    if not parser.parse_args().show:
        report(load_params())
    show()


def show() -> None:
    """Print the table of metrics/intervals.json, its warnings, and where to look next."""
    try:
        raw = json.loads(INTERVALS.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BridoError(f"{INTERVALS} is missing: make it with `dvc repro report`") from None
    except json.JSONDecodeError as error:
        raise BridoError(f"{INTERVALS} is damaged ({error}): `dvc repro -f report`") from None
    systems = {name: read_estimates(item) for name, item in raw["systems"].items()}
    gaps = {name: read_estimates(item) for name, item in raw["differences"].items()}
    print(summary_table(systems, gaps, raw["bootstrap"]["confidence"]))
    for warning in raw["warnings"]:
        print(f"warning: {warning}")
    print(f"Look next: {PAGE} in a browser; {paths.METRICS}/figures; dvc metrics diff", flush=True)


@dataclass(frozen=True)
class Numbers:
    """What was measured on the test split: per system, as differences, and mean lengths."""

    scores: dict[str, Scores]
    systems: dict[str, Estimates]
    differences: dict[str, Estimates]
    lengths: dict[str, Estimate]
    warnings: list[str]


def report(params: Params) -> None:
    """Write metrics/systems, signatures.json, intervals.json, metrics/figures and the page."""
    numbers = measure(params)
    write_numbers(params, numbers)
    cases = read_cases(
        paths.corpus("validation"),
        paths.candidates("validation"),
        paths.similarity("validation"),
        {name: paths.decoded(name, "validation") for name in params.systems},
    )
    say(f"report: mentions of {len(cases):,} validation documents and their candidates")
    found = find_mentions(cases, params)
    rankings = _rankings(params)
    ballots = [
        Ballot(one.candidates, _elected(case, rankings))
        for case, one in zip(cases, found, strict=True)
    ]
    bins = vote_bins(ballots)
    write_figures(numbers, bins, list(rankings))
    write_page(params, numbers, cases, found, bins)


def measure(params: Params) -> Numbers:
    """Means, intervals, paired differences from base, and warnings, from the evaluation tables."""
    settings = params.report
    how = (settings.bootstrap_samples, settings.confidence, settings.seed)
    scores = {
        system: read_scores({metric: paths.evaluation(metric, system) for metric in metrics})
        for system, metrics in _measured(params).items()
    }
    say(f"report: {settings.bootstrap_samples:,} bootstrap samples for {len(scores)} systems")
    systems = {name: estimate(item, *how) for name, item in scores.items()}
    others = [name for name in params.decoded_systems if name != "base" and "base" in scores]
    gaps = {f"{name} - base": difference(scores[name], scores["base"], *how) for name in others}
    lengths = {
        name: mean_length(estimates, paths.decoded(name, "test"), *how)
        for name, estimates in systems.items()
    }
    warnings = [length_warning(lengths, name, settings.length_warning) for name in others]
    return Numbers(scores, systems, gaps, lengths, [text for text in warnings if text])


def _measured(params: Params) -> dict[str, list[str]]:
    """The metrics to report of each system: ROUGE of the reference with itself says nothing."""
    metrics = params.evaluation.metrics
    others = [metric for metric in metrics if metric != "rouge"]
    chosen = {name: others if name == "reference" else metrics for name in params.systems}
    return {name: wanted for name, wanted in chosen.items() if wanted}


def write_numbers(params: Params, numbers: Numbers) -> None:
    """Write metrics/systems/SYSTEM.json, metrics/signatures.json and metrics/intervals.json."""
    with atomic_folder(paths.METRICS / "systems") as folder:
        for name, estimates in numbers.systems.items():
            (folder / f"{name}.json").write_text(_json(system_numbers(estimates)))
    signatures = {name: item.signatures for name, item in numbers.scores.items()}
    write_text(paths.METRICS / "signatures.json", _json(signatures))
    settings = params.report
    intervals = intervals_json(
        numbers.systems,
        numbers.differences,
        samples=settings.bootstrap_samples,
        confidence=settings.confidence,
        seed=settings.seed,
    )
    write_text(INTERVALS, _json(intervals | {"warnings": numbers.warnings}))


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _rankings(params: Params) -> dict[str, float]:
    """The rankings that the votes figure compares: names and their alphas."""
    alpha = params.scoring.alpha
    names = {"consensus (α = 0)": 0.0}
    if 0 < alpha < math.inf:
        names[f"as trained (α = {alpha_text(alpha)})"] = alpha
    return names | {"reference (α = ∞)": math.inf}


def _elected(case: Case, rankings: Mapping[str, float]) -> dict[str, int]:
    return {
        name: int(ranking(consensus_scores(case.similarity, alpha))[0])
        for name, alpha in rankings.items()
    }


def write_figures(numbers: Numbers, bins: Sequence[VoteBin], rankings: Sequence[str]) -> None:
    """Write metrics/figures/{votes,training,length,correlation}.{svg,png}."""
    curves = figures.read_training(paths.METRICS / "training.csv")
    with atomic_folder(paths.METRICS / "figures") as folder:
        figures.votes_figure(folder, bins, rankings)
        figures.training_figure(folder, curves)
        figures.length_figure(folder, numbers.systems, numbers.lengths)
        models = [item for name, item in numbers.scores.items() if name != "reference"]
        figures.correlation_figure(folder, models)


def write_page(
    params: Params,
    numbers: Numbers,
    cases: Sequence[Case],
    found: Sequence[CaseMentions],
    bins: Sequence[VoteBin],
) -> None:
    """Write report/index.html with a seeded sample of the validation documents."""
    size = min(params.report.page_documents, len(cases))
    sample = sorted(random.Random(params.report.seed).sample(range(len(cases)), size))
    every = every_column(numbers.systems)
    first = next(iter(numbers.scores.values()))
    focus = "tuned" if "tuned" in params.systems else params.systems[-1]
    baseline = "base" if "base" in params.systems else params.systems[0]
    page = Page(
        title="BRIDO: the vote at work",
        settings=settings_text(params),
        headline=result_table(
            headline_columns(numbers.systems), numbers.systems, numbers.differences
        ),
        everything=result_table(every, numbers.systems, numbers.differences),
        documents=[_document(cases[index], found[index]) for index in sample],
        systems=params.systems,
        focus=focus,
        baseline=baseline,
        alpha=params.scoring.alpha,
        bins=bins,
        warnings=numbers.warnings,
        notes=[
            f"Means over {len(first.ids):,} test documents; below them bootstrap intervals "
            f"over documents ({100 * params.report.confidence:g} %).",
            "Differences are paired; coloured where the interval leaves out 0.",
        ],
        examined=_examined(numbers, baseline, focus),
        marks=WORLD_MARKS if cases and cases[0].facts is not None else TEXT_MARKS,
        signatures={name: item.signatures for name, item in numbers.scores.items()},
    )
    html, shown = render_page(page)
    write_text(PAGE, html)
    if shown < size:
        say(f"report: the page shows {shown} of {size} documents, to stay under 5 MB")


def _examined(numbers: Numbers, baseline: str, focus: str) -> list[ExaminedDocument]:
    """QAFactEval's questions on the documents that changed most, where it was measured."""
    if not {baseline, focus} <= numbers.scores.keys():
        return []
    changes = most_changed(numbers.scores[baseline], numbers.scores[focus], EXAMINED_DOCUMENTS)
    tables = {
        name: (paths.evaluation(METRIC, name), paths.decoded(name, "test"))
        for name in (baseline, focus)
    }
    return read_examined(changes, paths.corpus("test"), tables) if changes else []


def _document(case: Case, found: CaseMentions) -> Document:
    return Document(
        case.id,
        case.document,
        {name: MarkedText(text, found.summaries[name]) for name, text in case.summaries.items()},
        [
            MarkedText(text, mentions)
            for text, mentions in zip(case.candidates, found.candidates, strict=True)
        ],
        np.asarray(case.similarity),
    )


if __name__ == "__main__":
    run_command(main)
