"""An OpenAI-compatible server on loopback that answers by rule and misbehaves on purpose.

What it answers to a question depends on the question alone (text and seed), so a disturbed and an
undisturbed run must end in the same table. How it misbehaves is drawn anew at every attempt.
"""

import gzip
import hashlib
import json
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HEADER = b"HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n"
JSON = b"application/json"
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
    "stall": b"",
    "drop": b"",
    "half head": b"HTTP/1.1 200 OK\r\nContent-Ty",
    "other protocol": b"\x15\x03\x03\x00\x02\x02\x28" * 9,
    "chunk cut": b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"choices"',
    "interim": b"HTTP/1.1 100 Continue\r\n\r\n",
}
TROUBLES = (
    *("429 after", "429 date", "429 bare", "500", "502", "503", "504"),
    *("drop in body", "cut json", "page", "twice", "drip", "compressed", "flood"),
    *BODIES,
    *RAW,
)


def plain_answer(question: str) -> str:
    """A text that depends on the question alone."""
    return f"Answer {hashlib.sha256(question.encode()).hexdigest()[:8]}."


@dataclass
class BadEndpoint:
    """`with BadEndpoint(trouble=0.3) as server:` serves on `server.url` from threads."""

    trouble: float = 0.0
    troubles: tuple[str, ...] = TROUBLES
    troubles_left: float = float("inf")
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
        self.random = random.Random(0)
        self._server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"own": self}))
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        """A client that has gone is nothing to speak of."""


class _Handler(BaseHTTPRequestHandler):
    own: BadEndpoint
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Requests are kept in a list."""

    def do_POST(self) -> None:
        own = self.own
        own.headers.append(str(self.headers))
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        own.requests.append(body)
        own.times.append(time.monotonic())
        time.sleep(own.latency)
        question = body["messages"][-1]["content"]
        error = {"error": {"message": own.error_text, "code": "some_code"}}
        for text, status in own.always.items():
            if text in question:
                return self._json(status, error)
        if own.redirect is not None:
            return self._json(307, error, f"Location: {own.redirect}\r\n")
        if (served := own.respond(body)) is not None:
            return self._json(*served)
        trouble = ""
        if own.troubles_left and own.random.random() < own.trouble:
            own.troubles_left -= 1
            trouble = own.random.choice(own.troubles)
        if trouble[:3].isdigit():
            extra = {
                "429 after": f"Retry-After: {own.retry_after}\r\n",
                "429 date": "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
            }.get(trouble, "")
            return self._json(int(trouble[:3]), error, extra)
        return self._send(trouble, self._completion(body))

    def _json(self, status: int, body: Any, extra: str = "") -> None:
        content = json.dumps(body).encode()
        self.wfile.write(HEADER % (status, JSON, len(content), extra.encode()) + content)

    def _send(self, trouble: str, content: bytes) -> None:
        content, kind, extra = BODIES.get(trouble, content), JSON, b""
        if trouble == "cut json":
            content = content[: len(content) // 2]
        elif trouble == "page":
            kind, content = b"text/html", b"<html><body>Bad gateway</body></html>"
        elif trouble == "compressed":
            content, extra = gzip.compress(content), b"Content-Encoding: gzip\r\n"
        whole = HEADER % (200, kind, len(content), extra) + content
        whole = {"twice": whole * 2, "drop in body": whole[:-40], **RAW}.get(trouble, whole)
        self.close_connection |= trouble in {*RAW, "drop in body", "drip"}
        if trouble == "stall":
            time.sleep(self.own.stall_seconds)
        elif trouble == "drip":
            for byte in whole[:200]:
                time.sleep(self.own.stall_seconds / 100)
                self.wfile.write(bytes([byte]))
            return
        elif trouble == "flood":
            self.wfile.write(HEADER % (200, kind, 2**40, b""))
            while True:
                self.wfile.write(b" " * 2**20)
                self.own.flooded += 2**20
        self.wfile.write(whole)

    def _completion(self, body: dict[str, Any]) -> bytes:
        question = body["messages"][-1]["content"]
        text = self.own.answer(f"{question} {body.get('seed', 0)}")
        message = {"role": "assistant", "content": text}
        completion = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": f"{body['model']}-as-served",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }
        if self.own.usage:
            tokens = self.own.tokens or (len(question) // 5, 30)
            names = ("prompt_tokens", "completion_tokens")
            completion["usage"] = dict(zip(names, tokens, strict=True))
        return json.dumps(completion).encode()
