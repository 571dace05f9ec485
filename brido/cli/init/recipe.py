"""What the plan of a run says, and what the recipe of a kind of model says."""

from collections.abc import Mapping
from dataclasses import dataclass, field

# Validation documents with candidates: for the check of the orders, and while training.
LOOKED_AT = 40
# Systems that every run has; the control tells what the order of the candidates is worth.
ALWAYS = ("vote", "control")


@dataclass(frozen=True)
class RunPlan:
    """How much a run takes.

    evaluated: validation documents and test documents, each, that every system writes. candidates:
    of each document that has some; train: training documents with them; validation: how many there
    are. references, epochs: what base learns from first, and how often (0: not at all).
    tuned, variants: names of the systems. seconds: None if the speed is not known; reading_more: of
    the same run if it reads `Limits.more_tokens`.
    """

    evaluated: int
    candidates: int
    train: int
    validation: int
    references: int
    epochs: int
    tuned: tuple[str, ...] = ALWAYS
    variants: tuple[str, ...] = ()
    seconds: float | None = None
    reading_more: float | None = None

    @property
    def looked_at(self) -> int:
        """Validation documents with candidates."""
        return min(self.evaluated, self.validation, LOOKED_AT)


@dataclass(frozen=True)
class Recipe:
    """What the preset of this kind of model says.

    Beams of decoding, epochs of a model from scratch, the other documents that candidates are
    scored with, the documents to tune on (None: as many as there are), the names of tuned systems,
    and of how many documents each variant reads for a summary (more than one if it is guided).
    """

    beams: int
    epochs: int
    others: int
    train: int | None = None
    tuned: tuple[str, ...] = ALWAYS
    variants: Mapping[str, int] = field(default_factory=dict)
