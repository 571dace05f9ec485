"""The check of a vote (metrics/votes.json) for a terminal: a table, its legend, the verdict."""

from collections.abc import Mapping
from io import StringIO
from textwrap import fill
from typing import Any

from brido.stats import FEWEST
from brido.utils.errors import some

WIDTH = 100


def interval(item: Mapping[str, float], documents: int) -> str:
    """Return a mean with its interval, which fewer than FEWEST documents do not have."""
    if documents < FEWEST:
        return f"{item['mean']:.3f}"
    return f"{item['mean']:.3f} [{item['low']:.3f}, {item['high']:.3f}]"


def votes_text(told: Mapping[str, Any]) -> str:
    """The check for a terminal: a row a ranking, what its columns mean, the verdict's lines."""
    # A second to import, and `--json` needs none of it.
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="")
    headings = ["ranking by", "better one first", "pairs", "beyond", "unsupported", "good"]
    shown = [place for place, key in enumerate(_KEYS) if _has(told, key)]
    for index in shown:
        table.add_column(headings[index], justify="right" if index else "left", no_wrap=True)
    for item in told["accuracy"].values():
        if item["mean"] is not None:
            cells = _cells(item, told["documents"])
            table.add_row(*(cells[index] for index in shown))
    written = StringIO()
    Console(file=written, width=WIDTH, color_system=None).print(table)
    rows = [line.rstrip() for line in written.getvalue().splitlines()]
    told_by = [fill(text, WIDTH, subsequent_indent="  ") for text in legend(told)]
    verdict = [fill(text, WIDTH) for text in told["verdict"]]
    return "\n".join([*rows, "", *told_by, "", *verdict])


# What each column of the table is made of.
_KEYS = ("label", "mean", "pairs", "beyond", "elected_unsupported", "elected_good")


def _has(told: Mapping[str, Any], key: str) -> bool:
    return any(key in item for item in told["accuracy"].values())


def _cells(item: Mapping[str, Any], documents: int) -> list[str]:
    return [
        item["label"],
        interval(item, documents),
        f"{item['pairs']:,}",
        beyond(item),
        percent(item["elected_unsupported"]),
        percent(item.get("elected_good")),
    ]


def beyond(item: Mapping[str, Any]) -> str:
    """A ranking's accuracy without copying and likelihood; a dash where that leaves nothing."""
    left = item.get("beyond")
    return "–" if left is None or left["mean"] is None else f"{left['mean']:.3f}"


def percent(value: float | None) -> str:
    """Return a share in per cent; a dash for one that is not known."""
    return "–" if value is None else f"{100 * value:.1f} %"


def legend(told: Mapping[str, Any]) -> list[str]:
    """Return how the check was made, and what each column means: a text each."""
    tolerance = told["length_tolerance"]
    length = f"at most {100 * tolerance:g} % apart in length" if tolerance else "of equal length"
    found = [
        f"{told['documents']:,} documents; judge: {told['judge']} (it counts unsupported details).",
        "This vote: the order by these scores. Consensus: by agreement with the others alone.",
        "Better one first: how often the order prefers the better candidate of a pair. Chance is "
        "0.500.",
        f"Pairs: two candidates of one document, {length}. The better one has fewer unsupported "
        "details.",
    ]
    if taken := told.get("taken_out"):
        names = ["with copying from the document"] if "copying" in taken else []
        names += ["with base's log p"] if set(taken) - {"copying"} else []
        found.append(
            'Beyond: what an order knows by itself. It is "better one first" once more, after a '
            f"regression has removed what the order shares {' and '.join(names)}."
        )
    found.append(
        "Unsupported: share of documents whose elected candidate has an unsupported detail."
    )
    if _has(told, "elected_good"):
        found.append(
            "Good: share of documents whose elected candidate is whole and has none of them."
        )
    if rules := told.get("rules"):
        found.append(
            f"Whole: a text counts as whole if it has {rules.removeprefix('whole: ')}. These rules "
            "are approximate."
        )
    return [*found, *_of_rows(told)]


def _of_rows(told: Mapping[str, Any]) -> list[str]:
    """What some of the rows are."""
    found = []
    if "log_probability" in told["accuracy"]:
        found.append("Log p: the log-probability that base gives the candidate for its document.")
    if "information" in told["accuracy"]:
        found.append(
            f"Information: log p, less {told['prior']:g} times the candidate's "
            "mean log p with other documents."
        )
    if penalty := told.get("length_penalty"):
        found.append(
            "Where log p stands beside the consensus or in information, it is divided by the "
            f"candidate's tokens to the power {penalty:g}."
        )
    if writers := told.get("other_writers"):
        found.append(
            f"Base also scores candidates that it did not write ({some(writers)}). For those it "
            "has not been shown that information knows more than copying."
        )
    return found
