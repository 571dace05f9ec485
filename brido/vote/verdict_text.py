"""The check of a vote (metrics/votes.json) in words: three lines, and a table for a terminal."""

from collections.abc import Mapping
from io import StringIO
from textwrap import fill
from typing import Any

from brido.stats import FEWEST
from brido.utils.errors import some

WIDTH = 100
# Of each verdict: the answer, then what to do next in a pipeline, then with lines of a file.
_ANSWERS = {
    "beats": (
        "Tuning on this vote should help: its elected candidates have unsupported details less "
        "often than base's own output.",
        "`dvc repro` tunes on it; the control `dvc exp run -n control -S scoring.shuffle=true` "
        "shows how much of a gain comes from the vote.",
        "`brido score` and `brido export preferences --scores FILE` make training data of it.",
    ),
    "loses": (
        "Tuning on this vote is unlikely to help: its elected candidates have unsupported details "
        "more often than base's own output.",
        "try another score (`dvc exp run -S scoring.information=1`) or other candidates "
        "(section generation) before tuning.",
        "try other candidates, or more of them.",
    ),
    "few": (
        f"The check cannot tell whether tuning helps: {{documents:,}} documents are fewer than "
        f"{FEWEST}.",
        "use more documents, for instance `dvc exp run -S documents.validation=100` "
        "(data.max_documents may limit them too).",
        f"check at least {FEWEST} lines; 100 or more give useful intervals.",
    ),
    "nothing": (
        "The check cannot tell whether tuning helps: neither the elected candidates nor base's "
        "own output have an unsupported detail.",
        "another checker, `dvc exp run -S support.checker=minicheck`, may find more.",
        "give `unsupported` counts of a stricter judge in each line.",
    ),
    "chance": (
        "The check cannot tell whether tuning helps: this is the control, each document's scores "
        "shuffled.",
        "`dvc repro` tunes the control; what it gains does not come from the vote.",
        "check the scores that are not shuffled.",
    ),
    "open": (
        "The check cannot tell whether tuning helps: the difference between elected candidates "
        "and base's own output may be chance.",
        "more documents narrow the interval (documents.validation); `dvc repro` tunes anyway.",
        "more lines narrow the interval.",
    ),
    "unknown": (
        "The check cannot tell whether tuning helps: what the model writes by itself is not known.",
        "`dvc repro score` makes the check with base's own output.",
        "add `own`, what the model writes by itself, to each line (--help).",
    ),
    "candidates": (
        "The check cannot tell whether tuning helps: these candidates cannot support a verdict: "
        "{warnings}.",
        "mend the candidates (section generation), then `dvc repro score`.",
        "mend the candidates.",
    ),
}


def verdict_lines(told: Mapping[str, Any], pipeline: bool = True) -> list[str]:
    """Return the answer in words, the two numbers that it rests on, and the next command.

    told: the content of metrics/votes.json. pipeline: whether the documents are those of a run.

    Without intervals and differences for fewer than FEWEST documents.
    """
    election = told.get("election")
    verdict = election["verdict"] if election else "unknown"
    warnings = told.get("warnings", [])
    answer, in_pipeline, in_file = _ANSWERS["candidates" if warnings else verdict]
    answer = answer.format(documents=told["documents"], warnings="; ".join(warnings))
    if election and election["caution"] and not warnings:
        answer = f"{answer} {election['caution']}"
    numbers = [_election(election, told["documents"])] if election else []
    if election and "good" in election:
        numbers.append(_good(election["good"], told["documents"]))
        asked = "The check does not look at ROUGE."
    else:
        asked = (
            "This counts unsupported details only. The check does not look at ROUGE, or at whether "
            "sentences are whole."
        )
    numbers.append(_accuracy(told))
    following = in_pipeline if pipeline else in_file
    if not warnings and told.get("signal", {}).get("name", "vote") != "vote":
        following = _signal(told["signal"], pipeline)
    return [answer, f"{' '.join(numbers)} {asked}", f"Next: {following}"]


