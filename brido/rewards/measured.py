"""What a declared metric measures of a completion as its reward, beside the vote."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from brido.evaluation import Inputs
from brido.evaluation.metric import Column, Metric
from brido.evaluation.registry import find_metric
from brido.rewards.consensus import ConsensusReward
from brido.utils.arguments import CLEANING_RULES, CleaningRule, check_choices
from brido.utils.errors import ArgumentError
from brido.work.settings import RuntimeSettings


@dataclass(frozen=True)
class MetricReward:
    """A column of a metric (`brido.evaluation`) as the reward of each completion.

    The data set has the columns `document` and, for a metric such as ROUGE, `reference`: a text, or
    a list of texts. Where lower is better the reward is the negative number. It is None where the
    metric measures nothing, and for a completion that would have no vote (see ConsensusReward).

    measured: METRIC.COLUMN, such as `mentions.unsupported` or `rouge.r1`.
    settings: the metric's own section, such as `RougeSettings(tokenizer="unicode")`.
    rules, end_tokens: see ConsensusReward.

    Example:
        >>> reward = MetricReward("mentions.unsupported")
        >>> reward(["a", "a"], ["So Ann won.", "So Bob won."], document=["So Ann ran."] * 2)
        [0.0, -1.0]
    """

    measured: str
    settings: Any = None
    rules: tuple[CleaningRule, ...] = CLEANING_RULES
    end_tokens: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Raise BridoError for an unknown metric or column."""
        self._found()

    def _found(self) -> tuple[Metric, Column]:
        """The metric and the column that `measured` names."""
        metric_name, _, name = self.measured.partition(".")
        metric = find_metric(metric_name)
        columns = {column.name: column for column in metric.columns}
        check_choices({"measured": (name, tuple(columns))})
        return metric, columns[name]

    @property
    def __name__(self) -> str:
        """What trainers call the reward in their logs."""
        return self.measured

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """The reward of each completion, in their order; `columns` are those of the data set.

        Raises:
            ArgumentError: there is no column `document`, or see ConsensusReward.
            BridoError: what the metric says a user can mend.
        """
        if "document" not in columns:
            raise ArgumentError(f"{self.measured} needs the column `document` of the data set")
        reader = ConsensusReward(rules=self.rules, end_tokens=self.end_tokens)
        texts = [row.text for row in reader._read(prompts, completions, completion_ids)]
        told = columns.get("reference") or [[]] * len(texts)
        references = [[own] if isinstance(own, str) else own or [] for own in told]
        names = list(map(str, range(len(texts))))
        inputs = Inputs(names, columns["document"], texts, references)
        metric, column = self._found()
        found = metric.measure(inputs, self.settings, runtime=RuntimeSettings())
        sign = -1.0 if column.better == "lower" else 1.0
        rows = zip(found.rows, texts, strict=True)
        values = [row[column.name] if text else None for row, text in rows]
        return [None if value is None else 0.0 + sign * value for value in values]
