"""What is asked of a model, and the answer as it is kept."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from brido.utils.errors import BridoError

Message = Mapping[str, str]
# The finish_reason of a response that was paid for and holds no answer: only what it took is kept.
NO_ANSWER = "no_answer"
# The finish_reason of an answer that reached its limit, and of one that a filter stopped.
CUT, FILTERED = "length", "content_filter"


class FormatRefused(BridoError):
    """The server refuses the field response_format: no question is answered that has it."""


@dataclass(frozen=True)
class Answer:
    """One answer of a model, as the server gave it, and the tokens that were paid for it."""

    text: str
    finish_reason: str = ""
    refused: bool = False
    served_model: str = ""
    prompt_tokens: int = 0
    answer_tokens: int = 0
    # Seconds since 1970.
    received: float = field(default=0.0, compare=False)

    @property
    def ending(self) -> str:
        """stop, length, refused, unsaid, or the server's own word."""
        return "refused" if self.refused else self.finish_reason or "unsaid"

    @property
    def ended(self) -> bool:
        """Whether it came to its own end; an unknown reason does not say so."""
        return self.ending in {"stop", "unsaid"}


@dataclass(frozen=True)
class AskedModel:
    """The model that is asked, and how: everything of a question but its text.

    `name` and `revision` (any label of the user's) say which model. `parameters` are the fields of
    the request beside model and messages, as they are sent.
    """

    name: str
    revision: str | None
    parameters: Mapping[str, Any]

    @property
    def answer_limit(self) -> int | None:
        """The longest answer in tokens; None where the request does not say."""
        sent = (self.parameters.get(name) for name in ("max_tokens", "max_completion_tokens"))
        return min((value for value in sent if type(value) is int and value > 0), default=None)

    @cached_property
    def digest(self) -> str:
        """64 hexadecimal digits of name, revision and parameters."""
        return _sha256([self.name, self.revision, dict(self.parameters)])

    def key(self, messages: Sequence[Message]) -> str:
        """The key of a question: 64 hexadecimal digits of the model and the full messages."""
        return _sha256([self.digest, [dict(message) for message in messages]])


@dataclass(frozen=True)
class Question:
    """One question to one model, asked for the sample of one number."""

    model: AskedModel
    key: str
    messages: Sequence[Message]
    sample: int

    @property
    def characters(self) -> int:
        """Length of the prompt."""
        return sum(len(message["content"]) for message in self.messages)


def as_json(value: Any) -> str:
    """The JSON by which keys are made and stored: the same for equal values, ASCII alone."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _sha256(value: Any) -> str:
    return hashlib.sha256(as_json(value).encode()).hexdigest()
