"""Question answering on the embedded world, in QAFactEval's shape, without any model.

Every statement of the summary becomes a question about its slot ("who is the driver?"); the facts
say what the document answers. No neural network reads anything, so these numbers are exact and are
not comparable with QAFactEval's: hence the name.
"""

from typing import Any

from brido.evaluation import Evaluation, Inputs, Metric, by_document, points
from brido.evaluation.qafacteval.overlap import exact_match, normalise, token_f1
from brido.utils.progress import MakeProgress
from brido.utils.sections import Section
from brido.world import reading
from brido.world.lexicon import TITLES

_TITLES = frozenset(title.lower() for title in TITLES)


def evaluate(inputs: Inputs, settings: Section, progress: MakeProgress) -> Evaluation:
    """is_answered, f1 and em (0 to 100) of every summary, means over its questions.

    A summary that states nothing gets 0 throughout, as QAFactEval has it.
    """
    facts = inputs.facts or ()

    def measure(index: int) -> tuple[dict[str, float | None], Any]:
        asked = questions(inputs.summaries[index], list(facts[index]))
        row: dict[str, float | None] = {
            name: _mean(asked, name) for name in ("is_answered", "f1", "em")
        }
        return row, {"questions": asked}

    signature = {"implementation": "facts of the world, exact", "models": "none"}
    return by_document("world_qa", inputs, progress, measure, signature)


def questions(summary: str, facts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One question for each statement of the summary, with the document's answer and its marks."""
    event = next(fact["value"] for fact in facts if fact["slot"] == "event")
    present = {fact["slot"]: fact["value"] for fact in facts if fact["in_document"]}
    asked = []
    for statement in reading.read(summary, event).statements:
        prediction = present.get(statement.slot or "")
        f1, exact = compare(statement.value, prediction)
        asked.append(
            {
                "slot": statement.slot,
                "type": statement.type,
                "answer": statement.value,
                "prediction": prediction,
                "is_answered": float(prediction is not None),
                "f1": f1,
                "em": exact,
            }
        )
    return asked


def compare(answer: str, prediction: str | None) -> tuple[float, float]:
    """Token F1 and exact match of two answers (SQuAD's), both 0 where there is no prediction."""
    if prediction is None:
        return 0.0, 0.0
    wanted, found = _without_titles(answer), _without_titles(prediction)
    return token_f1(wanted, found), exact_match(wanted, found)


def _without_titles(text: str) -> str:
    return " ".join(word for word in normalise(text).split() if word not in _TITLES)


def _mean(asked: list[dict[str, Any]], name: str) -> float:
    return 100 * sum(question[name] for question in asked) / len(asked) if asked else 0.0


METRIC = Metric(
    name="world_qa",
    label="World QA",
    columns=(
        points("is_answered", "answered", unit="%"),
        points("f1", "QA F1", headline=True),
        points("em", "QA EM"),
    ),
    evaluate=evaluate,
    needs_facts=True,
)
