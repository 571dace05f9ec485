"""How to search and how to sample: sections of params.yaml that the engines take as they are."""

import sys
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from brido.utils.errors import ArgumentError, quoted
from brido.utils.sections import (
    Count,
    Exponent,
    NonNegative,
    PartialShare,
    Positive,
    Section,
    Share,
    problems_of,
)

# Numbers of tokens. A length counts the start token and at least one more.
Tokens = Annotated[int, Field(ge=0, lt=2**31)]
Length = Annotated[int, Field(ge=2, lt=2**31)]
Beams = Annotated[int, Field(ge=1, lt=2**31)]
Stopping = Literal[True, False, "never"]
# Beyond, float32 has no such probabilities.
Temperature = Annotated[float, Field(ge=1e-6, le=1e6)]
Nucleus = Annotated[float, Field(gt=0, le=1)]


class Lengths(Section):
    """What holds for every way to pick the next token, in transformers' names and defaults.

    min_length and max_length count an encoder-decoder's start token, as transformers does, and
    only what is written behind a prompt, as its min_new_tokens and max_new_tokens. A score is the
    sum of log-probabilities over the number of written tokens to the power length_penalty.
    """

    length_penalty: Exponent = Field(
        1.0, description="Exponent of the length that a log-probability is divided by."
    )
    min_length: Tokens = Field(
        0, description="Fewest tokens, with an encoder-decoder's start token, without the prompt."
    )
    max_length: Length = Field(
        20,
        description="Most tokens, counted likewise; a candidate that is cut there has not ended.",
    )
    no_repeat_ngram_size: Tokens = Field(
        0,
        description="n-grams of this many tokens are written once at most; 0: any number of times.",
    )

    def problems(self) -> Iterator[str]:
        """What does not fit together."""
        yield from super().problems()
        if self.min_length > self.max_length:
            yield f"min_length ({self.min_length}) is more than max_length ({self.max_length})"


class BeamSettings(Lengths):
    """Beam search and diverse beam search.

    early_stopping: True stops a group when it has as many hypotheses as beams. False stops it when
    the best running beam at its present length cannot beat the worst of them; "never", when it
    cannot at any length.
    """

    num_beams: Beams = Field(1, description="Beams of the search, in all groups together.")
    num_beam_groups: Beams = Field(
        1, description="[N_g] groups of beams; one beam a group gives independent voters."
    )
    diversity_penalty: NonNegative = Field(
        0.0, description="[eta] penalty of a token that an earlier group has chosen."
    )
    early_stopping: Stopping = Field(False, description="true | false | never, as in transformers.")

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.num_beams % self.num_beam_groups:
            yield (
                f"num_beam_groups ({self.num_beam_groups}) must divide num_beams "
                f"({self.num_beams}): every group searches with the same number of beams"
            )


class _Engine(Section):
    """Settings that a caller makes: what is wrong with them is a BridoError.

    count_prompt: whether no_repeat_ngram_size and a model's repetition penalty see a decoder-only
    model's prompt too, as in transformers, which forbids copying from a document; False: only what
    is written.
    """

    count_prompt: bool = True

    def __init__(self, **settings: Any) -> None:
        """Raises ArgumentError with every problem"""
        try:
            super().__init__(**settings)
        except ValidationError as error:
            problems = problems_of(error, type(self))
            heading = f"these {type(self).__name__} do not fit together:"
            raise ArgumentError.from_problems(heading, problems) from None


class SearchSettings(_Engine, BeamSettings):
    """A beam search and how many of its candidates are wanted (None: as many as beams).

    Names and all other defaults are those of transformers' `generate`.

    Example:
        >>> SearchSettings(num_beams=8, num_beam_groups=4, diversity_penalty=1.0).returned
        8
    """

    num_return_sequences: Beams | None = None

    @property
    def returned(self) -> int:
        """The number of candidates a document."""
        wanted = self.num_return_sequences
        return self.num_beams if wanted is None else wanted

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.returned > self.num_beams:
            yield (
                f"num_return_sequences ({self.returned}) is more than num_beams "
                f"({self.num_beams}): a search returns at most one candidate a beam"
            )


class TruncationSettings(Lengths):
    """Sampling from what temperature and truncation leave, in transformers' names and order.

    top_k: so many tokens, 0 is all; top_p: the fewest whose probability reaches so much; min_p: at
    least so much of the likeliest one's probability.
    """

    temperature: Temperature = Field(1.0, description="Higher: more varied samples.")
    top_k: Tokens = Field(
        0, description="Draw from this many of the likeliest tokens; 0: from all."
    )
    top_p: Nucleus = Field(
        1.0, description="Draw from the fewest tokens whose probabilities add up to this."
    )
    min_p: PartialShare = Field(
        0.0,
        description="Draw from tokens with at least this share of the likeliest one's probability.",
    )


class SamplingSettings(_Engine, TruncationSettings):
    """Sampling, and how many samples of a document are wanted.

    Names and defaults are those of transformers' `generate`, except top_k: it is 50 there, and here
    0, which keeps all tokens.

    Example:
        >>> SamplingSettings(num_return_sequences=16, temperature=0.7, top_p=0.95).top_k
        0
    """

    num_return_sequences: Positive = 1


def check_settings(settings: Any, wanted: type[_Engine]) -> None:
    """Raise ArgumentError if an engine is given other settings than its own."""
    if not isinstance(settings, wanted):
        raise ArgumentError(f"settings must be {wanted.__name__}(...), not {quoted(settings)}")


class GuidanceSettings(Section):
    """Guidance by other documents of the split (`brido.search.guidance`)."""

    weight: NonNegative = Field(
        0.2, description="Share of a token's mean log p with other documents that is taken away."
    )
    floor: Share = Field(0.1, description="Probability that a token needs with its own document.")
    others: Positive = Field(4, description="[K] other documents of each document.")
    seed: Count = Field(0, description="Decides which other documents these are.")


class DecodingSettings(Section):
    """`decoding`: null means the checkpoint's own generation_config. It has no groups of beams."""

    length_penalty: Exponent | None = Field(
        None, description="Exponent of the length that a log-probability is divided by."
    )
    min_length: Tokens | None = Field(None, description="Tokens, counted as in generation.")
    max_length: Length | None = Field(None, description="Tokens, counted as in generation.")
    no_repeat_ngram_size: Tokens | None = Field(
        None, description="n-grams of this many tokens are written once at most."
    )
    num_beams: Beams | None = Field(
        None,
        description="Beams of the search. Decode with beams: read greedily a tuned model can be "
        "worse than base.",
    )
    early_stopping: Stopping | None = Field(
        None, description="true | false | never, as in transformers."
    )

    def problems(self) -> Iterator[str]:
        """What is wrong with the given keys; the checkpoint's may have any length."""
        given = self.model_dump(exclude_none=True)
        yield from BeamSettings.model_construct(**{"max_length": sys.maxsize} | given).problems()
