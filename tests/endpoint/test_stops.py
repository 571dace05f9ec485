"""Kills and Ctrl-C: answers that came are kept and never asked for again."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bad_endpoint import BadEndpoint, plain_answer

CONCURRENCY = 4
RUN = """
import json, signal, sys
# A shell that starts tests in the background has them ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, "tests/endpoint")
from pathlib import Path
from conftest import Asking
from types import SimpleNamespace
from brido.utils.errors import run_command
store, url, texts = sys.argv[1:]
asking, server = Asking(Path(store)), SimpleNamespace(url=url)
run_command(lambda: asking(server, json.loads(texts), max_concurrency=4))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_at_most_calls_in_flight_are_asked_again(asking, number):
    texts = [f"What of bridge {place}?" for place in range(60)]
    with BadEndpoint(latency=0.1) as server:
        command = [sys.executable, "-c", RUN, str(asking.store), server.url, json.dumps(texts)]
        root = Path(__file__).parents[2]
        process = subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE, text=True)
        while len(server.requests) < 12:
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
        assert "Traceback" not in said
        asked = len(server.requests)
        assert asking(server, texts) == [{0: plain_answer(f"{text} 0")} for text in texts]
        assert len(texts) <= len(server.requests) <= len(texts) + CONCURRENCY
        assert asked < len(texts)
