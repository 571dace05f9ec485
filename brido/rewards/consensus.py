"""The consensus of a prompt's completions as their reward: Eq. 2 while a model writes.

TRL's GRPOTrainer and RLOOTrainer take `consensus_reward` in `reward_funcs`. Nothing of TRL is
imported here.
"""

import json
import sys
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from brido.candidates.cleaning import clean
from brido.rouge import similarity_matrix
from brido.rouge.pairwise import Combination, Tokenizer
from brido.utils.arguments import as_list
from brido.utils.cleaning_rules import CLEANING_RULES, CleaningRule
from brido.utils.errors import ArgumentError, quoted
from brido.utils.text import one_sentence_a_line, unseen_share, unseen_warning
from brido.vote.consensus import consensus_scores
from brido.vote.signals import shuffled_scores


@dataclass(frozen=True)
class _Completion:
    """What a reward needs to know of a completion; `text` is empty if it does not vote."""

    prompt: str
    text: str


@dataclass(frozen=True)
class ConsensusReward:
    """The consensus score (Eq. 2 without a reference) of each completion among its prompt's.

    Completions of equal prompts are one group. They are cleaned as the pipeline's candidates are
    (`rules`: those of `pool.clean`). A completion that did not end, is empty or refuses to answer
    does not vote and has the reward None, and so has one whose group has no other voter. TRL gives
    None no advantage.

    shuffled: the control, the same scores shuffled among the voters of each prompt.
    combination, use_stemmer, tokenizer: see `brido.rouge.similarity_matrix`.
    end_tokens: the model's end tokens. A completion whose last token is none of them did not end;
        without them every completion counts as ended.
    num_generations: completions of a group, checked. A prompt that is in the batch twice is then
        two groups; without it, one larger group.
    gather: on several processes of torch.distributed, which may split a group, the completions of
        all processes vote together. All processes must call the reward equally often.

    Example:
        >>> reward = ConsensusReward()
        >>> reward(["a", "a", "a"], ["the cat sat", "the cat slept", "a dog"])
        [0.2857142984867096, 0.2857142984867096, 0.0]
    """

    shuffled: bool = False
    combination: Combination = "harmonic_r1_r2"
    use_stemmer: bool = True
    tokenizer: Tokenizer = "rouge_score"
    rules: tuple[CleaningRule, ...] = CLEANING_RULES
    end_tokens: tuple[int, ...] | None = None
    num_generations: int | None = None
    gather: bool = True

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            ArgumentError: some cannot be used; all of them are named.
        """
        problems = list(_setting_problems(self))
        if problems:
            raise ArgumentError.from_problems("ConsensusReward cannot be made:", problems)

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

        prompts, completions: texts (standard), or lists of messages (conversational), of which the
        last one's text counts. completion_ids: their tokens, which `end_tokens` needs. columns:
        what else TRL hands over; of it `log_metric` is told the share of groups whose scores tie
        and the share of completions without a score.

        Raises:
            ArgumentError: the lists are not equally long, something is not a text or messages, or a
                group has not `num_generations` completions.
        """
        local = self._read(prompts, completions, completion_ids)
        if self.tokenizer == "rouge_score":
            share = unseen_share([row.text for row in local if row.text])
            if warning := unseen_warning(share, "Set tokenizer='unicode'"):
                warnings.warn(warning, stacklevel=2)
        rows, first = _of_all_processes(local) if self.gather else (local, 0)
        rewards: list[float | None] = [None] * len(rows)
        tied = groups = 0
        for prompt, places in self._groups(rows):
            voters = [place for place in places if rows[place].text]
            if len(voters) < 2:
                continue
            scores = self._scores(prompt, [rows[place].text for place in voters])
            groups += 1
            tied += bool(np.ptp(scores) == 0)
            for place, score in zip(voters, scores.tolist(), strict=True):
                rewards[place] = score
        if "log_metric" in columns and rows:
            columns["log_metric"]("consensus/tied_groups", tied / max(groups, 1))
            columns["log_metric"]("consensus/unscored", rewards.count(None) / len(rows))
        return rewards[first : first + len(local)]

    def _read(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]] | None,
    ) -> list[_Completion]:
        prompts = as_list("prompts", prompts, "a list of texts or messages")
        completions = as_list("completions", completions, "a list of texts or messages")
        if self.end_tokens is not None and completion_ids is None:
            raise ArgumentError("end_tokens need completion_ids, the tokens of each completion")
        ids = completion_ids if self.end_tokens is not None else None
        if len(prompts) != len(completions) or (ids is not None and len(ids) != len(completions)):
            raise ArgumentError(
                f"{len(prompts)} prompts and {len(completions)} completions: give a prompt for "
                "each completion (and its completion_ids, if you give any)"
            )
        rows = []
        for index, (prompt, completion) in enumerate(zip(prompts, completions, strict=True)):
            cleaned = clean(_text(completion, f"completions[{index}]"), self.rules)
            votes = cleaned.answers and (ids is None or self._ended(ids[index]))
            rows.append(_Completion(_key(prompt, index), cleaned.text if votes else ""))
        return rows

    def _ended(self, tokens: Sequence[int]) -> bool:
        return len(tokens) > 0 and int(tokens[-1]) in (self.end_tokens or ())

    def _groups(self, rows: list[_Completion]) -> Iterator[tuple[str, list[int]]]:
        """Each group's prompt and the places of its completions."""
        by_prompt: dict[str, list[int]] = {}
        for place, row in enumerate(rows):
            by_prompt.setdefault(row.prompt, []).append(place)
        for prompt, places in by_prompt.items():
            size = self.num_generations or len(places)
            if len(places) % size:
                raise ArgumentError(
                    f"prompt {quoted(prompt)} has {len(places)} completions, but num_generations "
                    f"is {size}: its group is split over processes, and a part of a group cannot "
                    "vote alone. Leave `gather` on, or keep whole groups on each process"
                )
            for start in range(0, len(places), size):
                yield prompt, places[start : start + size]

    def _scores(self, prompt: str, texts: list[str]) -> NDArray[np.float64]:
        if self.combination == "mean_r1_r2_rlsum":
            texts = [one_sentence_a_line(text, self.tokenizer == "unicode") for text in texts]
        similarity = similarity_matrix(
            texts, "", self.combination, use_stemmer=self.use_stemmer, tokenizer=self.tokenizer
        )
        scores = consensus_scores(similarity, alpha=0)
        return shuffled_scores(scores[None], [prompt])[0] if self.shuffled else scores


