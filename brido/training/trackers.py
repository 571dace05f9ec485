"""`runtime.trackers`: a run's losses and validations in the user's tracker while it trains.

accelerate's own trackers do the work. A tracker changes no result: nothing of it is in a table,
a metric or a fingerprint.
"""

import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from accelerate.tracking import LOGGER_TYPE_TO_CLASS, GeneralTracker

from brido.training.state import UpdateReport
from brido.utils.errors import BridoError

FOLDER = Path(".brido/trackers")
# It has a dvc.yaml of its own, which `dvc exp show` reads; git must not ignore it.
DVCLIVE = Path("dvclive")
# What pip is asked for; mlflow's whole package wants older ones than ours.
PACKAGES = {"mlflow": "mlflow-skinny sqlalchemy alembic"}


class Trackers:
    """The trackers of one run, and what they are told; only the first process has one.

    names: those of `runtime.trackers`. run: what trackers call the run. settings: of the run,
    which wandb and mlflow keep. resumed: whether the run goes on from a state.

    Raises:
        BridoError: a tracker's package is not installed (all of them named).
    """

    def __init__(
        self,
        names: Sequence[str],
        run: str,
        settings: dict[str, Any],
        resumed: bool = False,
    ) -> None:
        missing = [name for name in names if find_spec(name) is None]
        if missing:
            raise BridoError(
                f"runtime.trackers: {', '.join(missing)} is not installed: "
                f"pip install {' '.join(PACKAGES.get(name, name) for name in missing)}, "
                "or take it out of the list"
            )
        self._trackers = [_start(name, run, settings, resumed) for name in names]

    def update(self, update: int, report: UpdateReport) -> None:
        """Log an update's losses, learning rate and gradient norm."""
        self._log({f"update/{name}": value for name, value in report._asdict().items()}, update)

    def validation(self, row: dict[str, Any]) -> None:
        """Log a row of the history."""
        values = {f"validation/{name}": value for name, value in row.items() if name != "update"}
        self._log(values, row["update"])

    def finish(self) -> None:
        """Close the trackers."""
        for tracker in self._trackers:
            tracker.finish()

    def _log(self, values: dict[str, float], update: int) -> None:
        known = {name: float(value) for name, value in values.items() if math.isfinite(value)}
        for tracker in self._trackers:
            tracker.log(known, step=update)


def _start(name: str, run: str, settings: dict[str, Any], resumed: bool) -> GeneralTracker:
    kind: Any = LOGGER_TYPE_TO_CLASS[name]
    if name == "dvclive":
        # No experiment of its own and no edit of the pipeline's dvc.yaml.
        file = str(DVCLIVE / "dvc.yaml")
        own = {"dir": str(DVCLIVE), "dvcyaml": file, "save_dvc_exp": False, "resume": resumed}
        tracker = kind(run, **own)
    elif kind.requires_logging_directory:
        tracker = kind(run, str(FOLDER / name))
    else:
        tracker = kind(run)
    tracker.start()
    if name in ("wandb", "mlflow"):
        tracker.store_init_configuration(settings)
    return tracker
