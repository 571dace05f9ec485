"""Stage choose: the system that the run keeps, chosen on validation documents, and its verdict.

The choice is measured on test documents: against base, and against the control. The model of the
chosen system is stored as data/chosen, ready for `brido summarize`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from brido.report.card import teaches_an_order, weights_of
from brido.report.choice import Choice, Compared, choose
from brido.report.display import ColumnKey, display
from brido.report.metrics import Estimates, difference, estimate, read_scores
from brido.report.verdict import USE, verdict
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.summarizer.usage import usage_of, write_model
from brido.tables import DECODED, read_batches
from brido.tables.join import decoded_by
from brido.utils.atomic import atomic_folder, write_text
from brido.utils.errors import run_command
from brido.utils.progress import say
from brido.utils.stored import json_text
from brido.utils.text import word_count
from stages import paths

ROUGE = ("rouge", "r1")
REFERENCE = "reference"


def main() -> None:
    """Write metrics/choice.json and data/chosen."""
    params = load_params()
    metric, _, column = str(params.decides).partition(".")
    by = metric, column
    systems = [compared(params, name, by) for name in params.choosable]
    choice = choose(systems, params.choice, display(*by).better == "lower", reference_words(params))
    lines = verdict_of(params, choice, by)
    about = {"by": ".".join(by), "control": params.control, "verdict": lines}
    write_text(paths.CHOICE, json_text(choice.plain() | about))
    store(params, choice.chosen, lines)
    for line in (*lines, USE):
        say(f"choose: {line}")


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


def verdict_of(params: Params, choice: Choice, by: ColumnKey) -> list[str]:
    """The verdict, with numbers of test documents."""
    names = dict.fromkeys(["base", choice.chosen, *filter(None, [params.control])])
    tables = {name: read_scores(paths.evaluation(name)) for name in names}
    systems = {name: estimate(scores, params.report) for name, scores in tables.items()}
    pairs = [(choice.chosen, "base"), (choice.chosen, params.control), (params.control, "base")]
    differences: dict[str, Estimates] = {
        f"{one} - {other}": difference(tables[one], tables[other], params.report)
        for one, other in pairs
        if one and other and one != other
    }
    plain: dict[str, Any] = choice.plain()
    ordered = on_an_order(params, choice.chosen)
    errors = params.choice.standard_errors
    return verdict(plain, by, systems, differences, params.control, ordered, errors)


# Keys of scoring that decide the scores which the control shuffles; other keys only reorder them.
_SCORES = ("alpha", "normalization")


def on_an_order(params: Params, system: str) -> bool:
    """Whether it is an order of the candidates that tells a system from the control.

    The system was trained on an order, and otherwise as the control was: a difference to it may
    also come from another loss or learning rate, or from scores of another spread (brio's).
    """
    if system not in params.tuned:
        return False
    training = params.training_of(system)
    scoring, alike = params.scoring_of(system), True
    if params.control is not None:
        dealt = params.scoring_of(params.control)
        alike = training == params.training_of(params.control) and all(
            getattr(scoring, key) == getattr(dealt, key) for key in _SCORES
        )
    return teaches_an_order(training) and alike and not scoring.shuffle


if __name__ == "__main__":
    run_command(main)
