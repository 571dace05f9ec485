"""How long each stage took: a line each in .brido/seconds.jsonl, for the end of a run."""

import atexit
import contextlib
import json
import sys
import time
from pathlib import Path

FILE = Path(".brido/seconds.jsonl")
# Set where `python -m stages.report --show` prints the tables at the end: the stage prints none.
SHOWN_LATER = "BRIDO_SHOWN_LATER"
# Stages named one by one in the line at the end.
_SHOWN = 6


def measure() -> None:
    """Write down, when this process ends, which stage it was and how long it took."""
    started = time.monotonic()

    def note() -> None:
        file, stage = Path(sys.argv[0]), Path(sys.argv[0]).stem
        if file.parent.name != "stages" or stage == "__main__" or "--show" in sys.argv:
            return
        name = " ".join([stage, *sys.argv[1:]])
        seconds = round(time.monotonic() - started, 1)
        # `dvc repro` does not say where a run begins: behind a report begins the next one.
        if list(stage_seconds(Path(), last_run=True))[-1:] == ["report"]:
            begin_run()
        _append(json.dumps({"stage": name, "seconds": seconds}))

    atexit.register(note)


def begin_run() -> None:
    """Part the stages of a new run from those before it, by an empty line."""
    _append("")


def _append(line: str) -> None:
    try:
        FILE.parent.mkdir(exist_ok=True)
        with FILE.open("a", encoding="utf-8") as lines:
            lines.write(f"{line}\n")
    except OSError:
        pass  # a stage does not fail because its time cannot be kept


def stage_seconds(project: Path, last_run: bool = False) -> dict[str, float]:
    """Seconds of each stage when it last ran in a project, in its last run alone if so asked.

    Empty if nothing is known.
    """
    if not (project / FILE).is_file():
        return {}
    text = (project / FILE).read_text(encoding="utf-8")
    lines = (text.rpartition("\n\n")[2] if last_run else text).splitlines()
    found = {}
    for line in lines:
        # Empty lines part runs, and a full disk leaves a part of a line.
        with contextlib.suppress(ValueError):
            stage = json.loads(line)
            found[stage["stage"]] = stage["seconds"]
    return found


def seconds_line() -> str:
    """What the stages of the last run cost, the dearest first; "" if nothing is known."""
    last = stage_seconds(Path(), last_run=True)
    if not last:
        return ""
    dear = sorted(last.items(), key=lambda item: -item[1])
    shown = ", ".join(f"{name} {seconds:.0f}" for name, seconds in dear[:_SHOWN])
    rest = sum(seconds for _, seconds in dear[_SHOWN:])
    return f"Seconds a stage: {shown}; {len(dear[_SHOWN:])} others {rest:.0f}."
