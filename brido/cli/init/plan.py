"""The largest run that fits into the user's minutes: its sizes, and the seconds of all stages."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from brido.cli.init.data import Data
from brido.cli.init.limits import Limits
from brido.cli.init.model import Model
from brido.cli.init.speed import Speed

# A run may take between so many times what is reckoned: other programs, longer texts than half.
RANGE = (0.7, 1.3)
# Seconds that a stage takes to start; stages that every run has, those of a tuned system, and those
# of another system.
_START, _SHARED, _OF_TUNED, _OF_OTHERS = 6, 14, 6, 4
# A training run validates before its first update and after its last, on so many documents.
_VALIDATIONS, VALIDATED = 2, 16
# Validation documents with candidates, for training's own measures.
_LOOKED_AT = 40
# Without the backward pass scoring is a third of learning.
_FORWARD = 1 / 3
# Systems of every run; the control tells what the order of the candidates is worth.
_ALWAYS = ("vote", "control")
# References that base learns from. It reads few of them more often, until it has read so many
# texts: after fewer it does not end its summaries. How often it reads at most.
_REFERENCES, _SEEN, _EPOCHS = (48, 75, 110, 160, 250, 400, 700, 1200, 2000), 96, 3
# The embedded model learns from scratch, which takes too long from more.
_FROM_SCRATCH = 2000
# The smallest run, and how it grows: the most wanted first. A GPU has room for more.
_SMALLEST = {"evaluated": 40, "candidates": 6, "train": 32}
_CANDIDATES = ({"candidates": 8, "train": 48}, {"candidates": 12, "train": 64})
_CANDIDATES_ON_GPU = ({"candidates": 16, "train": 1000},)


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
    variants: dict[str, int]


@dataclass(frozen=True)
class Plan:
    """How large a run is.

    evaluated: validation documents and test documents, each, that every system writes; candidates:
    of each of `train` training documents and `looked_at` validation documents. references, epochs:
    what base learns from first, and how often (0: not at all). seconds: None if not known.
    """

    evaluated: int
    candidates: int
    train: int
    looked_at: int
    references: int
    epochs: int
    tuned: tuple[str, ...] = _ALWAYS
    variants: tuple[str, ...] = ()
    seconds: float | None = None


def make_plan(
    data: Data, model: Model, limits: Limits, speed: Speed | None, on_gpu: bool, recipe: Recipe,
    minutes: float,
) -> Plan:  # fmt: skip
    """Return the largest run of at most so many minutes, or the smallest one if none is so short.

    First base learns from more references, then there are more candidates and measured documents,
    then more systems, then base learns again. Without a speed nothing is known to be too long for
    the small embedded model, and everything for another one.
    """
    counts = data.documents
    most = {
        "evaluated": max(counts["validation"], counts["test"]),
        "train": min(counts["train"], recipe.train or counts["train"]),
        "references": counts["train"],
    }
    sizes = {name: min(size, most.get(name, size)) for name, size in _SMALLEST.items()}
    learns = bool(data.summaries) and (model.form == "embedded" or model.learns_first)
    if not learns:
        references = [0]
    elif model.form == "embedded":
        references = [min(counts["train"], _FROM_SCRATCH)]
    else:
        references = sorted({min(size, counts["train"]) for size in (*_REFERENCES, 10**9)})

    def timed(plan: Plan) -> Plan:
        seconds = seconds_of(plan, data, limits, speed, recipe) if speed else None
        return replace(plan, seconds=seconds)

    def fits(plan: Plan) -> bool:
        if plan.seconds is None:
            return model.form == "embedded"
        return plan.seconds * RANGE[1] <= 60 * minutes

    looked_at = min(sizes["evaluated"], counts["validation"], _LOOKED_AT)
    epochs = _epochs(references[0], model, recipe)
    plan = timed(
        Plan(
            sizes["evaluated"],
            sizes["candidates"],
            sizes["train"],
            looked_at,
            references[0],
            epochs,
        )
    )
    for count in references[1:]:
        larger = replace(plan, references=count, epochs=_epochs(count, model, recipe))
        plan = _if_it_fits(plan, timed(larger), fits)
    for step in _growth(recipe, on_gpu, learns and model.form != "embedded"):
        plan = _if_it_fits(plan, timed(replace(plan, **_grown(plan, step, most, recipe))), fits)
    return plan


def _if_it_fits(plan: Plan, larger: Plan, fits: Any) -> Plan:
    return larger if fits(larger) else plan


def _epochs(references: int, model: Model, recipe: Recipe) -> int:
    if model.form == "embedded":
        return recipe.epochs
    return min(_EPOCHS, -(-_SEEN // references)) if references else 0


def _growth(recipe: Recipe, on_gpu: bool, learns: bool) -> Iterator[dict[str, Any]]:
    """How a run grows, step by step; learns: base may learn again."""
    yield from (*_CANDIDATES, *(_CANDIDATES_ON_GPU if on_gpu else ()))
    yield {"evaluated": 60}
    guided = [name for name, sources in recipe.variants.items() if sources > 1]
    yield from ({"variants": name} for name in recipe.variants if name not in guided)
    for number, name in enumerate(name for name in recipe.tuned if name not in _ALWAYS):
        yield {"tuned": name}
        if number == 0:
            yield {"evaluated": 100}
            # It takes as long as several others, so it must not take their place.
            yield from ({"variants": name} for name in guided)
    yield {"evaluated": 300 if on_gpu else 100}
    yield from ({"epochs": epochs} for epochs in range(2, _EPOCHS + 1) if learns)


def _grown(
    plan: Plan, step: dict[str, Any], most: dict[str, int], recipe: Recipe
) -> dict[str, Any]:
    """The fields of a plan after a step: no number gets smaller or more than there are."""
    fields: dict[str, Any] = {}
    for name, value in step.items():
        known = getattr(plan, name)
        if name == "variants":
            fields[name] = (*known, value)
        elif name == "tuned":  # in the recipe's order
            fields[name] = tuple(each for each in recipe.tuned if each in (*known, value))
        else:
            fields[name] = max(known, min(value, most.get(name, value)))
    return fields


def seconds_of(plan: Plan, data: Data, limits: Limits, speed: Speed, recipe: Recipe) -> float:
    """Return the seconds of all stages of a run, one after the other."""
    read = min(limits.documents.mean, limits.source_tokens)
    written = limits.summaries.mean if limits.summaries else limits.summary_tokens / 2
    # A batch is written until its longest text ends.
    longest = min(2 * written, limits.summary_tokens)

    def write(documents: int, rows: int) -> float:
        return documents * (read * speed.read + rows * longest * speed.write)

    def score(documents: int, sources: int = 1) -> float:
        return documents * (read + sources * plan.candidates * written) * speed.learn

    seconds = plan.references * plan.epochs * (read + written) * speed.learn
    with_candidates = plan.looked_at + plan.train
    seconds += write(with_candidates, plan.candidates)
    if {"information", "likelihood"} & {*plan.tuned}:
        others = recipe.others if "information" in plan.tuned else 0
        seconds += score(with_candidates, 1 + others) * _FORWARD
    validated = min(VALIDATED, plan.looked_at)
    validate = write(validated, recipe.beams) + score(validated) * _FORWARD
    seconds += len(plan.tuned) * (score(plan.train) + _VALIDATIONS * validate)
    measured = sum(min(plan.evaluated, data.documents[split]) for split in ("validation", "test"))
    sources = 1 + len(plan.tuned) + sum(recipe.variants[name] for name in plan.variants)
    seconds += sources * write(measured, recipe.beams)
    others_stages = _OF_OTHERS * (2 + len(plan.variants))
    return seconds + _START * (_SHARED + _OF_TUNED * len(plan.tuned) + others_stages)
