"""The check of the orders (metrics/votes.json) in words: a table, its legend, its sentences."""

from collections.abc import Iterator, Mapping
from io import StringIO
from textwrap import fill
from typing import Any

from brido.stats import FEWEST
from brido.utils.errors import some

WIDTH = 100
CHANCE = 0.5
HEADINGS = ("order", "left", "better one first", "unsupported", "good")
_GOOD = "good (whole, with nothing unsupported)"
# What the rows that are not a run's own orders are.
_CLAUSES = {
    "consensus": "agreement with the other candidates alone",
    "half": "the reference has half of the vote",
    "reference": "similarity to the reference alone",
    "support": "how much of a candidate a second checker finds supported",
    "information": "log p, less {prior_weight:g} times the mean log p with other documents",
    "mean_log_probability": "log p, divided by the number of tokens",
    "log_probability": "the log-probability that base gives a candidate for its document",
    "copied": "the share of a candidate's trigrams that stand in its document",
    "shuffled": "the first order's scores, shuffled within each document",
}


def votes_text(check: Mapping[str, Any]) -> str:
    """The check for a terminal: a row an order, what its columns mean, and its sentences."""
    # A second to import, and `--json` needs none of it.
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="")
    rows = table_rows(check)
    shown = [place for place in range(len(HEADINGS)) if any(row[place] != "–" for row in rows)]
    for place in shown:
        table.add_column(HEADINGS[place], justify="right" if place else "left", no_wrap=place > 0)
    for row in rows:
        table.add_row(*(row[place] for place in shown))
    written = StringIO()
    Console(file=written, width=WIDTH, color_system=None).print(table)
    lines = [line.rstrip() for line in written.getvalue().splitlines()]
    texts = [fill(text, WIDTH, subsequent_indent="  ") for text in legend(check)]
    return "\n".join([*lines, "", *texts, "", *(fill(line, WIDTH) for line in check["lines"])])


def table_rows(check: Mapping[str, Any]) -> list[list[str]]:
    """The cells of each order's row, below HEADINGS, and at the end those of base's own output."""
    rows = [
        [
            row["label"],
            interval(row["left"]),
            interval(row),
            percent(row["elected_unsupported"]),
            percent(row.get("elected_good")),
        ]
        for row in (*check["orders"].values(), *check["fixed"].values())
    ]
    if "election" in check:
        shares = (check["election"].get(kind) for kind in ("unsupported", "good"))
        own = [percent(share and share["base"]["mean"]) for share in shares]
        rows.append(["base's own output", "–", "–", *own])
    return rows


def interval(share: Mapping[str, Any] | None) -> str:
    """Return a mean with its interval, which pairs of fewer than FEWEST documents do not have."""
    if share is None or share["mean"] is None:
        return "–"
    if share["low"] is None:
        return f"{share['mean']:.3f}"
    return f"{share['mean']:.3f} [{share['low']:.3f}, {share['high']:.3f}]"


def percent(value: float | None) -> str:
    """Return a share in per cent; a dash for one that is not known."""
    return "–" if value is None else f"{100 * value:.1f} %"


def legend(check: Mapping[str, Any]) -> list[str]:
    """Return how the check was made, and what each column and row means: a text each."""
    tolerance = check["length_tolerance"]
    length = f"at most {100 * tolerance:g} % apart in length" if tolerance else "of equal length"
    texts = [
        f"{check['documents']:,} documents; judge: {check['judge']} (it counts unsupported "
        "details).",
        'Left: "better one first" for what is left of an order after a regression within '
        f"documents has taken {taken_out(check)} out of it. This, and not the accuracy of the "
        "whole order, is what training can learn.",
        "Better one first: how often an order prefers the better of two candidates of a document, "
        f"{length}. The better one has fewer unsupported details. Chance is {CHANCE:.3f}.",
        "Unsupported: share of documents whose elected candidate (the first of the order) has an "
        "unsupported detail. Good: share whose elected candidate is whole and has none.",
    ]
    if rules := check.get("rules"):
        texts.append(
            f"Whole: a text counts as whole if it has {rules.removeprefix('whole: ')}. These rules "
            "are approximate."
        )
    return [*texts, *_rows_legend(check)]


def taken_out(check: Mapping[str, Any]) -> str:
    """Return what was taken out of the orders, in words."""
    named = {"copied": "copying", "log_probability": "base's log p", "length": "length"}
    words = [word for key, word in named.items() if key in check["taken_out"]]
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _rows_legend(check: Mapping[str, Any]) -> Iterator[str]:
    for name, row in check["fixed"].items():
        if name in _CLAUSES:
            label = row["label"][0].upper() + row["label"][1:]
            yield f"{label}: {_CLAUSES[name].format_map(check)}."
    if writers := check.get("other_writers"):
        yield (
            f"Base also scores candidates that it did not write ({some(writers)}). For those it "
            "has not been shown that information knows more than copying."
        )


def votes_lines(check: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the candidates, and what the first order elects and knows."""
    name, row = next(iter(check["orders"].items()))
    lines = [f"Warning: {warning}" for warning in check["warnings"]]
    lines += [check["election"]["sentence"]] if "election" in check else []
    return [*lines, _left_sentence(name, row, check)]


def election_sentence(election: Mapping[str, Any]) -> str:
    """Return elected candidates against base's own output in a sentence, with its interval."""
    kind = "good" if "good" in election else "unsupported"
    are = f"are {_GOOD}" if kind == "good" else "have an unsupported detail"
    elected, own, gap = (election[kind][who] for who in ("elected", "base", "difference"))
    who, documents = f"Candidates that `{election['order']}` elects {are}", elected["documents"]
    if gap["low"] is None:
        first, second = (round(share["mean"] * documents) for share in (elected, own))
        return (
            f"{who} in {first:,} of {documents:,} documents, base's own output in {second:,}; "
            f"fewer than {FEWEST} documents have no interval."
        )
    # z: a rounded -0.0 would look like a loss.
    mean, low, high = (f"{100 * gap[end]:+z.1f}" for end in ("mean", "low", "high"))
    points = f"{mean} points [{low}, {high}]"
    first, second = percent(elected["mean"]), percent(own["mean"])
    if side := beside(gap, 0.0):
        often = "more often" if side > 0 else "less often"
        means = f"{first} against {second} of {documents:,} documents"
        return f"{who} {often} than base's own output: {means}, {points}."
    return (
        f"{who} in {first} of {documents:,} documents and base's own output in {second}: {points}, "
        "which may be chance."
    )


def beside(share: Mapping[str, float], value: float) -> int:
    """Return on which side of a value an interval lies: -1 below, 1 above, 0 if it holds it.

    The ends count as sentences print them: three decimals of a share, one of points.
    """
    return int(round(share["low"], 3) > value) - int(round(share["high"], 3) < value)


def _left_sentence(name: str, row: Mapping[str, Any], check: Mapping[str, Any]) -> str:
    left = row["left"]
    if left["mean"] is None:
        return (
            f"How often `{name}` prefers the better candidate is not known: no two equally long "
            "candidates of a document differ in unsupported details."
        )
    text = (
        f"What is left of `{name}` without {taken_out(check)} prefers the better candidate in "
        f"{interval(left)} of {left['pairs']:,} pairs"
    )
    if left["low"] is None:
        return (
            f"{text} (chance: {CHANCE:.3f}); pairs of fewer than {FEWEST} documents have no "
            "interval."
        )
    side = beside(left, CHANCE)
    if not side:
        return f"{text}; chance ({CHANCE:.3f}) lies inside this interval."
    return f"{text}, {'more' if side > 0 else 'less'} often than chance ({CHANCE:.3f})."
