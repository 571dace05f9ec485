"""One call to an OpenAI-compatible endpoint: what is sent, what comes back, what went wrong.

Errors say what happened in words of ours, with the HTTP status and the server's error code. What
the server wrote beside is shown only when asked for, because servers quote prompts and keys.
"""

import asyncio
import email.utils
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from brido.endpoint.answers import Answer, Question, Token
from brido.endpoint.key import api_key
from brido.endpoint.settings import EndpointRuntime
from brido.utils.errors import BridoError
from brido.utils.extras import extra
from brido.utils.json_lines import HALF_PAIR, holds_half_pair, parse_object

# Which tokens of an answer have alternatives that are worth keeping.
Wanted = Callable[[str], bool]


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


class NoLogProbabilities(BridoError):
    """Log-probabilities were asked for, and the server sent none."""


class Connection:
    """An OpenAI-compatible server, asked through the openai package."""

    def __init__(self, runtime: EndpointRuntime, section: str, wanted: Wanted) -> None:
        """A client for `runtime.base_url`; a server that needs no key is sent a placeholder."""
        with extra("judge"):
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        self._runtime, self._section, self._wanted = runtime, section, wanted
        self._key = api_key(runtime)
        # A connection serves one call. HTTP/1.1 numbers no answers, so on a kept connection an
        # answer that a proxy delivers twice is taken for the answer to the next question, and
        # every later answer silently moves to the next question. A handshake is cheap beside that.
        self._client = AsyncOpenAI(
            api_key=self._key or "none",
            base_url=runtime.base_url or "https://api.openai.com/v1",
            timeout=runtime.timeout_seconds,
            max_retries=0,
            default_headers={"Connection": "close"},
            # Texts go to the address that was named and to no other.
            http_client=DefaultAsyncHttpxClient(follow_redirects=False),
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
        body = dict(question.model.parameters)
        if "seed" in body:
            body["seed"] += question.samples[0]
        if len(question.samples) > 1:
            body["n"] = len(question.samples)
        content = await self._post(question, body)
        try:
            answers = read_response(content, self._wanted if "logprobs" in body else None)
        except NoLogProbabilities as error:
            raise NoLogProbabilities(f"{self._section}: {error}") from None
        return answers[: len(question.samples)]

    async def _post(self, question: Question, body: Mapping[str, Any]) -> bytes:
        import openai

        try:
            # The client's own timeout is per read; a server that drips bytes needs a total one.
            async with asyncio.timeout(self._runtime.timeout_seconds):
                response = await self._client.chat.completions.with_raw_response.create(
                    model=question.model.name,
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
        if 300 <= status < 400:
            return BridoError(
                f"{self._section}: the server sends questions on to another address "
                f"({what}{_origin(error.response.headers)}), and nothing is sent there: if it is "
                "the right one, name it in runtime.endpoint.base_url"
            )
        if status in {401, 403}:
            return BridoError(
                f"{self._section}: the server refused the key ({what}): set the environment "
                "variable that runtime.endpoint.api_key_env names (null: OPENAI_API_KEY, for "
                "OpenAI alone)"
            )
        if status == 404:
            return BridoError(
                f"{self._section}: the server knows no such address or model ({what}): check "
                f"runtime.endpoint.base_url (it usually ends in /v1) and {self._section}.model"
            )
        if error.code == "insufficient_quota":
            return BridoError(
                f"{self._section}: the account's quota is used up ({what}); answers so far are kept"
            )
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
        if self._runtime.show_content:
            what += f": {str(error.message)[:1000]}"
        return what.replace(self._key, "[key]") if self._key else what


def _origin(headers: Mapping[str, str]) -> str:
    """Where a redirect leads: scheme, host and port alone, the rest may quote anything."""
    origin = re.match(r"https?://[A-Za-z0-9.:\[\]-]{1,100}", headers.get("location", ""))
    return f", {origin[0]}" if origin else ""


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


def read_response(content: bytes, wanted: Wanted | None) -> list[Answer]:
    """The answers of a chat completion, in the order of their indices, each index once.

    With `wanted` their tokens are read too, and the alternatives of those that it says yes to.

    Raises:
        CallFailed: the body is no chat completion (cut off, another JSON, a proxy's page).
        NoLogProbabilities: the tokens are wanted and were not sent.
    """
    try:
        body = parse_object(content)
        if holds_half_pair(body):
            raise ValueError(HALF_PAIR)
        served = str(body.get("model") or "")
        usage = body.get("usage") or {}
        tokens_paid = (int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0)))
        choices = {int(choice.get("index", 0)): choice for choice in reversed(body["choices"])}
        answers = []
        for _, choice in sorted(choices.items()):
            answers.append(_read_choice(choice, served, tokens_paid, wanted))
            tokens_paid = (0, 0)
    except NoLogProbabilities:
        raise
    except Exception:
        # Whatever a server may send: other types, endless numbers, deep nesting.
        raise CallFailed("malformed response") from None
    if not answers:
        raise CallFailed("malformed response")
    return answers


def _read_choice(
    choice: Mapping[str, Any], served: str, tokens_paid: tuple[int, int], wanted: Wanted | None
) -> Answer:
    message = choice["message"]
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        raise TypeError
    finish_reason = str(choice.get("finish_reason") or "")
    refused = bool(message.get("refusal")) or finish_reason == "content_filter"
    tokens = None if wanted is None or refused else _read_tokens(choice, wanted)
    return Answer(content or "", finish_reason, refused, served, *tokens_paid, tokens)


def _read_tokens(choice: Mapping[str, Any], wanted: Wanted) -> list[Token]:
    entries = (choice.get("logprobs") or {}).get("content")
    if not entries or not any(entry.get("top_logprobs") for entry in entries):
        raise NoLogProbabilities(
            "log-probabilities are needed, and the server sent none: use a server and model that "
            "return `top_logprobs` (vLLM, llama.cpp, some hosted models)"
        )
    tokens: list[Token] = []
    for entry in entries:
        alternatives = None
        if wanted(entry["token"]):
            top = entry.get("top_logprobs") or []
            alternatives = [(str(item["token"]), float(item["logprob"])) for item in top]
        tokens.append((str(entry["token"]), alternatives))
    return tokens
