"""One call to an OpenAI-compatible server: what is sent, what comes back, what went wrong.

The openai package tries each call again and waits as long as the server asks. Here stands what it
leaves open: a limit on the time and the size of a whole response, and a response that is not a
completion counts as a failed attempt.

Errors name the HTTP status and the server's error code. What else the server wrote is shown only
if the settings say so, because servers quote prompts and keys.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from brido.endpoint.answers import Answer, Question
from brido.endpoint.response import Unreadable, read_response
from brido.endpoint.settings import EndpointRuntime, api_key
from brido.utils.errors import BridoError, parsing
from brido.utils.extras import extra
from brido.utils.json_lines import count_of

with extra("judge"):
    import openai
    from openai import DefaultAsyncHttpxClient

# The HTTP library by the client's base class: the openai package changed it underneath.
_http: Any = import_module(DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0])
# Bytes of a response; 128 answers of 4,096 tokens have a fifth of that.
LONGEST_RESPONSE = 16 * 2**20
# These headers describe the bytes as they were sent.
_TRANSPORT = {"content-encoding", "content-length", "transfer-encoding"}


@dataclass(eq=False)
class CallFailed(Exception):
    """A call that brought no answer after all its attempts.

    `status`: the HTTP status, None if the server sent none. `overloaded`: the server asks to slow
    down or is away, so the call itself may be fine. `retry_after`: seconds that the server asks to
    wait.
    """

    what: str
    status: int | None = None
    overloaded: bool = False
    retry_after: int | None = None


class Connection:
    """An OpenAI-compatible server, asked through the openai package."""

    def __init__(
        self,
        runtime: EndpointRuntime,
        section: str,
        attempt: Callable[[], None],
        failed: Callable[[str, int | None], None],
    ) -> None:
        """A client for `runtime.base_url`; a server that needs no key is sent a placeholder.

        `attempt()` is called before every attempt, `failed(what, retry_after)` after a failed one.

        Raises:
            BridoError: base_url is not an address.
        """
        self._runtime, self._section = runtime, section
        self._key = api_key(runtime)
        address = runtime.base_url or "https://api.openai.com/v1"
        # A connection serves one call. HTTP/1.1 numbers no answers, so on a kept connection an
        # answer that a proxy delivers twice is taken for the answer to the next question, and
        # every later answer silently moves to the next question. A handshake is cheap beside that.
        headers = {"Connection": "close", "Accept-Encoding": "identity"}
        with parsing(lambda reason: f"runtime.endpoint.base_url: {address} ({reason})"):
            self._client = openai.AsyncOpenAI(
                api_key=self._key or "none",
                base_url=address,
                timeout=runtime.timeout_seconds,
                max_retries=runtime.max_attempts - 1,
                default_headers=headers,
                http_client=_BoundedClient(runtime.timeout_seconds, attempt, failed),
            )

    async def close(self) -> None:
        """Close the client."""
        await self._client.close()

    async def ask(self, question: Question) -> dict[int, Answer]:
        """The answers to `question` by sample number: at least one of its samples.

        Raises:
            CallFailed: no answer came, for any reason that may be this call's or the server's.
            BridoError: no call can succeed (key, model, account).
        """
        body = dict(question.model.parameters)
        if "seed" in body:
            body["seed"] += question.samples[0]
        if len(question.samples) > 1:
            body["n"] = len(question.samples)
        try:
            response = await self._client.chat.completions.with_raw_response.create(
                model=question.model.name,
                messages=list(question.messages),  # type: ignore[arg-type]
                extra_body=body,
            )
        except openai.APIStatusError as error:
            raise self._status_failure(error) from None
        except openai.APIConnectionError as error:
            what = _what(error.__cause__)
            raise CallFailed(what, overloaded=what == _UNREACHABLE) from None
        except openai.OpenAIError as error:
            raise CallFailed(f"client error ({type(error).__name__})") from None
        found: dict[int, Answer] = response.http_response.extensions["answers"]
        answers = {question.samples[n]: a for n, a in found.items() if n < len(question.samples)}
        if not answers:
            raise CallFailed(_MALFORMED)
        return answers

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
        wait = count_of(error.response.headers.get("retry-after"))
        return CallFailed(what, status, status in {429, 503, 529}, wait)

    def _describe(self, error: Any) -> str:
        """HTTP status and error code; the server's own words only where they are asked for."""
        what = f"HTTP {error.status_code}"
        code = str(error.code or error.type or "")
        if re.fullmatch(r"[A-Za-z0-9_.-]{1,60}", code):
            what += f" {code}"
        if self._runtime.show_content:
            what += f": {str(error.message)[:1000]}"
        return what.replace(self._key, "[key]") if self._key else what


_MALFORMED, _UNREACHABLE = "malformed response", "server unreachable"


def _what(error: BaseException | None) -> str:
    """A failed attempt without an HTTP status in words."""
    if isinstance(error, _http.ConnectError | _http.ConnectTimeout):
        return _UNREACHABLE
    if isinstance(error, _http.TimeoutException):
        return "timeout"
    return _MALFORMED if isinstance(error, _http.DecodingError) else "connection lost"


class _BoundedClient(DefaultAsyncHttpxClient):
    """An HTTP client whose attempts are bounded in time and size and counted.

    A response that is not a completion is an error of the transport, which the openai package
    tries again; one that is carries its answers in `extensions["answers"]`.
    """

    def __init__(
        self,
        seconds: float,
        attempt: Callable[[], None],
        failed: Callable[[str, int | None], None],
    ) -> None:
        # Texts go to the address that was named and to no other.
        super().__init__(follow_redirects=False)
        self._seconds, self._attempt, self._failed = seconds, attempt, failed

    async def send(self, request: Any, **options: Any) -> Any:
        """The whole response, read as a stream."""
        self._attempt()
        try:
            # The client's own timeout is one for each read: a server that sends a byte now and
            # then would never reach it.
            async with asyncio.timeout(self._seconds):
                response = await self._read(request, options)
        except _http.RequestError as error:
            self._failed(_what(error), None)
            raise
        except TimeoutError:
            self._failed("timeout", None)
            raise _http.ReadTimeout("timeout", request=request) from None
        except Unreadable:
            self._failed(_MALFORMED, None)
            raise _http.DecodingError(_MALFORMED, request=request) from None
        if response.is_error:
            wait = count_of(response.headers.get("retry-after"))
            self._failed(f"HTTP {response.status_code}", wait)
        return response

    async def _read(self, request: Any, options: dict[str, Any]) -> Any:
        response = await super().send(request, **(options | {"stream": True}))
        try:
            # Nobody asked for a compressed response, and a small one can unfold to any size.
            if response.headers.get("content-encoding", "identity") != "identity":
                raise Unreadable
            content = bytearray()
            async for chunk in response.aiter_raw():
                content += chunk
                if len(content) > LONGEST_RESPONSE:
                    raise Unreadable
        finally:
            await response.aclose()
        answers = read_response(bytes(content)) if response.is_success else {}
        headers = {k: v for k, v in response.headers.items() if k.lower() not in _TRANSPORT}
        return _http.Response(
            response.status_code,
            headers=headers,
            content=bytes(content),
            request=request,
            extensions={"answers": answers},
        )


def _origin(headers: Mapping[str, str]) -> str:
    """Where a redirect leads: scheme, host and port alone, the rest may quote anything."""
    origin = re.match(r"https?://[A-Za-z0-9.:\[\]-]{1,100}", headers.get("location", ""))
    return f", {origin[0]}" if origin else ""
