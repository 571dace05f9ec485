"""Files as users have them: abstracts with a one-sentence summary, dialogues with a note.

Made here of a few words: as long as those of SciTLDR and of MTS-Dialog, and of nobody else's text.
"""

import csv
import json
import random
from pathlib import Path

METHODS = (
    "a sparse attention layer",
    "a contrastive loss",
    "graph pooling",
    "an adapter of rank 8",
)
TASKS = ("parsing", "translation", "summarization", "tagging", "retrieval")
TOWNS = ("Oslo", "Bergen", "Turku", "Malmo", "Aarhus")
PAINS = ("the left knee", "the back", "the chest", "the right wrist", "the throat")


def abstracts(count: int) -> list[dict]:
    """Rows with the columns paper_id, abstract and tldr."""
    rows = []
    for number in range(count):
        drawn = random.Random(f"0 {number}")
        method, task, town = drawn.choice(METHODS), drawn.choice(TASKS), drawn.choice(TOWNS)
        gain = drawn.randint(2, 40)
        text = [f"In this paper we study {task} with {method}."]
        text += [
            f"Experiment {part} of {drawn.randint(3, 9)} was run in {drawn.choice(TOWNS)} on "
            f"{drawn.randint(100, 900)} documents and shows a similar trend."
            for part in range(drawn.randint(4, 9))
        ]
        text.append(f"In {town} the error falls by {gain} percent, with code that we publish.")
        tldr = f"We use {method} for {task} and reduce the error by {gain} percent."
        rows.append({"paper_id": f"p{number}", "abstract": " ".join(text), "tldr": tldr})
    return rows


def dialogues(count: int) -> list[dict]:
    """Rows with the columns ID, dialogue and section_text: turns on lines of their own."""
    rows = []
    for number in range(count):
        drawn = random.Random(f"0 {number} d")
        pain, days, town = drawn.choice(PAINS), drawn.randint(2, 30), drawn.choice(TOWNS)
        turns = ["Doctor: What brings you in today?", f"Patient: It is {pain}, doctor."]
        for _ in range(drawn.randint(1, 8)):
            turns += ['Doctor: Any fever, "chills", or cough?', "Patient: No, none of these."]
        turns += ["Doctor: Since when?", f"Patient: For {days} days, since my trip to {town}."]
        note = f"The patient has pain of {pain} for {days} days. It began on a trip to {town}."
        rows.append({"ID": number, "dialogue": "\r\n".join(turns), "section_text": note})
    return rows


def write_jsonl(path: Path, rows: list[dict]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_csv(path: Path, rows: list[dict]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path
