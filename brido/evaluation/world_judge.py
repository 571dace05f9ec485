"""An exact judge of the embedded world, in G-Eval's shape: four marks by rules, no model.

It marks what the rules below say and nothing else; a language model marks impressions. The two are
not comparable: hence the name.
"""

from itertools import pairwise
from typing import Any

from brido.checkers.mentions import world_mentions
from brido.evaluation import Column, Evaluation, Inputs, Metric, Support, by_document, share
from brido.utils.progress import MakeProgress
from brido.utils.sections import Section
from brido.world import reading


def evaluate(inputs: Inputs, settings: Section, progress: MakeProgress) -> Evaluation:
    """The marks of `judge`, their mean, and whether a summary is whole, good and sound (1 or 0).

    whole: fluency 3. good: whole, without a mention that `brido.checkers.mentions` calls
    unsupported. sound: whole, with the highest consistency, which also asks whose age or sum it is.
    """
    facts = inputs.facts or ()

    def measure(index: int) -> tuple[dict[str, float | None], Any]:
        summary, known = inputs.summaries[index], list(facts[index])
        marks, detail = judge(summary, known)
        whole = marks["fluency"] == 3
        supported = all(mention.supported for mention in world_mentions(summary, known))
        row: dict[str, float | None] = {
            **marks,
            "average": sum(marks.values()) / len(marks),
            "whole": float(whole),
            "good": float(whole and supported),
            "sound": float(whole and marks["consistency"] == 5),
        }
        return row, detail

    signature = {"implementation": "rules on the facts of the world, exact", "models": "none"}
    return by_document("world_judge", inputs, progress, measure, signature)


def judge(summary: str, facts: list[dict[str, Any]]) -> tuple[dict[str, float], dict[str, Any]]:
    """The four marks of one summary, and what they rest on.

    * consistency: 1 + 4 x the share of its statements that the document makes too, slot and value
      (so another person's age is wrong); a summary that states nothing gets 1.
    * relevance: 1 + 4 x the share of the event's key facts that it states correctly.
    * fluency: 3 for a sentence that the world's grammar can produce, 2 for another sentence (a
      capital first, a full stop last, no word twice in a row), 1 for anything else.
    * coherence: 5, less 1 for each slot told twice and for each statement whose role cannot be
      told, less 2 if the wording is that of another kind of event; at least 1.
    """
    event = next(fact["value"] for fact in facts if fact["slot"] == "event")
    read = reading.read(summary, event)
    true = [statement for statement in read.statements if _stated(statement, facts)]
    keys = reading.key_slots(event)
    told = [statement.slot for statement in read.statements if statement.slot]
    unclear = len(read.statements) - len(told)
    coherence = 5 - (len(told) - len(set(told))) - unclear
    coherence -= 2 * (read.event is not None and read.event != event)
    supported = len(true) / len(read.statements) if read.statements else 0.0
    marks = {
        "coherence": float(max(1, coherence)),
        "consistency": 1 + 4 * supported,
        "fluency": float(_fluency(summary, read.well_formed)),
        "relevance": 1 + 4 * len(keys & {statement.slot for statement in true}) / len(keys),
    }
    wrong = [
        {"slot": statement.slot, "type": statement.type, "value": statement.value}
        for statement in read.statements
        if statement not in true
    ]
    return marks, {"event": read.event, "well_formed": read.well_formed, "not_stated": wrong}


def _stated(statement: reading.Statement, facts: list[dict[str, Any]]) -> bool:
    return any(
        fact["in_document"]
        and fact["slot"] == statement.slot
        and reading.supports(fact["value"], statement.value)
        for fact in facts
    )


def _fluency(summary: str, well_formed: bool) -> int:
    if well_formed:
        return 3
    words = summary.split()
    repeated = any(first == second for first, second in pairwise(words))
    return 2 if words and words[0][0].isupper() and words[-1][-1] == "." and not repeated else 1


METRIC = Metric(
    name="world_judge",
    label="World judge",
    columns=(
        Column("coherence"),
        Column("consistency"),
        Column("fluency"),
        Column("relevance"),
        Column("average"),
        share("whole", "whole sentences", headline=True),
        share("good", headline=True),
        share("sound"),
    ),
    evaluate=evaluate,
    chooses=True,
    needs_facts=True,
    support=Support("good", threshold=1.0),
)
