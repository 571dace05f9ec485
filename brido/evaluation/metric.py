"""What a metric of summaries is. Each is declared once, in a module or package of its own:

    METRIC = Metric(
        name="rouge",
        label="ROUGE",
        columns=(points("r1", "R-1", headline=True), ...),
        evaluate=evaluate,
        settings=RougeSettings,
    )

From this declaration come its section of params.yaml, its table, and how every table, figure and
page shows its numbers. `registry` finds the metrics by name. The declaration is read with the
settings of every stage, so its module imports heavy libraries inside `evaluate` alone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any, Literal

from brido.utils.arguments import as_texts
from brido.utils.errors import ArgumentError, BridoError
from brido.utils.progress import MakeProgress, quiet
from brido.utils.sections import Section
from brido.work.settings import RuntimeSettings


@dataclass(frozen=True)
class Column:
    """One number of a metric, and how people see it.

    `factor` times the stored number is printed, with `digits` digits and, in a heading, with
    `unit`. `label` is the name in tables ("" for the column's own), `better` the direction,
    `interval_digits` the digits of an interval's ends (None for as many as the mean has).
    `headline` columns stand in the short table.
    """

    name: str
    label: str = ""
    better: Literal["higher", "lower", "neither"] = "higher"
    unit: str = ""
    factor: float = 1.0
    digits: int = 2
    interval_digits: int | None = None
    headline: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.name.replace("_", " "))

    @property
    def heading(self) -> str:
        """The label with the unit."""
        return f"{self.label} {self.unit}".rstrip()

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


def points(name: str, label: str = "", **shown: Any) -> Column:
    """A score from 0 to 100 with the paper's two digits; its interval is never that sharp.

    Example:
        >>> points("r1", "ROUGE-1").text(46.618)
        '46.62'
    """
    return Column(name, label, interval_digits=1, **shown)


def share(name: str, label: str = "", **shown: Any) -> Column:
    """A share from 0 to 1, printed in per cent.

    Example:
        >>> share("unsupported").text(0.254)
        '25.4'
    """
    return Column(name, label, unit="%", factor=100.0, digits=1, **shown)


@dataclass(frozen=True)
class Support:
    """How a metric's numbers say whether the document supports a summary.

    column: the number that says how far it does. threshold: what a supported summary reaches, at
    least, or at most where lower is better; None for marks without one. step: by how much a mark
    must get worse to mean anything. whole: the column that says whether the text is whole, if any.
    """

    column: str
    threshold: float | None = None
    step: float = 0.0
    whole: str | None = None


@dataclass(frozen=True)
class Inputs:
    """What a metric sees: the documents of one split and one system's summaries, aligned.

    `references[i]` holds every reference of document i. `facts[i]` holds the facts of document i as
    the corpus table has them (a list of dicts with the keys slot, type, value and in_document);
    `facts` is None where the corpus table has no such column (every corpus but the
    world).
    """

    ids: Sequence[str]
    documents: Sequence[str]
    summaries: Sequence[str]
    references: Sequence[Sequence[str]]
    facts: Sequence[Sequence[dict[str, Any]]] | None = None

    def check(self) -> None:
        """Raise ArgumentError unless these are texts, one of each for every document."""
        as_texts("documents", self.documents)
        as_texts("summaries", self.summaries)
        for place, own in enumerate(self.references):
            as_texts(f"references[{place}]", own)
        sizes = [len(self.ids), len(self.documents), len(self.summaries), len(self.references)]
        if len(set(sizes)) > 1:
            raise ArgumentError(
                "give ids, documents, summaries and references, one of each for every document, "
                f"not {sizes}"
            )


@dataclass(frozen=True)
class Evaluation:
    """One metric's answer: per document a row of numbers and a detail, and one signature.

    Rows and details stand in the order of the inputs. A number is None where it was not measured:
    it becomes a null and counts in no mean. A detail is anything that JSON takes, for the page;
    `signature` names implementation, version and settings, all it takes to get the numbers again;
    `counts` are sums over the documents that belong into it, such as a number of questions.
    """

    rows: list[dict[str, float | None]]
    details: list[Any]
    signature: dict[str, Any]
    counts: dict[str, int] = field(default_factory=dict)

    def means(self) -> dict[str, float]:
        """The mean of each column over the documents that have a number, NaN where none has."""
        means = {}
        for name in self.rows[0] if self.rows else ():
            values = [value for row in self.rows if (value := row[name]) is not None]
            means[name] = fmean(values) if values else math.nan
        return means


def by_document(
    name: str,
    inputs: Inputs,
    progress: MakeProgress,
    measure: Callable[[int], tuple[dict[str, float | None], Any]],
    signature: dict[str, Any],
) -> Evaluation:
    """Measure one document after the other: `measure` takes its place and returns row and detail.

    name: what `progress` calls the metric.

    Example:
        >>> inputs = Inputs(["a"], ["A cat sat."], ["A cat."], [["A cat."]])
        >>> words = lambda place: ({"words": len(inputs.summaries[place].split())}, None)
        >>> from brido.utils.progress import quiet
        >>> by_document("words", inputs, quiet, words, {}).rows
        [{'words': 2}]
    """
    rows, details = [], []
    with progress(name, len(inputs.ids), "documents") as bar:
        for index in range(len(inputs.ids)):
            row, detail = measure(index)
            rows.append(row)
            details.append(detail)
            bar.advance()
    return Evaluation(rows, details, signature)


@dataclass(frozen=True)
class Metric:
    """A metric as its module declares it.

    `evaluate(inputs, settings, progress)` measures: `settings` is an instance of the class
    `settings`, the metric's own section `evaluation.NAME`, and `progress(label, total, unit)`
    makes a display (`brido.utils.progress.Progress`). It raises BridoError for what a user can
    cause, and never returns fewer rows than it was given.

    `computed_on`: cores, device (a model) or server. On the last two `evaluate` also takes
    `params.runtime` (device, batch sizes, limits), which never changes a number. A document's row
    depends on no other document, so workers measure parts of a system; a server gets all of them in
    one call, from the stage's own process.

    `against_references`: it compares with the references, so that these have no number of their
    own. `chooses`: stage choose compares systems by it, so it measures validation documents too.
    `needs_facts`: it measures nothing without the world's facts, and decides there what is good.
    `support`: how its numbers say what the document supports, if they do.
    """

    name: str
    label: str
    columns: tuple[Column, ...]
    evaluate: Callable[..., Evaluation]
    settings: type[Section] = Section
    computed_on: Literal["cores", "device", "server"] = "cores"
    against_references: bool = False
    chooses: bool = False
    needs_facts: bool = False
    support: Support | None = None

    @property
    def decides(self) -> str:
        """The column that says which summaries are good: `good`, else the one of `support`."""
        return "good" if "good" in self.names or not self.support else self.support.column

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in the order in which tables show them."""
        return tuple(column.name for column in self.columns)

    def measure(
        self,
        inputs: Inputs,
        settings: Section | None = None,
        progress: MakeProgress = quiet,
        runtime: RuntimeSettings | None = None,
    ) -> Evaluation:
        """The metric of one system's summaries; default settings, and nothing shown, unless given.

        Raises:
            ArgumentError: the inputs are not lists of texts, or not equally many.
            BridoError: what the metric says a user can mend.
            ValueError: the metric broke its declaration: other columns, or other rows than inputs.
        """
        inputs.check()
        if self.needs_facts and inputs.facts is None:
            raise BridoError(
                f"evaluation.metrics: {self.name} needs the column `facts` of the embedded world, "
                f"which this corpus lacks: write qafacteval or geval in place of {self.name}"
            )
        extra = () if self.computed_on == "cores" else (runtime,)
        result = self.evaluate(inputs, settings or self.settings(), progress, *extra)
        if not len(result.rows) == len(result.details) == len(inputs.ids):
            raise ValueError(f"{self.name}: {len(result.rows)} rows of {len(inputs.ids)} documents")
        if any(tuple(row) != self.names for row in result.rows):
            raise ValueError(f"{self.name}: a row has other columns than {self.names}")
        return result
