"""One question to an OpenAI-compatible server, asked through the openai package and its retries.

Here the time and the size of a whole response are bounded, and a response that is not a completion
counts as one that did not arrive, so that the package asks again. Errors name the HTTP status and
the server's error code. The server's other words are shown only if the settings say so, because
servers quote prompts and keys.
"""

import asyncio
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from brido.endpoint.answers import CUT, FILTERED, Answer, FormatRefused, Question
from brido.endpoint.budget import MALFORMED
from brido.endpoint.responses import Unreadable, read_response
from brido.endpoint.settings import EndpointRuntime
from brido.utils.errors import BridoError
from brido.utils.extras import extra

with extra():
    import openai
    from openai import DefaultAsyncHttpxClient

# The HTTP library by the client's base class: versions of the openai package use different ones.
_http: Any = import_module(DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0])
# Bytes of a response; far more than any answer has.
LONGEST_RESPONSE = 16 * 2**20
# Characters of what a server says that an error shows.
_LONGEST_SAID = 1000
_UNREACHABLE, _TIMEOUT, _LOST = "server unreachable", "timeout", "connection lost"
# The form of an error code; other words may quote a prompt.
_CODE = re.compile(r"[A-Za-z_-][A-Za-z0-9_.-]{0,60}")
# The error codes of a prompt that a filter refuses: Azure's and OpenAI's.
_FILTERED_PROMPT = (FILTERED, "invalid_prompt")


class CallFailed(Exception):
    """A question that got no answer in all its attempts.

    `overloaded`: the server asks to slow down or is away, and the call itself may be right.
    """

    def __init__(self, said: str, overloaded: bool) -> None:
        """said: what happened, with the HTTP status and the server's error code."""
        super().__init__(said)
        self.overloaded = overloaded


class Server:
    """A server that answers questions, for one run; `attempted` hears of every attempt's trouble.

    A server that needs no key gets a placeholder.
    """

    def __init__(
        self, runtime: EndpointRuntime, section: str, attempted: Callable[[str], None]
    ) -> None:
        self._runtime, self._section = runtime, section
        self._key = os.environ.get(runtime.key_variable or "")
        self._answered = False
        # A connection serves one call. HTTP/1.1 does not number answers: if a proxy delivers one
        # twice on a kept connection, its copy is taken for the answer to the next question, and
        # every later answer silently moves on. A handshake is cheap beside that.
        headers = {"Connection": "close", "Accept-Encoding": "identity"}
        self.client = openai.AsyncOpenAI(
            api_key=self._key or "none",
            base_url=runtime.base_url or "https://api.openai.com/v1",
            timeout=runtime.timeout_seconds,
            max_retries=runtime.max_attempts - 1,
            default_headers=headers,
            http_client=_WholeResponses(runtime.timeout_seconds, attempted),
        )
        if runtime.base_url:
            # The package sends OPENAI_ORG_ID and OPENAI_PROJECT_ID to any server.
            self.client.organization = self.client.project = None

    async def ask(self, question: Question) -> Answer:
        """Return the answer to a question; one that a filter refuses is an answer without words.

        Raises:
            CallFailed: no answer came, for any reason that may be this call's or the server's.
            BridoError: no call can succeed (key, model, account, FormatRefused).
        """
        body = dict(question.model.parameters)
        if "seed" in body:
            body["seed"] += question.sample
        try:
            response = await self.client.chat.completions.with_raw_response.create(
                model=question.model.name,
                messages=list(question.messages),  # type: ignore[arg-type]
                extra_body=body,
            )
        except openai.APIStatusError as error:
            return self._refused(error, body)
        except openai.APIConnectionError as error:
            kind = str(error.__cause__) or _LOST  # as `_WholeResponses` has it
            raise CallFailed(kind, kind in {_UNREACHABLE, _TIMEOUT}) from None
        except openai.OpenAIError as error:
            raise CallFailed(f"client error ({type(error).__name__})", False) from None
        self._answered = True
        answer: Answer = response.http_response.extensions["answer"]
        # Some servers say "stop" of an answer that was cut at its limit.
        cut = answer.ended and answer.answer_tokens == question.model.answer_limit
        return replace(answer, finish_reason=CUT) if cut else answer

    def _refused(self, refusal: openai.APIStatusError, sent: Mapping[str, Any]) -> Answer:
        """Raise the error that a server's status is: of this call alone, or of all calls.

        A prompt that the server's filter refuses is answered: asking again would change nothing.
        """
        status, server, words = refusal.status_code, self._runtime.section, str(refusal.body)
        codes = [str(code or "") for code in (refusal.code, refusal.type)]
        code = next(filter(_CODE.fullmatch, codes), "")
        if status == 400 and code in _FILTERED_PROMPT:
            return Answer("", FILTERED, refused=True)
        named = [name for name in sent if len(name) > 1 and name in words]
        said = f"HTTP {status} {code}".rstrip() + f", about {', '.join(named)}" * bool(named)
        if self._runtime.show_content:
            said += f": {words}"
        if self._key:
            said = said.replace(self._key, "[key]")
        said = said[:_LONGEST_SAID]  # behind the key: a cut could leave a part of it
        end = f" ({said}; {server}.show_content: true shows what it says)"
        if "response_format" in named and not self._answered:
            raise FormatRefused(
                f"{self._section}: the server refuses the field response_format{end}"
            ) from None
        redirects = f"redirects, and nothing was sent there: correct {server}.base_url"
        reasons = {
            401: f"refused the key: set the environment variable that {server}.api_key_env names "
            "(null: OPENAI_API_KEY, for OpenAI alone)",
            402: "says that the account's quota is used up; answers so far are kept",
            404: f"does not know this address or model: check {server}.base_url (it usually ends "
            f"in /v1) and {self._section}.model",
            **dict.fromkeys(range(300, 400), redirects),
        }
        if not self._answered:
            reasons[403] = reasons[401]
        if code == "insufficient_quota":
            reasons[status] = reasons[402]
        if status in reasons:
            raise BridoError(f"{self._section}: the server {reasons[status]}{end}") from None
        raise CallFailed(said, status in {408, 429, 503, 504, 529}) from None


