"""`runtime.trackers`: a run's losses and validations in the user's tracker while it trains.

accelerate's own trackers do the work. A tracker changes no result: nothing of it is in a table,
a metric or a fingerprint.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from accelerate import Accelerator

from brido.training.task import Task
from brido.utils.errors import BridoError

# It has a dvc.yaml of its own, which `dvc exp show` reads, and makes no experiment.
DVCLIVE = {"dir": "dvclive", "dvcyaml": "dvclive/dvc.yaml", "save_dvc_exp": False}


@contextmanager
def trackers(task: Task, accelerator: Accelerator, resumed: bool) -> Iterator[None]:
    """Start the trackers that accelerate was made with, for the block, if the task is tracked.

    Raises:
        BridoError: the package of a tracker is not installed, of which accelerate says nothing.
    """
    if task.tracked is not None and task.runtime.trackers:
        if missing := [name for name in task.runtime.trackers if find_spec(name) is None]:
            raise BridoError(
                f"runtime.trackers: {', '.join(missing)} is not installed: install it, or take it "
                "out of the list"
            )
        kinds = (bool, int, float, str)
        flat = {key: value for key, value in task.tracked.items() if isinstance(value, kinds)}
        own = {"dvclive": {**DVCLIVE, "resume": resumed}}
        accelerator.init_trackers(task.name, flat, own)
    try:
        yield
    finally:
        for tracker in accelerator.trackers:
            tracker.finish()
