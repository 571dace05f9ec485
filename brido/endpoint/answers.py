"""What is asked of a model, and what comes back."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Message = Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """One answer of a model, as the server gave it.

    Where one call gave several answers, the first has the call's token counts and the others have
    zeros, so that sums are what was paid.
    """

    text: str
    finish_reason: str = ""
    refused: bool = False
    served_model: str = ""
    prompt_tokens: int = 0
    answer_tokens: int = 0


@dataclass(frozen=True)
class AskedModel:
    """The model that is asked, and how: everything of a question but its text.

    `name` and `revision` (any label of the user's) say which model. `parameters` are the fields of
    the request beside model and messages, as they are sent.
    """

    name: str
    revision: str | None
    parameters: Mapping[str, Any]

    @cached_property
    def digest(self) -> str:
        """64 hexadecimal digits of name, revision and parameters."""
        # "openai" is part of the format of the store: version 0.2 knew models without a server.
        return _sha256(["openai", self.name, self.revision, dict(self.parameters)])

    def key(self, messages: Sequence[Message]) -> str:
        """The key of a question: 64 hexadecimal digits of the model and the full messages."""
        return _sha256([self.digest, [dict(message) for message in messages]])


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
        return sum(len(message["content"]) for message in self.messages)


def as_json(value: Any) -> str:
    """The JSON by which keys are made and stored: the same for equal values, ASCII alone."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _sha256(value: Any) -> str:
    return hashlib.sha256(as_json(value).encode()).hexdigest()
