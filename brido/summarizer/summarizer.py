"""`brido.Summarizer`: summaries of new documents, for Python programs and web services."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from brido.summarizer.model import check_flag, usage_in, writing_of
from brido.summarizer.summary import Summary
from brido.summarizer.usage import Usage
from brido.summarizer.writer import Named, SummaryWriter, Writing, chunks
from brido.utils.arguments import as_list, as_texts, check_ordered
from brido.utils.errors import ArgumentError, quoted
from brido.utils.rows import NOT_UNICODE, is_unicode
from brido.utils.sections import checked
from brido.work.settings import RuntimeSettings


class Summarizer:
    """A model that summarizes documents as the run that made it decoded them.

    Threads may share it: one of them writes at a time. For the same documents in the same order its
    texts are those of stage decode, byte for byte, if device, precision, threads, batch_tokens and
    shard_documents are the same.

    Example:
        >>> summarizer = Summarizer.load("my/model")  # doctest: +SKIP
        >>> summarizer.summarize(["A long article."])[0].text  # doctest: +SKIP
        'A summary.'
    """

    def __init__(
        self, folder: Path, usage: Usage, writing: Writing, runtime: RuntimeSettings | None = None
    ) -> None:
        """`load` is the usual way. Raise BridoError if the folder's model cannot be used so."""
        self.usage, self._writing = usage, writing
        self._runtime = runtime or RuntimeSettings()
        how = folder, usage.reading, self._runtime, writing, writing.guidance
        self._writer = SummaryWriter(*how)
        self._lock = threading.Lock()

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        device: str = "auto",
        precision: str = "auto",
        threads: int = 0,
        batch_tokens: int = 16384,
        guided: bool | None = None,
        candidates: int | None = None,
        changes: Mapping[str, Any] | None = None,
    ) -> Summarizer:
        """The model of a folder that `brido export-model` or `save_pretrained` wrote.

        Args:
            folder: with brido.json it is read and decoded as there; without, as
                generation_config.json says, reading up to 1,024 tokens without a prompt.
            device, precision, batch_tokens: see section `runtime` of params.yaml.
            threads: of PyTorch; 0 leaves its number as it is.
            guided: whether the other documents of the same call guide the search; None: as
                brido.json says. A call then needs at least 5 different documents.
            candidates: write so many diverse candidates, a beam each, and return the elected one.
            changes: keys of `reading` and `decoding` that replace brido.json's, such as
                `{"max_length": 80}`.

        Raises:
            BridoError: no such folder, no model in it, one that cannot write, wrong settings.
        """
        place = Path(folder)
        usage = usage_in(place, changes)
        writing = writing_of(place, usage, guided, candidates)
        speed = {"device": device, "precision": precision, "threads": threads}
        speed |= {"batch_tokens": batch_tokens}
        runtime = checked(RuntimeSettings, speed, "the model cannot be loaded so:")
        return cls(place, usage, writing, runtime)

    def summarize(
        self,
        documents: Iterable[str],
        ids: Iterable[str] | None = None,
        *,
        checked: bool | None = None,
    ) -> list[Summary]:
        """The summaries of all documents, in their order.

        ids: names of the documents; with guidance they decide which others guide a document, with
        samples what is drawn. By default their numbers. checked: a summary that fails the check
        gives way to a candidate that passes (`brido.summarizer.checked`); None: as brido.json says.

        Raises:
            BridoError: `documents` are not texts, or too few for guidance.
        """
        texts = as_texts("documents", documents)
        names = None if ids is None else as_list("ids", ids, "a list of names, one a document")
        if names is not None and len(names) != len(texts):
            raise ArgumentError(f"{len(texts)} documents and {len(names)} ids: give one for each")
        return list(self.stream(texts, names, checked=checked))

    def stream(
        self,
        documents: Iterable[str],
        ids: Iterable[str] | None = None,
        *,
        checked: bool | None = None,
    ) -> Iterator[Summary]:
        """The same, one after the other, in constant memory: documents are read as they are needed.

        Summaries come in chunks of 25 (`runtime.shard_documents`), with guidance of 100.

        Raises:
            BridoError: see `summarize`.
        """
        check_flag("checked", checked)
        check_ordered("documents", documents, "a list of texts")
        if ids is not None:
            check_ordered("ids", ids, "a list of names, one a document")
        size = self._runtime.documents_of_shard
        for chunk in chunks(_named(documents, ids), size, self._writing.guidance):
            with self._lock:
                rows, _ = self._writer(chunk, checked)
            for row in rows:
                yield row["summary"]


def _named(documents: Iterable[Any], ids: Iterable[str] | None) -> Iterator[Named]:
    names = map(str, count() if ids is None else ids)
    for number, document in enumerate(documents):
        if not isinstance(document, str):
            raise ArgumentError(f"documents[{number}] is {quoted(document)}, not a text")
        if not is_unicode(document):
            raise ArgumentError(f"documents[{number}]: {NOT_UNICODE}")
        if (name := next(names, None)) is None:
            raise ArgumentError(f"documents[{number}] has no id: give one for each document")
        yield Named(name, document)