def _text(completion: Any, name: str) -> str:
    """A completion's text; of messages that of the last one."""
    if isinstance(completion, str):
        return completion
    message = completion[-1] if isinstance(completion, list) and completion else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        # A part of another kind, such as an image, has no text.
        if all(isinstance(part, str | None) for part in parts):
            content = "".join(part or "" for part in parts)
    if isinstance(message, dict) and isinstance(content, str | None):
        return content or ""
    raise ArgumentError(f"{name} must be a text or a list of messages, not {quoted(completion)}")


def _setting_problems(reward: ConsensusReward) -> Iterator[str]:
    """What is wrong with the settings of a reward."""
    choices = {"combination": get_args(Combination), "tokenizer": get_args(Tokenizer)}
    choices |= dict.fromkeys(("shuffled", "use_stemmer", "gather"), (True, False))
    for name, known in choices.items():
        value = getattr(reward, name)
        if type(value) is not type(known[0]) or value not in known:
            yield f"{name} must be {' or '.join(map(str, known))}, not {quoted(value)}"
    every = ", ".join(CLEANING_RULES)
    if isinstance(reward.rules, str) or not isinstance(reward.rules, Collection):
        yield f"rules must be a tuple of {every}, not {quoted(reward.rules)}"
    else:
        for rule in reward.rules:
            if rule not in CLEANING_RULES:
                yield f"rules: {quoted(rule)} is unknown; known are {every}"
    tokens = reward.end_tokens
    if tokens is not None and not (
        isinstance(tokens, Collection)
        and len(tokens) > 0
        and all(isinstance(token, Integral) and not isinstance(token, bool) for token in tokens)
    ):
        yield f"end_tokens must be token ids, such as (2,), or None, not {quoted(tokens)}"
    size = reward.num_generations
    if size is not None and (not isinstance(size, Integral) or isinstance(size, bool) or size < 2):
        yield f"num_generations must be at least 2, since one cannot vote, not {quoted(size)}"


def _key(prompt: Any, index: int) -> str:
    """What completions of one prompt have in common."""
    if isinstance(prompt, str):
        return prompt
    try:
        return json.dumps(prompt, ensure_ascii=False, sort_keys=True)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"prompts[{index}] must be a text or a list of messages of text, not {quoted(prompt)}"
        ) from None


def _of_all_processes(rows: list[_Completion]) -> tuple[list[_Completion], int]:
    """The completions of all processes in the order of their ranks, and where ours begin."""
    # A process without PyTorch is one of one.
    torch = sys.modules.get("torch")
    if torch is None or not torch.distributed.is_available():
        return rows, 0
    distributed = torch.distributed
    if not distributed.is_initialized() or distributed.get_world_size() == 1:
        return rows, 0
    parts: list[list[_Completion]] = [[] for _ in range(distributed.get_world_size())]
    distributed.all_gather_object(parts, rows)
    first = sum(map(len, parts[: distributed.get_rank()]))
    return [row for part in parts for row in part], first


consensus_reward = ConsensusReward()
