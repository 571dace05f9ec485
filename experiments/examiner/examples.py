"""What the examiner learns from: the embedded world, where every answer is known.

Training examples for a question generator, a reader and a judge of answers, made from the facts of
documents of the training split. Nothing here looks at what a summarizer wrote.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from brido.evaluation.qafacteval.overlap import normalise, token_f1
from brido.world import lexicon, reading
from brido.world.events import event_types

# The question about a slot that is not one person's or firm's role.
_PLAIN = {
    "town": "In which town was it?",
    "county": "In which county was it?",
    "age": "How old was the person?",
    "day": "On which day was it?",
    "money": "How much money was it?",
    "number": "How many were there?",
}
_SLOTS = {
    event.name: {**event.keys, **{option.slot: option.type for option in event.options}}
    for event in event_types()
}


def question_about(slot: str, kind: str) -> str:
    """The one question that the examiner asks about a slot."""
    if slot in _PLAIN:
        return _PLAIN[slot]
    if kind == lexicon.PERSON:
        return f"Who was the {slot}?"
    return (
        f"Which firm was the {slot}?" if kind == lexicon.ORGANISATION else f"What was the {slot}?"
    )


@dataclass(frozen=True)
class Statement:
    """A slot's value where a text states it; character offsets, the end exclusive."""

    slot: str
    type: str
    start: int
    end: int


def place(text: str, value: str) -> tuple[int, int] | None:
    """Where `value` first stands in `text` as whole words; None where it does not."""
    match = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text)
    return match.span() if match else None


def statements(row: dict[str, Any]) -> list[Statement]:
    """What the reference of a corpus row states, slot by slot, in order of appearance."""
    event = row["facts"][0]["value"]
    found = []
    for statement in reading.read(row["summary"], event).statements:
        span = place(row["summary"], statement.value)
        if statement.slot and span:
            found.append(Statement(statement.slot, statement.type, *span))
    return sorted(found, key=lambda statement: statement.start)


def questions(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[str, int, int, str]]:
    """(sentence, answer start, answer end, question) for every statement of the references."""
    for row in rows:
        for item in statements(row):
            yield row["summary"], item.start, item.end, question_about(item.slot, item.type)


def readings(
    rows: Sequence[dict[str, Any]], rng: random.Random
) -> Iterator[tuple[str, str, tuple[int, int] | None]]:
    """(question, context, answer span or None): documents and references, answerable or not."""
    for row in rows:
        slots = _SLOTS[row["facts"][0]["value"]]
        in_document = {f["slot"]: f["value"] for f in row["facts"] if f["in_document"]}
        told = {item.slot: (item.start, item.end) for item in statements(row)}
        for slot, kind in slots.items():
            question = question_about(slot, kind)
            if slot in in_document:
                span = place(row["document"], in_document[slot])
                if span:
                    yield question, row["document"], span
            elif rng.random() < 0.7:
                yield question, row["document"], None
            if slot in told:
                yield question, row["summary"], told[slot]
            elif rng.random() < 0.3:
                yield question, row["summary"], None


def comparisons(
    rows: Sequence[dict[str, Any]], rng: random.Random
) -> Iterator[tuple[str, str, str, str, float]]:
    """(question, answer, prediction, source, mark 1 to 5): equal answers 5, others by overlap."""
    by_type: dict[str, list[str]] = {}
    for row in rows:
        for fact in row["facts"]:
            by_type.setdefault(fact["type"], []).append(fact["value"])
    for row in rows:
        for item in statements(row):
            answer = row["summary"][item.start : item.end]
            others = [answer, answer.split()[-1], rng.choice(by_type[item.type])]
            prediction = others[rng.choice((0, 0, 1, 2, 2))]
            question = question_about(item.slot, item.type)
            yield question, answer, prediction, row["document"], mark(answer, prediction)


def mark(answer: str, prediction: str) -> float:
    """The mark that people would give, by rule: 5 for the same answer, else 1 + 3 x token F1."""
    if normalise(answer) == normalise(prediction):
        return 5.0
    return 1.0 + 3.0 * token_f1(answer, prediction)
