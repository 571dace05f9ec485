"""The numbers that the BRIDO paper prints, and the rows of its Tables 1 to 4.

Source: Lee, Goka and Ko, "BRIDO: Bringing Democratic Order to Abstractive Summarization", Tables 1
to 4. ROUGE is R-1, R-2, R-L; LERC, F1, EM and IsAns are QAFactEval's; consistency and average are
G-Eval's by GPT-4. The preliminary table has other numbers for BRIO on XSum than the main one
(LERC 1.927, IsAns 60.8, consistency 3.70): both are kept.
"""

from dataclasses import dataclass
from typing import Any, Literal

from brido.report.display import ColumnKey

COLUMNS: tuple[ColumnKey, ...] = (
    ("rouge", "r1"),
    ("rouge", "r2"),
    ("rouge", "rl"),
    ("qafacteval", "lerc"),
    ("qafacteval", "f1"),
    ("qafacteval", "em"),
    ("qafacteval", "is_answered"),
    ("geval", "consistency"),
    ("geval", "average"),
)
ETA = "generation.base.diversity_penalty"
ALPHA = "scoring.alpha"
INFINITY = float("inf")

System = Literal["reference", "base", "brio", "tuned"]
Numbers = dict[ColumnKey, float]


@dataclass(frozen=True)
class Row:
    """One row of a table: which system, with which settings changed, and the paper's numbers."""

    label: str
    system: System
    overrides: dict[str, Any]
    paper: Numbers


@dataclass(frozen=True)
class Layout:
    """One table: its caption, columns in print order, rows, and whether the worst is in italics."""

    number: int
    caption: str
    rows: tuple[Row, ...]
    columns: tuple[ColumnKey, ...] = COLUMNS
    italic_worst: bool = False


def _numbers(*values: float | None) -> Numbers:
    pairs = zip(COLUMNS, values, strict=True)
    return {column: value for column, value in pairs if value is not None}


# (eta, alpha) -> what the paper prints.
_BRIDO: dict[str, dict[tuple[float, float], Numbers]] = {
    "xsum": {
        (0.1, 0): _numbers(47.69, 24.62, 39.19, 2.028, 20.44, 11.71, 63.08, 3.80, 3.47),
        (0.3, 0): _numbers(47.33, 24.11, 38.57, 2.010, 20.50, 11.84, 62.96, 3.89, 3.56),
        (1.0, 0): _numbers(46.94, 23.77, 38.12, 2.007, 20.52, 11.81, 62.85, 3.86, 3.55),
        (0.3, 1): _numbers(47.34, 24.12, 38.58, 2.010, 20.46, 11.79, 63.02, 3.88, 3.55),
        (0.3, 31): _numbers(47.44, 24.25, 38.78, 2.008, 20.27, 11.55, 62.89, 3.91, 3.54),
        (0.3, INFINITY): _numbers(47.53, 24.49, 39.05, 2.012, 20.15, 11.49, 62.85, 3.77, 3.46),
    },
    "cnndm": {
        (1.0, 0): _numbers(45.81, 22.95, 42.51, 4.392, 75.45, 60.64, 95.45, 4.55, 3.93),
        (0.1, 0): _numbers(45.98, 22.97, 42.51, 4.414, 76.55, 62.18, 95.62, 4.55, 3.94),
        (0.3, 0): _numbers(46.06, 23.07, 42.66, 4.379, 75.21, 60.56, 95.35, 4.51, 3.92),
        (3.0, 0): _numbers(46.03, 22.99, 42.69, 4.417, 76.13, 61.41, 95.81, 4.58, 3.95),
        (10.0, 0): _numbers(45.42, 22.62, 42.05, 4.413, 76.64, 62.17, 95.65, 4.54, 3.94),
        (3.0, 1): _numbers(46.10, 23.03, 42.76, 4.411, 75.81, 61.07, 95.60, 4.53, 3.93),
        (3.0, 31): _numbers(46.65, 22.98, 43.00, 4.224, 70.61, 55.44, 93.71, 4.62, 4.02),
        (3.0, INFINITY): _numbers(47.21, 23.74, 43.67, 4.211, 70.25, 55.31, 93.52, 4.52, 3.97),
    },
}
_NONE = None
_REFERENCE = {
    "xsum": _numbers(_NONE, _NONE, _NONE, 1.713, 15.1, 7.8, 57.0, 3.70, _NONE),
    "cnndm": _numbers(_NONE, _NONE, _NONE, 3.460, 48.6, 33.4, 85.2, 4.43, _NONE),
}
_BASE = {
    "xsum": _numbers(47.18, 24.62, 39.37, 2.047, 20.29, 11.46, 62.97, 3.62, 3.31),
    "cnndm": _numbers(44.24, 21.30, 41.06, 4.551, 80.56, 66.17, 97.08, 4.42, 3.82),
}
_BRIO = {
    "xsum": _numbers(48.86, 25.54, 40.48, 1.956, 18.98, 10.47, 61.50, 3.68, 3.37),
    "cnndm": _numbers(47.74, 23.75, 44.55, 4.070, 65.88, 50.72, 92.38, 4.45, 3.91),
}
_BRIO_PRELIMINARY = {
    "xsum": _numbers(_NONE, _NONE, _NONE, 1.927, 18.98, 10.47, 60.8, 3.70, _NONE),
    "cnndm": {column: _BRIO["cnndm"][column] for column in COLUMNS[3:8]},
}
_BASE_NAME = {"xsum": "PEGASUS", "cnndm": "BART"}
# The eta of the main table, and the best one, at which alpha was varied.
_MAIN_ETA = {"xsum": 0.1, "cnndm": 1.0}
_BEST_ETA = {"xsum": 0.3, "cnndm": 3.0}


def paper_layouts(dataset: str) -> tuple[Layout, ...]:
    """Tables 1 to 4 of `dataset` ("xsum" or "cnndm") with the paper's numbers."""
    brido = _BRIDO[dataset]
    main, best = _MAIN_ETA[dataset], _BEST_ETA[dataset]
    base = Row(_BASE_NAME[dataset], "base", {}, _BASE[dataset])
    brio = Row("BRIO", "brio", {}, _BRIO[dataset])
    preliminary = Row("BRIO", "brio", {}, _BRIO_PRELIMINARY[dataset])
    factual = {column: _BASE[dataset][column] for column in COLUMNS[3:8]}
    first = (
        Row("reference", "reference", {}, _REFERENCE[dataset]),
        Row(base.label, "base", {}, factual),
        preliminary,
    )
    etas = sorted(eta for eta, alpha in brido if alpha == 0)
    alphas = [alpha for eta, alpha in brido if eta == best]
    return (
        Layout(1, "The faults of references and of BRIO", first, COLUMNS[3:8], italic_worst=True),
        Layout(2, "BRIDO against its base and BRIO", (base, brio, _row(brido, main, 0))),
        Layout(3, "Diversity penalty η, α = 0", tuple(_row(brido, eta, 0) for eta in etas)),
        Layout(
            4,
            f"Weight of the reference α, η = {best:g}",
            tuple(_row(brido, best, alpha) for alpha in alphas),
        ),
    )


def _row(brido: dict[tuple[float, float], Numbers], eta: float, alpha: float) -> Row:
    name = "∞" if alpha == INFINITY else f"{alpha:g}"
    label = f"BRIDO η = {eta:g}, α = {name}"
    return Row(label, "tuned", {ETA: eta, ALPHA: alpha}, brido[eta, alpha])
