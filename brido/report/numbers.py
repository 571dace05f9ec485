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
from brido.report.verdict_table import told_columns
from brido.utils.atomic import write_text
from brido.utils.stored import json_text

INTERVALS = "intervals.json"
HEADLINE = "headline.json"
_ROUGE = (("rouge", "r1"), ("rouge", "r2"), ("rouge", "rl"))
# What systems and runs are compared by, beside the column that decides.
COMPARED = (("mentions", "unsupported"), ("rouge", "r1"), ("extractiveness", "length"))
# What a column is called here, where its own name says little.
_NAMES = {"length": "words"}


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
    sources: Mapping[str, Any],
    voting: str = "",
) -> None:
    """Write headline.json and intervals.json below `folder`.

    choice: the content of choice.json. sources: the table of the candidates' sources. voting: the
    checker that also voted, if any did: tables mark it.
    """
    write_text(folder / HEADLINE, json_text(headline(numbers, choice)))
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
        "signatures": {name: item.signatures for name, item in numbers.scores.items()},
        "sources": sources,
    }
    write_text(folder / INTERVALS, json_text(intervals))


def headline(numbers: Numbers, choice: Mapping[str, Any]) -> dict[str, Any]:
    """What `dvc metrics diff` and `dvc exp show` compare: base, the chosen system, the control.

    Beside the means of the chosen system stand its differences to base and to the control, of what
    decided and of COMPARED, with their intervals.
    """
    metric, _, column = choice["by"].partition(".")
    by: ColumnKey = (metric, column)
    columns = [*told_columns(numbers.systems, by), *_ROUGE]
    chosen, control = choice["chosen"], numbers.control
    result: dict[str, Any] = {"base": _means(numbers, "base", columns)}
    result["chosen"] = _means(numbers, chosen, columns)
    for label, other in (("minus_base", "base"), ("minus_control", control)):
        gaps = numbers.differences.get(f"{chosen} - {other}", {})
        shown = {
            _NAMES.get(key[1], key[1]): {"mean": item.mean, "low": item.low, "high": item.high}
            for key in (by, *COMPARED)
            if (item := item_of(gaps, key))
        }
        if shown:
            result["chosen"][label] = shown
    if control is not None and control != chosen:
        result["control"] = _means(numbers, control, columns)
    return result


def _means(numbers: Numbers, system: str, columns: Sequence[ColumnKey]) -> dict[str, float]:
    """A mean by the column's name; the words of a summary are always known."""
    estimates = numbers.systems.get(system, {})
    means = {key[1]: item.mean for key in columns if (item := item_of(estimates, key))}
    means.pop("length", None)
    return means | {"words": numbers.lengths[system].mean}


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
