"""How each submetric is shown: label, unit, digits, and which direction is better."""

from dataclasses import dataclass, replace
from typing import Literal

Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True)
class Display:
    """How people see one submetric; `factor` times the stored number is what is printed.

    `interval_digits` are the digits of an interval's ends, None for as many as the mean has.
    """

    label: str
    better: Better = "higher"
    factor: float = 1.0
    digits: int = 2
    unit: str = ""
    headline: bool = False
    interval_digits: int | None = None

    def text(self, value: float, signed: bool = False) -> str:
        """The number as printed, without its unit; `signed` always shows + or -."""
        shown = value * self.factor
        # A rounded -0.00 would look like a loss.
        if round(shown, self.digits) == 0:
            shown = 0.0
        return f"{shown:{'+' if signed else ''}.{self.digits}f}"

    def ends(self, low: float, high: float, signed: bool = False) -> tuple[str, str]:
        """Both ends of an interval as printed."""
        digits = self.digits if self.interval_digits is None else self.interval_digits
        coarse = replace(self, digits=digits)
        return coarse.text(low, signed), coarse.text(high, signed)


def _points(label: str, headline: bool = False, unit: str = "") -> Display:
    """A score from 0 to 100 with the paper's two digits; its interval is never that sharp."""
    return Display(label, unit=unit, headline=headline, interval_digits=1)


def _share(label: str, better: Better, headline: bool = False) -> Display:
    return Display(label, better, 100.0, 1, "%", headline)


_MARKS = {
    "coherence": Display("coherence"),
    "consistency": Display("consistency", headline=True),
    "fluency": Display("fluency"),
    "relevance": Display("relevance"),
    "average": Display("average"),
    "average_normalised": Display("average (0 to 1)"),
}

# Length has no better direction, and neither has copying: both are shown so that the reader can
# see when a metric improved merely because summaries got shorter or more extractive.
DISPLAYS: dict[str, dict[str, Display]] = {
    "rouge": {
        "r1": _points("R-1", headline=True),
        "r2": _points("R-2", headline=True),
        "rl": _points("R-L"),
        "rlsum": _points("R-Lsum", headline=True),
    },
    "mentions": {
        "precision": _share("supported mentions", "higher"),
        "unsupported": _share("unsupported", "lower", headline=True),
    },
    "extractiveness": {
        "coverage": _share("coverage", "neither"),
        "density": Display("density", "neither"),
        "novel_ngrams": _share("novel n-grams", "neither"),
        "compression": Display("compression", "neither"),
        "length": Display("words", "neither", digits=1, headline=True),
    },
    "world_qa": {
        "is_answered": _points("answered", unit="%"),
        "f1": _points("QA F1", headline=True),
        "em": _points("QA EM"),
    },
    "world_judge": _MARKS,
    "qafacteval": {
        "lerc": Display("LERC", digits=3, headline=True),
        "f1": _points("QA F1", headline=True),
        "em": _points("QA EM"),
        "is_answered": _points("answered", unit="%"),
        "n_questions": Display("questions", "neither"),
        "without_questions": _share("without questions", "neither"),
    },
    "geval": _MARKS
    | {
        "average": Display("average", headline=True),
        "valid_answers": Display("valid answers", "neither", digits=1),
    },
}

METRIC_LABELS = {
    "rouge": "ROUGE",
    "mentions": "Mentions",
    "extractiveness": "Extractiveness",
    "world_qa": "World QA",
    "world_judge": "World judge",
    "qafacteval": "QAFactEval",
    "geval": "G-Eval",
}


def display(metric: str, submetric: str) -> Display:
    """How a submetric is shown; an unknown one is shown by its own name, without a direction."""
    known = DISPLAYS.get(metric, {}).get(submetric)
    return known or Display(submetric.replace("_", " "), "neither")


def known_columns() -> list[tuple[str, str]]:
    """Every known (metric, submetric) pair in the order in which tables show them."""
    return [(metric, name) for metric, names in DISPLAYS.items() for name in names]


def metric_label(metric: str) -> str:
    """The metric's name as people write it."""
    return METRIC_LABELS.get(metric, metric)


def is_headline(metric: str, submetric: str) -> bool:
    """Whether the submetric stands in the short table that the report stage prints."""
    return display(metric, submetric).headline
