"""What is asked of a model and what comes back, whichever way it is asked."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Message = Mapping[str, str]
# One token of an answer and its alternatives (text, log-probability), None where none were kept.
Token = tuple[str, Sequence[tuple[str, float]] | None]


@dataclass(frozen=True)
class Answer:
    """One answer of a model, good or bad: whoever asked makes something of it later.

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
class AskedModel:
    """Who is asked and how: everything of a question but its text.

    `backend` says in which way (`openai`: by a server); `parameters` are the request's fields
    beside model and messages, as they are sent.
    """

    backend: str
    name: str
    revision: str | None
    parameters: Mapping[str, Any]
    _digest: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Hash once what all questions to this model share."""
        shared = [self.backend, self.name, self.revision, dict(self.parameters)]
        object.__setattr__(self, "_digest", _sha256(shared))

    @property
    def digest(self) -> str:
        """64 hexadecimal digits: backend, name, revision and parameters."""
        return self._digest

    def key(self, messages: Sequence[Message]) -> str:
        """The question's key: 64 hexadecimal digits of the model and the full messages."""
        return _sha256([self._digest, [dict(message) for message in messages]])


@dataclass(frozen=True)
class Question:
    """One question to one model, with the sample numbers that are still to be asked."""

    model: AskedModel
    key: str
    messages: Sequence[Message]
    samples: Sequence[int]

    @property
    def characters(self) -> int:
        """Length of the prompt."""
        return characters(self.messages)


def characters(messages: Sequence[Message]) -> int:
    """Length of the messages' texts together."""
    return sum(len(message["content"]) for message in messages)


def _sha256(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
