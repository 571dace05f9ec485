"""An OpenAI-compatible server on loopback that answers by rule and misbehaves on purpose.

What it answers to a question depends on the question alone (text and seed), so a disturbed and an
undisturbed run must end in the same table. How it misbehaves is drawn anew at every attempt.
"""

import asyncio
import contextlib
import gzip
import hashlib
import json
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

HEADER = b"HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n"
GONE = (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError)
# What takes the place of a completion.
BODIES = {
    "other json": b'{"object": "error", "choices": null}',
    "empty": b"",
    "no choices": b'{"choices": []}',
    "no text": b'{"choices": [{"index": 0, "message": {"content": 7}}]}',
    "deep": b"[" * 100_000,
    "list": b"[]",
    "other encoding": '{"choices": []}'.encode("utf-16"),
}
# What takes the place of a response; the connection ends behind it.
RAW = {
    "half head": b"HTTP/1.1 200 OK\r\nContent-Ty",
    "other protocol": b"\x15\x03\x03\x00\x02\x02\x28" * 9,
    "chunk cut": b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"choices"',
    "interim": b"HTTP/1.1 100 Continue\r\n\r\n",
}
TROUBLES = (
    *("429 after", "429 date", "429 bare", "500", "502", "503", "504"),
    *("stall", "drop", "drop in body", "cut json", "page", "twice", "drip", "compressed", "flood"),
    *BODIES,
    *RAW,
)


def plain_answer(question: str) -> str:
    """A text that depends on the question alone."""
    return f"Answer {hashlib.sha256(question.encode()).hexdigest()[:8]}."


@dataclass
class BadEndpoint:
    """`with BadEndpoint(trouble=0.3) as server:` serves on `server.url` from a thread."""

    trouble: float = 0.0
    troubles: tuple[str, ...] = TROUBLES
    troubles_left: float = float("inf")
    seed: int = 0
    latency: float = 0.0
    usage: bool = True
    always: dict[str, int] = field(default_factory=dict)  # text in a question -> HTTP status
    error_text: str = "no"
    retry_after: str = "0.05"
    redirect: str | None = None  # where every question is sent on to
    stall_seconds: float = 2.0
    answer: Callable[[str], str] = plain_answer
    tokens: tuple[int, int] | None = None  # what it says of every call; None: what is true
    # Status and body in place of what it would answer to a request; None: nothing in its place.
    respond: Callable[[dict[str, Any]], tuple[int, Any] | None] = lambda body: None
    flooded: int = 0  # bytes of a response without end
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def __enter__(self) -> "BadEndpoint":
        self._random = random.Random(self.seed)
        self._loop = asyncio.new_event_loop()
        self._serving: set[asyncio.Task] = set()
        self.port = 0
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._call(self._open())
        return self

    def __exit__(self, *_: object) -> None:
        self._call(self._shut())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def _call(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(30)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def _open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _shut(self) -> None:
        self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._serving.add(task)
        try:
            with contextlib.suppress(*GONE):
                while True:
                    head = (await reader.readuntil(b"\r\n\r\n")).decode()
                    self.headers.append(head)
                    length = int(head.lower().split("content-length:")[1].split()[0])
                    body = json.loads(await reader.readexactly(length))
                    self.requests.append(body)
                    self.times.append(time.monotonic())
                    await asyncio.sleep(self.latency)
                    await self._respond(writer, body)
        finally:
            self._serving.discard(task)
            if task.cancelling():
                writer.transport.abort()
            writer.close()

    async def _respond(self, writer: asyncio.StreamWriter, body: dict[str, Any]) -> None:
        question = body["messages"][-1]["content"]
        for text, status in self.always.items():
            if text in question:
                return await self._error(writer, status)
        if self.redirect is not None:
            return await self._error(writer, 307, f"Location: {self.redirect}\r\n")
        if (served := self.respond(body)) is not None:
            return await self._json(writer, *served)
        trouble = ""
        if self.troubles_left and self._random.random() < self.trouble:
            self.troubles_left -= 1
            trouble = self._random.choice(self.troubles)
        if trouble[:3].isdigit():
            extra = {
                "429 after": f"Retry-After: {self.retry_after}\r\n",
                "429 date": "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
            }.get(trouble, "")
            return await self._error(writer, int(trouble[:3]), extra)
        if trouble == "stall":
            await asyncio.sleep(self.stall_seconds)
        content = self._completion(body)
        await self._send(writer, trouble, content)

    async def _send(self, writer: asyncio.StreamWriter, trouble: str, content: bytes) -> None:
        if trouble in {"drop", "stall"}:
            raise ConnectionResetError
        if trouble in RAW:
            writer.write(RAW[trouble])
            await writer.drain()
            writer.write_eof()
            raise ConnectionResetError
        content = BODIES.get(trouble, content)
        kind = b"application/json"
        if trouble == "cut json":
            content = content[: len(content) // 2]
        elif trouble == "page":
            kind, content = b"text/html", b"<html><body>Bad gateway</body></html>"
        extra = b""
        if trouble == "compressed":
            content, extra = gzip.compress(content), b"Content-Encoding: gzip\r\n"
        whole = HEADER % (200, kind, len(content), extra) + content
        if trouble == "twice":
            whole *= 2
        elif trouble == "drop in body":
            writer.write(whole[: len(whole) - 40])
            await writer.drain()
            raise ConnectionResetError
        elif trouble == "drip":
            for byte in whole[:200]:
                await asyncio.sleep(self.stall_seconds / 100)
                writer.write(bytes([byte]))
                await writer.drain()
                if writer.transport.is_closing():
                    break
            raise ConnectionResetError
        elif trouble == "flood":
            writer.write(HEADER % (200, kind, 2**40, b""))
            while True:
                writer.write(b" " * 2**20)
                await writer.drain()
                self.flooded += 2**20
        writer.write(whole)
        await writer.drain()

    async def _error(self, writer: asyncio.StreamWriter, status: int, extra: str = "") -> None:
        error = {"message": self.error_text, "code": "some_code"}
        await self._json(writer, status, {"error": error}, extra)

    async def _json(
        self, writer: asyncio.StreamWriter, status: int, body: Any, extra: str = ""
    ) -> None:
        content = json.dumps(body).encode()
        writer.write(HEADER % (status, b"application/json", len(content), extra.encode()) + content)
        await writer.drain()

    def _completion(self, body: dict[str, Any]) -> bytes:
        question = body["messages"][-1]["content"]
        text = self.answer(f"{question} {body.get('seed', 0)}")
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        completion = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": f"{body['model']}-as-served",
            "choices": [choice],
        }
        if self.usage:
            tokens = self.tokens or (len(question) // 5, 30)
            names = ("prompt_tokens", "completion_tokens")
            completion["usage"] = dict(zip(names, tokens, strict=True))
        return json.dumps(completion).encode()
