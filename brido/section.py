"""What the sections of params.yaml are made of: strict models and ranges of numbers."""

import math
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _infinity(value: Any) -> Any:
    """Accept infinity as DVC and YAML write it: the number, or the text inf or .inf."""
    if isinstance(value, str):
        if value.strip().lower() in {"inf", ".inf", "+inf", "+.inf"}:
            return math.inf
        raise ValueError("must be a number of at least 0, or inf for the reference alone (BRIO)")
    return value


Alpha = Annotated[float, BeforeValidator(_infinity), Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]


class Section(BaseModel):
    """A section of params.yaml: unknown keys are refused, values are never coerced or changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
