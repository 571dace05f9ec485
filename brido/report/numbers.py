"""The numbers of a run: made from the evaluation tables, written to metrics/, read back, shown."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brido.report.display import told_columns
from brido.report.metrics import (
    NAMED_ESTIMATES,
    ColumnKey,
    Estimates,
    Scores,
    column_of,
    estimate_all,
    item_of,
    read_scores,
)
from brido.report.settings import ReportSettings
from brido.report.summary import (
    WORDS,
    headline_columns,
    length_warning,
    result_table,
    summary_table,
)
from brido.utils.atomic import write_text
from brido.utils.stored import json_text

INTERVALS = "intervals.json"
HEADLINE = "headline.json"
_ROUGE = (("rouge", "r1"), ("rouge", "r2"), ("rouge", "rl"))
# What systems and runs are compared by, beside the column that decides.
COMPARED = (("mentions", "unsupported"), ("rouge", "r1"), WORDS)
# What a column is called here, where its own name says little.
_NAMES = {"length": "words"}


@dataclass(frozen=True)
class Numbers:
    """What was measured on the test split: per system, and as differences.

    `base` says which base all of it belongs to (`brido.tables.fingerprint`).
    `control` is the name of the control, None if none was trained; `voting` the checker that also
    voted, if any did.
    """

    scores: dict[str, Scores]
    systems: dict[str, Estimates]
    differences: dict[str, Estimates]
    warnings: list[str]
    base: str
    control: str | None = None
    voting: str = ""


def measure(
    tables: Mapping[str, Path],
    settings: ReportSettings,
    base: str,
    control: str | None,
    beside: Iterable[str],
    voting: str = "",
) -> Numbers:
    """Means, intervals, paired differences from base and from the control, and warnings.

    tables: system -> its evaluation table; base: which base they belong to
    (`brido.tables.fingerprint`); beside: the systems that are compared with the control too (base
    and the control itself are left out of them); voting: the checker that also voted.

    Raises:
        BridoError: a table is missing or damaged, or tables hold different documents.
    """
    read = {system: read_scores(path) for system, path in tables.items()}
    # Of the reference nothing may be measured: metrics may all compare with the references.
    scores = {system: found for system, found in read.items() if found.columns}
    others = [name for name in scores if name not in {"reference", "base"}]
    pairs = [(name, "base") for name in others]
    if control is not None and control in scores:
        pairs += [(name, control) for name in beside if name not in {"base", control}]
    systems, gaps = estimate_all(scores, pairs, settings)
    sentences = [length_warning(systems, name, settings.length_warning) for name in others]
    if voting:
        sentences.append(
            f"{voting} also voted (scoring.support): it prefers what it helped to choose."
        )
    return Numbers(scores, systems, gaps, [*filter(None, sentences)], base, control, voting)


def write_numbers(
    folder: Path,
    numbers: Numbers,
    settings: ReportSettings,
    choice: Mapping[str, Any],
    sources: Mapping[str, Any],
) -> None:
    """Write headline.json and intervals.json below `folder`.

    choice: the content of choice.json. sources: the table of the candidates' sources.
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
        "voting": numbers.voting,
        "signatures": {name: item.signatures for name, item in numbers.scores.items()},
        "sources": sources,
    }
    write_text(folder / INTERVALS, json_text(intervals))


def headline(numbers: Numbers, choice: Mapping[str, Any]) -> dict[str, Any]:
    """What `dvc metrics diff` and `dvc exp show` compare: base, the chosen system, the control.

    Beside the means of the chosen system stand its differences to base and to the control, of what
    decided and of COMPARED, with their intervals.
    """
    by = column_of(choice["by"])
    told = [column for column in told_columns(numbers.systems, by) if column != WORDS]
    columns = dict.fromkeys([*told, *_ROUGE, WORDS])
    chosen, control = choice["chosen"], numbers.control
    result: dict[str, Any] = {"base": _means(numbers.systems["base"], columns)}
    result["chosen"] = _means(numbers.systems[chosen], columns)
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
        result["control"] = _means(numbers.systems[control], columns)
    return result


def _means(estimates: Estimates, columns: Iterable[ColumnKey]) -> dict[str, float]:
    """A mean by the column's name."""
    return {
        _NAMES.get(key[1], key[1]): item.mean
        for key in columns
        if (item := item_of(estimates, key))
    }


def numbers_text(raw: Mapping[str, Any]) -> str:
    """Return the short table and the warnings of what `write_numbers` left in intervals.json."""
    systems, gaps = map(NAMED_ESTIMATES.validate_python, (raw["systems"], raw["differences"]))
    table = result_table(headline_columns(systems), systems, gaps)
    shown = summary_table(table, raw["bootstrap"]["confidence"])
    warnings = [f"warning: {text}" for text in raw["warnings"]]
    return "\n".join([shown, base_note(raw["base"]), *warnings])


def base_note(base: str) -> str:
    """Which base model the numbers belong to."""
    return f"All numbers belong to base {base}. Do not compare them with those of another base."
