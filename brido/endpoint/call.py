"""One attempt at one call to an OpenAI-compatible server: what is sent and what comes back.

The openai package builds the request and names the server's errors. The time and the size of a
whole response are bounded here. Errors name the HTTP status and the server's error code. The
server's other words are shown only if the settings say so, because servers quote prompts and keys.
"""

import asyncio
import math
import re
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from importlib import import_module
from typing import Any

from brido.endpoint.answers import Answer, Question
from brido.endpoint.budget import MALFORMED, TOO_LONG, UNNAMED_ERROR
from brido.endpoint.responses import ErrorBody, Unreadable, read_response
from brido.endpoint.settings import EndpointRuntime, api_key
from brido.utils.errors import BridoError, causes, parsing
from brido.utils.extras import extra

with extra():
    import openai
    from openai import DefaultAsyncHttpxClient

# The HTTP library by the client's base class: versions of the openai package use different ones.
_http: Any = import_module(DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0])
# Bytes of a response; far more than any answer has.
LONGEST_RESPONSE = 16 * 2**20
# A server that asks for a shorter wait does not want any.
_SHORTEST_WAIT = 0.01
# What OpenSSL calls plain HTTP, and a certificate that it does not know.
_INSECURE = {"WRONG_VERSION_NUMBER", "CERTIFICATE_VERIFY_FAILED"}
_UNREACHABLE, _TIMEOUT, _LOST = "server unreachable", "timeout", "connection lost"
# What servers say of a prompt that is too long (OpenAI, vLLM, llama.cpp, Anthropic, Mistral, TGI,
# xAI, Together); not of an answer that takes too long.
_LENGTH = re.compile(
    r"context[ _](?:length|window|size)|maximum (?:context|prompt)|(?<!took )too long|"
    r"too large for model|must be <= \d+|longer than the maximum|token limit|"
    r"exceeds? (?:the )?(?:available|maximum)|too many tokens",
    re.IGNORECASE,
)

# What OpenRouter says, with a status that means the key elsewhere, of a text that a filter refuses.
_FLAGGED = re.compile(r"moderation|input was flagged", re.IGNORECASE)
# What Gemini and xAI say, with the status of a wrong request, of a wrong key or none.
_KEY = re.compile(
    r"api[ _]key (?:not valid|not found|expired)|(?:incorrect|invalid) api[ _]key"
    r"|invalid authorization header",
    re.IGNORECASE,
)


@dataclass(eq=False)
class CallFailed(Exception):
    """An attempt that brought no answer.

    `kind`: what happened, in the words that reports count. `said`: the same with the server's
    error code. `status`: the HTTP status, None if the server sent none. `retry_after`: seconds
    that the server asks to wait. `paid`: what it took all the same, as an answer without a text.
    """

    kind: str
    said: str = ""
    status: int | None = None
    retry_after: float | None = None
    paid: Answer | None = None

    def __post_init__(self) -> None:
        self.said = self.said or self.kind

    @property
    def is_timeout(self) -> bool:
        """Whether no answer came in time."""
        return self.kind == _TIMEOUT or self.status in {408, 504}

    @property
    def is_lost(self) -> bool:
        """Whether the connection broke off."""
        return self.kind == _LOST

    @property
    def is_unreachable(self) -> bool:
        """Whether nothing listens at the address."""
        return self.kind == _UNREACHABLE

    @property
    def is_final(self) -> bool:
        """Whether another attempt in this run would change nothing, or be paid for once more."""
        return self.is_refusal or self.paid is not None

    @property
    def too_long(self) -> bool:
        """Whether the prompt, or the prompt and its answer, do not fit into the context."""
        return self.kind.endswith(TOO_LONG)

    @property
    def is_overload(self) -> bool:
        """Whether the server asks to slow down or is away: the call itself may be right."""
        return self.status in {429, 503, 529} or self.is_unreachable

    @property
    def is_refusal(self) -> bool:
        """Whether the server calls the request wrong, so that another attempt would change nothing.

        These are the statuses that the openai package does not try again.
        """
        if self.too_long:
            return True
        return self.status is not None and self.status < 500 and self.status not in {408, 409, 429}


