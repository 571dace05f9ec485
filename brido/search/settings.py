"""How to search and how to sample: sections of params.yaml that the engines take as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from brido.errors import BridoError
from brido.section import Section


class Lengths(Section):
    """What holds for every way to pick the next token, in transformers' names and defaults.

    min_length and max_length count tokens as transformers does: with the start token of an
    encoder-decoder. A score is the sum of log-probabilities over the number of written tokens to
    the power length_penalty.
    """

    length_penalty: float = 1.0
    min_length: int = 0
    max_length: int = 20
    no_repeat_ngram_size: int = 0

    def problems(self) -> Iterator[str]:
        """What does not fit together."""
        yield from super().problems()
        if self.max_length < 2:
            yield f"max_length ({self.max_length}) must be at least 2: it counts the start token"
        if self.min_length > self.max_length:
            yield f"min_length ({self.min_length}) is more than max_length ({self.max_length})"
        if min(self.min_length, self.no_repeat_ngram_size) < 0:
            yield "min_length and no_repeat_ngram_size must not be negative"


class BeamSettings(Lengths):
    """Beam search and diverse beam search.

    early_stopping: True stops a group when it has as many hypotheses as beams, False when the best
    running beam at its present length cannot beat the worst of them, "never" when it cannot at any
    length.
    """

    num_beams: int = 1
    num_beam_groups: int = 1
    diversity_penalty: float = 0.0
    early_stopping: bool | str = False

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if min(self.num_beams, self.num_beam_groups) < 1:
            yield "num_beams and num_beam_groups must be at least 1"
        elif self.num_beams % self.num_beam_groups:
            yield (
                f"num_beam_groups ({self.num_beam_groups}) must divide num_beams "
                f"({self.num_beams}): every group searches with the same number of beams"
            )
        if self.diversity_penalty < 0:
            yield f"diversity_penalty ({self.diversity_penalty}) must not be negative"
        if self.early_stopping not in (True, False, "never"):
            yield f"early_stopping must be true, false or never, not {self.early_stopping!r}"


class _Engine(Section):
    """Settings that a caller makes: what is wrong with them is a BridoError."""

    def __init__(self, **settings: Any) -> None:
        """Raises BridoError with every problem"""
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise BridoError.from_problems(
                f"these {type(self).__name__} do not fit together:", _sentences(error)
            ) from None


class SearchSettings(_Engine, BeamSettings):
    """A beam search and how many of its candidates are wanted (None: as many as beams)."""

    num_return_sequences: int | None = None

    @property
    def returned(self) -> int:
        """The number of candidates a document."""
        wanted = self.num_return_sequences
        return self.num_beams if wanted is None else wanted

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.returned < 1:
            yield "num_return_sequences must be at least 1"
        if self.returned > self.num_beams:
            yield (
                f"num_return_sequences ({self.returned}) is more than num_beams "
                f"({self.num_beams}): a search returns at most one candidate a beam"
            )


class NucleusSettings(Lengths):
    """Sampling from the fewest tokens whose probability reaches top_p (Holtzman et al., 2020)."""

    temperature: float = 1.0
    top_p: float = 1.0

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.temperature <= 0:
            yield f"temperature ({self.temperature}) must be positive"
        if not 0 < self.top_p <= 1:
            yield f"top_p ({self.top_p}) must be above 0 and at most 1"


class SamplingSettings(_Engine, NucleusSettings):
    """Sampling, and how many samples of a document are wanted."""

    num_return_sequences: int = 1

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.num_return_sequences < 1:
            yield "num_return_sequences must be at least 1"


def _sentences(error: ValidationError) -> Iterator[str]:
    for item in error.errors():
        if item["type"] == "value_error":
            yield from str(item["ctx"]["error"]).split("\n")
        else:
            key = ".".join(map(str, item["loc"]))
            yield f"{key}: {item['msg']}, not {item['input']!r}"
