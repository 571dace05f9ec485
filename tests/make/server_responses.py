"""What real servers answer, imitated: the forms are theirs, the words are ours.

Each row says whose form it is, the HTTP status, the body, and what is to come of it: the text and
how it ended, or the kind of trouble. {TEXT} stands for the summary. Sources: the servers' own API
references and source code, and, where it says "seen", a server that was run by hand
(llama-cpp-python 0.3.36 with SmolLM2-135M-Instruct).
"""

from typing import Any, NamedTuple

USAGE = {"prompt_tokens": 32, "completion_tokens": 8, "total_tokens": 40}
TEXT = "A bridge was built."


class Served(NamedTuple):
    """A body that a server sends, and what is read in it: (text, ending, ended) or a trouble."""

    server: str
    status: int
    body: Any
    read: tuple[str, str, bool] | str


def completion(
    content: Any, reason: Any = "stop", usage: Any = USAGE, **more: Any
) -> dict[str, Any]:
    """A chat completion with one choice; `more` are further fields of its message."""
    message = {"role": "assistant", "content": content, **more}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
    return {
        "id": "c",
        "object": "chat.completion",
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }


def error(status: int, **fields: Any) -> dict[str, Any]:
    """An error as OpenAI has it."""
    return {"error": {"message": "no", "type": None, "param": None, "code": status, **fields}}


GOOD = (TEXT, "stop", True)
RESPONSES = [
    # Whole answers.
    Served("OpenAI", 200, completion(TEXT, refusal=None, annotations=[]), GOOD),
    Served("vLLM", 200, completion(TEXT, reasoning=None, tool_calls=[]), GOOD),
    Served("DeepSeek", 200, completion(TEXT, reasoning_content="Hm."), GOOD),
    Served("a server without reasons", 200, completion(TEXT, None), (TEXT, "unsaid", True)),
    # Cut, stopped, broken off.
    Served("llama-cpp-python at its limit, seen", 200, completion(TEXT, "length"),
           (TEXT, "length", False)),
    Served("OpenAI, thoughts alone", 200, completion("", "length"), ("", "length", False)),
    Served("vLLM that is shut down", 200, completion(TEXT, "abort"), (TEXT, "abort", False)),
    Served("a tool", 200, completion(None, "tool_calls", tool_calls=[{}]),
           ("", "tool_calls", False)),
    Served("a tool beside an answer", 200, completion(TEXT, tool_calls=[{}]), GOOD),
    Served("OpenAI refuses", 200, completion(None, refusal="No."), ("", "refused", False)),
    Served("Azure's filter", 200, completion(TEXT, "content_filter"), (TEXT, "refused", False)),
    Served("Azure filters one prompt", 400, error("content_filter", param="prompt"),
           ("", "refused", False)),
    Served("OpenAI flags one prompt", 400, error("invalid_prompt"), ("", "refused", False)),
    # Paid, and nothing to read.
    Served("Azure filters the prompt", 200,
           {"choices": [], "prompt_filter_results": [{}], "usage": USAGE}, "response without"),
    Served("a gateway with numbers", 200, completion(7), "response without"),
    # Errors.
    Served("a gateway with an error in words", 200, {"error": "upstream gone"}, "malformed"),
    Served("llama-cpp-python and a schema, seen", 500, error(
        None, type="internal_server_error", message="1 validation error:\n  {'type': "
        "'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be "
        "'text' or 'json_object'\", 'input': 'json_schema'}"), "HTTP 500"),
    Served("llama-cpp-python and a long prompt, seen", 400, error(
        "context_length_exceeded", type="invalid_request_error", param="messages",
        message="This model's maximum context length is 2048 tokens. However, you requested 6035 "
        "tokens (6031 in the messages, 4 in the completion). Please reduce the length of the "
        "messages or completion."), "HTTP 400"),
    Served("OpenRouter filters the prompt", 403, error(
        403, message="Your chosen model requires moderation and your input was flagged"),
        "HTTP 403"),
    Served("xAI and a long prompt", 400, {
        "code": "invalid argument", "error": "This model's maximum prompt length is 131072 but the "
        "request contains 215000 tokens."}, "HTTP 400"),
    Served("a proxy and a long prompt", 413, error(413), "HTTP 413"),
]  # fmt: skip
