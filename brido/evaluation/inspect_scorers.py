"""Three of the metrics as scorers of inspect_ai, which finds them by the entry point `inspect_ai`.

    inspect score logs/RUN.eval --scorer brido/mentions

A model's output is the summary. Its source is the sample's metadata `document` (`-S document=KEY`
names another key) or, if the sample has none, its input.
"""

from collections.abc import Mapping
from typing import Any

from brido.evaluation.extractiveness import METRIC as EXTRACTIVENESS
from brido.evaluation.mentions import METRIC as MENTIONS
from brido.evaluation.metric import Inputs, Metric
from brido.evaluation.qafacteval.declaration import METRIC as QAFACTEVAL
from brido.utils.extras import extra
from brido.work.settings import RuntimeSettings

with extra():
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import TaskState

# A number that was not measured is NaN, which inspect_ai counts as unscored.
_MEANS: Mapping[str, Any] = {"*": [mean(), stderr()]}


@scorer(metrics=_MEANS)
def mentions(document: str = "document", case_sensitive: bool = True) -> Scorer:
    """Supported mentions of the summary, and whether at least one is not in the source."""
    return _scorer(MENTIONS, document, case_sensitive=case_sensitive)


@scorer(metrics=_MEANS)
def extractiveness(document: str = "document", novel_ngrams: int = 2) -> Scorer:
    """How much the summary copies from its source, and how long it is."""
    return _scorer(EXTRACTIVENESS, document, novel_ngrams=novel_ngrams)


@scorer(metrics=_MEANS)
def qafacteval(
    document: str = "document",
    models: str = "hub",
    spacy_model: str = "en_core_web_sm",
    device: str = "auto",
) -> Scorer:
    """The neural QAFactEval; its models are loaded once a process."""
    runtime = RuntimeSettings(device=device)
    return _scorer(QAFACTEVAL, document, runtime, models=models, spacy_model=spacy_model)


def _scorer(
    metric: Metric, key: str, runtime: RuntimeSettings | None = None, **settings: Any
) -> Scorer:
    section = metric.settings(**settings)

    async def score(state: TaskState, target: Target) -> Score:
        source = (state.metadata or {}).get(key, state.input_text)
        summary = state.output.completion
        inputs = Inputs([str(state.sample_id)], [source], [summary], [[target.text]])
        found = metric.measure(inputs, section, runtime=runtime)
        (row,) = found.rows
        value = {name: float("nan") if one is None else one for name, one in row.items()}
        return Score(value=value, answer=summary, metadata={"detail": found.details[0]})

    return score
