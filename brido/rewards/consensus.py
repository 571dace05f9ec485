"""The consensus of a prompt's completions as their reward: Eq. 2 while a model writes.

TRL's GRPOTrainer and RLOOTrainer take `consensus_reward` in `reward_funcs`. Nothing of TRL is
imported here.
"""

import json
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from brido.candidates.cleaning import clean
from brido.rouge import similarity_matrix
from brido.rouge.pairwise import Combination, Tokenizer
from brido.utils.arguments import CLEANING_RULES, CleaningRule, check_choices
from brido.utils.errors import ArgumentError, quoted
from brido.utils.text import (
    one_sentence_a_line,
    unseen_share,
    unseen_warning,
)
from brido.vote.consensus import consensus_scores
from brido.vote.signals import shuffled_scores


class _Completion(NamedTuple):
    prompt: str
    text: str  # empty if it does not vote


@dataclass(frozen=True)
class ConsensusReward:
    """The consensus score (Eq. 2 without a reference) of each completion among its prompt's.

    Completions of equal prompts are one group, those of all processes of torch.distributed
    together. A completion that did not end, is empty or refuses to answer does not vote and has the
    reward None, and so has one whose group has no other voter. TRL gives None no advantage.

    shuffled: the control, the same scores shuffled among the voters of each prompt.
    rules: how completions are cleaned before they vote, as `pool.clean` of the pipeline.
    end_tokens: the model's end tokens. A completion whose last token is none of them did not end;
        without them every completion counts as ended.
    combination, tokenizer: see `brido.rouge.similarity_matrix`.

    Example:
        >>> reward = ConsensusReward()
        >>> reward(["a", "a", "a"], ["the cat sat", "the cat slept", "a dog"])
        [0.2857142984867096, 0.2857142984867096, 0.0]
    """

    shuffled: bool = False
    rules: tuple[CleaningRule, ...] = CLEANING_RULES
    end_tokens: tuple[int, ...] | None = None
    combination: Combination = "harmonic_r1_r2"
    tokenizer: Tokenizer = "rouge_score"

    def __post_init__(self) -> None:
        """Raise ArgumentError for an unknown rule, which would clean nothing."""
        for rule in self.rules:
            check_choices({"rule": (rule, CLEANING_RULES)})

    @property
    def __name__(self) -> str:
        """What trainers call the reward in their logs."""
        return "shuffled_consensus_reward" if self.shuffled else "consensus_reward"

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """The reward of each completion, in their order.

        prompts, completions: texts, or lists of messages, of which the last one's text counts.
        completion_ids: their tokens, which `end_tokens` needs. columns: what else TRL hands over;
        of it `log_metric` is told the share of groups whose scores tie and the share of completions
        without a score.

        Raises:
            ArgumentError: the lists are not equally long, or a completion is no text.
        """
        local = self._read(prompts, completions, completion_ids)
        if self.tokenizer == "rouge_score":
            share = unseen_share([row.text for row in local if row.text])
            if warning := unseen_warning(share, "Set tokenizer='unicode'"):
                warnings.warn(warning, stacklevel=2)
        rows, first = _of_all_processes(local)
        rewards: list[float | None] = [None] * len(rows)
        groups: dict[str, list[int]] = {}
        for place, row in enumerate(rows):
            if row.text:
                groups.setdefault(row.prompt, []).append(place)
        tied = []
        for prompt, voters in groups.items():
            if len(voters) > 1:
                scores = self._scores(prompt, [rows[place].text for place in voters])
                tied.append(min(scores) == max(scores))
                for place, score in zip(voters, scores, strict=True):
                    rewards[place] = score
        if "log_metric" in columns and rows:
            columns["log_metric"]("consensus/tied_groups", sum(tied) / max(len(tied), 1))
            columns["log_metric"]("consensus/unscored", rewards.count(None) / len(rows))
        return rewards[first : first + len(local)]

    def _read(
        self, prompts: Sequence[Any], completions: Sequence[Any], ids: Sequence[Any] | None
    ) -> list[_Completion]:
        if self.end_tokens is not None and ids is None:
            raise ArgumentError("end_tokens need completion_ids, the tokens of each completion")
        ids = [()] * len(completions) if ids is None else ids
        if not len(prompts) == len(completions) == len(ids):
            raise ArgumentError(
                f"{len(prompts)} prompts and {len(completions)} completions: give a prompt for "
                "each completion (and its completion_ids, if you give any)"
            )
        return [self._one(*one) for one in zip(prompts, completions, ids, strict=True)]

    def _one(self, prompt: Any, completion: Any, tokens: Sequence[int]) -> _Completion:
        """A completion; of messages the last one counts, its parts of text joined."""
        content = completion
        if isinstance(completion, list) and completion and isinstance(completion[-1], dict):
            content = completion[-1].get("content") or ""
        if isinstance(content, list):
            content = "".join(part.get("text") or "" for part in content)
        if not isinstance(content, str):
            raise ArgumentError(
                f"a completion must be a text or a list of messages, not {quoted(completion)}"
            )
        cleaned = clean(content, self.rules)
        ended = self.end_tokens is None or any(one in self.end_tokens for one in tokens[-1:])
        key = prompt if isinstance(prompt, str) else json.dumps(prompt, sort_keys=True)
        return _Completion(key, cleaned.text if cleaned.answers and ended else "")

    def _scores(self, prompt: str, texts: list[str]) -> list[float]:
        if self.combination == "mean_r1_r2_rlsum":
            texts = [one_sentence_a_line(text, self.tokenizer == "unicode") for text in texts]
        similarity = similarity_matrix(texts, "", self.combination, tokenizer=self.tokenizer)
        scores = consensus_scores(similarity, alpha=0)
        return (shuffled_scores(scores[None], [prompt])[0] if self.shuffled else scores).tolist()


def _of_all_processes(rows: list[_Completion]) -> tuple[list[_Completion], int]:
    """The completions of all processes in the order of their ranks, and where ours begin."""
    torch = sys.modules.get("torch")  # a process without PyTorch is one of one
    group = torch and torch.distributed
    if not (group and group.is_available() and group.is_initialized()):
        return rows, 0
    parts: list[list[_Completion]] = [[] for _ in range(group.get_world_size())]
    group.all_gather_object(parts, rows)
    return [*chain(*parts)], sum(map(len, parts[: group.get_rank()]))


consensus_reward = ConsensusReward()
