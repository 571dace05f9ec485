"""Render a checkpoint's chat template in a process with little time and memory.

A template is a program of a stranger: in Jinja's sandbox it reaches no file, but a few nested loops
take for ever, and `'x' * 10**10` takes the machine's memory. Neither can be stopped inside of the
process that renders, so another one does. It runs once for each model: templates are rendered
around a mark, not around every document.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from brido.utils.errors import BridoError

# What a template may take: the largest known take hundredths of a second.
SECONDS, BYTES, CHARACTERS = 5, 2**30, 2**20
# On the clock, where a machine has other things to do.
_WAIT = 120
_SCRIPT = Path(__file__).with_name("template_process.py")
# Every thread of a numerical library takes memory.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def render_chats(
    template: str, chats: Sequence[Sequence[Mapping[str, str]]], given: Mapping[str, Any]
) -> list[str]:
    """What a template writes of each chat with the variables `given`, as transformers writes it.

    Raises:
        ValueError: the template raised an error, or takes too much time or memory.
    """
    request = {
        "path": sys.path,
        "template": template,
        "chats": chats,
        "given": given,
        "seconds": SECONDS,
        "bytes": BYTES,
        "characters": CHARACTERS,
    }
    answer = _answer(json.dumps(request, default=str))
    if "error" in answer:
        raise ValueError(answer["error"])
    texts: list[str] = answer["texts"]
    return texts


# The same template is asked for by every part that loads the model.
@lru_cache(maxsize=64)
def _answer(request: str) -> dict[str, Any]:
    """The process's answer; one in its place where it had to be ended."""
    too_much = {"error": f"it takes more than {SECONDS} seconds, or too much memory"}
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(_SCRIPT)],
            input=request,
            capture_output=True,
            encoding="utf-8",
            timeout=_WAIT,
            check=False,
            env=os.environ | _ONE_THREAD,
        )
    except subprocess.TimeoutExpired:
        return too_much
    except OSError as error:
        raise BridoError(f"no process can be started to render a chat template: {error}") from None
    try:
        found: dict[str, Any] = json.loads(done.stdout)
        return found
    except ValueError:
        if done.returncode < 0 or "MemoryError" in done.stderr:
            return too_much
    raise BridoError(f"the process that renders chat templates failed: {done.stderr[-300:]}")
