"""Render a checkpoint's chat template in a process with little time and memory.

A template is a program of a stranger: in Jinja's sandbox it reaches no file, but a few nested loops
take for ever, and `'x' * 10**10` takes the machine's memory. Neither can be stopped inside of the
process that renders, so another one does, which costs as much as starting Python. That is once for
each model: templates are rendered around a mark, not around every document.
"""

import json
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


def render_chats(template: str, contexts: Sequence[Mapping[str, Any]]) -> list[str]:
    """What a template writes with each of some variables, as transformers would write it on the
    first day of 2025.

    Raises:
        ValueError: the template raised an error, or takes too much time or memory.
    """
    request = {
        "path": sys.path,
        "template": template,
        "contexts": list(contexts),
        "seconds": SECONDS,
        "bytes": BYTES,
        "characters": CHARACTERS,
    }
    answer = _answer(json.dumps(request, default=str))
    if "texts" in answer:
        texts: list[str] = answer["texts"]
        return texts
    known: dict[str, type[Exception]] = {
        "MemoryError": MemoryError,
        "RecursionError": RecursionError,
    }
    raise known.get(answer["error"], ValueError)(answer["message"] or answer["error"])


# The same template is asked for by every part that loads the model.
@lru_cache(maxsize=64)
def _answer(request: str) -> dict[str, Any]:
    """The process's answer; one in its place where it had to be ended."""
    too_slow = f"it takes more than {SECONDS} seconds"
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(_SCRIPT)],
            input=request,
            capture_output=True,
            encoding="utf-8",
            timeout=_WAIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"error": "ValueError", "message": too_slow}
    except OSError as error:
        raise BridoError(f"no process can be started to render a chat template: {error}") from None
    try:
        found: dict[str, Any] = json.loads(done.stdout)
        return found
    except ValueError:
        pass
    if done.returncode < 0:
        return {"error": "ValueError", "message": f"{too_slow}, or too much memory"}
    if "MemoryError" in done.stderr:
        return {"error": "MemoryError", "message": ""}
    raise BridoError(f"the process that renders chat templates failed: {done.stderr[-300:]}")
