"""The support table: every candidate checked against its source document.

Two checks of a text are possible. The *checker* that params.yaml names says how much of the text is
supported. The *judge* counts what is not supported: the facts of the embedded world if the corpus
has them, which are exact, else the checker itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from brido.checkers.mentions import text_mentions, world_mentions
from brido.checkers.settings import MiniCheckSupport, SupportSettings
from brido.checkers.wholeness import RULES, copied_share, is_whole
from brido.tables import CORPUS, open_table
from brido.tables.join import CandidateDocument, Part, SplitTables, parts_of, read_documents
from brido.work.folder import answers_file
from brido.work.settings import RuntimeSettings
from brido.work.worker import Advance, Result


class Checked(NamedTuple):
    """How much of a text its source supports (0 to 1), and how many things of it not."""

    support: float
    unsupported: int


@dataclass(frozen=True)
class SupportUnit:
    """A part of the documents, with their candidates or, with `own`, with the model's own output.

    `own` names the system in `tables.decoded` whose summaries are checked.
    """

    tables: SplitTables
    part: Part
    own: str | None = None

    def __len__(self) -> int:
        """The number of documents."""
        return len(self.part)

    def texts(self) -> list[tuple[CandidateDocument, Sequence[str]]]:
        """Each document of the part with the texts to check."""
        columns = ["document", "facts", "reference", "summaries" if self.own else "candidates"]
        return [
            (one, [one.summaries[self.own]] if self.own else one.candidates)
            for batch in read_documents(self.tables, columns, self.part)
            for one in batch
        ]


def units(tables: SplitTables, size: int, own: str | None = None) -> list[SupportUnit]:
    """The work on a split in parts of `size` documents; BridoError as `parts_of`."""
    return [SupportUnit(tables, part, own) for part in parts_of(tables, size)]


def judge_of(corpus: Path, settings: SupportSettings) -> dict[str, Any]:
    """What counts the unsupported details, for the support table's metadata.

    judge: in words; exact: whether these are the facts of the world; second: whether the checker's
    own `support` says something that the judge does not; rules: by which a text is whole, "" for
    the world's grammar.
    """
    with open_table(corpus, CORPUS, "download") as file:
        exact = "facts" in file.schema_arrow.names
    judge = "facts of the world" if exact else settings.checker
    return {
        "judge": judge,
        "exact": exact,
        "second": exact and settings.checker != "mentions",
        "rules": "" if exact else RULES,
    }


class SupportWorker:
    """Makes the rows of the support table of a unit's documents.

    Made from sections `support` and `runtime`; then see `brido.work.worker.MakeWorker`.
    """

    def __init__(
        self, settings: SupportSettings, runtime: RuntimeSettings, device: str, advance: Advance
    ) -> None:
        self._case = getattr(settings, "case_sensitive", True)
        self._model: Any = None
        if isinstance(settings, MiniCheckSupport):
            from brido.checkers.minicheck import MiniCheck

            store = answers_file("minicheck")
            how = (device, runtime.precision, runtime.batch_tokens, store, "support")
            self._model = MiniCheck.load(settings.model, settings.revision, *how)

    def __call__(self, unit: SupportUnit) -> Result:
        """A row for each document, its texts in the order of their table."""
        documents = unit.texts()
        if self._model:
            checked = self._by_model(documents)
        else:
            checked = [self._by_mentions(one, texts) for one, texts in documents]
        rows = []
        for (one, texts), found in zip(documents, checked, strict=True):
            exact = self._model and one.facts is not None
            judged = self._by_mentions(one, texts) if exact else found
            rows.append(
                {
                    "id": one.id,
                    "support": [text.support for text in found],
                    "unsupported": [text.unsupported for text in judged],
                    "words": [len(text.split()) for text in texts],
                    "whole": [is_whole(text, one.reference, one.facts) for text in texts],
                    "copied": [copied_share(one.document, text) for text in texts],
                }
            )
        return rows, {}

    def _by_mentions(self, one: CandidateDocument, texts: Sequence[str]) -> list[Checked]:
        """The share of mentions that are supported; a text without any claims nothing: 1."""
        checked = []
        for text in texts:
            if one.facts is not None:
                found = world_mentions(text, one.facts)
            else:
                found = text_mentions(one.document, text, self._case)
            good = sum(mention.supported for mention in found)
            checked.append(Checked(good / len(found) if found else 1.0, len(found) - good))
        return checked

    def _by_model(
        self, checked: list[tuple[CandidateDocument, Sequence[str]]]
    ) -> list[list[Checked]]:
        """The mean probability of a text's sentences, and how many are in doubt; without any: 1."""
        from brido.checkers.minicheck import DOUBT

        documents = [one.document for one, texts in checked for _ in texts]
        texts = [text for _, own in checked for text in own]
        rows = []
        for sentences in self._model.sentences(documents, texts):
            found = [sentence.probability for sentence in sentences]
            mean = sum(found) / len(found) if found else 1.0
            rows.append(Checked(mean, sum(value < DOUBT for value in found)))
        left = iter(rows)
        return [[next(left) for _ in own] for _, own in checked]
