"""A checkpoint that turns documents into candidates, in as much memory as there is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from brido.candidates.batching import MemoryBudget
from brido.models import LanguageModel
from brido.models.tokens import Sources
from brido.search import SamplingSettings, SearchResult, SearchSettings, diverse_beam_search
from brido.search.sampling import document_uniforms, sample
from brido.utils.device import computing_device, inference_dtype
from brido.work.batches import plan_batches

if TYPE_CHECKING:
    from brido.models.settings import ReadingSettings
    from brido.work.settings import RuntimeSettings


@dataclass(frozen=True)
class Sampling:
    """Sampling with a seed; each document has random numbers of its own, by its id."""

    settings: SamplingSettings
    seed: int


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
    """A loaded checkpoint."""

    def __init__(
        self,
        folder: Path,
        runtime: RuntimeSettings,
        reading: ReadingSettings,
        device: str | None = None,
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

    def generate(
        self,
        ids: list[str],
        documents: list[str],
        method: SearchSettings | Sampling,
        advance: Callable[[int], None] = lambda count: None,
    ) -> Generated:
        """Candidates of each document, best first (sampled ones as drawn); white space is tidied.

        `advance` is called with the number of documents of each finished batch.
        """
        if not documents:
            return Generated([], [], [], [])
        sources = self.language.read(documents)
        found: dict[int, tuple[list[str], list[float], list[bool], list[int] | None]] = {}
        tokens = self._batch_tokens(sources, method)
        halved_before = self.budget.halved

        def work(numbers: list[int]) -> None:
            batch = sources.take(numbers).to(self.language.model.device)
            result = self._run(batch, [ids[number] for number in numbers], method)
            scores, sequences = result.scores.tolist(), result.sequences.cpu()
            groups = [None] * len(numbers) if result.groups is None else result.groups.tolist()
            for place, number in enumerate(numbers):
                texts = self.language.text(sequences[place])
                ended = self.language.ended(sequences[place])
                found[number] = (texts, scores[place], ended, groups[place])
            advance(len(numbers))

        waiting = list(range(len(documents)))
        while waiting:
            # Planned anew after each batch: the budget may have shrunk.
            lengths = [tokens[number] for number in waiting]
            first = plan_batches(lengths, self.budget.tokens)[0]
            self.budget.run([waiting[place] for place in first], work)
            waiting = [number for number in waiting if number not in found]
        results = [found[number] for number in range(len(documents))]
        return Generated(
            *(list(column) for column in zip(*results, strict=True)),
            len(sources.cut),
            self.budget.halved - halved_before,
        )

    def _batch_tokens(self, sources: Sources, method: SearchSettings | Sampling) -> list[int]:
        """What each document counts in the budget."""
        if isinstance(method, Sampling):
            rows, limit = method.settings.num_return_sequences, method.settings.max_length
        else:
            rows, limit = method.num_beams, method.max_length
        count = self.language.family.batch_tokens
        return [count(length, rows, limit) for length in sources.mask.sum(1).tolist()]

    def _run(
        self, batch: Sources, ids: list[str], method: SearchSettings | Sampling
    ) -> SearchResult:
        model = self.language.model
        if isinstance(method, Sampling):
            settings = method.settings
            uniforms = document_uniforms(
                method.seed, ids, settings.num_return_sequences, settings.max_length
            )
            return sample(model, batch.ids, batch.mask, settings, uniforms)
        return diverse_beam_search(model, batch.ids, batch.mask, method)
