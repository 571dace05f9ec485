"""From what is known of data, model and machine to the sizes of a run that ends in a verdict."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from brido.cli.init.cost import ALWAYS, RANGE, Recipe, RunPlan, seconds_of
from brido.cli.init.data import Data
from brido.cli.init.limits import Limits
from brido.cli.init.model import Model
from brido.cli.init.speed import Speed

# Documents of each measured split, candidates of a document, and training documents with
# candidates: the smallest run, and how it grows.
_SMALLEST = (40, 6, 32)
_CANDIDATES, _CANDIDATES_ON_GPU = ((8, 48), (12, 64)), ((16, 1000),)
_EVALUATED, _MORE, _MORE_ON_GPU = 60, (100,), (100, 300)
# References that base learns from at least, and how often at most. It learns from fewer references
# more often, until it has seen so many texts: after fewer it does not end its summaries.
_FEWEST, _EPOCHS, _SEEN = 48, 3, 96
# Documents that a model from scratch learns from, before that takes too long.
_FROM_SCRATCH = 2000


def make_plan(
    data: Data,
    model: Model,
    limits: Limits,
    speed: Speed | None,
    on_gpu: bool,
    recipe: Recipe,
    minutes: float,
) -> RunPlan:
    """Return the largest run of at most so many minutes, or the smallest one if none is so short.

    First base learns from all references that fit, then there are more candidates and measured
    documents, then more systems, then base learns again. Without a speed nothing is known to be
    too long for the small embedded model, and everything for another one.
    """
    counts = data.documents
    measured = max(counts["validation"], counts["test"])
    learns = bool(data.summaries) and (model.form == "embedded" or model.learns_first)
    evaluated, candidates, train = _SMALLEST
    plan = RunPlan(
        min(evaluated, measured),
        candidates,
        min(train, counts["train"]),
        counts["validation"],
        min(counts["train"], _FEWEST) if learns else 0,
        int(learns),
    )
    if model.form == "embedded":
        # What it learns from is cut by data.max_documents; how often is its recipe's.
        plan = replace(plan, references=min(counts["train"], _FROM_SCRATCH), epochs=recipe.epochs)

    def timed(plan: RunPlan) -> RunPlan:
        if speed is None:
            return plan
        return replace(plan, seconds=seconds_of(plan, data, limits, speed, recipe))

    def fits(plan: RunPlan) -> bool:
        if plan.seconds is None:
            return model.form == "embedded"
        return plan.seconds * RANGE[1] <= 60 * minutes

    plan = timed(plan)
    again = learns and model.form != "embedded"
    if again and speed and fits(plan):
        plan = _more_references(plan, counts["train"], timed, fits)
    for grow in _steps(measured, counts["train"], on_gpu, recipe, again):
        larger = timed(grow(plan))
        if fits(larger):
            plan = larger
    if speed is None or limits.more_tokens is None:
        return plan
    more = replace(limits, source_tokens=limits.more_tokens)
    return replace(plan, reading_more=seconds_of(plan, data, more, speed, recipe))


Timed = Callable[[RunPlan], RunPlan]


def _more_references(
    plan: RunPlan, most: int, timed: Timed, fits: Callable[[RunPlan], bool]
) -> RunPlan:
    """All references that fit, and of few references as many passes as teach a text's end."""
    low, high = plan.references, most
    while low < high:
        middle = (low + high + 1) // 2
        if fits(timed(replace(plan, references=middle))):
            low = middle
        else:
            high = middle - 1
    plan = timed(replace(plan, references=low))
    while plan.references * plan.epochs < _SEEN and plan.epochs < _EPOCHS:
        again = timed(replace(plan, epochs=plan.epochs + 1))
        if not fits(again):
            break
        plan = again
    return plan


def _steps(measured: int, train: int, on_gpu: bool, recipe: Recipe, again: bool) -> Iterator[Timed]:
    """How a run grows, the most wanted first; again: base may learn again."""
    most = min(train, recipe.train or train)
    for candidates, documents in (*_CANDIDATES, *(_CANDIDATES_ON_GPU if on_gpu else ())):
        yield _to(candidates=candidates, train=min(documents, most))
    yield _to(evaluated=min(_EVALUATED, measured))
    guided = [name for name, sources in recipe.variants.items() if sources > 1]
    for name in recipe.variants:
        if name not in guided:
            yield _with_variant(name)
    for number, name in enumerate(name for name in recipe.tuned if name not in ALWAYS):
        yield _with_tuned(name, recipe.tuned)
        if number == 0:
            yield _to(evaluated=min(_MORE[0], measured))
            # It takes as long as several others, so it must not take their place.
            yield from map(_with_variant, guided)
    for count in _MORE_ON_GPU if on_gpu else _MORE:
        yield _to(evaluated=min(count, measured))
    for epochs in range(2, _EPOCHS + 1) if again else ():
        yield _to(epochs=epochs)


def _to(**changes: int) -> Timed:
    """At least so much of each of these fields."""
    return lambda plan: replace(
        plan, **{name: max(value, getattr(plan, name)) for name, value in changes.items()}
    )


def _with_variant(name: str) -> Timed:
    return lambda plan: replace(plan, variants=(*plan.variants, name))


def _with_tuned(name: str, order: Sequence[str]) -> Timed:
    """One more tuned system; their order is the recipe's."""
    return lambda plan: replace(
        plan, tuned=tuple(each for each in order if each in (*plan.tuned, name))
    )