class Connection:
    """An OpenAI-compatible server, asked through the openai package."""

    def __init__(self, runtime: EndpointRuntime, section: str) -> None:
        """Make a client for `runtime.base_url`; a server that needs no key gets a placeholder.

        Raises:
            BridoError: base_url is not an address.
        """
        self._runtime, self._section = runtime, section
        self._key = api_key(runtime)
        address = runtime.base_url or "https://api.openai.com/v1"
        # A connection serves one call. HTTP/1.1 does not number answers: if a proxy delivers one
        # twice on a kept connection, its copy is taken for the answer to the next question, and
        # every later answer silently moves on. A handshake is cheap beside that.
        headers = {"Connection": "close", "Accept-Encoding": "identity"}
        with parsing(lambda reason: f"{runtime.section}.base_url: {address} ({reason})"):
            self._client = openai.AsyncOpenAI(
                api_key=self._key or "none",
                base_url=address,
                timeout=runtime.timeout_seconds,
                max_retries=0,
                default_headers=headers,
                # Texts go to the address that was named and to no other.
                http_client=_BoundedClient(follow_redirects=False),
            )
        if runtime.base_url:
            # The package sends OPENAI_ORG_ID and OPENAI_PROJECT_ID to any server.
            self._client.organization = self._client.project = None

    async def close(self) -> None:
        """Close the client."""
        await self._client.close()

    async def ask(self, call: Sequence[Question]) -> list[Answer]:
        """Return answers to one question: one for each of its samples in `call`, or fewer.

        Raises:
            CallFailed: no answer came, for any reason that may be this call's or the server's.
            BridoError: no call can succeed (key, model, account).
        """
        question = call[0]
        body = dict(question.model.parameters)
        if "seed" in body:
            body["seed"] += question.sample
        if len(call) > 1:
            body["n"] = len(call)
        try:
            # The client's own timeout is one for each read: a server that sends a byte now and
            # then would never reach it.
            async with asyncio.timeout(self._runtime.timeout_seconds):
                response = await self._client.chat.completions.with_raw_response.create(
                    model=question.model.name,
                    messages=list(question.messages),  # type: ignore[arg-type]
                    extra_body=body,
                )
            return read_response(response.http_response.content, len(call))
        except openai.APIStatusError as error:
            said = ErrorBody(error.body, None)
            said.status = error.status_code
            raise self._failure(said, error.response.headers, body) from None
        except ErrorBody as error:
            raise self._failure(error, {}, body) from None
        except openai.APIConnectionError as error:
            self._check_security(error)
            raise CallFailed(_kind(error.__cause__)) from None
        except (TimeoutError, Unreadable) as error:
            raise CallFailed(_kind(error)) from None
        except openai.OpenAIError as error:
            raise CallFailed(f"client error ({type(error).__name__})") from None

    def _check_security(self, error: Exception) -> None:
        """Raise BridoError if no wait helps: http behind https, or an unknown certificate."""
        for cause in causes(error):
            if isinstance(cause, ssl.SSLError) and cause.reason in _INSECURE:
                raise BridoError(
                    f"{self._section}: no secure connection to the server ({cause.reason}). A "
                    f"server without https has http:// in {self._runtime.section}.base_url; a "
                    "certificate of your own goes into the file that SSL_CERT_FILE names (an "
                    "environment variable)"
                ) from None

    def _failure(
        self, error: ErrorBody, headers: Mapping[str, str], sent: Mapping[str, Any]
    ) -> Exception:
        """The error that a server's error is: of this call alone, or of all."""
        status, code, message = error.status, error.code, error.message
        said = self._describe(error, sent)
        if status is not None and 300 <= status < 400:
            return BridoError(
                f"{self._section}: the server redirects to another address "
                f"({said}{_origin(headers)}), and nothing was sent there. If it is "
                f"the right one, name it in {self._runtime.section}.base_url"
            )
        is_long = _LENGTH.search(f"{code} {message}") is not None
        no_key = status == 400 and _KEY.search(f"{code} {message}") is not None
        forbidden = status == 403 and not (_FLAGGED.search(message) or is_long)
        if status == 401 or no_key or forbidden:
            return BridoError(
                f"{self._section}: the server refused the key ({said}): set the environment "
                f"variable that {self._runtime.section}.api_key_env names (null: OPENAI_API_KEY, "
                "for OpenAI alone)"
            )
        if status == 404:
            return BridoError(
                f"{self._section}: the server does not know this address or model ({said}): check "
                f"{self._runtime.section}.base_url (it usually ends in /v1) and "
                f"{self._section}.model. {self._runtime.section}.show_content: true shows what "
                "the server says"
            )
        if status == 402 or code == "insufficient_quota":
            return BridoError(
                f"{self._section}: the account's quota is used up ({said}); answers so far are kept"
            )
        kind = UNNAMED_ERROR if status is None else f"HTTP {status}"
        # OpenAI's 429 also means more tokens than the account may send in a minute at all.
        too_large = status == 413 or (status == 429 and "request too large" in message.lower())
        if too_large or (status in {400, 403, 422, 500} and is_long):
            return CallFailed(f"{kind} {TOO_LONG}", f"{said} {TOO_LONG}", status, paid=error.paid)
        return CallFailed(kind, said, status, _retry_after(headers), error.paid)

    def _describe(self, error: ErrorBody, sent: Mapping[str, Any]) -> str:
        """HTTP status, error code and fields that the server's own words name.

        The words themselves are shown only where they are asked for.
        """
        said = f"an {UNNAMED_ERROR}" if error.status is None else f"HTTP {error.status}"
        if re.fullmatch(r"[A-Za-z0-9_.-]{1,60}", error.code) and error.code != str(error.status):
            said += f" {error.code}"
        fields = [name for name in sent if len(name) > 1 and name in error.message]
        if fields:
            said += f", about {', '.join(fields)}"
        if self._runtime.show_content:
            said += f": {error.message[:1000]}"
        return said.replace(self._key, "[key]") if self._key else said


