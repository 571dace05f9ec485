"""What is asked of a judge and what comes back, whichever way it is asked."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brido.evaluation.geval.probabilities import Token

Message = Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """One answer of a judge, good or bad: marks are read from it later.

    `tokens` is None unless log-probabilities were asked for. Where one call gave several answers,
    the first carries the call's token counts and the others carry zeros, so sums are what was paid.
    """

    text: str
    finish_reason: str = ""
    refused: bool = False
    served_model: str = ""
    prompt_tokens: int = 0
    answer_tokens: int = 0
    tokens: Sequence[Token] | None = None


@dataclass(frozen=True)
class Judge:
    """Who is asked and how: everything of a question but its text.

    `parameters` are the request's fields beside model and messages, as they are sent.
    """

    backend: str
    model: str
    revision: str | None
    parameters: Mapping[str, Any]
    _digest: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Hash once what all questions to this judge share."""
        shared = [self.backend, self.model, self.revision, dict(self.parameters)]
        object.__setattr__(self, "_digest", _sha256(shared))

    @property
    def digest(self) -> str:
        """64 hexadecimal digits: backend, model, revision and parameters."""
        return self._digest

    def key(self, messages: Sequence[Message]) -> str:
        """The question's key: 64 hexadecimal digits of the judge and the full messages."""
        return _sha256([self._digest, [dict(message) for message in messages]])


@dataclass(frozen=True)
class Question:
    """One question to one judge, with the sample numbers that are still to be asked."""

    judge: Judge
    key: str
    messages: Sequence[Message]
    samples: Sequence[int]

    @property
    def characters(self) -> int:
        """Length of the prompt."""
        return sum(len(message["content"]) for message in self.messages)


def _sha256(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
