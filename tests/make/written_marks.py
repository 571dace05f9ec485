"""What the judge of the tests answers: marks by rule."""

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
