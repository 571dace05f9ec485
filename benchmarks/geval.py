"""The LLM judge's throughput against the limit of a server on loopback.

    python -m benchmarks.geval

Three servers, each a process of its own, answer in a given time (+-20 %, drawn evenly):
* slots: at most K calls at once (more wait): the limit is K / latency, and the client's cap is K;
* refusing: the same, but a call too many gets a 429 with `Retry-After`, and the cap is far above K;
* rate: R calls a second (a token bucket of one second), 429 with `Retry-After` above it.
Printed: the server's limit, answers a second, their share of the limit, and the client's CPU time
per answer. Timings include everything but imports: planning, asking, committing each answer
(synced), reading the marks.
"""

import argparse
import asyncio
import json
import multiprocessing
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from brido.endpoint.settings import EndpointRuntime
from brido.evaluation.geval import GEval
from brido.evaluation.geval.settings import GEvalSettings

ANSWER = '{"coherence": 4, "consistency": 5, "fluency": 3, "relevance": 4}'
MESSAGE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}}
COMPLETION = {"id": "1", "object": "chat.completion", "created": 1, "model": "judge"}
COMPLETION |= {"choices": [MESSAGE]}
BODY = json.dumps(COMPLETION | {"usage": {"prompt_tokens": 800, "completion_tokens": 30}}).encode()
# kind, limit, seconds of an answer, calls in flight
CASES = (
    ("slots", 16, 1.0, 16),
    ("slots", 32, 1.0, 32),
    ("slots", 64, 2.0, 64),
    ("refusing", 16, 1.0, 64),
    ("refusing", 32, 1.0, 64),
    ("rate", 30, 1.0, 128),
)


class Server:
    """Answers after `latency` seconds under one of the limits."""

    def __init__(self, kind: str, limit: float, latency: float) -> None:
        self.kind, self.limit, self.latency = kind, limit, latency
        self.slots = asyncio.Semaphore(int(limit))
        self.tokens, self.filled_at = limit, time.monotonic()

    def refuses_for(self) -> float | None:
        """Seconds to wait where the call is one too many, None where it is not."""
        if self.kind == "refusing":
            return self.latency if self.slots.locked() else None
        if self.kind == "rate":
            now = time.monotonic()
            self.tokens = min(self.limit, self.tokens + (now - self.filled_at) * self.limit)
            self.filled_at = now
            if self.tokens < 1:
                return (1 - self.tokens) / self.limit
            self.tokens -= 1
        return None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one call."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            await reader.readexactly(int(head.split(b"content-length:")[1].split()[0]))
            wait = self.refuses_for()
            if wait is not None:
                extra = b"Retry-After: %.3f\r\n" % wait
                writer.write(b"HTTP/1.1 429 X\r\nContent-Length: 2\r\n" + extra + b"\r\n{}")
            else:
                seconds = self.latency * random.uniform(0.8, 1.2)
                if self.kind == "rate":
                    await asyncio.sleep(seconds)
                else:
                    async with self.slots:
                        await asyncio.sleep(seconds)
                kind = b"Content-Type: application/json\r\n"
                size = b"Content-Length: %d\r\n\r\n" % len(BODY)
                writer.write(b"HTTP/1.1 200 X\r\n" + kind + size + BODY)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def run_server(kind: str, limit: float, latency: float, port: Any) -> None:
    """Serve until terminated; puts the port into the queue."""

    async def main() -> None:
        server = Server(kind, limit, latency)
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=1024)
        port.put(listening.sockets[0].getsockname()[1])
        await asyncio.Event().wait()

    asyncio.run(main())


def measure(kind: str, limit: float, latency: float, cap: int, calls: int) -> tuple[float, float]:
    """Answers a second, and CPU milliseconds of the client for each, of one run."""
    context = multiprocessing.get_context("spawn")
    port = context.Queue()
    process = context.Process(target=run_server, args=(kind, limit, latency, port), daemon=True)
    process.start()
    url = f"http://127.0.0.1:{port.get(timeout=60)}/v1"
    documents = [f"{number} " + "A bridge was opened. " * 120 for number in range(calls)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            store = str(Path(folder) / "answers.sqlite")
            runtime = EndpointRuntime(base_url=url, store=store, max_concurrency=cap)
            settings = GEvalSettings(model="judge", score_mode="greedy", structured_output="never")
            judge = GEval(settings, runtime)
            wall, cpu = time.perf_counter(), time.process_time()
            rows = judge.score(documents, documents).rows
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    finally:
        process.terminate()
    assert len(rows) == calls
    return calls / wall, 1000 * cpu / calls


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="about how long a run takes")
    options = parser.parse_args()
    import brido.endpoint.asking  # noqa: F401  imported here so that no run pays for it
    from benchmarks.harness import head, row  # not in the server's process, which starts slowly

    head("server", "limit", "calls in flight", "answers/s", "of the limit", "client CPU, ms")
    for kind, limit, latency, cap in CASES:
        most = limit if kind == "rate" else limit / latency
        rate, cpu = measure(kind, limit, latency, cap, int(most * options.seconds))
        words = f"{limit}/s" if kind == "rate" else f"{limit} x {latency} s = {most:.0f}/s"
        row(kind, words, cap, f"{rate:.1f}", f"{rate / most:.1%}", f"{cpu:.2f}")


if __name__ == "__main__":
    main()
