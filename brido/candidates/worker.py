"""What a process with a model does: candidates or summaries of a part of the documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from brido.candidates.documents import Part
from brido.candidates.local import Generator, Sampling
from brido.models.settings import ReadingSettings
from brido.search.settings import SearchSettings
from brido.work.settings import RuntimeSettings
from brido.work.worker import Advance, Result

if TYPE_CHECKING:
    from brido.candidates.settings import DiverseBeamGeneration, SamplingGeneration


class _WithModel:
    """Made of the checkpoint's folder, `reading`, `runtime` and what it is to do, which a subclass
    names; then see `brido.work.running.MakeWorker`.
    """

    def __init__(
        self,
        folder: Path,
        reading: ReadingSettings,
        runtime: RuntimeSettings,
        settings: Any,
        device: str,
        advance: Advance,
    ) -> None:
        self._generator = Generator(folder, runtime, reading, device)
        self._settings, self._advance = settings, advance


class CandidateWorker(_WithModel):
    """Candidates by diverse beam search, of which every keep_every-th result is kept, or samples.

    settings: section `generation.SOURCE`, by either method.
    """

    def __call__(self, part: Part) -> Result:
        """A row of the candidates table for each document."""
        ids, documents = _columns(part.read())
        method, settings = search_method(self._settings), self._settings
        result = self._generator.generate(ids, documents, method, self._advance)
        step = settings.keep_every if settings.method == "diverse_beam" else 1
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


def search_method(
    settings: DiverseBeamGeneration | SamplingGeneration,
) -> SearchSettings | Sampling:
    """What the generator is asked for: all beams of a search, or num_candidates samples."""
    if settings.method == "sampling":
        return Sampling(settings.search(), settings.seed)
    return settings.search()


class SummaryWorker(_WithModel):
    """The best hypothesis of a beam search; an empty document has an empty summary.

    settings: the `SearchSettings`.
    """

    def __call__(self, part: Part) -> Result:
        """A row of the decoded table for each document."""
        rows = part.read()
        ids, documents = _columns([row for row in rows if row[1].strip()])
        result = self._generator.generate(ids, documents, self._settings, self._advance)
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
