"""The log-probability of candidates under a checkpoint, whichever model wrote them.

It is computed from the text, as training scores it, not taken from a search: a beam search's score
includes the diversity penalty and is divided by a power of the length, a sample's ignores the
temperature, and other models' candidates have no score of this model.
"""

from pathlib import Path

import torch

from brido.likelihood.likelihood import sequence_statistics
from brido.models import LanguageModel
from brido.models.family import check_scores
from brido.models.settings import ReadingSettings
from brido.tables.join import Part, SplitTables, read_documents
from brido.utils.device import computing_device, inference_dtype
from brido.work.batches import MemoryBudget, plan_batches
from brido.work.settings import RuntimeSettings
from brido.work.worker import Advance, Result

# The most tokens of a candidate that are scored if the model has no limit of its own.
LONGEST = 4096


class ProbabilityWorker:
    """The rows of the likelihood table of a part of the documents.

    Made from the checkpoint's folder, `reading`, `runtime` and the split's tables; then see
    `brido.work.worker.MakeWorker`.
    """

    def __init__(
        self,
        folder: Path,
        reading: ReadingSettings,
        runtime: RuntimeSettings,
        tables: SplitTables,
        device: str,
        advance: Advance,
    ) -> None:
        place = computing_device(device or runtime.device, runtime.threads)
        dtype = inference_dtype(place, runtime.precision)
        self._language = LanguageModel.load(folder, reading, place, dtype)
        self._budget = MemoryBudget(runtime.batch_tokens)
        self._tables, self._advance = tables, advance

    def __call__(self, part: Part) -> Result:
        """A row for each document: log p (natural, a sum) and tokens of each candidate."""
        columns = ["document", "candidates"]
        documents = [one for batch in read_documents(self._tables, columns, part) for one in batch]
        language, found = self._language, {}
        positions = language.family.positions(language.model.config)
        limit = min(positions or LONGEST, LONGEST)
        sources = language.read([one.document for one in documents])

        @torch.inference_mode()
        def work(numbers: list[int]) -> None:
            batch = sources.take(numbers).to(language.model.device)
            texts = [list(documents[number].candidates) for number in numbers]
            targets = language.write(texts, batch, limit)
            ids = targets.ids.to(language.model.device)
            sums = sequence_statistics(language.model, batch.ids, batch.mask, ids, targets.lengths)
            check_scores(language.model, sums.log_probability)
            for place, number in enumerate(numbers):
                found[number] = {
                    "id": documents[number].id,
                    "log_probability": sums.log_probability[place].double().tolist(),
                    # The end of a text is one of its tokens.
                    "tokens": targets.lengths[place].tolist(),
                }
            self._advance(len(numbers))

        rows = max((len(one.candidates) for one in documents), default=1)
        for numbers in plan_batches(sources.mask.sum(1).tolist(), self._budget.tokens, rows):
            self._budget.run(numbers, work)
        counts = {"halved_batches": self._budget.halved}
        return [found[number] for number in range(len(documents))], counts
