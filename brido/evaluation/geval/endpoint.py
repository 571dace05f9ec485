"""One call to an OpenAI-compatible endpoint: what is sent, what comes back, what went wrong.

Errors say what happened in words of ours, with the HTTP status and the server's error code. What
the server wrote beside is shown only when asked for, because servers quote prompts and keys.
"""

import asyncio
import email.utils
import json
import re
import time
from collections.abc import Mapping
from typing import Any

from brido.errors import BridoError
from brido.evaluation.geval.answers import Answer, Question
from brido.evaluation.geval.probabilities import Token
from brido.settings import JudgeRuntime


class CallFailed(Exception):
    """A call that brought no answer.

    `final`: asking again cannot help this call. `overloaded`: the server asks to slow down or is
    away; it is waited out and no fault of the call. `retry_after`: seconds the server asks to wait.
    """

    def __init__(
        self,
        what: str,
        *,
        final: bool = False,
        overloaded: bool = False,
        retry_after: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(what)
        self.what, self.final, self.overloaded = what, final, overloaded
        self.retry_after, self.status = retry_after, status


class Endpoint:
    """An OpenAI-compatible server, asked through the openai package."""

    def __init__(self, runtime: JudgeRuntime, key: str | None) -> None:
        """A client for `runtime.base_url`; `key` None sends a placeholder."""
        from openai import AsyncOpenAI

        self.runtime, self._key = runtime, key
        # A connection serves one call. HTTP/1.1 numbers no answers, so on a kept connection an
        # answer that a proxy delivers twice is taken for the answer to the next question, and
        # every later mark silently moves to the next summary. A handshake is cheap beside that.
        self._client = AsyncOpenAI(
            api_key=key or "none",
            base_url=runtime.base_url or "https://api.openai.com/v1",
            timeout=runtime.timeout_seconds,
            max_retries=0,
            default_headers={"Connection": "close"},
        )

    async def close(self) -> None:
        """Close the client."""
        await self._client.close()

    async def ask(self, question: Question) -> list[Answer]:
        """The answers to `question`, at most one for each of its samples, at least one.

        Raises:
            CallFailed: no answer came, for any reason that may be this call's or the server's.
            BridoError: no call can succeed (key, model, account, log-probabilities).
        """
        body = dict(question.judge.parameters)
        if "seed" in body:
            body["seed"] += question.samples[0]
        if len(question.samples) > 1:
            body["n"] = len(question.samples)
        content = await self._post(question, body)
        answers = read_response(content, "logprobs" in body)
        return answers[: len(question.samples)]

    async def _post(self, question: Question, body: Mapping[str, Any]) -> bytes:
        import openai

        try:
            # The client's own timeout is per read; a server that drips bytes needs a total one.
            async with asyncio.timeout(self.runtime.timeout_seconds):
                response = await self._client.chat.completions.with_raw_response.create(
                    model=question.judge.model,
                    messages=list(question.messages),  # type: ignore[arg-type]
                    extra_body=dict(body),
                )
                return response.http_response.content
        except (TimeoutError, openai.APITimeoutError):
            raise CallFailed("timeout") from None
        except openai.APIStatusError as error:
            raise self._status_failure(error) from None
        except openai.APIConnectionError as error:
            # By name: the openai package changed the HTTP library underneath it.
            unreachable = type(error.__cause__).__name__ in {"ConnectError", "ConnectTimeout"}
            what = "server unreachable" if unreachable else "connection lost"
            raise CallFailed(what, overloaded=unreachable) from None
        except openai.OpenAIError as error:
            raise CallFailed(f"client error ({type(error).__name__})") from None

    def _status_failure(self, error: Any) -> Exception:
        status, what = error.status_code, self._describe(error)
        if status in {401, 403}:
            return BridoError(
                f"the judge's server refused the key ({what}): set the environment variable that "
                "runtime.judge.api_key_env names (null: OPENAI_API_KEY, for OpenAI alone)"
            )
        if status == 404:
            return BridoError(
                f"the judge's server knows no such address or model ({what}): "
                "check runtime.judge.base_url (it usually ends in /v1) and evaluation.geval.model"
            )
        if error.code == "insufficient_quota":
            return BridoError(f"the account's quota is used up ({what}); answers so far are kept")
        return CallFailed(
            what,
            final=status in {400, 405, 409, 410, 413, 415, 422},
            overloaded=status in {429, 503, 529},
            retry_after=retry_after(error.response.headers),
            status=status,
        )

    def _describe(self, error: Any) -> str:
        """HTTP status and error code; the server's own words only where they are asked for."""
        what = f"HTTP {error.status_code}"
        code = str(error.code or error.type or "")
        if re.fullmatch(r"[A-Za-z0-9_.-]{1,60}", code):
            what += f" {code}"
        if self.runtime.show_content:
            what += f": {str(error.message)[:1000]}"
        return what.replace(self._key, "[key]") if self._key else what


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that `retry-after-ms` or `Retry-After` (number or date) asks for, else None."""
    try:
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    except (KeyError, ValueError):
        pass
    text = headers.get("retry-after")
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError):
        return None


def read_response(content: bytes, with_tokens: bool) -> list[Answer]:
    """The answers of a chat completion, in the order of their indices, each index once.

    Raises:
        CallFailed: the body is no chat completion (cut off, another JSON, a proxy's page).
        BridoError: log-probabilities were asked for and the server sent none.
    """
    try:
        body = json.loads(content)
        served = str(body.get("model") or "")
        usage = body.get("usage") or {}
        tokens_paid = (int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0)))
        choices = {int(choice.get("index", 0)): choice for choice in reversed(body["choices"])}
        answers = []
        for _, choice in sorted(choices.items()):
            answers.append(_read_choice(choice, served, tokens_paid, with_tokens))
            tokens_paid = (0, 0)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CallFailed("malformed response") from None
    if not answers:
        raise CallFailed("malformed response")
    return answers


def _read_choice(
    choice: Mapping[str, Any], served: str, tokens_paid: tuple[int, int], with_tokens: bool
) -> Answer:
    message = choice["message"]
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        raise TypeError
    finish_reason = str(choice.get("finish_reason") or "")
    refused = bool(message.get("refusal")) or finish_reason == "content_filter"
    tokens = _read_tokens(choice) if with_tokens and not refused else None
    return Answer(content or "", finish_reason, refused, served, *tokens_paid, tokens)


def _read_tokens(choice: Mapping[str, Any]) -> list[Token]:
    entries = (choice.get("logprobs") or {}).get("content")
    if not entries or not any(entry.get("top_logprobs") for entry in entries):
        raise BridoError(
            "evaluation.geval.score_mode: probability needs log-probabilities, and the judge's "
            "server sent none: use a server and model that return `top_logprobs` (vLLM, "
            "llama.cpp, some hosted models), or set score_mode to mean or greedy"
        )
    tokens: list[Token] = []
    for entry in entries:
        alternatives = None
        if any(character.isdigit() for character in entry["token"]):
            top = entry.get("top_logprobs") or []
            alternatives = [(str(item["token"]), float(item["logprob"])) for item in top]
        tokens.append((str(entry["token"]), alternatives))
    return tokens