def _election(election: Mapping[str, Any], documents: int) -> str:
    shares = election["all"]
    elected, own = (shares[who]["mean"] for who in ("elected", "base"))
    if documents < FEWEST:
        wrong, own_wrong = (round(share * documents) for share in (elected, own))
        return (
            f"{wrong:,} of {documents:,} elected candidates and {own_wrong:,} of base's own "
            "outputs have an unsupported detail."
        )
    told = (
        f"{100 * elected:.1f} % of {documents:,} elected candidates and {100 * own:.1f} % of "
        f"base's own outputs have an unsupported detail: {_points(shares['difference'])}"
    )
    equal = election["equal_length"]
    count = equal["elected"]["documents"]
    if count < FEWEST:
        return f"{told}."
    return f"{told}; {_points(equal['difference'])} for the {count:,} pairs of equal length."


def _good(good: Mapping[str, Any], documents: int) -> str:
    """Whose texts are good: whole, with nothing unsupported."""
    elected, own = (good[who]["mean"] for who in ("elected", "base"))
    if documents < FEWEST:
        shares = f"{round(elected * documents):,} and {round(own * documents):,}"
        return f"{shares} of them are good: whole, with nothing unsupported."
    return (
        f"{100 * elected:.1f} % and {100 * own:.1f} % are good (whole, with nothing unsupported): "
        f"{_points(good['difference'])}."
    )


def _signal(signal: Mapping[str, Any], pipeline: bool) -> str:
    """What to train on instead of this vote."""
    elected, vote = (100 * signal[who]["mean"] for who in ("elected", "vote"))
    train = f"`dvc exp run -S {signal['setting']}`" if pipeline else "docs/method.md has the order"
    return (
        f"train on {signal['label']} ({train}): its elected candidates are good in {elected:.1f} % "
        f"of documents, those of this vote in {vote:.1f} %: {_points(signal['difference'])}."
    )


def _points(share: Mapping[str, float]) -> str:
    mean, low, high = (f"{100 * share[key]:+.1f}" for key in ("mean", "low", "high"))
    return f"{mean} points [{low}, {high}]"


def _accuracy(told: Mapping[str, Any]) -> str:
    vote = told["accuracy"].get("vote", {})
    if not vote.get("pairs"):
        return "Two equally long candidates of one document never differ in unsupported details."
    return (
        f"Of two equally long candidates the vote prefers the better one in "
        f"{_interval(vote, told['documents'])} of {vote['pairs']:,} pairs (chance: 0.500)."
    )


def _interval(item: Mapping[str, float], documents: int) -> str:
    if documents < FEWEST:
        return f"{item['mean']:.3f}"
    return f"{item['mean']:.3f} [{item['low']:.3f}, {item['high']:.3f}]"


def votes_text(told: Mapping[str, Any]) -> str:
    """The check for a terminal: a row a ranking, how it was made, and the verdict's three lines."""
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
    texts = [note(told), "", *told["verdict"]]
    return "\n".join([*rows, "", *(fill(text, WIDTH) for text in texts)])


# What each column of the table is made of.
_KEYS = ("label", "mean", "pairs", "beyond", "elected_unsupported", "elected_good")


def _has(told: Mapping[str, Any], key: str) -> bool:
    return any(key in item for item in told["accuracy"].values())


def _cells(item: Mapping[str, Any], documents: int) -> list[str]:
    return [
        item["label"],
        _interval(item, documents),
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


def note(told: Mapping[str, Any]) -> str:
    """Return how the check was made."""
    tolerance = told["length_tolerance"]
    length = (
        f"whose lengths differ by at most {100 * tolerance:g} %"
        if tolerance
        else "with equally many words"
    )
    parts = [
        f"{told['documents']:,} documents; judge: {told['judge']}; pairs of candidates of one "
        f"document {length}, one of which has more unsupported details."
    ]
    if taken := told.get("taken_out"):
        names = ["ranks by copying"] if "copying" in taken else []
        names += ["ranks by base's log p"] if set(taken) - {"copying"} else []
        parts.append(
            f"Beyond: the same, after the influence of {' and '.join(names)} is taken out, "
            "document by document."
        )
    if _has(told, "elected_good"):
        parts.append(
            "Unsupported, good: shares of the elected. Good: whole, with nothing unsupported."
        )
    if rules := told.get("rules"):
        parts.append(f"Approximate, {rules}.")
    if "information" in told["accuracy"]:
        parts.append(
            "Information: log p with the candidate's own document, less "
            f"{told['prior']:g} times log p with others."
        )
    if writers := told.get("other_writers"):
        parts.append(
            f"Base also scores candidates that it did not write ({some(writers)}). For those it "
            "has not been shown that information knows more than copying."
        )
    return " ".join(parts)
