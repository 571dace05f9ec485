"""A document with its candidates, and batches of such documents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class CandidateDocument:
    """A document with its N candidates and what is known of them; what was not read is empty.

    reference: None if the corpus has none. facts: what the embedded world knows of the document,
    None on any other corpus. Of each candidate: its text, the raw text before cleaning, its source,
    whether it votes and can be elected, and so on by the columns of the tables. similarity: [N,
    N + 1]. scores: NaN for a candidate that cannot be elected. order: indices, best first.
    summaries: each system's summary.
    """

    id: str
    document: str = ""
    reference: str | None = None
    candidates: Sequence[str] = ()
    scores: Sequence[float] = ()
    order: Sequence[int] = ()
    references: Sequence[str] = ()
    facts: list[dict[str, Any]] | None = None
    raw: Sequence[str] = ()
    sources: Sequence[str | None] = ()
    voters: Sequence[bool] = ()
    eligible: Sequence[bool] = ()
    search_scores: Sequence[float] = ()
    ended: Sequence[bool] = ()
    similarity: NDArray[np.float32] | None = None
    support: Sequence[float] = ()
    unsupported: Sequence[int] = ()
    words: Sequence[int] = ()
    whole: Sequence[bool] = ()
    copied: Sequence[float] = ()
    log_probability: Sequence[float] = ()
    prior: Sequence[float] = ()
    tokens: Sequence[int] = ()
    summaries: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Documents:
    """A batch of documents: their ids, the columns that were read, and each system's summaries."""

    ids: list[str]
    columns: Mapping[str, "pa.Array"]
    summaries: Mapping[str, "pa.Array"] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[CandidateDocument]:
        lists = {
            name: self.array(name) if name == "similarity" else column.to_pylist()
            for name, column in self.columns.items()
        }
        texts = {system: column.to_pylist() for system, column in self.summaries.items()}
        for row, name in enumerate(self.ids):
            values = {column: found[row] for column, found in lists.items()}
            summaries = {system: found[row] for system, found in texts.items()}
            yield CandidateDocument(name, **values, summaries=summaries)

    def array(self, column: str) -> NDArray[Any]:
        """A column of lists as an array [documents, N]; `similarity` as [documents, N, N + 1].

        A missing number is NaN.
        """
        found = self.columns[column]
        values = found.flatten().to_numpy(zero_copy_only=False)
        if column != "similarity":
            return values.reshape(len(self), -1)
        size = similarity_size(found.type)
        return values.reshape(len(self), size, size + 1)


def similarity_size(kind: "pa.DataType") -> int:
    """N of a similarity column, whose lists hold N (N + 1) values; 0 for any other column."""
    import pyarrow as pa

    if not pa.types.is_fixed_size_list(kind):
        return 0
    size = int(kind.list_size**0.5)
    return size if size * (size + 1) == kind.list_size else 0
