"""What `brido summarize` says of documents that are longer than the model reads."""

import math
from collections import Counter
from pathlib import Path

from brido.candidates.documents import cut_sentence
from brido.summarizer.model import most_source_tokens

# What a document of which nothing is read counts as.
_LEAST_READ = 0.001


def count_cut(counts: Counter[str], share: float, limit: int) -> None:
    """Count a document of which the share was not read; `limit`: the tokens that are read."""
    counts.update(cut=share > 0, unread_thousandths=round(1000 * share))
    tokens = math.ceil(limit / max(1 - share, _LEAST_READ))
    counts["longest"] = max(counts["longest"], tokens)


def cut_advice(counts: Counter[str], limit: int, folder: Path, written: int) -> str:
    """How many documents were cut, how much of all was read, and what reads more of them.

    limit: the tokens that are read; written: those of a summary, at most; folder: the model's.
    """
    said = cut_sentence(counts["cut"], counts["unread_thousandths"], counts["summaries"], limit)
    needed, most = counts["longest"], most_source_tokens(folder, written)
    if most is None or needed <= most:
        able = f" (the model can read {most:,})" if most else ""
        way = f"--max-source-tokens {needed} reads all of each{able}, with more memory and time"
    elif most > limit:
        way = f"--max-source-tokens {most} is the most that the model can read"
    else:
        return f"{said}. The model can read no more: shorten the documents"
    return f"{said}. {way}. A run learns to read as much with reading.default.max_source_tokens"
