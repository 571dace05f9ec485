"""Stage choose: the system that the run keeps, chosen on validation documents, and its verdict.

The choice is measured on test documents: against base, the control, and systems that nothing was
trained for. The model of the chosen system is stored as data/chosen, ready for `brido summarize`.
"""

import numpy as np
from numpy.typing import NDArray

from brido.checkers import Sensitivity
from brido.evaluation.registry import find_metric
from brido.report.card import weights_of
from brido.report.choice import Choice, Compared, choose
from brido.report.display import display
from brido.report.metrics import ColumnKey, column_of, estimate_all, item_of, read_scores
from brido.report.seen import blind, measured_by, seen_line
from brido.report.verdict import USE, Measured, verdict, verdict_table
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.summarizer.usage import Usage, usage_of, write_model, write_usage
from brido.tables import DECODED, read_columns
from brido.text.words import word_count
from brido.utils.atomic import atomic_folder, write_text
from brido.utils.errors import run_command
from brido.utils.progress import say
from brido.utils.stored import json_text, read_json
from stages import paths

ROUGE = ("rouge", "r1")
REFERENCE = "reference"


def main() -> None:
    """Write metrics/choice.json and data/chosen."""
    params = load_params()
    by = column_of(str(params.decides))
    less = display(by).better == "lower"
    systems = [compared(params, name, by) for name in params.choosable]
    choice = choose(systems, params.choice, less, reference_words(params))
    found = read_json(paths.SENSITIVITY, "sensitivity")
    seen = {name: Sensitivity.from_plain(plain) for name, plain in found.items()}
    lines, table = verdict_of(params, choice, by, seen)
    store(params, choice.chosen, "\n".join(lines))
    about = {
        "by": params.decides,
        "measures": params.measures,
        "control": params.control,
        "verdict": lines,
        "table": table,
        "sensitivity": {name: one.plain() for name, one in seen.items()},
    }
    write_text(paths.CHOICE, json_text(choice.plain() | about))
    say(f"choose: {next(line for line in lines if line.startswith('Keep'))}")


def picked_by(params: Params, system: str) -> str | None:
    """The metric that has picked a system's summaries; None where the metric knows the facts."""
    exact = params.data.source == "world" and params.evaluation.mentions.facts
    return None if exact else params.picked_by(system)


def store(params: Params, system: str, verdict: str) -> None:
    """Write data/chosen: the model that writes the system's summaries, and how it does."""
    with atomic_folder(paths.CHOSEN) as folder:
        if asked := params.variant_of(system).endpoint:
            # A server has its weights.
            write_usage(folder, Usage(system=system, verdict=verdict, reading=asked.reading))
            return
        model = paths.checkpoint(params.model_of(system))
        base = weights_of(paths.checkpoint("base"))
        usage = usage_of(model, **params.usage_of(system), base=base, verdict=verdict)
        write_model(model, folder, usage)


def compared(params: Params, system: str, by: ColumnKey) -> Compared:
    """A system's numbers on validation documents."""
    scores = read_scores(paths.evaluation(system, "validation"))
    rouge = scores.column(ROUGE) if ROUGE in scores.columns else None
    return Compared(
        system, scores.column(by), lengths(system), rouge, scores.ids,
        picked=picked_by(params, system) == by[0],
    )  # fmt: skip


def lengths(system: str) -> NDArray[np.float64]:
    """The words of a system's summaries of validation documents."""
    table = read_columns(paths.decoded(system, "validation"), DECODED, "decode", ["summary"])
    return np.array([word_count(text) for text in table["summary"].to_pylist()], np.float64)


def reference_words(params: Params) -> float | None:
    """The mean length of the references of validation documents, None without references."""
    return float(lengths(REFERENCE).mean()) if REFERENCE in params.systems else None


def verdict_of(
    params: Params, choice: Choice, by: ColumnKey, seen: dict[str, Sensitivity]
) -> tuple[list[str], list[list[str]]]:
    """The lines of the verdict and its table, with numbers of test documents."""
    chosen, control = choice.chosen, params.control
    measures = column_of(params.measures) if params.measures else None
    rivals = [name for name, one in params.variants.items() if one.checked or one.endpoint]
    trained = best_trained(params, choice)
    names = dict.fromkeys(filter(None, ["base", chosen, *rivals, trained, control]))
    scores = {name: read_scores(paths.evaluation(name)) for name in names}
    picked = {name: picked_by(params, name) for name in names}
    pairs = [(chosen, other) for other in names if other != chosen]
    pairs += [
        (one, other) for one, other in ((control, "base"), (trained, control)) if one and other
    ]
    systems, differences = estimate_all(scores, pairs, params.report)
    exact = find_metric(by[0]).needs_facts
    comparable = [name for name in rivals if picked[name] != (measures or by)[0]]
    lines = verdict(
        choice.plain(),
        Measured(
            by, systems, differences, control, comparable, measures,
            blind(seen.get(by[0]), exact), trained,
        ),
    )  # fmt: skip
    first = seen_line(seen, by[0], exact)
    who = measured_by(by[0], measures[0] if measures else None, exact)
    use = [USE] if item_of(systems[chosen], by) else []
    table = verdict_table(systems, by, measures, {control: "shuffled", chosen: "kept"}, picked)
    return [" ".join(filter(None, [first, who])), *lines, *use], table


def best_trained(params: Params, choice: Choice) -> str | None:
    """The tuned system that is best on validation documents, the control aside; None without one.

    Among those that meet the conditions of the choice, if any does.
    """
    sign = -1 if display(column_of(str(params.decides))).better == "lower" else 1
    names = [name for name in choice.systems if name in params.tuned and name != params.control]
    names = [name for name in names if not choice.systems[name]["left_out"]] or names
    gains = {name: sign * np.nan_to_num(choice.systems[name]["difference"]) for name in names}
    return max(gains, key=gains.__getitem__, default=None)


if __name__ == "__main__":
    run_command(main)
