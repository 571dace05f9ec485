"""The log-probability of candidates under a checkpoint, whichever model wrote them.

It is computed from the text, as training scores it, and not taken from a search. A beam search's
score includes the diversity penalty and is divided by a power of the length; a sample's ignores the
temperature. Other models' candidates have no score of this model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from brido.candidates.blocks import blocks, too_few, windows
from brido.likelihood.information import Information, cross_log_probability, prior_of
from brido.likelihood.likelihood import sequence_statistics
from brido.models import LanguageModel
from brido.models.family import check_scores
from brido.models.interface import Texts
from brido.models.products import lay_out_layers
from brido.models.settings import ReadingSettings
from brido.models.tokens import Sources
from brido.tables.join import CandidateDocument, Part, SplitTables, parts_of, read_documents
from brido.utils.device import computing_device, inference_dtype
from brido.utils.errors import BridoError
from brido.vote.settings import LikelihoodSettings
from brido.work.batches import MemoryBudget, plan_batches
from brido.work.settings import RuntimeSettings
from brido.work.worker import Advance, Result, unheard

# The most tokens of a candidate that are scored if the model has no limit of its own.
LONGEST = 4096


@dataclass(frozen=True)
class ProbabilityUnit:
    """A part of a split's documents, and with how many others each one's candidates are scored."""

    tables: SplitTables
    part: Part
    others: int

    def __len__(self) -> int:
        return len(self.part)


def units(tables: SplitTables, size: int, others: int) -> list[ProbabilityUnit]:
    """Return the work on a split in parts of `size` documents, or of whole windows.

    Raises:
        BridoError: a table is missing or damaged, or they hold different documents; or a document
            has too few others.
    """
    if not others:
        return [ProbabilityUnit(tables, part, 0) for part in parts_of(tables, size)]
    parts = parts_of(tables, size, windows)
    for part in parts:
        read = read_documents(tables, ["document"], part)
        texts = [text for batch in read for text in batch.columns["document"].to_pylist()]
        if problem := too_few(texts, others):
            raise BridoError(f"{tables.pool}: {problem}")
    return [ProbabilityUnit(tables, part, others) for part in parts]


class ProbabilityWorker:
    """The rows of the likelihood table of a part of the documents.

    Made from the checkpoint's folder, `reading`, `runtime` and section `likelihood`; then see
    `brido.work.worker.MakeWorker`. A part holds whole windows of documents where others are asked
    for (`brido.candidates.blocks`).
    """

    def __init__(
        self,
        folder: Path,
        reading: ReadingSettings,
        runtime: RuntimeSettings,
        settings: LikelihoodSettings,
        device: str,
        advance: Advance,
    ) -> None:
        place = computing_device(device or runtime.device, runtime.threads)
        dtype = inference_dtype(place, runtime.precision)
        self._language = LanguageModel.load(folder, reading, place, dtype)
        lay_out_layers(self._language.model)
        self._budget = MemoryBudget(runtime.batch_tokens)
        self._settings, self._advance = settings, advance
        self._limit = written_limit(self._language)

    def __call__(self, unit: ProbabilityUnit) -> Result:
        """A row for each document: of each candidate log p and prior (natural, sums) and tokens,
        among which is the text's end."""
        batches = read_documents(unit.tables, ["document", "candidates"], unit.part)
        documents = [one for batch in batches for one in batch]
        sources = self._language.read([one.document for one in documents])
        if unit.others:
            found = self._with_others(documents, sources, unit.others)
        else:
            texts = [one.candidates for one in documents]
            how = self._language, self._budget, self._limit, self._advance
            alone = own_log_probabilities(sources, texts, *how)
            found = [(sums, None, tokens) for sums, tokens in alone]
        rows = [
            {
                "id": one.id,
                "log_probability": sums.double().tolist(),
                "prior": None if prior is None else prior.double().tolist(),
                "tokens": tokens.tolist(),
            }
            for one, (sums, prior, tokens) in zip(documents, found, strict=True)
        ]
        return rows, {"halved_batches": self._budget.halved}

    def _with_others(
        self, documents: Sequence[CandidateDocument], sources: Sources, others: int
    ) -> list[tuple[Tensor, Tensor | None, Tensor]]:
        """log p, prior and tokens [N] of each document's candidates."""
        ids, texts = ([getattr(one, name) for one in documents] for name in ("id", "document"))
        found: dict[int, tuple[Tensor, Tensor | None, Tensor]] = {}
        for block in blocks(ids, texts, others, self._settings.seed):
            own = block.members[: block.scored]
            candidates = [documents[place].candidates for place in own]
            terms = self._block(candidates, sources.take(block.members))
            found.update(zip(own, zip(*terms, strict=True), strict=True))
            self._advance(block.scored)
        return [found[number] for number in range(len(documents))]

    @torch.inference_mode()
    def _block(self, texts: Sequence[Sequence[str]], sources: Sources) -> Information:
        """Return the terms of the first documents' candidates, [documents, N] each."""
        language = self._language
        batch = sources.to(language.model.device)
        # Documents that lend their source alone have no text; what stands before one is theirs.
        lent = [texts[0]] * (len(batch.ids) - len(texts))
        targets = language.write([*texts, *lent], batch, self._limit)
        ids = targets.ids.to(language.model.device)
        rows, lengths = ids[: len(texts)].flatten(0, 1), targets.lengths[: len(texts)]
        every = torch.zeros(len(batch.ids), len(rows), dtype=torch.float64)

        def work(numbers: list[int]) -> None:
            at_once = max(1, self._budget.tokens // batch.ids.numel())
            found = cross_log_probability(
                language.model,
                batch.ids,
                batch.mask,
                rows[numbers],
                lengths.flatten()[numbers],
                ids[:, 0, 0],
                at_once,
            )
            every[:, numbers] = found.cpu().double()

        self._budget.run(list(range(len(rows))), work)
        check_scores(language.model, every)
        every = every.view(len(batch.ids), *lengths.shape)
        own = torch.arange(len(texts))
        return Information(every[own, own], prior_of(every, own), lengths)


def own_log_probabilities(
    sources: Sources,
    texts: Texts,
    language: LanguageModel,
    budget: MemoryBudget,
    limit: int,
    advance: Advance = unheard,
) -> list[tuple[Tensor, Tensor]]:
    """log p [N] and tokens [N] of each document's texts, equally many for each of the sources.

    limit: tokens of a text that are scored at most.
    """
    found: dict[int, tuple[Tensor, Tensor]] = {}

    @torch.inference_mode()
    def work(numbers: list[int]) -> None:
        batch = sources.take(numbers).to(language.model.device)
        targets = language.write([list(texts[number]) for number in numbers], batch, limit)
        ids = targets.ids.to(language.model.device)
        sums = sequence_statistics(language.model, batch.ids, batch.mask, ids, targets.lengths)
        check_scores(language.model, sums.log_probability)
        for place, number in enumerate(numbers):
            found[number] = sums.log_probability[place], targets.lengths[place]
        advance(len(numbers))

    rows = max(map(len, texts), default=1)
    for numbers in plan_batches(sources.mask.sum(1).tolist(), budget.tokens, rows):
        budget.run(numbers, work)
    return [found[number] for number in range(len(texts))]


def written_limit(language: LanguageModel) -> int:
    """How many tokens of a text are scored at most: as many as the model can write."""
    positions = language.family.written_positions(language.model.config)
    return min(positions or LONGEST, LONGEST)
