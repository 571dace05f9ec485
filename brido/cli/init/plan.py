"""The largest run that fits into the user's minutes: its sizes and seconds."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from brido.cli.init.found import Found
from brido.cli.init.speed import Speed

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
# The smallest run, which trains nothing but base and has some candidates to look at, and the
# smallest vote, with the validation documents that training's own measures look at.
_SMALLEST = {
    "evaluated": 40, "candidates": 6, "train": 8, "looked_at": 8, "variants": ("checked",)
}  # fmt: skip
_VOTE = {"tuned": _ALWAYS, "train": 32, "looked_at": 40}


@dataclass(frozen=True)
class Plan:
    """How large a run is.

    evaluated: validation documents and test documents, each, that every system writes; candidates:
    of each of `train` training documents and `looked_at` validation documents. references, epochs:
    what base learns from first, and how often (0: not at all).
    """

    evaluated: int = 0
    candidates: int = 0
    train: int = 0
    looked_at: int = 0
    references: int = 0
    epochs: int = 0
    tuned: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    seconds: float = 0.0

    def evaluated_of(self, found: Found) -> tuple[int, int]:
        """Validation documents and test documents that every system writes."""
        counts = found.data.documents
        return min(self.evaluated, counts["validation"]), min(self.evaluated, counts["test"])


def writing_of(recipe: dict[str, Any], variant: str) -> float:
    """How many times as long as base a variant writes.

    Guided texts read other documents; half of the documents of `checked` may need candidates.
    """
    changes = recipe["variants"][variant]
    guidance, checked = (changes.get(key) or {} for key in ("guidance", "checked"))
    beams = recipe["decoding"]["num_beams"]
    return 1 + guidance.get("others", 0) + checked.get("candidates", 0) / (2 * beams)


def make_plan(found: Found, speed: Speed, on_gpu: bool, minutes: float) -> Plan:
    """The largest run of at most so many minutes, or the smallest one if none is so short."""
    counts = found.data.documents
    most = {"evaluated": max(counts["validation"], counts["test"]), "train": counts["train"],
            "looked_at": counts["validation"]}  # fmt: skip
    # Encoder-decoders: how many documents are enough to tune on was not measured.
    if not found.model.encoder:
        most["train"] = min(most["train"], found.recipe["documents"]["train"])
    plan = Plan()
    for number, step in enumerate(_steps(found, on_gpu)):
        # Without a vote nothing needs more candidates, nor another order of them.
        needs_vote = step.keys() & {"candidates", "tuned"} and step != _VOTE
        if number and needs_vote and not plan.tuned:
            continue
        sizes = {name: min(value, most.get(name, value)) for name, value in step.items()}
        larger = replace(plan, **sizes)
        larger = replace(larger, seconds=seconds_of(larger, found, speed))
        if not number or larger.seconds * RANGE[1] <= 60 * minutes:
            plan = larger
    return plan


def _steps(found: Found, on_gpu: bool) -> Iterator[dict[str, Any]]:
    """The smallest run, and what it grows by, step by step."""
    recipe = found.recipe
    first, *more = _references(found)
    yield _SMALLEST | first
    yield from more
    # What trains nothing is left out last; guided systems read the most.
    by_reading = sorted(recipe["variants"], key=lambda name: writing_of(recipe, name))
    for count in range(1, len(by_reading) + 1):
        chosen = {"checked", *by_reading[:count]}
        yield {"variants": tuple(name for name in recipe["variants"] if name in chosen)}
    yield _VOTE
    yield {"candidates": 8, "train": 48}
    yield {"candidates": 12, "train": 64}
    if on_gpu:
        yield {"candidates": 16, "train": 1000}
    yield {"evaluated": 60}
    others = [name for name in recipe["tuned"] if name not in _ALWAYS]
    for count in (1, len(others)):
        chosen = {*_ALWAYS, *others[:count]}
        yield {"tuned": tuple(name for name in recipe["tuned"] if name in chosen)}
    yield {"evaluated": 300 if on_gpu else 100}


def _references(found: Found) -> list[dict[str, Any]]:
    """What base may learn from first, the fewest first."""
    train = found.data.documents["train"]
    if not (found.data.summaries and found.model.learns_first):
        return [{}]
    sizes = sorted({min(size, train) for size in (*_REFERENCES, train)})
    return [{"references": size, "epochs": min(_EPOCHS, -(-_SEEN // size))} for size in sizes]


def seconds_of(plan: Plan, found: Found, speed: Speed) -> float:
    """Return the seconds of all stages of a run, one after the other."""
    recipe = found.recipe
    beams = recipe["decoding"]["num_beams"]
    written, read = found.written, min(fmean(found.lengths), found.source_tokens)
    # A batch is written until its longest text ends.
    longest = min(2 * written, found.summary_tokens)

    def write(documents: int, rows: int) -> float:
        return documents * (read * speed.read + rows * longest * speed.write)

    def score(documents: int, sources: int = 1) -> float:
        return documents * (read + sources * plan.candidates * written) * speed.learn

    seconds = plan.references * plan.epochs * (read + written) * speed.learn
    with_candidates = plan.looked_at + plan.train
    seconds += write(with_candidates, plan.candidates)
    if {"information", "likelihood"} & {*plan.tuned}:
        others = recipe["likelihood"]["others"] if "information" in plan.tuned else 0
        seconds += score(with_candidates, 1 + others) * _FORWARD
    validated = min(VALIDATED, plan.looked_at)
    validate = write(validated, beams) + score(validated) * _FORWARD
    seconds += len(plan.tuned) * (score(plan.train) + _VALIDATIONS * validate)
    sources = 1 + len(plan.tuned) + sum(writing_of(recipe, name) for name in plan.variants)
    seconds += sources * write(sum(plan.evaluated_of(found)), beams)
    others_stages = _OF_OTHERS * (2 + len(plan.variants))
    return seconds + _START * (_SHARED + _OF_TUNED * len(plan.tuned) + others_stages)
