"""Section tuned: the systems that training makes from base, each by what it changes."""

from typing import Any, TypeVar

from pydantic import Field

from brido.training.settings import TrainingSettings
from brido.utils.sections import Section
from brido.vote.settings import ScoringSettings

_Settings = TypeVar("_Settings", bound=Section)


class TunedSystem(Section):
    """`tuned.SYSTEM`: what this system changes in sections scoring and training."""

    scoring: ScoringSettings = Field(
        ScoringSettings(), description="Keys of section scoring that this system changes."
    )
    training: TrainingSettings = Field(
        TrainingSettings(), description="Keys of section training that this system changes."
    )


def overlaid(shared: _Settings, changes: _Settings) -> _Settings:
    """Return the section `shared` with the keys that `changes` sets, at any depth.

    Raises:
        ValueError: the values do not fit together (pydantic's, with every problem).
    """
    merged = _merged(shared.model_dump(), changes.model_dump(exclude_unset=True))
    return type(shared).model_validate(merged)


def _merged(shared: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    result = dict(shared)
    for key, value in changes.items():
        old = result.get(key)
        nested = isinstance(value, dict) and isinstance(old, dict)
        result[key] = _merged(old or {}, value) if nested else value
    return result
