"""Workers that turn documents into rows of tables: candidates, or one summary of each."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from brido.candidates.documents import DocumentPart
from brido.candidates.local import Generator, Written
from brido.models.settings import ReadingSettings
from brido.search import SearchSettings
from brido.search.settings import GuidanceSettings
from brido.utils.blank import is_blank
from brido.work.settings import RuntimeSettings
from brido.work.worker import Advance, Result


class CandidateWorker(Generator):
    """Candidates by section `generation.SOURCE`, its settings."""

    def __call__(self, part: DocumentPart) -> Result:
        """Return a row of the candidates table for each document."""
        documents = dict(part.read())
        result = self.candidates(documents, self._settings, self._settings.guidance)
        rows = [
            {
                "id": name,
                "candidates": one.texts,
                "search_scores": one.scores,
                "ended": one.ended,
                **({} if one.groups is None else {"groups": one.groups}),
            }
            for name, one in zip(documents, result.written, strict=True)
        ]
        return rows, {
            "truncated_sources": len(result.cut),
            "unread_thousandths": result.unread,
            "halved_batches": result.halved,
        }


class SummaryWorker(Generator):
    """The best hypothesis of a beam search; an empty document has an empty summary."""

    def __init__(
        self,
        folder: Path,
        reading: ReadingSettings,
        runtime: RuntimeSettings,
        settings: SearchSettings,
        guidance: GuidanceSettings | None,
        device: str,
        advance: Advance,
    ) -> None:
        super().__init__(folder, reading, runtime, settings, device, advance)
        self._guidance = guidance

    def __call__(self, part: DocumentPart) -> Result:
        """Return a row of the decoded table for each document."""
        rows = part.read()
        documents = {name: document for name, document in rows if not is_blank(document)}
        halved_before = self.budget.halved
        result = self.generate(documents, self._settings, guidance=self._guidance)
        best, counts = self.best(documents, result.written)
        found: dict[str, dict[str, Any]] = {
            name: {"id": name, "summary": text, "score": score}
            for name, (text, score) in zip(documents, best, strict=True)
        }
        table = [found.get(name, {"id": name, "summary": "", "score": 0.0}) for name, _ in rows]
        return table, {
            "truncated_sources": len(result.cut),
            "unread_thousandths": result.unread,
            "empty_documents": len(rows) - len(documents),
            "empty_summaries": sum(not row["summary"] for row in found.values()),
            "halved_batches": self.budget.halved - halved_before,
            **counts,
        }

    def best(
        self, documents: dict[str, str], written: Sequence[Written]
    ) -> tuple[list[tuple[str, float]], dict[str, int]]:
        """The summary and the score of each document, and what is counted of them."""
        return [(one.texts[0], one.scores[0]) for one in written], {}
