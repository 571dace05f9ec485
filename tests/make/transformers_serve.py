"""`transformers serve` on loopback: a real server that is not ours."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve the model of a folder, whose path is its name there; yields the base URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(folder)]
    options = ["--host", "127.0.0.1", "--port", address.rpartition(":")[2], "--device", "cpu"]
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with subprocess.Popen([*command, *options], env=environment) as process:
        try:
            deadline = time.monotonic() + 300
            while not _is_up(f"{address}/health"):
                assert process.poll() is None, "the server ended"
                assert time.monotonic() < deadline, "the server does not come up"
                time.sleep(0.2)
            yield f"{address}/v1"
        finally:
            process.terminate()


def _is_up(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False
