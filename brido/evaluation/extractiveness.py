"""How much a summary copies (Grusky, Naaman and Artzi 2018), and how long it is.

It stands beside every faithfulness metric because copying and brevity raise most of them.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from brido.evaluation import Column, Evaluation, Inputs, Metric, by_document, share
from brido.text.words import word_count, words
from brido.utils.progress import MakeProgress
from brido.utils.sections import Section

# Neither length nor copying has a better direction: they are shown so that a reader can see when
# another metric improved merely because summaries got shorter or more extractive.
COLUMNS = (
    share("coverage", better="neither"),
    Column("density", better="neither"),
    share("novel_ngrams", "novel n-grams", better="neither"),
    Column("compression", better="neither"),
    Column("length", "words", better="neither", digits=1, headline=True),
)


def fragment_lengths(document: Sequence[str], summary: Sequence[str]) -> list[int]:
    """Lengths in words of the extractive fragments, in order: Figure 3 of Grusky et al.

    From each position of the summary the longest run of words that also stands somewhere in the
    document is taken, and the search goes on behind it.
    """
    places = defaultdict(list)
    for position, word in enumerate(document):
        places[word].append(position)
    lengths = []
    start = 0
    while start < len(summary):
        best = 0
        for place in places[summary[start]]:
            length = 1
            while (
                start + length < len(summary)
                and place + length < len(document)
                and summary[start + length] == document[place + length]
            ):
                length += 1
            best = max(best, length)
        if best:
            lengths.append(best)
        start += max(best, 1)
    return lengths


def measure(document: str, summary: str) -> dict[str, float | None]:
    """coverage, density, novel_ngrams, compression and length of one summary.

    coverage: share of its words inside fragments. density: mean over its words of the length of
    their fragment. novel_ngrams: share of its distinct pairs of words that the document lacks (None
    where it has none). compression: document words per summary word. length: its words
    (`word_count`). An empty summary has a length only.
    """
    source, target = words(document), words(summary)
    row: dict[str, float | None] = dict.fromkeys(column.name for column in COLUMNS)
    row["length"] = float(word_count(summary))
    if target:
        lengths = fragment_lengths(source, target)
        row["coverage"] = sum(lengths) / len(target)
        row["density"] = sum(part * part for part in lengths) / len(target)
        row["compression"] = len(source) / len(target)
    if pairs := set(pairwise(target)):
        row["novel_ngrams"] = len(pairs - set(pairwise(source))) / len(pairs)
    return row


def evaluate(inputs: Inputs, settings: Section, progress: MakeProgress) -> Evaluation:
    """coverage, density, novel_ngrams, compression and length of every summary (see `measure`)."""
    signature = {
        "implementation": "Grusky, Naaman and Artzi 2018, own code",
        "words": "lower-cased runs of letters, digits and marks; length: words between spaces",
        "novel_ngrams": 2,
    }

    def one(index: int) -> tuple[dict[str, float | None], Any]:
        return measure(inputs.documents[index], inputs.summaries[index]), {}

    return by_document("extractiveness", inputs, progress, one, signature)


METRIC = Metric(
    name="extractiveness",
    label="Extractiveness",
    columns=COLUMNS,
    evaluate=evaluate,
)
