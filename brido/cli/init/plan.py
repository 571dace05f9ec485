"""The largest run that fits into the user's minutes: its sizes, and the seconds of all stages."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from brido.cli.init.data import Data
from brido.cli.init.limits import Limits
from brido.cli.init.model import Model
from brido.cli.init.speed import Speed
from brido.settings.presets import read_preset

# A run may take between so many times what is reckoned: other programs, longer texts than half.
RANGE = (0.7, 1.3)
# Seconds that a stage takes to start; stages that every run has, those of a tuned system, and those
# of another system.
_START, _SHARED, _OF_TUNED, _OF_OTHERS = 6, 14, 6, 4
# A training run validates before its first update and after its last, on so many documents.
_VALIDATIONS, VALIDATED = 2, 16
# Without the backward pass scoring is a third of learning.
_FORWARD = 1 / 3
# Systems of every vote; the control tells what the order of the candidates is worth.
_ALWAYS = ("vote", "control")
# References that base learns from. It reads few of them more often, until it has read so many
# texts: after fewer it does not end its summaries. How often it reads at most.
_REFERENCES, _SEEN, _EPOCHS = (48, 75, 110, 160, 250, 400, 700, 1200, 2000), 96, 3
# The embedded model learns from scratch, which takes too long from more.
_FROM_SCRATCH = 2000
# The smallest run, which trains nothing but base and has some candidates to look at. The smallest
# vote, with the validation documents that training's own measures look at, and what it grows by. A
# GPU has room for more.
_SMALLEST = {
    "evaluated": 40, "candidates": 6, "train": 8, "looked_at": 8, "variants": ("checked",)
}  # fmt: skip
_VOTE = {"tuned": _ALWAYS, "train": 32, "looked_at": 40}
_CANDIDATES = ({"candidates": 8, "train": 48}, {"candidates": 12, "train": 64})
_CANDIDATES_ON_GPU = ({"candidates": 16, "train": 1000},)


@dataclass(frozen=True)
class Recipe:
    """What the preset of this kind of model says.

    Beams of decoding, epochs of a model from scratch, the other documents that candidates are
    scored with, the documents to tune on (None: as many as there are), the names of tuned systems,
    and how many times as long as base each variant writes.
    """

    beams: int
    epochs: int
    others: int
    train: int | None
    tuned: tuple[str, ...]
    variants: dict[str, float]

    @classmethod
    def of(cls, model: Model, labelled: bool) -> "Recipe":
        """labelled: whether there are references, without which none can weigh in an order."""
        preset = read_preset(model.preset)
        tuned = {name: changes.get("scoring", {}) for name, changes in preset["tuned"].items()}
        beams, variants = preset["decoding"]["num_beams"], {}
        for name, changes in preset["variants"].items():
            guidance, checked = (changes.get(key) or {} for key in ("guidance", "checked"))
            # Guided texts read other documents; half of the documents may need candidates.
            more = guidance.get("others", 0) + checked.get("candidates", 0) / (2 * beams)
            # Without references base does not learn, so it is untuned itself.
            if labelled or changes["checkpoint"] == "base":
                variants[name] = 1 + more
        return cls(
            beams,
            preset["checkpoints"]["base"].get("embedded", {}).get("epochs", 0),
            preset["likelihood"]["others"],
            # Encoder-decoders: how many are enough was not measured.
            preset["documents"]["train"] if model.form == "decoder_only" else None,
            tuple(name for name, scoring in tuned.items() if labelled or not scoring.get("alpha")),
            variants,
        )


@dataclass(frozen=True)
class Plan:
    """How large a run is.

    evaluated: validation documents and test documents, each, that every system writes; candidates:
    of each of `train` training documents and `looked_at` validation documents. references, epochs:
    what base learns from first, and how often (0: not at all). seconds: None if not known.
    """

    evaluated: int = 0
    candidates: int = 0
    train: int = 0
    looked_at: int = 0
    references: int = 0
    epochs: int = 0
    tuned: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    seconds: float | None = None


def make_plan(
    data: Data, model: Model, limits: Limits, speed: Speed | None, on_gpu: bool, recipe: Recipe,
    minutes: float,
) -> Plan:  # fmt: skip
    """Return the largest run of at most so many minutes, or the smallest one if none is so short.

    Without a speed nothing is known to be too long for the small embedded model, and everything for
    another one.
    """
    counts = data.documents
    most = {
        "evaluated": max(counts["validation"], counts["test"]),
        "train": min(counts["train"], recipe.train or counts["train"]),
        "looked_at": counts["validation"],
    }
    plan = None
    for step in _steps(data, model, recipe, on_gpu):
        # Without a vote nothing needs more candidates, nor another order of them.
        if plan and not plan.tuned and ("candidates" in step or isinstance(step.get("tuned"), str)):
            continue
        larger = _grown(plan or Plan(), step, most, recipe)
        if speed:
            seconds = seconds_of(larger, data, limits, speed, recipe)
            larger, fits = replace(larger, seconds=seconds), seconds * RANGE[1] <= 60 * minutes
        else:
            fits = model.form == "embedded"
        plan = larger if fits or plan is None else plan
    assert plan is not None
    return plan


def _steps(data: Data, model: Model, recipe: Recipe, on_gpu: bool) -> Iterator[dict[str, Any]]:
    """The smallest run, and what it grows by, step by step."""
    train = data.documents["train"]
    if model.form == "embedded":
        first, *more = [{"references": min(train, _FROM_SCRATCH), "epochs": recipe.epochs}]
    elif data.summaries and model.learns_first:
        sizes = sorted({min(size, train) for size in (*_REFERENCES, train)})
        first, *more = [
            {"references": size, "epochs": min(_EPOCHS, -(-_SEEN // size))} for size in sizes
        ]
    else:
        first, more = {}, []
    yield _SMALLEST | first
    yield from more
    # What trains nothing is left out last; guided systems read the most.
    by_reading = sorted(recipe.variants, key=recipe.variants.__getitem__)
    yield from ({"variants": name} for name in by_reading)
    yield _VOTE
    yield from (*_CANDIDATES, *(_CANDIDATES_ON_GPU if on_gpu else ()))
    yield {"evaluated": 60}
    optional = [name for name in recipe.tuned if name not in _ALWAYS]
    yield from ({"tuned": name} for name in optional[:1])
    yield {"evaluated": 100}
    yield from ({"tuned": name} for name in optional[1:])
    yield {"evaluated": 300 if on_gpu else 100}
    if model.form != "embedded" and first:
        yield from ({"epochs": epochs} for epochs in range(2, _EPOCHS + 1))


def _grown(plan: Plan, step: dict[str, Any], most: dict[str, int], recipe: Recipe) -> Plan:
    """A plan after a step. No number gets smaller, or more than there are.

    Of more references fewer epochs are enough.
    """
    fields: dict[str, Any] = {}
    for name, value in step.items():
        known = getattr(plan, name)
        if isinstance(known, tuple):  # in the recipe's order
            every = recipe.tuned if name == "tuned" else recipe.variants
            named = {*known, *((value,) if isinstance(value, str) else value)}
            fields[name] = tuple(each for each in every if each in named)
        else:
            fewest = 0 if "references" in step else known
            fields[name] = max(fewest, min(value, most.get(name, value)))
    return replace(plan, **fields)


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