class _BoundedClient(DefaultAsyncHttpxClient):
    """An HTTP client that reads no more than LONGEST_RESPONSE bytes of a response."""

    async def send(self, request: Any, **options: Any) -> Any:
        """Return the whole response; Unreadable if it is too long or compressed."""
        response = await super().send(request, **(options | {"stream": True}))
        content = bytearray()
        try:
            # No compression was asked for, and a small response can unfold to any size.
            if response.headers.get("content-encoding", "identity") != "identity":
                raise Unreadable
            async for chunk in response.aiter_raw():
                content += chunk
                if len(content) > LONGEST_RESPONSE:
                    raise Unreadable
        finally:
            await response.aclose()
        return _http.Response(
            response.status_code,
            headers=response.headers,
            content=bytes(content),
            request=request,
        )


def _kind(error: BaseException | None) -> str:
    if isinstance(error, Unreadable):
        return MALFORMED
    if isinstance(error, _http.ConnectError | _http.ConnectTimeout):
        return _UNREACHABLE
    if isinstance(error, TimeoutError | _http.TimeoutException):
        return _TIMEOUT
    return _LOST


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asks to wait; None without a usable number or date."""
    asked = headers.get("retry-after", "")
    try:
        seconds = float(asked)
    except ValueError:
        # By the server's own clock, where it tells it.
        now = _moment(headers.get("date", ""))
        seconds = _moment(asked) - (time.time() if math.isnan(now) else now)
    return seconds if _SHORTEST_WAIT <= seconds < math.inf else None


def _moment(date: str) -> float:
    """The time of a date as headers have it, in seconds; NaN for any other text."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError):
        return math.nan


def _origin(headers: Mapping[str, str]) -> str:
    """Where a redirect leads: scheme, host and port alone, the rest may quote anything."""
    origin = re.match(r"https?://[A-Za-z0-9.:\[\]-]{1,100}", headers.get("location", ""))
    return f", {origin[0]}" if origin else ""
