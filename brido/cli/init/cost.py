"""How large a run is, and the seconds that it takes, reckoned from the seconds of a token."""

from collections.abc import Mapping
from dataclasses import dataclass

from brido.cli.init.data import Data
from brido.cli.init.limits import Limits
from brido.cli.init.speed import Speed

# A run may take between so many times what is reckoned: other programs, longer texts than half.
RANGE = (0.7, 1.3)
# Seconds that a stage takes to start.
_START = 6
# Stages that every run has, those of a tuned system, and those of another system.
_SHARED, _OF_TUNED, _OF_OTHERS = 14, 6, 4
# A training run validates before its first update and after its last, on so many documents.
_VALIDATIONS, VALIDATED = 2, 16
# Tuned systems whose scores need the likelihood, and the one that needs it with other documents.
_ASKS_LIKELIHOOD, _ASKS_OTHERS = ("information", "likelihood"), "information"
# Without the backward pass scoring is a third of learning.
_FORWARD = 1 / 3
# Validation documents with candidates: for the check of the orders, and while training.
_LOOKED_AT = 40
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
        return min(self.evaluated, self.validation, _LOOKED_AT)


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
    train: int | None
    tuned: tuple[str, ...]
    variants: Mapping[str, int]


def seconds_of(plan: RunPlan, data: Data, limits: Limits, speed: Speed, recipe: Recipe) -> float:
    """Return the seconds of all stages of a run, one after the other."""
    read = min(limits.documents.mean, limits.source_tokens)
    written = limits.summaries.mean if limits.summaries else limits.summary_tokens / 2
    # A batch is written until its longest text ends.
    longest = min(2 * written, limits.summary_tokens)

    def write(documents: int, rows: int) -> float:
        return documents * (read * speed.read + rows * longest * speed.write)

    def score(documents: int, sources: int = 1) -> float:
        return documents * (read + sources * plan.candidates * written) * speed.learn

    learn = plan.references * plan.epochs * (read + written) * speed.learn
    with_candidates = plan.looked_at + plan.train
    seconds = learn + write(with_candidates, plan.candidates)
    if set(_ASKS_LIKELIHOOD) & set(plan.tuned):
        others = recipe.others if _ASKS_OTHERS in plan.tuned else 0
        seconds += score(with_candidates, 1 + others) * _FORWARD
    validated = min(VALIDATED, plan.looked_at)
    validate = write(validated, recipe.beams) + score(validated) * _FORWARD
    seconds += len(plan.tuned) * (score(plan.train) + _VALIDATIONS * validate)
    measured = sum(min(plan.evaluated, data.documents[split]) for split in ("validation", "test"))
    sources = 1 + len(plan.tuned) + sum(recipe.variants[name] for name in plan.variants)
    seconds += sources * write(measured, recipe.beams)
    others_stages = _OF_OTHERS * (2 + len(plan.variants))
    return seconds + _START * (_SHARED + _OF_TUNED * len(plan.tuned) + others_stages)
