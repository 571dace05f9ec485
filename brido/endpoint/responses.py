"""What a server sends back to a call, read: an answer, or nothing of use."""

import json
import re
from typing import Any

from brido.endpoint.answers import FILTERED, NO_ANSWER, Answer

_HALF_PAIR = re.compile("[\ud800-\udfff]")
# No text has more tokens; a count is kept in a column of 64 bits.
_MOST_TOKENS = 2**53


class Unreadable(Exception):
    """A response that is not a completion, and that nothing was paid for."""


def read_response(content: bytes) -> Answer:
    """Return the answer of a chat completion; a server may send anything.

    Half of a surrogate pair, which no text can hold, is replaced by U+FFFD: the answer is paid for.
    Token counts that are not numbers count as none. A response that was paid for and has no text is
    an answer with the reason NO_ANSWER.

    Raises:
        Unreadable: the body is not a chat completion (cut off, another JSON, a proxy's page).
    """
    try:
        # Python reads no integers of thousands of digits.
        body = json.loads(content, parse_int=float)
        prompt, answer = _tokens_paid(body.get("usage"))
        served = str(body.get("model") or "")
    except Exception:
        # Whatever a server may send: other types, deep nesting.
        raise Unreadable from None
    try:
        (choice, *_) = body["choices"]
        text = choice["message"].get("content") or ""
        reason = str(choice.get("finish_reason") or "")
        refused = bool(choice["message"].get("refusal")) or reason == FILTERED
        text, reason, served = (_HALF_PAIR.sub("\ufffd", one) for one in (text, reason, served))
    except Exception:
        if not (prompt or answer):
            raise Unreadable from None
        text, reason, refused = "", NO_ANSWER, False
    return Answer(text, reason, refused, served, prompt, answer)


def _tokens_paid(usage: Any) -> tuple[int, int]:
    """Prompt and answer tokens as the server counts them; zeros if one is not a count."""
    if not isinstance(usage, dict):
        return 0, 0
    prompt, answer, total = (_count(usage, kind) for kind in ("prompt", "completion", "total"))
    if prompt is None or answer is None:
        return 0, 0
    # Gemini counts thoughts in the total alone, and has them paid for as answers.
    return prompt, max(answer, (total or 0) - prompt)


def _count(usage: dict[str, Any], kind: str) -> int | None:
    """How many tokens of a kind were counted; None if that is not a count."""
    count = usage.get(f"{kind}_tokens", 0.0)
    is_count = type(count) is float and 0 <= count <= _MOST_TOKENS and count.is_integer()
    return int(count) if is_count else None
