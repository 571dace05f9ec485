"""Stage report: numbers with intervals, the page and the model card."""

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from brido.report.card import model_card, origin, server_card, weights_of
from brido.report.numbers import INTERVALS, Numbers, measure, numbers_text, write_numbers
from brido.report.page.content import make_page
from brido.report.page.data import shown
from brido.report.sources import LEGEND, compare, sources_rows
from brido.report.summary import aligned
from brido.report.verdict import verdict_text
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables.documents import CandidateDocument
from brido.tables.fingerprint import base_of
from brido.utils.atomic import write_text
from brido.utils.errors import BridoError, run_command
from brido.utils.progress import say
from brido.utils.stored import damaged, read_json
from brido.vote.consensus import ranking
from brido.vote.select import score_documents
from stages import paths
from stages.seconds import SHOWN_LATER, seconds_line

PAGE = paths.REPORT / "index.html"
# What the report shows of a document, beside its vote.
COLUMNS = ("document", "references", "facts", "summaries", "candidates", "sources")
CARD = paths.REPORT / "model_card.md"
# The curves of a run that trains nothing but base.
_NO_CURVES = "system,update,loss,cross_entropy,contrastive,tau"


def main() -> None:
    """Make metrics/ and report/ from the tables that params.yaml names, and print the tables."""
    if sys.argv[1:]:
        raise BridoError("`python -m stages.report` takes no arguments")
    paths.check_base("report")
    report(load_params())
    if not os.environ.get(SHOWN_LATER):
        show()


def show() -> None:
    """Print the tables of metrics/intervals.json, where to look next, and the verdict."""
    found, choice = read_json(paths.METRICS / INTERVALS, "report"), chosen()
    with damaged(paths.METRICS / INTERVALS, "report"):
        told = [numbers_text(found)]
        if found["sources"]:
            table = aligned(sources_rows(found["sources"]))
            told += ["\nSources of the candidates:\n", table, "", *LEGEND]
    with damaged(paths.CHOICE, "choose"):
        verdict = verdict_text(choice["table"], choice["verdict"])
    print("\n".join([*told, "", *filter(None, [seconds_line()])]))
    print(f"Look next: {PAGE} in a browser; brido diff; dvc plots diff")
    print('Keep it: `git add --all && git commit -m "The run"`; experiments start from a commit')
    print(f"\n{verdict}")


def chosen() -> dict[str, Any]:
    """What stage choose has written; BridoError if that is damaged."""
    return read_json(paths.CHOICE, "choose", chosen=str, by=str, table=list, verdict=list)


def report(params: Params) -> None:
    """Write the numbers, the page and the model card."""
    choice = chosen()
    tables = {system: paths.evaluation(system) for system in params.all_systems}
    say(f"report: {params.report.bootstrap_samples:,} bootstrap samples, {len(tables)} systems")
    base = base_of(paths.decoded("base", "validation"))
    # The verdict compares a chosen variant with the control too.
    beside = dict.fromkeys([*params.tuned, choice["chosen"]])
    votes = any(params.scoring_of(name).asks_support for name in params.tuned)
    voting = params.support.checker if votes else ""
    numbers = measure(tables, params.report, base, params.control, beside, voting)

    # The documents of the numbers; without candidates of theirs those that the choice saw.
    split = params.documents.splits[-1]
    cases = list(shown_cases(split, params))
    say(f"report: mentions of {len(cases):,} {split} documents and their candidates")
    case_sensitive = params.evaluation.mentions.case_sensitive
    found = [shown(case, case_sensitive) for case in cases]
    sources = compare(cases)
    sources = sources if len(sources) > 1 else {}
    write_numbers(paths.METRICS, numbers, params.report, choice, sources)
    write_text(PAGE, make_page(params, numbers, found, sources, choice))
    write_card(params, numbers, choice)
    write_text(paths.METRICS / "curves.csv", curves(params))


def curves(params: Params) -> str:
    """The curves of all training runs in one table, for `dvc plots`: a column `system` in front."""
    lines: list[str] = []
    for system in params.tuned:
        path = paths.history(system)
        if not path.is_file():
            raise BridoError(f"{path} is missing: make it with `dvc repro train@{system}`")
        heading, *rows = path.read_text(encoding="utf-8").splitlines()
        lines = lines or [f"system,{heading}"]
        lines += [f"{system},{row}" for row in rows]
    return "\n".join(lines or [_NO_CURVES]) + "\n"


def shown_cases(split: str, params: Params) -> Iterator[CandidateDocument]:
    """The documents of a split, their candidates in the order of section scoring."""
    tables = paths.tables(split, params.all_systems, params.variants)
    for documents, scores in score_documents(tables, params.scoring, columns=COLUMNS):
        orders = ranking(scores).tolist()
        for case, own, order in zip(documents, scores.tolist(), orders, strict=True):
            yield replace(case, scores=own, order=order)


def write_card(params: Params, numbers: Numbers, choice: Mapping[str, Any]) -> None:
    """The model card of the chosen system, with the verdict of the run."""
    if asked := params.variant_of(choice["chosen"]).endpoint:
        write_text(CARD, server_card(asked.model, choice))
        return
    checkpoint = origin(params, choice["chosen"])
    base = read_json(paths.checkpoint(checkpoint) / "source.json", f"checkpoint@{checkpoint}")
    corpus = read_json(paths.corpus("test").with_name("source.json"), "download", splits=dict)
    weights = weights_of(paths.CHOSEN)
    write_text(CARD, model_card(params, numbers, base, corpus, weights, choice))


if __name__ == "__main__":
    run_command(main)
