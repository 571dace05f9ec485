"""A checkpoint that turns documents into candidates or summaries, in as much memory as there is."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from brido.candidates.blocks import blocks
from brido.candidates.documents import DocumentPart, texts_at_once
from brido.candidates.settings import DiverseBeamGeneration, SamplingGeneration
from brido.models.language_model import LanguageModel
from brido.models.settings import ReadingSettings
from brido.models.tokens import Sources
from brido.search import SamplingSettings, SearchSettings, diverse_beam_search
from brido.search.guidance import Guidance
from brido.search.sampling import document_uniforms, sample
from brido.search.settings import GuidanceSettings
from brido.utils.device import computing_device, inference_dtype
from brido.utils.rows import is_blank
from brido.work.batches import MemoryBudget, plan_batches
from brido.work.settings import RuntimeSettings
from brido.work.worker import Advance, Result, unheard


class Written(NamedTuple):
    """Texts about a document, their scores, whether they ended, which group of beams wrote each
    (None for samples and for a single group), and how many tokens each has.
    """

    texts: list[str]
    scores: list[float]
    ended: list[bool]
    groups: list[int] | None
    tokens: list[int]

    def every(self, step: int) -> "Written":
        """Each step-th of the texts, from the first on."""
        groups = self.groups and self.groups[::step]
        texts, scores, ended = self.texts[::step], self.scores[::step], self.ended[::step]
        return Written(texts, scores, ended, groups, self.tokens[::step])


class Generated(NamedTuple):
    """What was written about each document, in the order asked, and how the work went.

    cut: the places of the documents that were longer than the model reads. unread: thousandths of
    a document that were cut off, summed. halved: how often memory ran out.
    """

    written: list[Written]
    cut: tuple[int, ...] = ()
    unread: int = 0
    halved: int = 0


def _guide(
    ids: Sequence[str], documents: Sequence[str], sources: Sources, settings: GuidanceSettings
) -> Callable[[Sequence[int]], Guidance]:
    """What gives a batch of documents its guidance: by the others of each one's block.

    Raises:
        BridoError: there are too few different documents.
    """
    others: dict[int, list[int]] = {}
    for block in blocks(ids, documents, settings.others, settings.seed, "guidance: others"):
        for place in block.members[: block.scored]:
            others[place] = [member for member in block.members if member != place]

    def guidance(numbers: Sequence[int]) -> Guidance:
        read = sources.take([place for number in numbers for place in others[number]])
        ids, mask = (part.unflatten(0, (len(numbers), -1)) for part in (read.ids, read.mask))
        return Guidance(ids, mask, settings.weight, settings.floor)

    return guidance


class Generator:
    """A loaded checkpoint that writes; its subclasses are workers (`brido.work.worker.MakeWorker`).

    advance: called at each step with its tokens, and with the documents of each finished batch.
    """

    def __init__(
        self,
        folder: Path,
        reading: ReadingSettings,
        runtime: RuntimeSettings,
        settings: Any = None,
        guidance: GuidanceSettings | None = None,
        device: str = "",
        advance: Advance = unheard,
    ) -> None:
        """Load `folder` for inference, on `device` if it is not runtime's.

        settings, guidance: what a worker is asked for.

        Raises:
            BridoError: the device is not there, or the folder holds no model that can read so.
        """
        self.runtime, self.device = runtime, device or runtime.device
        place = computing_device(self.device, runtime.threads)
        dtype = inference_dtype(place, runtime.precision)
        self.language = LanguageModel.load(folder, reading, place, dtype).ready_to_write()
        self.budget = MemoryBudget(runtime.batch_tokens)
        self._settings, self._guidance, self._advance = settings, guidance, advance

    def generate(
        self,
        documents: dict[str, str],
        settings: SearchSettings | SamplingSettings,
        seed: int = 0,
        guidance: GuidanceSettings | None = None,
    ) -> Generated:
        """Write candidates of each document, best first (samples as drawn); white space is tidied.

        documents: texts by id. A sample is drawn with random numbers that follow from the seed and
        the document's id. With `guidance` the documents guide each other.

        Raises:
            BridoError: there are too few different documents for the guidance.
        """
        if not documents:
            return Generated([])
        ids, contents, model = list(documents), list(documents.values()), self.language.model
        sources = self.language.read(contents)
        guided = guidance and _guide(ids, contents, sources, guidance)
        found: dict[int, Written] = {}
        halved_before = self.budget.halved

        def on_step(tokens: int) -> None:
            self._advance(0, tokens=tokens)

        def work(numbers: list[int]) -> None:
            batch = sources.take(numbers).to(model.device)
            read = model, batch.ids, batch.mask
            others = guided(numbers) if guided else None
            if isinstance(settings, SearchSettings):
                result = diverse_beam_search(*read, settings, others, on_step)
            else:
                samples, longest = settings.num_return_sequences, settings.max_length
                names = [ids[number] for number in numbers]
                uniforms = document_uniforms(seed, names, samples, longest)
                result = sample(*read, settings, uniforms, others, on_step)
            scores, sequences = result.scores.tolist(), result.sequences.cpu()
            groups = [None] * len(numbers) if result.groups is None else result.groups.tolist()
            for place, number in enumerate(numbers):
                texts = self.language.text(sequences[place])
                ended = self.language.ended(sequences[place])
                lengths = self.language.lengths(sequences[place])
                found[number] = Written(texts, scores[place], ended, groups[place], lengths)
            self._advance(len(numbers))

        rows = texts_at_once(settings) * (1 + (guidance.others if guidance else 0))
        count, limit = self.language.family.batch_tokens, settings.max_length
        tokens = [count(length, rows, limit) for length in sources.mask.sum(1).tolist()]
        waiting = list(range(len(documents)))
        while waiting:
            # Planned anew after each batch: the budget may have shrunk.
            lengths = [tokens[number] for number in waiting]
            first = plan_batches(lengths, self.budget.tokens)[0]
            self.budget.run([waiting[place] for place in first], work)
            waiting = [number for number in waiting if number not in found]
        written = [found[number] for number in range(len(documents))]
        cut = [contents[place] for place in sources.cut]
        shares = self.language.family.unread(self.language, cut)
        # Whole numbers: their sum is the same however documents are cut into shards.
        unread = sum(round(1000 * share) for share in shares)
        return Generated(written, sources.cut, unread, self.budget.halved - halved_before)

    def candidates(
        self,
        documents: dict[str, str],
        source: DiverseBeamGeneration | SamplingGeneration,
        guidance: GuidanceSettings | None = None,
    ) -> Generated:
        """Candidates of each document by a source of section generation, its guidance aside.

        Of a diverse beam search every keep_every-th result is a candidate. For the rest see
        `generate`.
        """
        if isinstance(source, SamplingGeneration):
            return self.generate(documents, source.search(), source.seed, guidance)
        result = self.generate(documents, source.search(), guidance=guidance)
        return result._replace(written=[one.every(source.keep_every) for one in result.written])


class CandidateWorker(Generator):
    """Candidates by section `generation.SOURCE`, its settings."""

    def __call__(self, part: DocumentPart) -> Result:
        """Return a row of the candidates table for each document."""
        documents = dict(part.read())
        result = self.candidates(documents, self._settings, self._guidance)
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
