"""What a server's response says; a server may send anything."""

from collections.abc import Mapping
from typing import Any

from brido.endpoint.answers import Answer
from brido.utils.json_lines import count_of, parse_object, whole_text


class Unreadable(Exception):
    """A response that is not a completion."""


def read_response(content: bytes) -> dict[int, Answer]:
    """Return the answers of a chat completion by their place among the choices, at least one.

    Choices are ordered by their indices, and each index counts once. A choice that cannot be read
    is left out, and the others are kept. Half of a surrogate pair, which no text can hold, is
    replaced by U+FFFD: the answer is paid for. Token counts that are not numbers count as none.

    Raises:
        Unreadable: the body is not a chat completion (cut off, another JSON, a proxy's page).
    """
    try:
        body = parse_object(content)
        served = whole_text(str(body.get("model") or ""))
        choices: dict[int, Any] = {}
        for place, choice in enumerate(body["choices"]):
            index = count_of(choice.get("index", 0))
            choices.setdefault(place if index is None else index, choice)
        paid = _tokens_paid(body.get("usage"))
    except Exception:
        # Whatever a server may send: other types, deep nesting.
        raise Unreadable from None
    answers: dict[int, Answer] = {}
    for place, (_, choice) in enumerate(sorted(choices.items())):
        try:
            answers[place] = _read_choice(choice, served, (0, 0) if answers else paid)
        except (KeyError, TypeError, AttributeError):
            continue
    if not answers:
        raise Unreadable
    return answers


def _tokens_paid(usage: Any) -> tuple[int, int]:
    """Prompt and answer tokens as the server counts them; zeros if one is not a count."""
    usage = usage if isinstance(usage, Mapping) else {}
    prompt, answer = (count_of(usage.get(f"{kind}_tokens", 0)) for kind in ("prompt", "completion"))
    return (0, 0) if prompt is None or answer is None else (prompt, answer)


def _read_choice(choice: Mapping[str, Any], served: str, tokens_paid: tuple[int, int]) -> Answer:
    message = choice["message"]
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        raise TypeError
    finish_reason = whole_text(str(choice.get("finish_reason") or ""))
    refused = bool(message.get("refusal")) or finish_reason == "content_filter"
    return Answer(whole_text(content or ""), finish_reason, refused, served, *tokens_paid)
