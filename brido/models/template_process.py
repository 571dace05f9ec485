"""Render a chat template: the process that `brido.models.rendering` starts, within its limits.

It reads one JSON object from stdin and writes one to stdout. transformers renders, on the first day
of 2025: a template that writes today's date would ask another question every day.
"""

import contextlib
import json
import math
import sys
import time
from datetime import datetime
from typing import Any


class _FirstOf2025(datetime):
    @classmethod
    def now(cls, *_: Any) -> "_FirstOf2025":
        return cls(2025, 1, 1)


def main() -> None:
    """Answer {"texts": [...]}, or {"error": ...} for what a template raises."""
    request = json.load(sys.stdin)
    sys.path[:] = request["path"]
    from transformers.utils import chat_template_utils

    setattr(chat_template_utils, "datetime", _FirstOf2025)  # noqa: B010 - it exports none
    # The limits hold for compiling too: Jinja computes constants there.
    _limit(request["seconds"], request["bytes"])
    answer: dict[str, Any]
    try:
        texts = chat_template_utils.render_jinja_template(
            request["chats"], chat_template=request["template"], **request["given"]
        )[0]
        answer = {"texts": texts}
        if sum(map(len, texts)) > request["characters"]:
            answer = {"error": "it writes too long a text"}
    except Exception as error:  # a stranger's template may raise any
        answer = {"error": str(error)[:10_000] or type(error).__name__}
    json.dump(answer, sys.stdout)


def _limit(seconds: int, size: int) -> None:
    """Let this process have no more seconds of a processor, bytes of memory, and no file."""
    with contextlib.suppress(ImportError):  # Windows: the parent's clock alone
        import resource

        limits = [
            (resource.RLIMIT_CPU, math.ceil(time.process_time()) + seconds),
            (resource.RLIMIT_AS, size),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CORE, 0),
        ]
        for kind, value in limits:
            with contextlib.suppress(ValueError, OSError):  # not on every system
                resource.setrlimit(kind, (value, value))


if __name__ == "__main__":
    main()
