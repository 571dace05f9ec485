"""The numbers of a run: made from the evaluation tables, written to metrics/, read back, shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brido.report.display import ColumnKey
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
from brido.report.summary import (
    headline_columns,
    item_of,
    length_warning,
    result_table,
    summary_table,
)
from brido.report.verdict import told_columns
from brido.utils.atomic import atomic_folder, write_text
from brido.utils.stored import json_text

INTERVALS = "intervals.json"
HEADLINE = "headline.json"


@dataclass(frozen=True)
class Numbers:
    """What was measured on the test split: per system, as differences, and mean lengths.

    `base` says which base all of it belongs to (`brido.tables.fingerprint`).
    `control` is the name of the control, None if none was trained.
    """

    scores: dict[str, Scores]
    systems: dict[str, Estimates]
    differences: dict[str, Estimates]
    lengths: dict[str, Estimate]
    warnings: list[str]
    base: str
    control: str | None = None


def measure(
    tables: Mapping[str, Path],
    decoded: Mapping[str, Path],
    settings: ReportSettings,
    base: str,
    control: str | None,
    beside: Sequence[str],
) -> Numbers:
    """Means, intervals, paired differences from base and from the control, and warnings.

    tables: system -> its evaluation table; decoded: system -> its summaries; base: which base they
    belong to (`brido.tables.fingerprint`); beside: the systems that are compared with the
    control too (base and the control itself are left out of them).

    Raises:
        BridoError: a table is missing or damaged, or tables hold different documents.
    """
    read = {system: read_scores(path) for system, path in tables.items()}
    # Of the reference nothing may be measured: metrics may all compare with the references.
    scores = {system: found for system, found in read.items() if found.columns}
    systems = {name: estimate(item, settings) for name, item in scores.items()}
    others = [name for name in scores if name not in {"reference", "base"}]
    pairs = [(name, "base") for name in others]
    beside = [name for name in beside if name not in {"base", control}]
    pairs += [(name, control) for name in beside if control in scores]
    gaps = {
        f"{name} - {other}": difference(scores[name], scores[other], settings)
        for name, other in pairs
    }
    lengths = {name: mean_length(item, decoded[name], settings) for name, item in systems.items()}
    sentences = [length_warning(lengths, name, settings.length_warning) for name in others]
    warnings = [sentence for sentence in sentences if sentence]
    return Numbers(scores, systems, gaps, lengths, warnings, base, control)


def write_numbers(
    folder: Path,
    numbers: Numbers,
    settings: ReportSettings,
    choice: Mapping[str, Any],
    tuned: Sequence[str],
    voting: str = "",
) -> None:
    """Write systems/SYSTEM.json, headline.json, signatures.json and intervals.json below `folder`.

    choice: the content of choice.json. headline.json is what DVC compares: the numbers of the
    verdict, of the chosen system and of each tuned one. voting: the checker that also voted, if any
    did: tables mark it.
    """
    with atomic_folder(folder / "systems") as systems:
        for name, estimates in numbers.systems.items():
            finite = {
                metric: {column: item.mean for column, item in columns.items()}
                for metric, columns in estimates.items()
            }
            (systems / f"{name}.json").write_text(json_text({"base": numbers.base} | finite))
    write_text(folder / HEADLINE, json_text(headline(numbers, choice, tuned)))
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


def headline(numbers: Numbers, choice: Mapping[str, Any], tuned: Sequence[str]) -> dict[str, Any]:
    """The numbers of the verdict: of the chosen system and of each tuned one.

    Beside them what decided and ROUGE-1 less those of base, and less those of the control.
    """
    metric, _, column = choice["by"].partition(".")
    by: ColumnKey = (metric, column)
    columns = told_columns(numbers.systems, by)
    compared = [key for key in columns if key == by or key[1] == "r1"]
    result: dict[str, Any] = {"base": numbers.base}
    for key, system in {"chosen": choice["chosen"], **{name: name for name in tuned}}.items():
        result[key] = {"system": system} if key == "chosen" else {}
        result[key] |= _means(numbers.systems.get(system, {}), columns)
        for label, other in (("minus_base", "base"), ("minus_control", numbers.control)):
            if gaps := numbers.differences.get(f"{system} - {other}"):
                result[key][label] = _means(gaps, compared)
    return result


def _means(estimates: Estimates, columns: Sequence[ColumnKey]) -> dict[str, float]:
    return {key[1]: item.mean for key in columns if (item := item_of(estimates, key))}


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
    return f"All numbers belong to base {base}. Do not compare them with those of another base."
