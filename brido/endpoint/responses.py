"""What a server sends back to a call, read: answers, an error, or nothing of use."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from brido.endpoint.answers import FILTERED, NO_ANSWER, Answer
from brido.utils.json_lines import count_of, parse_object, whole_text


class Unreadable(Exception):
    """A response that is not a completion, and that nothing was paid for."""


class ErrorBody(Exception):
    """An error as a server describes it, also one that it sent as if it were an answer.

    `status`: the HTTP status that it stands for, None if it names none. `code`, `message`: the
    server's words. `paid`: what it took, as an answer without a text; None if nothing.
    """

    def __init__(self, error: Any, paid: Answer | None) -> None:
        """error: an object, a text (LM Studio, xAI, TGI) or a list of an object (Gemini)."""
        super().__init__()
        if isinstance(error, list) and error:
            (error, *_) = error
        if isinstance(error, Mapping) and error.get("error"):
            error = error["error"]
        described = error if isinstance(error, Mapping) else {"message": error}
        code, kind = described.get("code"), described.get("type")
        status = count_of(code)
        self.status = status if status is not None and 400 <= status < 600 else None
        if self.status is not None:
            code = kind or described.get("status") or code
        self.code = str(code or kind or "")
        self.message = str(described.get("message") or described.get("detail") or "")
        self.paid = paid


def read_response(content: bytes, wanted: int = 1) -> list[Answer]:
    """Return the answers of a chat completion, at most `wanted`; a server may send anything.

    A text may be a list of parts. Half of a surrogate pair, which no text can hold, is replaced by
    U+FFFD: the answer is paid for. Token counts that are not numbers count as none. The first
    answer has the tokens of the prompt; those of the answers are shared out. A response that was
    paid for and holds no choice that can be read is one answer with the reason NO_ANSWER.

    Raises:
        Unreadable: the body is not a chat completion (cut off, another JSON, a proxy's page).
        ErrorBody: the body is an error.
    """
    try:
        body = parse_object(content)
        served = whole_text(str(body.get("model") or ""))
        prompt, answer = _tokens_paid(body.get("usage"))
        choices = body.get("choices")
    except Exception:
        # Whatever a server may send: other types, deep nesting.
        raise Unreadable from None
    nothing = Answer("", NO_ANSWER, False, served, prompt, answer) if prompt or answer else None
    if body.get("error") and not choices:
        raise ErrorBody(body["error"], nothing)
    read = [_choice(choice) for choice in choices[:wanted]] if isinstance(choices, list) else []
    answers = [choice for choice in read if choice is not None]
    if not answers:
        if nothing is None:
            raise Unreadable
        return [nothing]
    share, rest = divmod(answer, len(answers))
    return [
        replace(
            one,
            served_model=served,
            prompt_tokens=0 if number else prompt,
            answer_tokens=share + (0 if number else rest),
        )
        for number, one in enumerate(answers)
    ]


def _choice(choice: Any) -> Answer | None:
    """What one choice says; None if that cannot be read."""
    try:
        message = choice["message"] if "message" in choice else {"content": choice["text"]}
        texts, refuses = _texts(message.get("content"))
        text = whole_text("".join(texts))
        # A gateway whose server breaks off sends what came so far, with the error beside it.
        unsaid = "error" if choice.get("error") else ""
        reason = whole_text(str(choice.get("finish_reason") or unsaid))
    except Exception:
        return None
    refused = refuses or bool(message.get("refusal")) or reason.lower() in FILTERED
    return Answer(text, reason, refused)


def _texts(content: Any) -> tuple[list[str], bool]:
    """The texts of a message, and whether a part of it is a refusal; thoughts are left out.

    Raises:
        TypeError: it is neither a text nor parts of one.
    """
    if content is None:
        return [], False
    texts, refused = [], False
    for part in [content] if isinstance(content, str | Mapping) else list(content):
        kind = "text" if isinstance(part, str) else str(part.get("type", "text"))
        if kind == "refusal":
            refused = True
        elif kind in {"text", "output_text"}:
            text = part if isinstance(part, str) else part["text"]
            if not isinstance(text, str | None):
                raise TypeError
            texts.append(text or "")
    return texts, refused


def _tokens_paid(usage: Any) -> tuple[int, int]:
    """Prompt and answer tokens as the server counts them; zeros if one is not a count."""
    usage = usage if isinstance(usage, Mapping) else {}
    prompt, answer, total = (
        count_of(usage.get(f"{kind}_tokens", 0)) for kind in ("prompt", "completion", "total")
    )
    if prompt is None or answer is None:
        return 0, 0
    # Gemini counts thoughts in the total alone, and has them paid for as answers.
    return prompt, max(answer, (total or 0) - prompt)
