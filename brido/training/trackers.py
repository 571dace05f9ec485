"""`runtime.trackers`: a run's losses and validations in the user's tracker while it trains.

accelerate's own trackers do the work. A tracker changes no result: nothing of it is in a table,
a metric or a fingerprint.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from accelerate.tracking import LOGGER_TYPE_TO_CLASS, GeneralTracker

from brido.likelihood import candidate_log_likelihood
from brido.models.language_model import LanguageModel
from brido.training.documents import RankedDocument
from brido.training.state import UpdateReport
from brido.utils.atomic import write_text
from brido.utils.errors import BridoError

FOLDER = Path(".brido/trackers")
# It has a dvc.yaml of its own, which `dvc exp show` reads; git must not ignore it.
DVCLIVE = Path("dvclive")
# What pip is asked for; mlflow's whole package wants older ones than ours.
PACKAGES = {"mlflow": "mlflow-skinny sqlalchemy alembic"}


class Trackers:
    """The trackers of one run, and what they are told; only the first process has one.

    names: those of `runtime.trackers`. run: what trackers call the run. settings: of the run,
    which wandb and mlflow keep. watch: further measures of each validation, or None.

    Raises:
        BridoError: a tracker's package is not installed (all of them named).
    """

    def __init__(
        self,
        names: Sequence[str],
        run: str,
        settings: dict[str, Any],
        watch: Watch | None = None,
        resumed: bool = False,
    ) -> None:
        missing = [name for name in names if find_spec(name) is None]
        if missing:
            raise BridoError(
                f"runtime.trackers: {', '.join(missing)} is not installed: "
                f"pip install {' '.join(PACKAGES.get(name, name) for name in missing)}, "
                "or take it out of the list"
            )
        self._watch = watch
        self._trackers = [_start(name, run, settings, resumed) for name in names]

    def update(self, update: int, report: UpdateReport) -> None:
        """Log an update's losses, learning rate and gradient norm."""
        self._log({f"update/{name}": value for name, value in report._asdict().items()}, update)

    def validation(
        self, row: dict[str, Any], autocast: Callable[[], AbstractContextManager[Any]]
    ) -> None:
        """Log a row of metrics/training.csv, and what `watch` measures."""
        values = {name: value for name, value in row.items() if name != "update"}
        if self._watch is not None and self._trackers:
            values |= self._watch(int(row["update"]), autocast)
        self._log({f"validation/{name}": value for name, value in values.items()}, row["update"])

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


class Watch:
    """log p of the elected candidate, of the rest and of base's own output on some documents.

    documents: ranked, best first. own_output: what the model has written of them in the present
    validation. In the first one the model is still base, whose texts are kept in `file`, so that a
    resumed run compares with the same ones.
    """

    def __init__(
        self,
        language: LanguageModel,
        documents: Sequence[RankedDocument],
        own_output: Callable[[], Sequence[str]],
        max_tokens: int,
        file: Path,
    ) -> None:
        self._language, self._documents, self._own_output = language, documents, own_output
        self._max_tokens, self._file = max_tokens, file
        tied = [len(set(document.scores)) == 1 for document in documents]
        self._tied = fmean(tied) if tied else math.nan

    def __call__(
        self, update: int, autocast: Callable[[], AbstractContextManager[Any]]
    ) -> dict[str, float]:
        """Means over documents, in nats a token, and the share of documents whose scores tie."""
        if update == 0:
            write_text(self._file, json.dumps(list(self._own_output()), ensure_ascii=False))
        own = json.loads(self._file.read_text("utf-8")) if self._file.is_file() else None
        model = self._language.model
        training = model.training
        model.eval()
        elected, rest, written = [], [], []
        for place, document in enumerate(self._documents):
            texts = [*document.candidates, *([own[place]] if own and own[place].strip() else [])]
            with torch.no_grad(), autocast():
                found = self._log_probabilities(document.document, texts)
            count = len(document.candidates)
            elected.append(found[0])
            rest.append(fmean(found[1:count]))
            written += found[count:]
        model.train(training)
        named = {"elected": elected, "rest": rest, "own_output": written}
        means = {f"log_p_{name}": fmean(row) for name, row in named.items() if row}
        return means | {"tied_documents": self._tied}

    def _log_probabilities(self, document: str, texts: list[str]) -> list[float]:
        """log p a token of each text."""
        device = self._language.model.device
        sources = self._language.read([document])
        targets = self._language.write([texts], sources, self._max_tokens)
        likelihood = candidate_log_likelihood(
            self._language.model,
            sources.ids.to(device),
            sources.mask.to(device),
            targets.ids.to(device),
            1.0,
            targets.lengths.to(device),
        )
        return likelihood[0].float().tolist()
