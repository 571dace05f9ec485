"""Stage choose: the system that the run keeps, chosen on validation documents, and its verdict.

The choice is measured on test documents: against base, and against the control. The model of the
chosen system is stored as data/chosen, ready for `brido summarize`.
"""

from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brido.checkers.sensitivity import Check, Sensitivity, exact_check, sensitivity
from brido.report.card import weights_of
from brido.report.choice import Choice, Compared, choose
from brido.report.display import ColumnKey, display
from brido.report.metrics import Estimates, difference, estimate, read_scores
from brido.report.verdict import verdict, verdict_table
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.stats import FEWEST
from brido.summarizer.usage import usage_of, write_model
from brido.tables import CORPUS, DECODED, WORLD_CORPUS, read_batches
from brido.tables.join import decoded_by
from brido.utils.atomic import atomic_folder, write_text
from brido.utils.errors import run_command
from brido.utils.progress import say
from brido.utils.stored import json_text
from brido.utils.text import word_count
from stages import paths

ROUGE = ("rouge", "r1")
REFERENCE = "reference"
# The check that knows the world's facts.
EXACT = "world_judge"
# As many references say what a check sees.
LOOKED_AT = 200


def main() -> None:
    """Write metrics/choice.json and data/chosen."""
    params = load_params()
    metric, _, column = str(params.decides).partition(".")
    by = metric, column
    systems = [compared(params, name, by) for name in params.choosable]
    choice = choose(systems, params.choice, display(*by).better == "lower", reference_words(params))
    lines, table = verdict_of(params, choice, by)
    kept = lines[0]
    about: dict[str, Any] = {"by": ".".join(by), "control": params.control}
    about |= {"verdict": lines, "table": table}
    if found := sensitivity_of(metric):
        about |= {"sensitivity": found.plain()}
        lines.insert(0, found.line(metric, exact=metric == EXACT))
    write_text(paths.CHOICE, json_text(choice.plain() | about))
    store(params, choice.chosen, lines)
    say(f"choose: {kept}")


def sensitivity_of(metric: str) -> Sensitivity | None:
    """What the check that decides sees in the references of validation documents.

    None where it costs a model or a server, and where there are too few references.
    """
    if metric not in (EXACT, "mentions"):
        return None
    schema = WORLD_CORPUS if metric == EXACT else CORPUS
    names = ["document", "summary", *(["facts"] if metric == EXACT else [])]
    batches = read_batches(paths.corpus("validation"), schema, "download", names)
    told = (row for batch in batches for row in batch.to_pylist() if (row["summary"] or "").strip())
    rows = list(islice(told, LOOKED_AT))
    if len(rows) < FEWEST:
        return None
    check: Check | str = "mentions"
    if metric == EXACT:
        check = exact_check({row["document"]: row["facts"] for row in rows})
    documents, references = ([row[name] for row in rows] for name in ("document", "summary"))
    return sensitivity(check, documents, references)


def store(params: Params, system: str, lines: list[str]) -> None:
    """Write data/chosen: the model that writes the system's summaries, and how it does."""
    model = paths.checkpoint(params.model_of(system))
    usage = usage_of(
        model,
        params.reading_of(system),
        params.decoding_of(system),
        params.guidance_of(system),
        system,
        weights_of(paths.checkpoint("base")),
        "\n".join(lines),
        params.data.lowercase,
        params.checked_of(system),
        params.candidates_of(system),
    )
    with atomic_folder(paths.CHOSEN) as folder:
        write_model(model, folder, usage)


def compared(params: Params, system: str, by: ColumnKey) -> Compared:
    """A system's numbers on validation documents."""
    scores = read_scores(paths.evaluation(system, "validation"))
    rouge = scores.column(ROUGE) if ROUGE in scores.columns else None
    return Compared(system, scores.column(by), lengths(params, system), rouge, scores.ids)


def lengths(params: Params, system: str) -> NDArray[np.float64]:
    """The words of a system's summaries of validation documents."""
    path = paths.decoded(system, "validation")
    batches = read_batches(path, DECODED, decoded_by(system, params.variants), ["summary"])
    texts = [text for batch in batches for text in batch.column("summary").to_pylist()]
    return np.array([word_count(text) for text in texts], np.float64)


def reference_words(params: Params) -> float | None:
    """The mean length of the references of validation documents, None without references."""
    return float(lengths(params, REFERENCE).mean()) if REFERENCE in params.systems else None


def verdict_of(params: Params, choice: Choice, by: ColumnKey) -> tuple[list[str], list[list[str]]]:
    """The lines of the verdict and its table, with numbers of test documents."""
    names = dict.fromkeys(["base", choice.chosen, *filter(None, [params.control])])
    scores = {name: read_scores(paths.evaluation(name)) for name in names}
    systems = {name: estimate(own, params.report) for name, own in scores.items()}
    pairs = [(choice.chosen, "base"), (choice.chosen, params.control), (params.control, "base")]
    differences: dict[str, Estimates] = {
        f"{one} - {other}": difference(scores[one], scores[other], params.report)
        for one, other in pairs
        if one and other and one != other
    }
    lines = verdict(choice.plain(), by, systems, differences, params.control)
    return lines, verdict_table(systems, choice.chosen, by, params.control)


if __name__ == "__main__":
    run_command(main)
