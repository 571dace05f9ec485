"""Stage report: numbers with intervals, figures and the page (`--show` prints the table again)."""

import argparse
from collections.abc import Sequence
from typing import Any

from brido.report.card import model_card, weights_of
from brido.report.figures import length_figure
from brido.report.numbers import (
    INTERVALS,
    Numbers,
    measure,
    metrics_of,
    numbers_text,
    write_numbers,
)
from brido.report.page import render_page
from brido.report.page.content import asked, make_page, voting_checker
from brido.report.page.data import case_mentions
from brido.report.sources import LEGEND, compare, sources_rows
from brido.report.stored import json_text, read_json
from brido.report.text_table import aligned
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables.documents import CandidateDocument
from brido.tables.fingerprint import base_of
from brido.tables.join import read_documents
from brido.utils.atomic import atomic_folder, write_text
from brido.utils.errors import run_command
from brido.utils.progress import say
from brido.vote.verdict_text import votes_text
from stages import paths

PAGE = paths.REPORT / "index.html"
# What the report shows of a validation document.
COLUMNS = (
    *("document", "references", "facts", "summaries", "candidates", "raw", "ended", "sources"),
    *("voters", "eligible", "similarity", "scores", "order"),
)
CARD = paths.REPORT / "model_card.md"


def main() -> None:
    """Make metrics/ and report/ from the tables that params.yaml names, or show the last table."""
    parser = argparse.ArgumentParser(prog="python -m stages.report", description=__doc__)
    parser.add_argument("--show", action="store_true", help="print the table of the last report")
    if not parser.parse_args().show:
        report(load_params())
    show()


def show() -> None:
    """Print the table of metrics/intervals.json, its warnings, and where to look next."""
    print(numbers_text(read_json(paths.METRICS / INTERVALS, "report")))
    print("\nThe check of the vote, on validation documents:\n")
    print(votes_text(read_json(paths.VOTES, "score")))
    print("\nSources of the candidates:\n")
    print(aligned(sources_rows(read_json(paths.SOURCES, "report"))))
    print("\n".join(["", *LEGEND, ""]))
    print(f"Look next: {PAGE} in a browser; {paths.METRICS}/figures; dvc metrics diff", flush=True)


def report(params: Params) -> None:
    """Write the numbers, metrics/figures, the page and the model card."""
    tables = {
        system: {name: paths.evaluation(name, system) for name in metrics}
        for system in params.systems
        if (metrics := metrics_of(system, params.evaluation.metrics))
    }
    summaries = {name: paths.decoded(name, "test") for name in params.systems}
    say(f"report: {params.report.bootstrap_samples:,} bootstrap samples, {len(tables)} systems")
    base = base_of(paths.decoded("base", "validation")) if "base" in summaries else ""
    numbers = measure(tables, summaries, params.report, base)
    write_numbers(paths.METRICS, numbers, params.report, voting_checker(params))

    batches = read_documents(paths.tables("validation", params.systems), COLUMNS)
    cases = [document for documents in batches for document in documents]
    say(f"report: mentions of {len(cases):,} validation documents and their candidates")
    found = [case_mentions(case, params) for case in cases]
    with atomic_folder(paths.METRICS / "figures") as folder:
        length_figure(folder, numbers.systems, numbers.lengths)

    votes = read_json(paths.VOTES, "score")
    documents = [case.document for case in cases]
    page = make_page(
        params,
        numbers,
        cases,
        found,
        votes,
        sources_table(cases, params),
        asked("base", paths.checkpoint("base"), params.reading_of("base"), documents),
    )
    html, count = render_page(page)
    write_text(PAGE, html)
    if count < (size := len(page.documents)):
        say(f"report: the page shows {count} of {size} documents, so that it stays under 5 MB")
    write_card(params, numbers, votes.get("election", {}).get("sentence", ""))


def sources_table(cases: Sequence[CandidateDocument], params: Params) -> dict[str, dict[str, Any]]:
    """Where candidates and elections come from, written to metrics/sources.json."""
    table = compare(cases, paths.pool_counts())
    write_text(paths.SOURCES, json_text(table))
    return table


def write_card(params: Params, numbers: Numbers, verdict: str) -> None:
    """The model card of `tuned`, with what the vote check said before."""
    made_by = {
        paths.checkpoint("base") / "source.json": "checkpoint@base",
        paths.corpus("test").with_name("source.json"): "download",
    }
    base, corpus = (
        read_json(path, stage) if path.exists() else {} for path, stage in made_by.items()
    )
    weights = weights_of(paths.checkpoint("tuned"))
    write_text(CARD, model_card(params, numbers, base, corpus, weights, verdict))


if __name__ == "__main__":
    run_command(main)
