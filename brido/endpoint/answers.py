"""What is asked of a model, and what comes back."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from brido.utils.json_lines import count_of, parse_object, whole_text

Message = Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """One answer of a model, as the server gave it, and the tokens that were paid for it."""

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


class Unreadable(Exception):
    """A response that is not a completion."""


def read_response(content: bytes) -> Answer:
    """Return the answer of a chat completion, its first choice; a server may send anything.

    Half of a surrogate pair, which no text can hold, is replaced by U+FFFD: the answer is paid for.
    Token counts that are not numbers count as none.

    Raises:
        Unreadable: the body is not a chat completion (cut off, another JSON, a proxy's page).
    """
    try:
        body = parse_object(content)
        choice = body["choices"][0]
        message = choice["message"]
        text = message.get("content") or ""
        finish_reason = whole_text(str(choice.get("finish_reason") or ""))
        refused = bool(message.get("refusal")) or finish_reason == "content_filter"
        served = whole_text(str(body.get("model") or ""))
        paid = _tokens_paid(body.get("usage"))
        return Answer(whole_text(text), finish_reason, refused, served, *paid)
    except Exception:
        # Whatever a server may send: other types, deep nesting.
        raise Unreadable from None


def _tokens_paid(usage: Any) -> tuple[int, int]:
    """Prompt and answer tokens as the server counts them; zeros if one is not a count."""
    usage = usage if isinstance(usage, Mapping) else {}
    prompt, answer = (count_of(usage.get(f"{kind}_tokens", 0)) for kind in ("prompt", "completion"))
    return (0, 0) if prompt is None or answer is None else (prompt, answer)
