"""Metrics of summaries, one module or package each, behind one small protocol.

A metric is a function

    evaluate(inputs, settings, work, progress, runtime=None) -> Evaluation

* `inputs`: `Inputs`, the documents of the test split and one system's summaries, aligned.
* `settings`: the metric's own section, `params.evaluation.METRIC` (see brido/settings.py).
* `work`: a folder for unfinished work, made for it, whose name is a fingerprint of settings and
  inputs: whatever the metric finds there is its own and still valid. Cheap metrics ignore it.
* `progress(label, total, unit)`: makes a `brido.progress.Progress`, a context manager with
  `advance(count)`; cheap metrics ignore it.
* `runtime`: `params.runtime` (device, batch sizes, limits), which never changes a number.

It returns an `Evaluation`: one row per document, in the order of the inputs, with one number per
submetric (None where it was not measured: it becomes a null and counts in no mean), a JSON-able
`detail` per document for the explorer, and the signature that is printed beside the numbers. The
metric's mean over the documents that have a number is what the report shows. A metric raises
BridoError for what a user can cause, and never returns fewer rows than it was given.

Scales: ROUGE and what the paper prints times 100 (`is_answered`, `f1`, `em`) run from 0 to 100;
shares (`precision`, `unsupported`, `coverage`, `novel_ngrams`) from 0 to 1; marks and LERC
as their makers define them; lengths in words.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from brido.errors import BridoError
from brido.text import Splitter

# The function is named, not imported: a metric loads torch, spaCy or a client only when it runs.
METRICS: dict[str, str] = {
    "rouge": "brido.evaluation.rouge:evaluate",
    "mentions": "brido.evaluation.mentions:evaluate",
    "extractiveness": "brido.evaluation.extractiveness:evaluate",
    "world_qa": "brido.evaluation.world_qa:evaluate",
    "world_judge": "brido.evaluation.world_judge:evaluate",
    "qafacteval": "brido.evaluation.qafacteval:evaluate",
    "geval": "brido.evaluation.geval:evaluate",
}

# What each metric measures, in the order in which tables show it.
SUBMETRICS: dict[str, tuple[str, ...]] = {
    "rouge": ("r1", "r2", "rl", "rlsum"),
    "mentions": ("precision", "unsupported"),
    "extractiveness": ("coverage", "density", "novel_ngrams", "compression", "length"),
    "world_qa": ("is_answered", "f1", "em"),
    "world_judge": ("coherence", "consistency", "fluency", "relevance", "average"),
    "qafacteval": ("lerc", "f1", "em", "is_answered", "n_questions", "without_questions"),
    "geval": (
        "coherence",
        "consistency",
        "fluency",
        "relevance",
        "average",
        "average_normalised",
        "valid_answers",
    ),
}


@dataclass(frozen=True)
class Inputs:
    """What a metric sees: the documents of one split and one system's summaries, aligned.

    `references[i]` holds every reference of document i (at least one). `facts[i]` holds the facts
    of document i as the corpus table has them (a list of dicts with the keys slot, type, value and
    in_document), or `facts` is None where the corpus knows none (every corpus but the world).
    `sentence_splitter` is params.text's.
    """

    ids: Sequence[str]
    documents: Sequence[str]
    summaries: Sequence[str]
    references: Sequence[Sequence[str]]
    facts: Sequence[Sequence[dict[str, Any]]] | None = None
    sentence_splitter: Splitter = "abbreviations"

    def require_facts(self, metric: str) -> Sequence[Sequence[dict[str, Any]]]:
        """The facts; a BridoError where the corpus has none."""
        if self.facts is None:
            raise BridoError(
                f"evaluation.metrics: {metric} needs the facts of the embedded world, and this "
                "corpus has no column `facts`: leave it out, or use qafacteval and geval"
            )
        return self.facts


@dataclass(frozen=True)
class Evaluation:
    """One metric's answer: per document a row of numbers and a detail, and one signature.

    Every row has the same keys (the submetrics); `signature` names implementation, version and
    settings, everything needed to get the same numbers again.
    """

    rows: list[dict[str, float | None]]
    details: list[Any]
    signature: dict[str, Any]


Metric = Callable[..., Evaluation]


def load_metric(name: str) -> Metric:
    """The function behind a metric's name; a BridoError for a name that is none."""
    if name not in METRICS:
        known = ", ".join(METRICS)
        raise BridoError(f"evaluation.metrics: there is no metric {name!r}; there are {known}")
    module, function = METRICS[name].split(":")
    return getattr(import_module(module), function)
