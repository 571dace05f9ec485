"""What a kind of language model offers: how it is loaded, reads, writes, steps and scores.

A `Family` is a stateless object, the only place that knows one kind of model. Search and likelihood
ask it for `steps` and `states` and compare no model types themselves.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from torch import Tensor
from transformers import PreTrainedModel

from brido.models.prompt import Prompt
from brido.models.settings import ReadingSettings
from brido.models.tokens import Sources, SpecialTokens

# N texts of each of B sources.
Texts = Sequence[Sequence[str]]


class Head(NamedTuple):
    """The projection of hidden states to logits: weight [V, D] and bias [V] or None."""

    weight: Tensor
    bias: Tensor | None


def positions_in(config: Any, *parts: str) -> int | None:
    """How many positions the settings of a model name, or those of its `parts`; None for none.

    An encoder-decoder that was put together from two models has theirs. A RoBERTa's table begins
    with rows that no token has.
    """
    for part in (config, *(getattr(config, name, None) for name in parts)):
        positions: int | None = getattr(part, "max_position_embeddings", None)
        if positions is not None:
            return positions - (part.pad_token_id + 1 if "roberta" in part.model_type else 0)
    return None


class ModelParts:
    """A model with its tokenizer, and how it reads (`reading` of params.yaml).

    prompt: what `Family.prompt` makes of these.
    """

    model: PreTrainedModel
    tokenizer: Any
    reading: ReadingSettings
    prompt: Any


class Steps(ABC):
    """A batch of B documents being written token by token, with N rows each.

    given: the tokens that stand before what is written and count in its length, as transformers
    counts them (an encoder-decoder's start token). prompts: what decoder-only models go on from,
    [B, P] padded on the left with -1, which transformers counts among repeated tokens and n-grams.
    scored: `start` and `step` return what a token adds to a text's score, and not logits.
    """

    given: tuple[int, ...] = ()
    prompts: Tensor | None = None
    scored: bool = False

    @abstractmethod
    def start(self, tokens: Tensor, rows_a_document: int) -> Tensor:
        """Logits [B, V] after the first tokens [B, P], `given` included; then N rows a document."""

    @abstractmethod
    def step(self, tokens: Tensor) -> Tensor:
        """Logits [R, V] after one more token a row, `tokens` [R]; good until the next step."""

    @abstractmethod
    def reorder(self, rows: Tensor) -> None:
        """Row r goes on from what row `rows[r]` was; the rows of a document stay its own."""

    @abstractmethod
    def keep(self, documents: Tensor, rows_a_document: int) -> None:
        """Go on with `documents` (indices) alone."""


class States(ABC):
    """A model that has read B documents and scores texts of them.

    head: what turns `hidden` into logits; None where that is more than a product (`logits`).
    """

    head: Head | None = None

    @abstractmethod
    def hidden(self, ids: Tensor, scored: Tensor) -> Tensor:
        """Hidden states [scored tokens, D] that predict the scored tokens.

        ids [B * n, T]: n texts a document, the given token first and the last token left out;
        scored: flat indices into [B, n, T].
        """

    def logits(self, hidden: Tensor) -> Tensor:
        """Logits [R, V] of hidden states [R, D] where there is no head; or they are logits."""
        return hidden


class Family(ABC):
    """One kind of language model, named as `config.model_type` names it.

    loader: the class of transformers that loads it. has_positions: the model has a table of
    positions, so longer texts can be neither read nor written. newline: what the tokenizer writes
    for a new line in decoded text. started: how many given tokens a written sequence starts with.
    shares: all texts of a document can share the keys and values of what was read of it, where the
    model has transformers' usual attention (`sharing/attention.py`). one_row: they lie in one row
    behind it, without padding. marks: what a mask may hold: 0
    for padding, 1 for a token, and what a family adds.
    """

    loader: ClassVar[Any]
    model_type: str
    has_positions: bool
    newline: str | None = None
    started: ClassVar[int] = 0
    marks: ClassVar[tuple[int, ...]] = (0, 1)
    shares: bool = False
    one_row: bool = False

    def special(self, model: PreTrainedModel) -> SpecialTokens:
        """The tokens that steer what a model writes. Raise BridoError if they are not usable."""
        return SpecialTokens.of(model)

    @abstractmethod
    def prompt(self, parts: ModelParts) -> Prompt:
        """What stands around a document. Raise BridoError if `reading` does not fit the model."""

    @abstractmethod
    def read(self, parts: ModelParts, documents: Sequence[str]) -> Sources:
        """Documents as tokens, each at most `reading.max_source_tokens`."""

    def unread(self, parts: ModelParts, documents: Sequence[str]) -> list[float]:
        """The share of each document's tokens, 0 to 1, that `read` cuts off."""
        prompt, limit = parts.prompt, parts.reading.max_source_tokens
        around, lengths = len(prompt.ids("")), [len(prompt.ids(text)) for text in documents]
        return [max(0, length - limit) / max(1, length - around) for length in lengths]

    @abstractmethod
    def write(
        self, parts: ModelParts, texts: Texts, sources: Sources | None, limit: int
    ) -> list[list[int]]:
        """N texts of each source as the model writes them, flat: the given token, then at most
        `limit` tokens that are scored."""

    def batch_tokens(self, source: int, rows: int, limit: int) -> int:
        """What a document counts in `runtime.batch_tokens` while `rows` texts of it are written.

        source: its tokens; limit: the most tokens of a text.
        """
        return source * rows

    @abstractmethod
    def steps(self, model: PreTrainedModel, sources: Sources, limit: int) -> Steps:
        """What a search needs: the sources read, ready to write up to `limit` tokens.

        Raises:
            BridoError: the model has not that many positions.
        """

    @abstractmethod
    def states(
        self, model: PreTrainedModel, sources: Sources, given: Tensor, passes: int
    ) -> States:
        """What the likelihood needs, for `passes` calls of `States.hidden`.

        given [B, 1]: the token before the texts.
        """

    def positions(self, config: Any) -> int | None:
        """How many tokens a model can read (and write); None where it sets no limit."""
        return positions_in(config, "encoder", "text_config") if self.has_positions else None

    def written_positions(self, config: Any) -> int | None:
        """How many tokens a model can write; None where it sets no limit."""
        return self.positions(config)

    def room(self, parts: ModelParts) -> int | None:
        """How many tokens a model can write about what it has read; None if it sets no limit."""
        return self.written_positions(parts.model.config)

    def problems(self, parts: ModelParts) -> Iterator[str]:
        """A sentence for everything of `reading` that does not fit the model."""
        yield from ()
