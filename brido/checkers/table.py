"""The support table: every candidate checked against its source, a part of the documents at a time.

Two may speak of a text. The *checker* that params.yaml names says how much of it is supported. The
*judge* counts what is not: the facts of the embedded world where there are any, which are exact,
else the checker itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from brido.checkers.mentions import Found, text_mentions, world_mentions
from brido.tables import CORPUS, DECODED, POOL, open_table
from brido.utils.errors import BridoError, some
from brido.vote.similarity import Pairing, pair_up
from brido.work.ranges import read_range
from brido.work.shards import work_root
from brido.work.worker import Advance, Result

if TYPE_CHECKING:
    from brido.checkers.settings import MiniCheckSupport, SupportSettings
    from brido.utils.text import Splitter
    from brido.work.settings import RuntimeSettings


class Checked(NamedTuple):
    """How much of a text its source supports (0 to 1), and how many things of it not."""

    support: float
    unsupported: int


@dataclass(frozen=True)
class Unit:
    """A part of the documents: their candidates, or with `own` the model's own outputs of them.

    `own` is a decoded table; it has a row for each row of the corpus, in the same order.
    """

    candidates: Path
    corpus: Path
    pairing: Pairing
    own: Path | None = None

    def __len__(self) -> int:
        """The number of documents."""
        return len(self.pairing)


def units(candidates: Path, corpus: Path, size: int, own: Path | None = None) -> list[Unit]:
    """The work on a candidates table in parts of `size` documents; BridoError as `pair_up`."""
    parts = pair_up(candidates, corpus, size)
    return [Unit(candidates, corpus, pairing, own) for pairing in parts]


def judge_of(corpus: Path, settings: SupportSettings) -> dict[str, Any]:
    """Who counts what is not supported, for the support table's metadata.

    judge: in words; exact: whether these are the facts of the world; second: whether the checker's
    own `support` says something that the judge does not.
    """
    exact = _has_facts(corpus)
    judge = "facts of the world" if exact else settings.checker
    return {"judge": judge, "exact": exact, "second": exact and settings.checker != "mentions"}


def _has_facts(corpus: Path) -> bool:
    with open_table(corpus, CORPUS, "download") as file:
        return "facts" in file.schema_arrow.names


def mentions_support(found: list[Found]) -> Checked:
    """The share of mentions that are supported; a text without any claims nothing: 1."""
    supported = [each[2] for each in found]
    share = sum(supported) / len(supported) if supported else 1.0
    return Checked(share, len(supported) - sum(supported))


class Claimed(NamedTuple):
    """A document, what the corpus knows of it (None on any but the world), and texts of it."""

    id: str
    document: str
    facts: list[dict[str, Any]] | None
    texts: list[str]


class SupportWorker:
    """The rows of the support table of a unit's documents.

    Made of section `support`, the splitter of section `text` and section `runtime`; then see
    `brido.work.running.MakeWorker`.
    """

    def __init__(
        self,
        settings: SupportSettings,
        splitter: Splitter,
        runtime: RuntimeSettings,
        device: str,
        advance: Advance,
    ) -> None:
        self._settings, self._splitter = settings, splitter
        self._model = _load(settings, runtime, device) if settings.checker == "minicheck" else None

    def __call__(self, unit: Unit) -> Result:
        """A row for each document, its texts in the order of their table."""
        claimed = _texts(unit)
        checked = self._by_model(claimed) if self._model else map(self._by_mentions, claimed)
        rows = []
        for one, found in zip(claimed, checked, strict=True):
            wrong = [text.unsupported for text in found]
            if one.facts is not None and self._model:
                wrong = [text.unsupported for text in self._by_mentions(one)]
            rows.append(
                {
                    "id": one.id,
                    "support": [text.support for text in found],
                    "unsupported": wrong,
                    "words": [len(text.split()) for text in one.texts],
                }
            )
        return rows, {}

    def _by_mentions(self, one: Claimed) -> list[Checked]:
        if one.facts is not None:
            return [mentions_support(world_mentions(text, one.facts)) for text in one.texts]
        case = self._settings.case_sensitive
        return [
            mentions_support(text_mentions(one.document, text, case, self._splitter))
            for text in one.texts
        ]

    def _by_model(self, claimed: list[Claimed]) -> list[list[Checked]]:
        documents = [one.document for one in claimed for _ in one.texts]
        texts = [text for one in claimed for text in one.texts]
        found = iter(self._model.sentences(documents, texts, self._splitter))
        return [[sentences_support(next(found)) for _ in one.texts] for one in claimed]


def sentences_support(sentences: list[Any]) -> Checked:
    """The mean probability of a text's sentences, and how many are in doubt; without any: 1."""
    from brido.checkers.minicheck import DOUBT

    found = [sentence.probability for sentence in sentences]
    mean = sum(found) / len(found) if found else 1.0
    return Checked(mean, sum(value < DOUBT for value in found))


def _load(settings: MiniCheckSupport, runtime: RuntimeSettings, device: str) -> Any:
    from brido.checkers.minicheck import MiniCheck

    store = work_root() / "answers" / "minicheck.sqlite"
    how = (device, runtime.precision, runtime.batch_tokens, store, "support")
    return MiniCheck.load(settings.model, settings.revision, *how)


def _texts(unit: Unit) -> list[Claimed]:
    """The unit's documents with their texts."""
    known = _has_facts(unit.corpus)
    columns = ["id", "document", *(["facts"] if known else [])]
    corpus = read_range(unit.corpus, CORPUS, "download", columns, unit.pairing.corpus)
    documents = {row[0]: row[1:] for row in corpus}
    wanted = read_range(
        unit.candidates, POOL, "pool", ["id", "candidates"], unit.pairing.candidates
    )
    if unit.own is not None:
        decoded = read_range(
            unit.own, DECODED, "decode@base", ["id", "summary"], unit.pairing.corpus
        )
        own = {name: [summary] for name, summary in decoded}
        missing = [name for name, _ in wanted if name not in own]
        if missing:
            raise BridoError(
                f"{unit.own} lacks {len(missing)} documents that have candidates "
                f"({some(missing)}): make it again with `dvc repro decode@base`"
            )
        wanted = [(name, own[name]) for name, _ in wanted]
    return [
        Claimed(name, documents[name][0], documents[name][1] if known else None, texts)
        for name, texts in wanted
    ]
