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


def parts(*texts: str) -> list[dict[str, str]]:
    """A content in parts."""
    return [{"type": "text", "text": text} for text in texts]


THOUGHTS = [{"type": "thinking", "thinking": parts("Hm."), "closed": True}]
GOOD = (TEXT, "stop", True)
RESPONSES = [
    # Whole answers.
    Served("OpenAI", 200, completion(TEXT, refusal=None, annotations=[]), GOOD),
    Served("llama-cpp-python, seen", 200, completion(TEXT), GOOD),
    Served("vLLM", 200, completion(TEXT, reasoning=None, tool_calls=[]), GOOD),
    Served("vLLM with a parser of thoughts", 200, completion(TEXT, reasoning="Hm."), GOOD),
    Served("DeepSeek", 200, completion(TEXT, reasoning_content="Hm."), GOOD),
    Served("Ollama", 200, completion(TEXT, reasoning="Hm."), GOOD),
    Served("TGI", 200, completion(TEXT, "eos_token"), GOOD),
    Served("a gateway to Anthropic", 200, completion(parts(TEXT), "end_turn"), GOOD),
    Served("a gateway to Gemini", 200, completion(TEXT, "STOP"), GOOD),
    Served("Cohere", 200, completion(TEXT, "COMPLETE"), GOOD),
    Served("Mistral", 200, completion(parts("A bridge", " was built.")), GOOD),
    Served("Mistral with thoughts", 200, completion([*THOUGHTS, *parts(TEXT)]), GOOD),
    Served("a gateway with plain parts", 200, completion([TEXT]), GOOD),
    Served("a gateway with one part", 200, completion(parts(TEXT)[0]), GOOD),
    Served("a gateway to completions", 200,
           {"choices": [{"text": TEXT, "finish_reason": "stop"}], "usage": USAGE}, GOOD),
    Served("a server without reasons", 200, completion(TEXT, None), (TEXT, "unsaid", True)),
    # Cut, stopped, broken off.
    Served("OpenRouter, cut by its provider", 200,
           {"choices": [{"message": {"content": TEXT}, "finish_reason": "stop",
                         "native_finish_reason": "max_tokens"}], "usage": USAGE},
           (TEXT, "length", False)),
    Served("llama-cpp-python at its limit, seen", 200, completion(TEXT, "length"),
           (TEXT, "length", False)),
    Served("Gemini at its limit", 200, completion(TEXT, "MAX_TOKENS"), (TEXT, "length", False)),
    Served("Anthropic at its limit", 200, completion(TEXT, "max_tokens"), (TEXT, "length", False)),
    Served("Anthropic at its context", 200, completion(TEXT, "model_context_window_exceeded"),
           (TEXT, "length", False)),
    Served("Mistral at its limit", 200, completion(TEXT, "model_length"), (TEXT, "length", False)),
    Served("OpenAI, thoughts alone", 200, completion("", "length"), ("", "length", False)),
    Served("Gemini, thoughts alone", 200, completion(None, "length"), ("", "length", False)),
    Served("vLLM that is shut down", 200, completion(TEXT, "abort"), (TEXT, "abort", False)),
    Served("vLLM that sees a loop", 200, completion(TEXT, "repetition"),
           (TEXT, "repetition", False)),
    Served("DeepSeek without resources", 200, completion(TEXT, "insufficient_system_resource"),
           (TEXT, "insufficient_system_resource", False)),
    Served("OpenRouter, broken off", 200, completion(TEXT, "error"), (TEXT, "error", False)),
    Served("OpenRouter, broken off without a reason", 200,
           {"choices": [{"message": {"content": TEXT}, "finish_reason": None,
                         "error": {"code": 502, "message": "upstream"}}], "usage": USAGE},
           (TEXT, "error", False)),
    Served("a tool", 200, completion(None, "tool_calls", tool_calls=[{}]),
           ("", "tool_calls", False)),
    Served("a tool, the call cut", 200, completion(None, "length", tool_calls=[{}]),
           ("", "tool_calls", False)),
    Served("a tool, and the end of an answer", 200, completion("", function_call={"name": "f"}),
           ("", "tool_calls", False)),
    Served("a tool beside an answer", 200, completion(TEXT, tool_calls=[{}]), GOOD),
    Served("OpenAI refuses", 200, completion(None, refusal="No."), ("", "refused", False)),
    Served("OpenAI's parts refuse", 200, completion([{"type": "refusal", "refusal": "No."}]),
           ("", "refused", False)),
    Served("Azure's filter", 200, completion(TEXT, "content_filter"), (TEXT, "refused", False)),
    Served("Gemini's filter", 200, completion(None, "SAFETY"), ("", "refused", False)),
    Served("Bedrock's filter", 200, completion(TEXT, "guardrail_intervened"),
           (TEXT, "refused", False)),
    Served("Zhipu's filter", 200, completion("", "sensitive"), ("", "refused", False)),
    Served("Azure filters one prompt", 400, error("content_filter", param="prompt"),
           ("", "refused", False)),
    Served("DashScope filters one prompt", 400, error("data_inspection_failed"),
           ("", "refused", False)),
    Served("OpenAI flags one prompt", 400, error("invalid_prompt"), ("", "refused", False)),
    # Paid, and nothing to read.
    Served("Azure filters the prompt", 200,
           {"choices": [], "prompt_filter_results": [{}], "usage": USAGE}, "response without"),
    Served("a gateway without choices", 200, {"choices": None, "usage": USAGE}, "response without"),
    Served("a gateway with numbers", 200, completion(7), "response without"),
    Served("OpenRouter fails after work", 200, error(502, message="upstream") | {"usage": USAGE},
           "response without"),
    # Errors.
    Served("OpenRouter is overloaded", 200, error(429), "HTTP 429"),
    Served("OpenRouter's provider fails", 200, error(502), "HTTP 502"),
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
    Served("llama.cpp and a long prompt", 400, error(
        400, type="exceed_context_size_error", n_prompt_tokens=6031, n_ctx=2048,
        message="the request exceeds the available context size, try increasing it"),
        "HTTP 400"),
    Served("vLLM and a long prompt", 400, error(
        400, type="BadRequestError", message="This model's maximum context length is 2048 tokens. "
        "However, your request has 6031 input tokens."), "HTTP 400"),
    Served("Anthropic and a long prompt", 400, error(
        400, type="invalid_request_error", message="prompt is too long: 215000 tokens > 200000 "
        "maximum"), "HTTP 400"),
    Served("TGI and a long prompt", 422, error(
        422, type="validation", message="Input validation error: `inputs` must have less than 1024 "
        "tokens. `inputs` tokens + `max_new_tokens` must be <= 2048"), "HTTP 422"),
    Served("OpenRouter filters the prompt", 403, error(
        403, message="Your chosen model requires moderation and your input was flagged"),
        "HTTP 403"),
    Served("Gemini and a long prompt", 400, [{"error": {
        "code": 400, "status": "INVALID_ARGUMENT", "message": "The input token count (1200000) "
        "exceeds the maximum number of tokens allowed (1048576)."}}], "HTTP 400"),
    Served("LM Studio and a long prompt", 400, {"error": "Trying to keep the first 6031 tokens "
        "when context the overflows. However, the model is loaded with context length of only 4096 "
        "tokens, which is not enough."}, "HTTP 400"),
    Served("xAI and a long prompt", 400, {
        "code": "invalid argument", "error": "This model's maximum prompt length is 131072 but the "
        "request contains 215000 tokens."}, "HTTP 400"),
    Served("OpenAI and a prompt of more than a minute's tokens", 429, error(
        "rate_limit_exceeded", type="tokens", message="Request too large for m in organization o "
        "on tokens per min (TPM): Limit 30000, Requested 32000."), "HTTP 429"),
    Served("Together and a long prompt", 403, error(
        403, message="Input token count + `max_tokens` parameter must be less than the context "
        "length of the model being queried."), "HTTP 403"),
    Served("a gateway that waits too long", 500, error(
        500, message="The model took too long to answer."), "HTTP 500"),
    Served("a proxy and a long prompt", 413, error(413), "HTTP 413"),
]  # fmt: skip
