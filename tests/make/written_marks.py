"""What the judge of the tests answers: marks by rule, well written or as real judges write."""

import hashlib
import json


def number_of(text: str, purpose: str, below: int) -> int:
    """A number below `below` that depends on the text alone."""
    digest = hashlib.sha256(f"{purpose} {text}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % below


SCALES = {"coherence": 5, "consistency": 5, "fluency": 3, "relevance": 5}


def clean_answer(question: str) -> str:
    """Marks by rule, in JSON."""
    return json.dumps({name: 1 + number_of(question, name, top) for name, top in SCALES.items()})


def written_answer(question: str) -> str:
    """Marks by rule, in one of the forms in which real judges write them, or none."""
    marks = json.loads(clean_answer(question))
    form = number_of(question, "form", 40)
    plain = json.dumps(marks)
    forms = {
        0: f"```json\n{plain}\n```",
        1: f"I have read both texts. Here are my marks:\n\n{plain}\n\nThe summary is short.",
        2: plain.replace('"', "”"),
        3: json.dumps({name: str(mark) for name, mark in marks.items()}),
        4: json.dumps({name.title(): f"{mark}/{SCALES[name]}" for name, mark in marks.items()}),
        5: "\n".join(f"- **{name.title()}**: {mark}" for name, mark in marks.items()),
        6: json.dumps({**marks, "fluency": 5}),
        7: "I would rather not mark this.",
        8: json.dumps(dict.fromkeys(marks, 0)),
    }
    return forms.get(form, plain)
