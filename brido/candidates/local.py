"""A checkpoint that turns documents into candidates or summaries, in as much memory as there is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from brido.candidates.batching import MemoryBudget
from brido.candidates.documents import Part
from brido.candidates.settings import DiverseBeamGeneration, SamplingGeneration
from brido.models.language_model import LanguageModel
from brido.models.settings import ReadingSettings
from brido.models.tokens import Sources
from brido.search import SamplingSettings, SearchResult, SearchSettings, diverse_beam_search
from brido.search.sampling import document_uniforms, sample
from brido.utils.device import computing_device, inference_dtype
from brido.work.batches import plan_batches
from brido.work.settings import RuntimeSettings
from brido.work.worker import Advance, Result


@dataclass
class Generated:
    """Texts of each document in the order asked, their scores, whether they ended, which group of
    beams wrote them (None where there are no groups), and how the work went."""

    texts: list[list[str]]
    scores: list[list[float]]
    ended: list[list[bool]]
    groups: list[list[int] | None]
    truncated: int = 0
    halved: int = 0


class Generator:
    """A loaded checkpoint that writes.

    advance: called with the number of documents of each finished batch.
    """

    def __init__(
        self,
        folder: Path,
        reading: ReadingSettings,
        runtime: RuntimeSettings,
        device: str | None = None,
        advance: Advance = lambda count: None,
    ) -> None:
        """Load `folder` for inference, on `device` where it is not runtime's.

        Raises:
            BridoError: the device is not there, or the folder holds no model that can read so.
        """
        place = computing_device(device or runtime.device, runtime.threads)
        auto = runtime.precision == "auto"
        dtype = inference_dtype(place) if auto else getattr(torch, runtime.precision)
        self.language = LanguageModel.load(folder, reading, place, dtype).ready_to_write()
        self.budget = MemoryBudget(runtime.batch_tokens)
        self._advance = advance

    def generate(
        self,
        ids: list[str],
        documents: list[str],
        settings: SearchSettings | SamplingSettings,
        seed: int = 0,
    ) -> Generated:
        """Candidates of each document, best first (sampled ones as drawn); white space is tidied.

        A sample is drawn with random numbers that follow from the seed and the document's id.
        """
        if not documents:
            return Generated([], [], [], [])
        sources = self.language.read(documents)
        found: dict[int, tuple[list[str], list[float], list[bool], list[int] | None]] = {}
        halved_before = self.budget.halved

        def work(numbers: list[int]) -> None:
            batch = sources.take(numbers).to(self.language.model.device)
            result = self._run(batch, [ids[number] for number in numbers], settings, seed)
            scores, sequences = result.scores.tolist(), result.sequences.cpu()
            groups = [None] * len(numbers) if result.groups is None else result.groups.tolist()
            for place, number in enumerate(numbers):
                texts = self.language.text(sequences[place])
                ended = self.language.ended(sequences[place])
                found[number] = (texts, scores[place], ended, groups[place])
            self._advance(len(numbers))

        beams = isinstance(settings, SearchSettings)
        rows = settings.num_beams if beams else settings.num_return_sequences
        count, limit = self.language.family.batch_tokens, settings.max_length
        tokens = [count(length, rows, limit) for length in sources.mask.sum(1).tolist()]
        waiting = list(range(len(documents)))
        while waiting:
            # Planned anew after each batch: the budget may have shrunk.
            lengths = [tokens[number] for number in waiting]
            first = plan_batches(lengths, self.budget.tokens)[0]
            self.budget.run([waiting[place] for place in first], work)
            waiting = [number for number in waiting if number not in found]
        rows_found = (found[number] for number in range(len(documents)))
        texts, scores, ended, groups = map(list, zip(*rows_found, strict=True))
        halved = self.budget.halved - halved_before
        return Generated(texts, scores, ended, groups, len(sources.cut), halved)

    def _run(
        self,
        batch: Sources,
        ids: list[str],
        settings: SearchSettings | SamplingSettings,
        seed: int,
    ) -> SearchResult:
        model = self.language.model
        if isinstance(settings, SearchSettings):
            return diverse_beam_search(model, batch.ids, batch.mask, settings)
        uniforms = document_uniforms(seed, ids, settings.num_return_sequences, settings.max_length)
        return sample(model, batch.ids, batch.mask, settings, uniforms)


class CandidateWorker(Generator):
    """Candidates of a part of the documents (see `brido.work.worker.MakeWorker`).

    settings: section `generation.SOURCE`. Of a diverse beam search every keep_every-th result is a
    candidate.
    """

    def __init__(
        self,
        folder: Path,
        reading: ReadingSettings,
        runtime: RuntimeSettings,
        settings: DiverseBeamGeneration | SamplingGeneration,
        device: str,
        advance: Advance,
    ) -> None:
        super().__init__(folder, reading, runtime, device, advance)
        self._settings = settings

    def __call__(self, part: Part) -> Result:
        """A row of the candidates table for each document."""
        ids, documents = _columns(part.read())
        seed, step = 0, 1
        if isinstance(self._settings, SamplingGeneration):
            seed = self._settings.seed
        else:
            step = self._settings.keep_every
        result = self.generate(ids, documents, self._settings.search(), seed)
        columns = zip(ids, result.texts, result.scores, result.ended, result.groups, strict=True)
        rows = [
            {
                "id": name,
                "candidates": texts[::step],
                "search_scores": scores[::step],
                "ended": ended[::step],
                **({} if groups is None else {"groups": groups[::step]}),
            }
            for name, texts, scores, ended, groups in columns
        ]
        return rows, {"truncated_sources": result.truncated, "halved_batches": result.halved}


class SummaryWorker(Generator):
    """The best hypothesis of a beam search; an empty document has an empty summary."""

    def __init__(
        self,
        folder: Path,
        reading: ReadingSettings,
        runtime: RuntimeSettings,
        settings: SearchSettings,
        device: str,
        advance: Advance,
    ) -> None:
        super().__init__(folder, reading, runtime, device, advance)
        self._settings = settings

    def __call__(self, part: Part) -> Result:
        """A row of the decoded table for each document."""
        rows = part.read()
        ids, documents = _columns([row for row in rows if row[1].strip()])
        result = self.generate(ids, documents, self._settings)
        found: dict[str, dict[str, Any]] = {
            name: {"id": name, "summary": texts[0], "score": scores[0]}
            for name, texts, scores in zip(ids, result.texts, result.scores, strict=True)
        }
        table = [found.get(name, {"id": name, "summary": "", "score": 0.0}) for name, _ in rows]
        return table, {
            "truncated_sources": result.truncated,
            "empty_documents": len(rows) - len(ids),
            "empty_summaries": sum(not row["summary"] for row in found.values()),
            "halved_batches": result.halved,
        }


def _columns(rows: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [name for name, _ in rows], [document for _, document in rows]
