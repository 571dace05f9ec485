"""Rewards for trainers that write several completions of each prompt: the vote, and metrics.

TRL's GRPOTrainer and RLOOTrainer take them in `reward_funcs`. Nothing of TRL is imported here.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from brido.candidates.cleaning import clean
from brido.rouge import similarity_matrix
from brido.rouge.pairwise import Tokenizer
from brido.utils.arguments import CLEANING_RULES, CleaningRule, check_choices
from brido.utils.errors import ArgumentError
from brido.vote.consensus import consensus_scores
from brido.vote.signals import shuffled_scores

Ids = Sequence[Sequence[int]] | None


@dataclass(frozen=True)
class ConsensusReward:
    """The consensus score (Eq. 2 without a reference) of each completion among its prompt's.

    Completions of equal prompts are one group, those of all processes of torch.distributed
    together. A completion that did not end, is empty or refuses to answer does not vote and has the
    reward None, and so has one whose group has no other voter. TRL gives None no advantage.

    shuffled: the control, the same scores shuffled among the voters of each prompt.
    rules: how completions are cleaned before they vote, as `pool.clean` of the pipeline.
    end_tokens: a completion whose last token is none of them did not end; None: all ended.
    tokenizer: see `brido.rouge.similarity_matrix`.

    Example:
        >>> reward = ConsensusReward()
        >>> reward(["a", "a", "a"], ["the cat sat", "the cat slept", "a dog"])
        [0.2857142984867096, 0.2857142984867096, 0.0]
    """

    shuffled: bool = False
    rules: tuple[CleaningRule, ...] = CLEANING_RULES
    end_tokens: tuple[int, ...] | None = None
    tokenizer: Tokenizer = "rouge_score"

    def __post_init__(self) -> None:
        """Raise ArgumentError for a rule that there is not."""
        for rule in self.rules:
            check_choices({"rule": (rule, CLEANING_RULES)})

    @property
    def __name__(self) -> str:
        """What trainers call the reward in their logs."""
        return "shuffled_consensus_reward" if self.shuffled else "consensus_reward"

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], completion_ids: Ids = None,
        **columns: Any,
    ) -> list[float | None]:  # fmt: skip
        """The reward of each completion, in their order.

        prompts, completions: texts, or lists of messages, of which the last one's text counts.
        completion_ids: their tokens, which `end_tokens` needs. Of what else TRL hands over
        `log_metric` is told the share of groups whose scores tie. ValueError: other lengths, or
        `end_tokens` without `completion_ids`.
        """
        keys = [one if isinstance(one, str) else json.dumps(one, sort_keys=True) for one in prompts]
        texts = _voting(completions, completion_ids, self.rules, self.end_tokens)
        rows, first = _of_all_processes(list(zip(keys, texts, strict=True)))
        rewards: list[float | None] = [None] * len(rows)
        tied = []
        for prompt in dict.fromkeys(prompt for prompt, _ in rows):
            voters = [place for place, (key, text) in enumerate(rows) if key == prompt and text]
            if len(voters) < 2:
                continue
            own = [rows[place][1] for place in voters]
            matrix = similarity_matrix(own, "", "harmonic_r1_r2", tokenizer=self.tokenizer)
            scores = consensus_scores(matrix, alpha=0)
            if self.shuffled:
                scores = shuffled_scores(scores[None], [prompt])[0]
            tied.append(bool(scores.min() == scores.max()))
            for place, score in zip(voters, scores.tolist(), strict=True):
                rewards[place] = score
        if "log_metric" in columns and tied:
            columns["log_metric"]("consensus/tied_groups", sum(tied) / len(tied))
        return rewards[first : first + len(texts)]


class MetricReward:
    """A column of a metric (`brido.evaluation`) as the reward of each completion.

    The data set has the columns `document` and, for a metric such as ROUGE, `reference`: a text, or
    a list of texts. Where lower is better the reward is the negative number. It is None where the
    metric measures nothing, and for a completion that would have no vote (see ConsensusReward).

    Example:
        >>> reward = MetricReward("mentions.unsupported")
        >>> reward(["a", "a"], ["So Ann won.", "So Bob won."], document=["So Ann ran."] * 2)
        [0.0, -1.0]
    """

    def __init__(
        self, measured: str, settings: Any = None, end_tokens: tuple[int, ...] | None = None
    ) -> None:
        """measured: METRIC.COLUMN; settings: the metric's own section. BridoError: unknown."""
        from brido.evaluation.registry import find_metric

        name, _, self.column = measured.partition(".")
        self.metric, self.settings, self.end_tokens = find_metric(name), settings, end_tokens
        self.__name__ = measured  # what trainers call it in their logs
        better = {column.name: column.better for column in self.metric.columns}
        check_choices({"measured": (self.column, tuple(better))})
        self.sign = -1.0 if better[self.column] == "lower" else 1.0

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], completion_ids: Ids = None,
        **columns: Any,
    ) -> list[float | None]:  # fmt: skip
        """The reward of each completion, in their order; `columns` are those of the data set.

        ArgumentError: the data set has no column `document`.
        """
        from brido.evaluation import Inputs
        from brido.work.settings import RuntimeSettings

        if "document" not in columns:
            raise ArgumentError(f"{self.__name__} needs a column `document` in the data set")

        texts = _voting(completions, completion_ids, CLEANING_RULES, self.end_tokens)
        told = columns.get("reference") or [[]] * len(texts)
        references = [[own] if isinstance(own, str) else own or [] for own in told]
        inputs = Inputs([str(n) for n in range(len(texts))], columns["document"], texts, references)
        rows = self.metric.measure(inputs, self.settings, runtime=RuntimeSettings()).rows
        values = [row[self.column] if text else None for row, text in zip(rows, texts, strict=True)]
        return [None if value is None else 0.0 + self.sign * value for value in values]


def _voting(completions: Sequence[Any], ids: Ids, rules: Any, end_tokens: Any) -> list[str]:
    """The cleaned text of each completion, "" where it has no vote; see `ConsensusReward`."""
    if end_tokens is not None and ids is None:
        raise ArgumentError("end_tokens need completion_ids, the tokens of each completion")
    texts = []
    for completion, tokens in zip(completions, ids or [()] * len(completions), strict=True):
        content = completion if isinstance(completion, str) else completion[-1].get("content")
        if isinstance(content, list):
            content = "".join(part.get("text") or "" for part in content)
        cleaned = clean(content or "", rules)
        ended = end_tokens is None or any(one in end_tokens for one in tokens[-1:])
        texts.append(cleaned.text if cleaned.answers and ended else "")
    return texts


def _of_all_processes(rows: list[tuple[str, str]]) -> tuple[list[tuple[str, str]], int]:
    """The rows of all processes in the order of their ranks, and where ours begin."""
    torch = sys.modules.get("torch")  # a process without PyTorch is one of one
    group = torch and torch.distributed
    if not (group and group.is_available() and group.is_initialized()):
        return rows, 0
    parts: list[list[tuple[str, str]]] = [[] for _ in range(group.get_world_size())]
    group.all_gather_object(parts, rows)
    return [*chain(*parts)], sum(map(len, parts[: group.get_rank()]))


consensus_reward = ConsensusReward()
