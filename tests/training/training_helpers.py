"""Made-up tables and sudden ends, for the tests of training."""

import numpy as np
import pyarrow as pa
import pytest
from tiny_models import WORDS

from brido.training.state import TrainState


def table(documents: int, candidates: int = 4, seed: int = 0) -> pa.Table:
    """What RankedDocuments takes; a candidate's score says how much of it is in the source."""
    random = np.random.default_rng(seed)
    ids = [f"d{number}" for number in range(documents)]
    sources, references, texts, values = [], [], [], []
    for _ in ids:
        source = random.choice(WORDS, size=random.integers(6, 20))
        sources.append(" ".join(source))
        references.append(" ".join(source[:4]))
        rows = [random.choice(WORDS, size=random.integers(2, 8)) for _ in range(candidates)]
        texts.append([" ".join(row) for row in rows])
        score = np.array([np.isin(row, source).mean() for row in rows])
        values.append(score.tolist())
    columns = {"id": ids, "document": sources, "reference": references}
    return pa.table(columns | {"candidates": texts, "scores": values})


class Killed(BaseException):
    """Stands for kill -9: nothing catches it."""


def kill_at(monkeypatch: pytest.MonkeyPatch, update: int, by: type[BaseException] = Killed) -> None:
    """Let the next runs die when update `update` is done, before anything is noted about it."""
    count = TrainState.count

    def dying(self: TrainState, *arguments: object) -> None:
        if self.update + 1 == update:
            raise by("stopped")
        count(self, *arguments)

    monkeypatch.setattr(TrainState, "count", dying)
