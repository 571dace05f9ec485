"""What a server sends back to a call, read: an answer, an error, or nothing of use."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from brido.endpoint.answers import CUT, FILTERED, NO_ANSWER, Answer

_HALF_PAIR = re.compile("[\ud800-\udfff]")
# No text has more tokens; a count is kept in a column of 64 bits.
_MOST_TOKENS = 2**53


class Unreadable(Exception):
    """A response that is not a completion, and that nothing was paid for."""


class ErrorBody(Exception):
    """An error that was sent as if it were an answer; `status` is the one that it names, or None.

    `code`, `param`, `message`: the server's words.
    """

    def __init__(self, error: Any) -> None:
        """error: an object, a text (LM Studio, xAI) or a list of an object (Gemini)."""
        super().__init__()
        if isinstance(error, list) and error:
            (error, *_) = error
        if isinstance(error, Mapping) and error.get("error"):
            error = error["error"]
        described = error if isinstance(error, Mapping) else {"message": error}
        code, kind = described.get("code"), described.get("type")
        status = _count(code)
        self.status = status if 400 <= status < 600 else None
        self.code = str((kind if self.status else code) or described.get("status") or kind or "")
        self.param = str(described.get("param") or "")
        self.message = str(described.get("message") or described.get("detail") or "")

    def names(self, sent: Iterable[str]) -> list[str]:
        """The fields among `sent` that the server's words name."""
        words = f"{self.param} {self.message}"
        return [name for name in sent if len(name) > 1 and name in words]


def read_response(content: bytes) -> Answer:
    """Return the answer of a chat completion; a server may send anything.

    A text may be a list of parts. Half of a surrogate pair, which no text can hold, is replaced by
    U+FFFD: the answer is paid for. Token counts that are not numbers count as none. A response that
    was paid for and has no text that can be read is an answer with the reason NO_ANSWER.

    Raises:
        Unreadable: the body is not a chat completion (cut off, another JSON, a proxy's page).
        ErrorBody: the body is an error.
    """
    try:
        body = _parsed(content)
        prompt, answer = _tokens_paid(body.get("usage"))
        choices, served = body.get("choices"), str(body.get("model") or "")
    except Exception:
        # Whatever a server may send: other types, deep nesting.
        raise Unreadable from None
    if body.get("error") and not (choices or prompt or answer):
        raise ErrorBody(body["error"])
    try:
        text, reason, refused = _choice(choices[0])
    except Exception:
        if not (prompt or answer):
            raise Unreadable from None
        text, reason, refused = "", NO_ANSWER, False
    text, reason, served = (_HALF_PAIR.sub("\ufffd", one) for one in (text, reason, served))
    return Answer(text, reason, refused, served, prompt, answer)


def _parsed(content: bytes) -> Any:
    """The JSON of a body; without its counts of tokens where these cannot be read."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        # A count of thousands of digits or brackets does not cost the answer beside it.
        usage, choices = content.rfind(b'"usage"'), content.find(b'"choices"')
        if min(usage, choices) < 0:
            raise
        if usage > choices:
            return json.loads(content[:usage] + b'"usage":null}')
        return json.loads(b"{" + content[choices:])


def _choice(choice: Any) -> tuple[str, str, bool]:
    """Text, finish reason and whether the model refuses.

    Raises:
        Exception: its content is neither a text nor parts of one.
    """
    message = choice["message"] if "message" in choice else {"content": choice["text"]}
    content, text, refused = message.get("content"), "", bool(message.get("refusal"))
    for part in [content] if isinstance(content, str | Mapping) else content or []:
        part = {"text": part} if isinstance(part, str) else part
        kind = str(part.get("type", "text"))
        refused |= kind == "refusal"
        # Parts of other kinds are thoughts.
        text += (part["text"] or "") if kind in {"text", "output_text"} else ""
    # A gateway whose server breaks off sends what came so far, with the error beside it.
    reason = str(choice.get("finish_reason") or ("error" if choice.get("error") else ""))
    # OpenRouter says "stop" of answers that were cut, and the provider's own word beside it.
    native = str(choice.get("native_finish_reason") or "")
    if native.lower() in CUT:
        reason = native
    if not text and (message.get("tool_calls") or message.get("function_call")):
        reason = "tool_calls"
    return text, reason, refused or reason.lower() in FILTERED


def _tokens_paid(usage: Any) -> tuple[int, int]:
    """Prompt and answer tokens as the server counts them; zeros if one is not a count."""
    usage = usage if isinstance(usage, Mapping) else {}
    prompt, answer, total = (
        _count(usage.get(f"{kind}_tokens", 0)) for kind in ("prompt", "completion", "total")
    )
    if prompt < 0 or answer < 0:
        return 0, 0
    # Gemini counts thoughts in the total alone, and has them paid for as answers.
    return prompt, max(answer, total - prompt)


def _count(value: Any) -> int:
    """A whole number from 0 to 2**53 that was sent as a number or as text; else -1."""
    try:
        number = -1.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return -1
    return int(number) if 0 <= number <= _MOST_TOKENS and number.is_integer() else -1
