"""The rows and columns of the paper's Tables 1 to 4, with the numbers that the paper prints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from brido.report.display import ColumnKey
from brido.settings.load import read_yaml

NUMBERS = Path(__file__).parent / "paper.yaml"
GRIDS = Path(__file__).parent / "grids"
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
# Table 1 has no ROUGE and no average.
FACTUAL = COLUMNS[3:8]
ETA = "generation.base.diversity_penalty"
ALPHA = "scoring.alpha"
INFINITY = float("inf")

System = Literal["reference", "base", "brio", "tuned"]


@dataclass(frozen=True)
class Row:
    """One row of a table: which system, with which settings changed, and the paper's numbers."""

    label: str
    system: System
    overrides: Mapping[str, Any]
    paper: Mapping[ColumnKey, float]


@dataclass(frozen=True)
class Layout:
    """One table: its caption, columns in print order, rows, and whether the worst is in italics."""

    number: int
    caption: str
    rows: tuple[Row, ...]
    columns: tuple[ColumnKey, ...] = COLUMNS
    italic_worst: bool = False


def paper_runs(dataset: str) -> dict[str, dict[str, Any]]:
    """The tuned models of the tables of "xsum" or "cnndm": name -> changed keys of params.yaml."""
    return read_yaml(GRIDS / f"paper-{dataset}.yaml")["runs"]


def paper_layouts(dataset: str) -> tuple[Layout, ...]:
    """Tables 1 to 4 of `dataset` ("xsum" or "cnndm") with the paper's numbers."""
    paper, runs = read_yaml(NUMBERS)[dataset], paper_runs(dataset)
    best = runs[paper["best"]][ETA]

    def tuned(name: str) -> Row:
        values = {key: float(value) for key, value in runs[name].items()}
        label = f"BRIDO η = {values[ETA]:g}, α = {alpha_text(values[ALPHA])}"
        return Row(label, "tuned", values, _numbers(paper["runs"][name]))

    reference = Row("reference", "reference", {}, _numbers(paper["reference"]))
    numbers = _numbers(paper["base"])
    base = Row(paper["name"], "base", {}, numbers)
    factual = Row(base.label, "base", {}, {column: numbers[column] for column in FACTUAL})
    brio = Row("BRIO", "brio", {}, _numbers(paper["brio"]))
    preliminary = Row("BRIO", "brio", {}, _numbers(paper["preliminary"]))
    first = (reference, factual, preliminary)
    etas = tuple(tuned(name) for name, run in runs.items() if run[ALPHA] == 0)
    alphas = tuple(tuned(name) for name, run in runs.items() if run[ETA] == best)
    return (
        Layout(1, "The faults of references and of BRIO", first, FACTUAL, italic_worst=True),
        Layout(2, "BRIDO against its base and BRIO", (base, brio, tuned(paper["main"]))),
        Layout(3, "Diversity penalty η, α = 0", etas),
        Layout(4, f"Weight of the reference α, η = {best:g}", alphas),
    )


def alpha_text(alpha: float) -> str:
    """Alpha as the tables print it."""
    return "∞" if alpha == INFINITY else f"{alpha:g}"


def _numbers(values: Sequence[float | None]) -> dict[ColumnKey, float]:
    pairs = zip(COLUMNS, values, strict=True)
    return {column: value for column, value in pairs if value is not None}
