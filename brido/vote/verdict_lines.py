"""The verdict of a vote's check in three lines: the answer, its numbers, and what to do next."""

from collections.abc import Mapping
from typing import Any

from brido.stats import FEWEST
from brido.vote.verdict_text import interval

_UNKNOWN = "The check cannot tell whether tuning helps"
_THAN = "than base's own output"
# The answer by the verdict on unsupported details.
_ANSWERS = {
    "beats": "Tuning on this vote should help: its elected candidates have unsupported details "
    f"less often {_THAN}.",
    "loses": "Tuning on this vote may not help: its elected candidates have unsupported details "
    f"more often {_THAN}.",
    "open": f"{_UNKNOWN}: in unsupported details the difference between elected candidates and "
    "base's own output may be chance.",
    "nothing": f"{_UNKNOWN}: neither the elected candidates nor base's own output have an "
    "unsupported detail.",
    "few": f"{_UNKNOWN}: {{documents:,}} documents are fewer than {FEWEST}.",
    "chance": f"{_UNKNOWN}: this is the control, each document's scores shuffled.",
    "unknown": f"{_UNKNOWN}: what the model writes by itself is not known.",
    "candidates": f"{_UNKNOWN}: these candidates cannot support a verdict: {{warnings}}.",
}
# What is known of good candidates. It decides nothing: tuned models wrote more good summaries where
# elected candidates had fewer (docs/results.md).
_GOOD = {
    "less": f" Elected candidates are good less often {_THAN}.",
    "more": f" Elected candidates are good more often {_THAN}.",
}
# What to do next, in a pipeline and with lines of a file.
_NEXT = {
    "beats": (
        "`dvc repro` tunes on it. The control `dvc exp run -n control -S scoring.shuffle=true` "
        "shows how much of a gain comes from the vote.",
        "`brido score` and `brido export preferences --scores FILE` make training data of it.",
    ),
    "loses": (
        "look at the candidates; others (section `generation`) may vote better. `dvc repro` tunes "
        "anyway: it often helped all the same (docs/results.md).",
        "try other candidates, or more of them.",
    ),
    "few": (
        "use more documents, for instance `dvc exp run -S documents.validation=100`. "
        "`data.max_documents` may limit them too.",
        f"check at least {FEWEST} lines; 100 or more give useful intervals.",
    ),
    "nothing": (
        "another checker, `dvc exp run -S support.checker=minicheck`, may find more.",
        "give `unsupported` counts of a stricter judge in each line.",
    ),
    "chance": (
        "`dvc repro` tunes the control. What it gains does not come from the vote.",
        "check the scores that are not shuffled.",
    ),
    "open": (
        "more documents narrow the interval: raise `documents.validation`. `dvc repro` tunes "
        "anyway.",
        "more lines narrow the interval.",
    ),
    "unknown": (
        "`dvc repro score` makes the check with base's own output.",
        "add `own`, what the model writes by itself, to each line (--help).",
    ),
    "candidates": (
        "mend the candidates (section `generation`), then `dvc repro score`.",
        "mend the candidates.",
    ),
}


def verdict_lines(told: Mapping[str, Any], pipeline: bool = True) -> list[str]:
    """Return the answer in words, the numbers that it rests on, and the next command.

    told: the content of metrics/votes.json. pipeline: whether the documents are those of a run.

    Without intervals and differences for fewer than FEWEST documents.
    """
    election, warnings = told.get("election"), told.get("warnings", [])
    verdict = "candidates" if warnings else election["verdict"] if election else "unknown"
    answer = _ANSWERS[verdict].format(documents=told["documents"], warnings="; ".join(warnings))
    if verdict in ("beats", "loses", "open", "nothing"):
        answer += _GOOD.get(_direction(told), "")
    if election and election["caution"] and not warnings:
        answer = f"{answer} {election['caution']}"
    in_pipeline, in_file = _NEXT[verdict]
    following = in_pipeline if pipeline else in_file
    if not warnings and _is_better(told):
        answer = f"{answer} Another order of the candidates is better: see Next."
        following = _signal(told, pipeline)
    return [answer, _numbers(told), f"Next: {following}"]


def _direction(told: Mapping[str, Any]) -> str:
    """Whether elected candidates are good "less" or "more" often than base's own output.

    "" if the interval of the difference holds 0, or if it is not known.
    """
    good = told.get("election", {}).get("good")
    if not good or good["difference"]["low"] is None:
        return ""
    low, high = (good["difference"][end] for end in ("low", "high"))
    return "less" if high < 0 else "more" if low > 0 else ""


def _is_better(told: Mapping[str, Any]) -> bool:
    """Whether another order than the vote's is worth training on.

    Its elected candidates are good more often than the vote's and than base's own output.
    """
    signal = told.get("signal", {"name": "vote"})
    if signal["name"] == "vote":
        return False
    base = told.get("election", {}).get("good", {}).get("base")
    return not base or bool(signal["elected"]["mean"] > base["mean"])


def _signal(told: Mapping[str, Any], pipeline: bool) -> str:
    """What to train on instead of this vote."""
    signal = told["signal"]
    elected, vote = (100 * signal[who]["mean"] for who in ("elected", "vote"))
    how = f"`dvc exp run -S {signal['setting']}`" if pipeline else "docs/method.md says how"
    base = told.get("election", {}).get("good", {}).get("base")
    known = f" Base's own output is good in {100 * base['mean']:.1f} %." if base else ""
    return (
        f"train on {signal['label']} ({how}). Its elected candidates are good in {elected:.1f} % "
        f"of documents, those of this vote in {vote:.1f} %: {_points(signal['difference'])}.{known}"
    )


def _numbers(told: Mapping[str, Any]) -> str:
    """The shares and the accuracy behind the answer, and what the check does not look at."""
    election, documents = told.get("election"), told["documents"]
    numbers = [_unsupported(election, documents)] if election else []
    asked = "The check does not look at ROUGE."
    if election and "good" in election:
        numbers.append(_good(election["good"], documents))
    else:
        asked = (
            "This counts unsupported details only. The check does not look at ROUGE, or at whether "
            "sentences are whole."
        )
    return " ".join([*numbers, _accuracy(told), asked])


def _unsupported(election: Mapping[str, Any], documents: int) -> str:
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
    gap = _points(equal["difference"])
    return f"{told}; where both are equally long ({count:,} documents), {gap}."


def _good(good: Mapping[str, Any], documents: int) -> str:
    """Whose texts are good: whole, with nothing unsupported."""
    elected, own = (good[who]["mean"] for who in ("elected", "base"))
    if documents < FEWEST:
        shares = f"{round(elected * documents):,} and {round(own * documents):,}"
        return f"{shares} of them are good: whole, with nothing unsupported."
    return (
        f"{100 * elected:.1f} % of the elected candidates and {100 * own:.1f} % of base's own "
        "outputs are good (whole, with nothing unsupported): "
        f"{_points(good['difference'])}."
    )


def _points(share: Mapping[str, float]) -> str:
    mean, low, high = (f"{100 * share[key]:+.1f}" for key in ("mean", "low", "high"))
    return f"{mean} points [{low}, {high}]"


def _accuracy(told: Mapping[str, Any]) -> str:
    vote = told["accuracy"].get("vote", {})
    if not vote.get("pairs"):
        return (
            "How often the vote prefers the better one of two equally long candidates is not "
            "known: in this check such two never differ in unsupported details."
        )
    return (
        f"Of two equally long candidates the vote prefers the better one in "
        f"{interval(vote, told['documents'])} of {vote['pairs']:,} pairs (chance: 0.500)."
    )
