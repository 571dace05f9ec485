"""Kills, Ctrl-C and a server that dies: answers that came are kept and never asked for again."""

import json
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from bad_endpoint import BadEndpoint, plain_answer

FEW, MANY = 4, 32
RUN = """
import json, signal, sys
# A shell that starts tests in the background has them ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, "tests/endpoint")
from pathlib import Path
from conftest import Asking
from types import SimpleNamespace
from brido.utils.errors import run_command
store, url, count, options = sys.argv[1:]
asking, texts = Asking(Path(store)), [f"What of bridge {number}?" for number in range(int(count))]
run_command(lambda: asking(SimpleNamespace(url=url), texts, **json.loads(options)))
"""


def texts_of(count):
    return [f"What of bridge {number}?" for number in range(count)]


def start(asking, server, count, **options):
    """A process that asks so many texts."""
    options = json.dumps({"max_concurrency": FEW, **options})
    command = [sys.executable, "-c", RUN, str(asking.store), server.url, str(count), options]
    root = Path(__file__).parents[2]
    return subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE, text=True)


def wait_until(is_there, process=None):
    while not is_there():
        assert process is None or process.poll() is None
        time.sleep(0.005)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_at_most_calls_in_flight_are_asked_again(asking, number):
    texts = texts_of(60)
    with BadEndpoint(latency=0.1) as server:
        process = start(asking, server, 60)
        wait_until(lambda: len(server.requests) >= 12, process)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
        assert "Traceback" not in said
        asked = len(server.requests)
        assert asking(server, texts) == [{0: plain_answer(f"{text} 0")} for text in texts]
        assert len(texts) <= len(server.requests) <= len(texts) + FEW
        assert asked < len(texts)


def committed(asking):
    connection = sqlite3.connect(asking.store)
    keys = {key for (key,) in connection.execute("SELECT key FROM answers")}
    connection.close()
    return keys


def check_everything_at_once(asking, count, dead_seconds):
    """A server in trouble that dies for a while, and a client that is killed twice."""
    texts = texts_of(count)
    with asking.client() as client:
        keys = dict(zip(texts, asking.plan(client, texts).keys, strict=True))
    how = {"timeout_seconds": 2.0, "max_attempts": 50, "max_concurrency": MANY}

    def die_once():
        wait_until(lambda: len(server.answered) >= count // 3)
        server.die()
        time.sleep(dead_seconds)
        server.live()

    with BadEndpoint(trouble=0.15, seed=1, stall_seconds=3.0, latency=0.005) as server:
        dying = threading.Thread(target=die_once, daemon=True)
        dying.start()
        for moment in (count // 5, count // 2):
            process = start(asking, server, count, **how)
            wait_until(lambda least=moment: len(server.answered) >= least, process)
            process.kill()
            process.communicate()
            time.sleep(0.2)  # the server notices
            kept, requests = committed(asking), len(server.requests)
            # Only calls in flight are lost: asked, or answered and on the way to the disk.
            assert len({keys[text] for text, _ in server.answered} - kept) <= MANY
        answers = asking(server, texts, **how)
        dying.join()
        asked_again = {keys[body["messages"][0]["content"]] for body in server.requests[requests:]}
    assert answers == [{0: plain_answer(f"{text} 0")} for text in texts]
    assert not kept & asked_again


def test_a_killed_client_and_a_dying_server_change_nothing(asking):
    check_everything_at_once(asking, count=60, dead_seconds=1.0)
