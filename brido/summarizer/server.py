"""The worker that asks a chat model behind a server for summaries of new documents."""

from collections.abc import Sequence

from brido.candidates.endpoint import Asker, SummaryAnswers
from brido.summarizer.summary import Summary
from brido.summarizer.writer import Named, Writing, described
from brido.utils.rows import is_blank
from brido.work.worker import Advance, Result

# Seconds between lines about the answers of a chunk, if there is no terminal.
_INTERVAL = 10.0


class ServerWriter:
    """Asks about chunks of documents; a worker (`brido.work.worker.MakeWorker`).

    What the server's store holds is not asked again.
    """

    def __init__(
        self,
        asker: Asker,
        writing: Writing,
        device: str = "",
        advance: Advance = lambda count, *, tokens=0: None,
    ) -> None:
        """Raise BridoError if the store cannot be used."""
        self._asker, self._answers, self._writing = asker, SummaryAnswers(asker), writing

    def __call__(self, chunk: Sequence[Named]) -> Result:
        """Return a row for each document: its id and its `summary`, a Summary.

        Raises:
            BridoError: see `Asker.ask_about`.
        """
        texts = [self._writing.read(named.document) for named in chunk]
        readable = {str(place): text for place, text in enumerate(texts) if not is_blank(text)}
        self._asker.ask_about(readable.values(), _INTERVAL)
        answers, _ = self._answers.summaries(readable.items())
        found = {
            name: described(readable[name], Summary(text, ended)) for name, text, ended in answers
        }
        blank = Summary("")
        return [
            {"id": named.id, "summary": found.get(str(place), blank)}
            for place, named in enumerate(chunk)
        ], {}
