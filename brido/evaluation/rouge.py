"""ROUGE of summaries against their references, by the rouge_score package (Lin 2004)."""

from importlib.metadata import version
from typing import Any, Literal
from unicodedata import unidata_version

from pydantic import Field

from brido.evaluation import Evaluation, Inputs, Metric, by_document, points
from brido.text.words import (
    SPLITTER,
    SPLITTER_OF_SCRIPTS,
    UnicodeTokenizer,
    one_sentence_a_line,
)
from brido.utils.progress import MakeProgress
from brido.utils.sections import Section

MEASURES = {"r1": "rouge1", "r2": "rouge2", "rl": "rougeL", "rlsum": "rougeLsum"}


class RougeSettings(Section):
    """`evaluation.rouge`."""

    use_stemmer: bool = Field(True, description='Whether "reports" matches "reported".')
    tokenizer: Literal["rouge_score", "unicode"] = Field(
        "rouge_score",
        description="rouge_score (words of a-z and 0-9) | unicode (words of any script).",
    )


def evaluate(inputs: Inputs, settings: RougeSettings, progress: MakeProgress) -> Evaluation:
    """F-measures times 100 (r1, r2, rl, rlsum) of every summary.

    rlsum alone sees sentences, one a line. With several references each measure takes the one that
    scores best, as rouge_score does; without any, nothing is measured.
    """
    from rouge_score import rouge_scorer

    any_script = settings.tokenizer == "unicode"
    scorer = rouge_scorer.RougeScorer(
        list(MEASURES.values()),
        use_stemmer=settings.use_stemmer,
        tokenizer=UnicodeTokenizer(settings.use_stemmer) if any_script else None,
    )

    def measure(index: int) -> tuple[dict[str, float | None], Any]:
        references = [one_sentence_a_line(text, any_script) for text in inputs.references[index]]
        if not references:
            return dict.fromkeys(MEASURES), {}
        summary = one_sentence_a_line(inputs.summaries[index], any_script)
        scores = scorer.score_multi(references, summary)
        return {name: 100 * scores[key].fmeasure for name, key in MEASURES.items()}, {}

    signature = {
        "implementation": "rouge_score",
        "version": version("rouge_score"),
        "use_stemmer": settings.use_stemmer,
        "tokenizer": f"unicode {unidata_version}, regex {version('regex')}"
        if any_script
        else "rouge_score",
        "sentence_splitter": SPLITTER_OF_SCRIPTS if any_script else SPLITTER,
        "value": "fmeasure x 100, best of the references",
    }
    return by_document("rouge", inputs, progress, measure, signature)


METRIC = Metric(
    name="rouge",
    label="ROUGE",
    columns=(
        points("r1", "R-1", headline=True),
        points("r2", "R-2", headline=True),
        points("rl", "R-L"),
        points("rlsum", "R-Lsum", headline=True),
    ),
    evaluate=evaluate,
    settings=RougeSettings,
    against_references=True,
    chooses=True,
)
