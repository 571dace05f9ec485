"""The names of the rules by which candidates are cleaned; `brido.candidates.cleaning` has them."""

from typing import Literal, get_args

CleaningRule = Literal[
    "think", "refusal", "tokens", "frame", "markdown", "preamble", "label", "quotes"
]
CLEANING_RULES: tuple[CleaningRule, ...] = get_args(CleaningRule)
