"""What a checkpoint itself thinks of candidates, whoever wrote them: their log-probability.

It is computed from the text, as training scores it, not taken from a search: a beam search's score
has paid for its groups' diversity and is divided by a power of the length, a sample's leaves out
temperature, and other models' candidates have none.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch

from brido.candidates.batching import MemoryBudget
from brido.likelihood.likelihood import sequence_statistics
from brido.models import LanguageModel
from brido.models.family import check_scores
from brido.tables import CORPUS, POOL
from brido.utils.device import computing_device, inference_dtype
from brido.vote.similarity import Pairing
from brido.work.batches import plan_batches
from brido.work.ranges import read_range
from brido.work.worker import Advance, Result

if TYPE_CHECKING:
    from brido.models.settings import ReadingSettings
    from brido.work.settings import RuntimeSettings

# Tokens of a candidate that are scored where the model has no limit of its own.
LONGEST = 4096


class ProbabilityWorker:
    """The rows of the likelihood table of a part of the documents.

    Made of the checkpoint's folder, `reading`, `runtime` and the paths of candidates and corpus;
    then see `brido.work.running.MakeWorker`.
    """

    def __init__(
        self,
        folder: Path,
        reading: ReadingSettings,
        runtime: RuntimeSettings,
        candidates: Path,
        corpus: Path,
        device: str,
        advance: Advance,
    ) -> None:
        place = computing_device(device or runtime.device, runtime.threads)
        auto = runtime.precision == "auto"
        dtype = inference_dtype(place) if auto else getattr(torch, runtime.precision)
        self._language = LanguageModel.load(folder, reading, place, dtype)
        self._budget = MemoryBudget(runtime.batch_tokens)
        self._candidates, self._corpus, self._advance = candidates, corpus, advance

    def __call__(self, unit: Pairing) -> Result:
        """A row for each document: log p (natural, a sum) and tokens of each candidate."""
        columns = ["id", "candidates"]
        rows = read_range(self._candidates, POOL, "pool", columns, unit.candidates)
        columns = ["id", "document"]
        known = dict(read_range(self._corpus, CORPUS, "download", columns, unit.corpus))
        documents, texts = [known[name] for name, _ in rows], [texts for _, texts in rows]
        found = self.score(documents, texts)
        return [
            {"id": name, "log_probability": found[place][0], "tokens": found[place][1]}
            for place, (name, _) in enumerate(rows)
        ], {"halved_batches": self._budget.halved}

    def score(
        self, documents: list[str], texts: list[list[str]]
    ) -> list[tuple[list[float], list[int]]]:
        """(log p, tokens) of N texts of each document; the end of a text is one of its tokens."""
        language = self._language
        positions = language.family.positions(language.model.config)
        limit = min(positions or LONGEST, LONGEST)
        sources = language.read(documents)
        found: dict[int, tuple[list[float], list[int]]] = {}

        @torch.inference_mode()
        def work(numbers: list[int]) -> None:
            batch = sources.take(numbers).to(language.model.device)
            targets = language.write([texts[number] for number in numbers], batch, limit)
            ids = targets.ids.to(language.model.device)
            sums = sequence_statistics(language.model, batch.ids, batch.mask, ids, targets.lengths)
            check_scores(language.model, sums.log_probability)
            for place, number in enumerate(numbers):
                values = sums.log_probability[place].double().tolist()
                found[number] = (values, targets.lengths[place].tolist())
            self._advance(len(numbers))

        rows = max(map(len, texts), default=1)
        for numbers in plan_batches(sources.mask.sum(1).tolist(), self._budget.tokens, rows):
            self._budget.run(numbers, work)
        return [found[number] for number in range(len(documents))]
