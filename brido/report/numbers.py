"""The numbers of a run: made from the evaluation tables, written to metrics/, read back, shown."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brido.evaluation.registry import BUILT_IN, all_metrics, find_metric
from brido.report.metrics import (
    NAMED_ESTIMATES,
    Estimate,
    Estimates,
    Scores,
    difference,
    estimate,
    mean_length,
    read_scores,
)
from brido.report.settings import ReportSettings
from brido.report.stored import json_text
from brido.report.summary import headline_columns, length_warning, result_table, summary_table
from brido.utils.atomic import atomic_folder, write_text

INTERVALS = "intervals.json"
TUNED = "tuned.json"
# On the world world_judge measures them, elsewhere mentions: never both.
_ONE_MEANING = {"whole", "good"}


@dataclass(frozen=True)
class Numbers:
    """What was measured on the test split: per system, as differences, and mean lengths.

    `base` says which base all of it belongs to (`brido.tables.fingerprint`); "" without one.
    """

    scores: dict[str, Scores]
    systems: dict[str, Estimates]
    differences: dict[str, Estimates]
    lengths: dict[str, Estimate]
    warnings: list[str]
    base: str


def metrics_of(system: str, metrics: Sequence[str]) -> list[str]:
    """The metrics to report of a system: comparing the reference with itself says nothing."""
    if system != "reference":
        return list(metrics)
    return [name for name in metrics if not find_metric(name).against_references]


def measure(
    tables: Mapping[str, Mapping[str, Path]],
    decoded: Mapping[str, Path],
    settings: ReportSettings,
    base: str = "",
) -> Numbers:
    """Means, intervals, paired differences from base, and warnings.

    tables: system -> metric -> its evaluation table; decoded: system -> its summaries; base: which
    base they belong to (`brido.tables.fingerprint`).

    Raises:
        BridoError: a table is missing or damaged, or tables hold different documents.
    """
    scores = {system: read_scores(paths) for system, paths in tables.items()}
    systems = {name: estimate(item, settings) for name, item in scores.items()}
    others = [name for name in scores if name not in {"reference", "base"} and "base" in scores]
    gaps = {f"{name} - base": difference(scores[name], scores["base"], settings) for name in others}
    lengths = {name: mean_length(item, decoded[name], settings) for name, item in systems.items()}
    found = [length_warning(lengths, name, settings.length_warning) for name in others]
    warnings = [text for text in found if text]
    return Numbers(scores, systems, gaps, lengths, warnings, base)


def write_numbers(
    folder: Path, numbers: Numbers, settings: ReportSettings, voting: str = ""
) -> None:
    """Write systems/SYSTEM.json, tuned.json, signatures.json and intervals.json below `folder`.

    tuned.json is what DVC compares: the headline numbers of the one system that every experiment
    makes anew. `voting` is the checker that also voted, if any did: tables mark it.
    """
    with atomic_folder(folder / "systems") as systems:
        for name, estimates in numbers.systems.items():
            finite = {
                metric: {column: item.mean for column, item in found.items()}
                for metric, found in estimates.items()
            }
            (systems / f"{name}.json").write_text(json_text({"base": numbers.base} | finite))
    write_text(folder / TUNED, json_text({"base": numbers.base} | _headline(numbers.systems)))
    signatures = {name: item.signatures for name, item in numbers.scores.items()}
    write_text(folder / "signatures.json", json_text(signatures))
    intervals = {
        "base": numbers.base,
        "bootstrap": {
            "samples": settings.bootstrap_samples,
            "confidence": settings.confidence,
            "seed": settings.seed,
        },
        "systems": NAMED_ESTIMATES.dump_python(numbers.systems),
        "differences": NAMED_ESTIMATES.dump_python(numbers.differences),
        "warnings": numbers.warnings,
        "voting": voting,
    }
    write_text(folder / INTERVALS, json_text(intervals))


def _headline(systems: Mapping[str, Estimates]) -> dict[str, Any]:
    """Return the columns of the short table for `tuned`; none if it is not a system.

    `good` has one meaning, whichever metric measures it on this corpus, and stands alone too.

    A name stands alone where no other built-in metric has one of it: `r1`, but `world_qa.f1`. A new
    metric has its own names under its own: it must not rename what is compared.
    """
    built_in = [metric for metric in all_metrics() if metric.name in BUILT_IN]
    owners = Counter(column.name for metric in built_in for column in metric.columns)
    found: dict[str, Any] = {}
    tuned = systems.get("tuned", {})
    for metric, name in headline_columns({"tuned": tuned}):
        alone = (owners[name] < 2 or name in _ONE_MEANING) and metric in BUILT_IN
        place = found if alone else found.setdefault(metric, {})
        place[name] = tuned[metric][name].mean
    return found


def numbers_text(raw: Mapping[str, Any]) -> str:
    """Return the short table and the warnings of what `write_numbers` left in intervals.json."""
    systems, gaps = map(NAMED_ESTIMATES.validate_python, (raw["systems"], raw["differences"]))
    voting = raw["voting"]
    table = result_table(headline_columns(systems), systems, gaps, voting)
    shown = summary_table(table, raw["bootstrap"]["confidence"], voting)
    warnings = [f"warning: {text}" for text in raw["warnings"]]
    return "\n".join([shown, base_note(raw["base"]), *warnings])


def base_note(base: str) -> str:
    """Which base model the numbers belong to."""
    return (
        f"All numbers belong to base {base or 'unknown'}. Do not compare them with those of "
        "another base."
    )
