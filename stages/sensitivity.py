"""Stage sensitivity: what each check of this run sees, on references in which errors are planted.

It writes metrics/sensitivity.json, before anything is generated: by metric, how many of the planted
errors it notices, and how many untouched references of validation documents it calls unsupported.
"""

from itertools import islice
from typing import Any

from brido.endpoint import DryRun
from brido.evaluation import Metric
from brido.evaluation.planted import metric_sensitivity
from brido.evaluation.registry import find_metric
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.stats import FEWEST
from brido.tables import CORPUS, WORLD_CORPUS, has_facts, read_batches
from brido.utils.atomic import write_text
from brido.utils.errors import run_command
from brido.utils.progress import say
from brido.utils.stored import json_text
from stages import paths

# As many references say what a check sees: one that is free, a model, a server that is paid.
REFERENCES = {"cores": 200, "device": 50, "server": 20}


def main() -> None:
    """Write metrics/sensitivity.json."""
    params = load_params()
    rows = references()
    checks = [find_metric(name) for name in params.evaluation.metrics]
    found = {
        check.name: plain
        for check in checks
        if check.support and (plain := _measured(params, check, rows)) is not None
    }
    write_text(paths.SENSITIVITY, json_text(found))


def references() -> list[dict[str, Any]]:
    """document, summary and, on the world, facts of the first validation documents."""
    corpus = paths.corpus("validation")
    exact = has_facts(corpus)
    columns = ["document", "summary", *(["facts"] if exact else [])]
    batches = read_batches(corpus, WORLD_CORPUS if exact else CORPUS, "download", columns)
    told = (row for batch in batches for row in batch.to_pylist() if (row["summary"] or "").strip())
    return list(islice(told, REFERENCES["cores"]))


def _measured(params: Params, check: Metric, rows: list[dict[str, Any]]) -> dict[str, Any] | None:
    """What one check sees; None where there are too few references, or nothing is to be asked."""
    rows = rows[: REFERENCES[check.computed_on]]
    if len(rows) < FEWEST:
        return None
    documents, summaries = ([row[name] for row in rows] for name in ("document", "summary"))
    facts = [row["facts"] for row in rows] if "facts" in rows[0] else None
    settings = getattr(params.evaluation, check.name)
    try:
        found = metric_sensitivity(
            check, documents, summaries, facts=facts, settings=settings, runtime=params.runtime
        )
    except DryRun as forecast:
        say(f"sensitivity of {check.name}: {forecast}")
        return None
    say(f"{found.sentence(check.name, whose='the references')}.")
    return found.plain()


if __name__ == "__main__":
    run_command(main)