class _WholeResponses(DefaultAsyncHttpxClient):
    """An HTTP client whose responses are whole, in time, short enough, and completions or errors.

    The openai package tries again what raises here: a TransportError with the kind of trouble.
    """

    def __init__(self, seconds: float, attempted: Callable[[str], None]) -> None:
        # Texts go to the address that was named and to no other.
        super().__init__(follow_redirects=False)
        self._seconds, self._attempted = seconds, attempted

    async def send(self, request: Any, **options: Any) -> Any:
        try:
            # The package's own timeout is one for each read: a server that sends a byte now and
            # then would never reach it.
            async with asyncio.timeout(self._seconds):
                response = await self._read(request, options)
        except Unreadable:
            kind = MALFORMED
        except (_http.ConnectError, _http.ConnectTimeout):
            kind = _UNREACHABLE
        except (TimeoutError, _http.TimeoutException):
            kind = _TIMEOUT
        except Exception:  # whatever else the libraries raise: their words may quote a header
            kind = _LOST
        else:
            self._attempted(f"HTTP {response.status_code}" if response.status_code >= 300 else "")
            return response
        self._attempted(kind)
        raise _http.TransportError(kind, request=request)

    async def _read(self, request: Any, options: dict[str, Any]) -> Any:
        """Return the whole response; Unreadable if it is too long, compressed or no completion."""
        response = await super().send(request, **(options | {"stream": True}))
        content, found = bytearray(), {}
        try:
            # No compression was asked for, and a small response can unfold to any size.
            if response.headers.get("content-encoding", "").lower() not in {"", "identity"}:
                raise Unreadable
            async for chunk in response.aiter_raw():
                content += chunk
                if len(content) > LONGEST_RESPONSE:
                    raise Unreadable
        finally:
            await response.aclose()
        if response.status_code < 300:
            found["answer"] = read_response(bytes(content))
        how = {"headers": response.headers, "content": bytes(content), "extensions": found}
        return _http.Response(response.status_code, request=request, **how)
