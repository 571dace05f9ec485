"""Kills and Ctrl-C: answers that came are kept, and calls in flight alone are asked again."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bad_endpoint import BadEndpoint, plain_answer

TEXTS = [f"What of bridge {number}?" for number in range(30)]
RUN = """
import signal, sys
# A shell that starts tests in the background has them ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, "tests/endpoint")
from pathlib import Path
from conftest import Asking
from types import SimpleNamespace
from brido.utils.errors import run_command
texts = [f"What of bridge {number}?" for number in range(30)]
server = SimpleNamespace(url=sys.argv[2])
run_command(lambda: Asking(Path(sys.argv[1]))(server, texts, max_concurrency=4))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_at_most_calls_in_flight_are_asked_again(asking, number):
    with BadEndpoint(latency=0.1) as server:
        command = [sys.executable, "-c", RUN, str(asking.store), server.url]
        process = subprocess.Popen(
            command, cwd=Path(__file__).parents[2], stderr=subprocess.PIPE, text=True
        )
        while len(server.requests) < 12:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
        assert "Traceback" not in said
        asked = len(server.requests)
        answers = asking(server, TEXTS)
        assert answers == [{0: plain_answer(f"{text} 0")} for text in TEXTS]
        assert len(TEXTS) <= len(server.requests) <= len(TEXTS) + 4
        assert asked < len(TEXTS)
