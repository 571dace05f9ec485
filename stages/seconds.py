"""How long each stage of a run took: a line each in .brido/seconds.jsonl, told at its end."""

import atexit
import contextlib
import json
import sys
import time
from pathlib import Path

FILE = Path(".brido/seconds.jsonl")
# Set where `python -m stages` prints the tables at the end: the stage prints none.
SHOWN_LATER = "BRIDO_SHOWN_LATER"
# Stages named one by one in the line at the end.
_SHOWN = 6


def measure() -> None:
    """Write down, when this process ends, which stage it was and how long it took."""
    started = time.monotonic()

    def note() -> None:
        file, stage = Path(sys.argv[0]), Path(sys.argv[0]).stem
        if file.parent.name != "stages" or stage == "__main__":
            return
        took = {
            "stage": " ".join([stage, *sys.argv[1:]]),
            "seconds": round(time.monotonic() - started, 1),
        }
        # A stage does not fail because its time cannot be kept.
        with contextlib.suppress(OSError):
            # `dvc repro` does not say where a run begins: behind a report begins the next one.
            if list(stage_seconds())[-1:] == ["report"]:
                begin_run()
            FILE.parent.mkdir(exist_ok=True)
            with FILE.open("a", encoding="utf-8") as lines:
                lines.write(f"{json.dumps(took)}\n")

    atexit.register(note)


def begin_run() -> None:
    """Forget the stages of the run before."""
    FILE.unlink(missing_ok=True)


def stage_seconds() -> dict[str, float]:
    """Seconds of each stage of the last run; empty if nothing is known."""
    found = {}
    lines = FILE.read_text(encoding="utf-8").splitlines() if FILE.is_file() else []
    for line in lines:
        # A full disk leaves a part of a line.
        with contextlib.suppress(ValueError):
            took = json.loads(line)
            found[took["stage"]] = took["seconds"]
    return found


def seconds_line() -> str:
    """What the stages of the last run cost, the dearest first; "" if nothing is known."""
    dear = sorted(stage_seconds().items(), key=lambda item: -item[1])
    shown = ", ".join(f"{name} {seconds:.0f}" for name, seconds in dear[:_SHOWN])
    rest = sum(seconds for _, seconds in dear[_SHOWN:])
    return f"Seconds a stage: {shown}; {len(dear[_SHOWN:])} others {rest:.0f}." if dear else ""
