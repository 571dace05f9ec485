"""Documents with their candidates in the order of the vote, as tensors; which an update sees.

What an update sees, and its learning rate, depend on the seed and the update's number alone. So the
position in the data is one number, and any number of processes sees the same updates.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from brido.models.language_model import LanguageModel
from brido.models.tokens import Sources, Targets
from brido.tables.join import CandidateDocument, SplitTables, read_documents
from brido.utils.errors import BridoError, some

COLUMNS = ("document", "reference", "candidates", "scores")
RankedDocument = CandidateDocument  # its candidates are those that can be elected, best first


class RankedDocuments(Sequence[RankedDocument]):
    """The documents that training can learn an order from; equal scores keep the search's order.

    Candidates that cannot be elected are left out: their score is NaN, because they did not end or
    their source may not be elected. A document with fewer than two distinct others has no order: it
    is left out, and `skipped` holds its id. `unlabelled` counts the documents without a reference.
    The texts stay in Arrow's buffers until they are asked for.
    """

    def __init__(self, table: pa.Table) -> None:
        """Take a table with COLUMNS and `id`, at least one row."""
        # Left in its chunks: a single one could not hold 2 GiB of text, which CNN/DM's has.
        self._table = table
        self.scores = np.array(table["scores"].to_pylist(), dtype=np.float64)
        eligible = np.isfinite(self.scores)
        distinct = [
            len({text for text, counts in zip(texts, row, strict=True) if counts})
            for texts, row in zip(_pylists(table["candidates"]), eligible, strict=True)
        ]
        self._rows = [row for row, count in enumerate(distinct) if count > 1]
        ids = table["id"].to_pylist()
        self.skipped = [ids[row] for row, count in enumerate(distinct) if count < 2]
        without = np.array(table["reference"].is_null().to_pylist(), dtype=bool)
        self.unlabelled = int(without[self._rows].sum())

    @property
    def num_candidates(self) -> int:
        """N, the most that a document can have."""
        return self.scores.shape[1]

    def __len__(self) -> int:
        return len(self._rows)

    def sample(self, count: int) -> list[RankedDocument]:
        """Return at most `count` documents, evenly spread over all, in order."""
        count = min(count, len(self))
        return [self[place * len(self) // count] for place in range(count)]

    def __getitem__(self, index: int) -> RankedDocument:  # type: ignore[override]
        row = self._rows[index]
        name, document, reference, texts = (
            self._table[column][row].as_py()
            for column in ("id", "document", "reference", "candidates")
        )
        scores = self.scores[row]
        order = np.argsort(-scores, kind="stable")[: np.isfinite(scores).sum()]  # NaN comes last
        ranked = [texts[place] for place in order]
        return RankedDocument(name, document, reference, ranked, scores[order].tolist())


def notes(
    documents: RankedDocuments, validation: RankedDocuments, cross_entropy: str
) -> Iterator[str]:
    """Sentences on documents without an order, and on those without a reference to be taught."""
    for split, ranked in (("train", documents), ("validation", validation)):
        if ranked.skipped:
            yield (
                f"{len(ranked.skipped):,} {split} documents are left out, because they have fewer "
                f"than two distinct candidates that can be elected: {some(ranked.skipped)}"
            )
    if documents.unlabelled and cross_entropy == "reference":
        yield (
            f"{documents.unlabelled:,} documents have no reference: the elected candidate takes "
            "its place"
        )


class SummaryPairs(list[RankedDocument]):
    """Documents with references and without candidates, for maximum likelihood."""

    num_candidates = 0
    unlabelled = 0

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        """`pairs` are documents and references."""
        super().__init__(RankedDocument(str(n), *pair) for n, pair in enumerate(pairs))


def read_ranked(corpus: Path, candidates: Path, scores: Path) -> RankedDocuments:
    """Read the documents of one split, their candidates in the order of the vote.

    Raises:
        BridoError: a table is missing or damaged, or the tables do not belong together.
    """
    tables = SplitTables(pool=candidates, corpus=corpus, scores=scores)
    batches = [
        pa.table({"id": documents.ids, **documents.columns})
        for documents in read_documents(tables, COLUMNS)
    ]
    if not batches:
        raise BridoError(f"there are no candidates to train on: {candidates} has no rows")
    return RankedDocuments(pa.concat_tables(batches))


def _pylists(column: pa.ChunkedArray) -> Iterator[list[Any]]:
    for chunk in column.chunks:
        for start in range(0, len(chunk), 1024):
            yield from chunk.slice(start, 1024).to_pylist()


class Batch(NamedTuple):
    """B documents with what the cross-entropy teaches and what is ranked.

    sources: the documents [B, S]; targets: text 0 of a document is the cross-entropy's, the rest
    its candidates [B, 1 + N, T]; scores [B, N] float64, best first. eligible [B, N]: False where a
    document has fewer candidates than others.
    """

    sources: Sources
    targets: Targets
    scores: Tensor
    eligible: Tensor


@dataclass(frozen=True)
class Batches:
    """Documents to batches: `language` reads and writes, texts are cut to max_candidate_tokens.

    elected: the cross-entropy teaches the best candidate, not the reference; a document without a
    reference does so anyway. key: the setting that an error names.

    Raises:
        BridoError: the model has fewer positions than a text may have tokens.
    """

    language: LanguageModel
    max_candidate_tokens: int
    elected: bool = False
    key: str = "training.max_candidate_tokens"

    def __post_init__(self) -> None:
        language, longest = self.language, self.max_candidate_tokens
        room = language.family.room(language)
        # The given token comes on top, but the last one is never read.
        if room is not None and longest > room:
            raise BridoError(
                f"{self.key}: the model has {room} positions for a text, not {longest}: lower it"
            )

    def target(self, document: RankedDocument) -> str:
        """Return the text that the cross-entropy teaches."""
        if document.reference is None or self.elected:
            return document.candidates[0]
        return document.reference

    def target_tokens(self, documents: Sequence[RankedDocument]) -> int:
        """Count the tokens that the cross-entropy of these documents averages over."""
        texts = [[self.target(document)] for document in documents]
        targets = self.language.write(texts, None, self.max_candidate_tokens)
        return int(targets.lengths.sum())

    def cut_share(self, documents: Sequence[RankedDocument]) -> float:
        """The share of texts that are cut: a model learns that they end where they do not."""
        texts = [text for one in documents for text in (self.target(one), *one.candidates)]
        longer = self.language.write([texts], None, self.max_candidate_tokens + 1).lengths
        return (longer > self.max_candidate_tokens).float().mean().item()

    def batch(self, documents: Sequence[RankedDocument], candidates: bool = True) -> Batch:
        """Return the tensors of some documents; without `candidates` nothing is ranked (N = 0)."""
        sources = self.language.read([document.document for document in documents])
        counts = [len(document.scores) if candidates else 0 for document in documents]
        width = max(counts)
        rows, scores = [], []
        for document, count in zip(documents, counts, strict=True):
            ranked = document.candidates[:count]
            rows.append([self.target(document), *ranked, *[""] * (width - count)])
            scores.append([*document.scores[:count], *[0.0] * (width - count)])
        return Batch(
            sources,
            self.language.write(rows, sources, self.max_candidate_tokens),
            torch.tensor(scores, dtype=torch.float64).view(len(documents), width),
            torch.arange(width) < torch.tensor(counts)[:, None],
        )


class UpdatePlan:
    """The documents of every update of a training run."""

    def __init__(self, documents: int, batch_size: int, epochs: int, seed: int) -> None:
        """`documents` in an epoch; its last update is smaller if batch_size does not divide it."""
        self.documents, self.batch_size, self.seed = documents, batch_size, seed
        self.updates_per_epoch = -(-documents // batch_size)
        self.updates = self.updates_per_epoch * epochs
        self._order: tuple[int, np.ndarray] = (-1, np.empty(0))

    def indices(self, update: int) -> list[int]:
        """Return which documents `update` (1 to updates) sees; an epoch sees each one once."""
        epoch, place = divmod(update - 1, self.updates_per_epoch)
        if self._order[0] != epoch:
            generator = np.random.default_rng([self.seed, epoch])
            self._order = (epoch, generator.permutation(self.documents))
        start = place * self.batch_size
        return self._order[1][start : start + self.batch_size].tolist()


def learning_rate(
    update: int, total: int, highest: float, warmup: int, schedule: Literal["noam", "linear"]
) -> float:
    """Return the learning rate of `update` (1 to total), a function of the update alone.

    noam, as BRIO writes it: highest * min(update^-0.5, update * warmup^-1.5). `highest` is a factor
    here: the largest rate, at update = warmup, is highest / sqrt(warmup) (2e-3 and 10,000: 2e-5).
    linear: from highest / warmup up to highest at update = warmup, then straight down to
    highest / (total - warmup) at the last update.
    """
    if schedule == "noam":
        rising = update * warmup**-1.5 if warmup else float("inf")
        return highest * min(update**-0.5, rising)
    if update <= warmup:
        return highest * update / warmup
    return highest * (total - update + 1) / (total - warmup)


def chunk_seed(seed: int, update: int, chunk: int) -> int:
    """Return the seed of a chunk's dropout masks; any process computes the same at any time."""
    return int(np.random.SeedSequence([seed, update, chunk]).generate_state(1, np.uint64)[0] >> 1)


def share(chunks: int, process: int, processes: int) -> list[int | None]:
    """Return the chunks that one of several processes computes; None: it only keeps in step.

    All processes get lists of the same length, because each backward pass is a meeting of all.
    """
    rounds = -(-chunks // processes)
    mine = (turn * processes + process for turn in range(rounds))
    return [chunk if chunk < chunks else None for chunk in mine]
