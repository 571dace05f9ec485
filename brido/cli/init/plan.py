"""From what is known of data, model and machine to the sizes of a check and of a tuning run.

The check writes candidates, lets them vote and says whether tuning will help; it tunes nothing. So
it needs validation documents, a base that summarizes, and hardly any training document.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from brido.cli.init.data import Data
from brido.cli.init.model import Model
from brido.cli.init.speed import Speed
from brido.utils.text import split_sentences

# Longer documents are cut: what a model reads grows the memory of training.
_MOST_SOURCE = {"embedded": 512, "encoder_decoder": 1024, "decoder_only": 2048}
# Of a prompt with its template.
_PROMPT = 64
# Summaries if there is none to look at.
_LONGEST = 128
# Seconds that a check aims at, that it may take so that base learns from further references, and
# that it may take at most.
AIM, LEARNING, MOST = 1200, 2400, 3600
# Validation documents and candidates of each, the best that the time allows; three quarters of
# documents have two candidates that can be compared, and 30 of them are wanted.
_LOOKS, _LOOKS_ON_GPU = ((60, 8), (48, 8), (40, 6)), ((200, 16),)
# References that base learns from at least, and how often at most. It learns from fewer references
# more often, until it has seen so many texts: after fewer it does not end its summaries.
_FEWEST, _EPOCHS, _SEEN = 48, 3, 96
# Documents with candidates to tune on; of which the check needs none, but a split cannot be empty.
_WHOLE, UNTUNED = 1000, 4
# Documents that a model from scratch learns from, before the check takes too long.
_FROM_SCRATCH = 2000
# Seconds that a stage takes to start, and the stages of a check and of a whole run.
_START, _STAGES, _ALL_STAGES = 10, 9, 20


@dataclass(frozen=True)
class Lengths:
    """Tokens: of half of the texts, on average, of 19 in 20."""

    half: int
    mean: float
    most: int

    @classmethod
    def of(cls, counts: Sequence[int]) -> "Lengths":
        """Return the lengths of some counts, of which there must be one at least."""
        ordered = sorted(counts)
        last = len(ordered) - 1
        return cls(ordered[last // 2], sum(ordered) / len(ordered), ordered[round(0.95 * last)])


@dataclass(frozen=True)
class Limits:
    """How long texts are, and how much of them is read and written.

    documents, summaries: tokens (None: there are no summaries); sentences, words: of a summary,
    on average and of half of them; alike: whether summaries are about equally long.
    """

    documents: Lengths
    summaries: Lengths | None
    source_tokens: int
    summary_tokens: int
    sentences: float
    words: int
    alike: bool


def find_limits(data: Data, model: Model) -> Limits:
    """Return limits that fit 19 of 20 documents and nearly every summary."""
    documents = Lengths.of(model.count(data.texts))
    summaries = Lengths.of(model.count(data.summaries)) if data.summaries else None
    prompt = _PROMPT if model.form == "decoder_only" else 0
    written = _round_up(1.25 * summaries.most + 4, 8) if summaries else _LONGEST
    limit = _MOST_SOURCE[model.form]
    if model.positions is not None:
        written = min(written, model.positions // 2)
        limit = min(limit, model.positions - (written if prompt else 0))
    texts = data.summaries or [""]
    words = sorted(len(text.split()) for text in texts)
    return Limits(
        documents,
        summaries,
        min(_round_up(documents.most + prompt, 32), limit),
        written,
        sum(len(split_sentences(text)) for text in texts) / len(texts),
        words[len(words) // 2],
        words[round(0.95 * (len(words) - 1))] <= 3 * max(1, words[len(words) // 2]),
    )


def _round_up(value: float, step: int) -> int:
    return step * -(-round(value) // step)


@dataclass(frozen=True)
class RunPlan:
    """How much the check and the tuning run take.

    validation: documents with candidates, and of each of both splits that are decoded; candidates
    of each. references, epochs: what base learns from first, and how often (0: not at all). tuned:
    documents of the tuning run. check, tuning: seconds, None if the speed is not known; tuning
    includes all that has to be done again.
    """

    validation: int
    candidates: int
    references: int
    epochs: int
    tuned: int
    check: float | None = None
    tuning: float | None = None

    @property
    def fits(self) -> bool:
        """Whether the check ends within an hour, as far as that is known."""
        return self.check is None or self.check <= MOST


@dataclass(frozen=True)
class Recipe:
    """What the preset of this kind of model says.

    Beams of decoding, epochs of a model from scratch, the other documents that candidates are
    scored with, and the documents to tune on (None: as many as there are, up to 1,000).
    """

    beams: int
    epochs: int
    others: int
    tuned: int | None = None


def make_plan(
    data: Data, model: Model, limits: Limits, speed: Speed | None, on_gpu: bool, recipe: Recipe
) -> RunPlan:
    """Return the largest check of about `AIM` seconds, and the tuning run behind it.

    With an unknown speed it is the smallest check.
    """
    train, found = data.documents["train"], data.documents["validation"]
    looks = _LOOKS_ON_GPU if on_gpu else _LOOKS
    learns = bool(data.summaries) and (model.form == "embedded" or model.learns_first)
    fewest = min(train, _FEWEST) if learns else 0
    tuned = min(recipe.tuned or _WHOLE, train)
    plans = []
    for documents, candidates in looks if speed else looks[-1:]:
        plan = RunPlan(min(documents, found), candidates, fewest, int(learns), tuned)
        plans.append(_timed(plan, data, limits, speed, recipe))
    plan = next((one for one in plans if one.check is None or one.check <= AIM), plans[-1])
    if model.form == "embedded":
        # What it learns from is cut by data.max_documents; how often is its recipe's.
        plan = replace(plan, references=min(train, _FROM_SCRATCH), epochs=recipe.epochs)
        return _timed(plan, data, limits, speed, recipe)
    return _learn_more(plan, train, data, limits, speed, recipe) if learns and speed else plan


def _learn_more(
    plan: RunPlan, train: int, data: Data, limits: Limits, speed: Speed, recipe: Recipe
) -> RunPlan:
    """Let base learn from all references that `LEARNING` allows, and again as far as `AIM` does."""
    one = _pair(limits) * speed.learn
    spent = (plan.check or 0.0) - plan.references * one
    references = max(plan.references, min(train, int(max(0.0, LEARNING - spent) / one)))

    def times(seconds: float) -> int:
        return int(max(0.0, seconds - spent) / (one * references))

    wanted = min(times(LEARNING), -(-_SEEN // references))
    epochs = max(1, min(_EPOCHS, max(times(AIM), wanted)))
    return _timed(replace(plan, references=references, epochs=epochs), data, limits, speed, recipe)


def _timed(
    plan: RunPlan, data: Data, limits: Limits, speed: Speed | None, recipe: Recipe
) -> RunPlan:
    if speed is None:
        return plan
    read, written = _read(limits), _written(limits)
    # A batch is written until its longest text ends.
    longest = min(2 * written, limits.summary_tokens)
    test = min(plan.validation, data.documents["test"])

    def write(documents: int, rows: int) -> float:
        return documents * (read * speed.read + rows * longest * speed.write)

    def score(documents: int, sources: int = 1) -> float:
        return documents * (read + sources * plan.candidates * written) * speed.learn

    learn = plan.references * plan.epochs * _pair(limits) * speed.learn
    decode = write(plan.validation + test, recipe.beams)
    with_candidates = plan.validation + UNTUNED
    # Without the backward pass it is a third.
    vote = write(with_candidates, plan.candidates) + score(with_candidates, 1 + recipe.others) / 3
    check = learn + vote + decode + _START * _STAGES
    more = plan.validation + plan.tuned
    tune = write(more, plan.candidates) + score(more) / 3 + score(plan.tuned)
    tune += 2 * decode + _START * _ALL_STAGES
    return replace(plan, check=check, tuning=tune)


def _read(limits: Limits) -> float:
    return min(limits.documents.mean, limits.source_tokens)


def _written(limits: Limits) -> float:
    return limits.summaries.mean if limits.summaries else limits.summary_tokens / 2


def _pair(limits: Limits) -> float:
    """Tokens of a document with its summary, as far as they are read."""
    return _read(limits) + _written(limits)
