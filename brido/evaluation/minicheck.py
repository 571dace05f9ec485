"""MiniCheck as a metric: does the source support the sentences of a summary?"""

from functools import lru_cache
from typing import Any

from brido.checkers.settings import DOUBT, MiniCheckModel
from brido.checkers.wholeness import is_whole
from brido.evaluation import Evaluation, Inputs, Metric, Support, share
from brido.text.words import SPLITTER
from brido.utils.progress import MakeProgress
from brido.work.settings import RuntimeSettings


def evaluate(
    inputs: Inputs, settings: MiniCheckModel, progress: MakeProgress, runtime: RuntimeSettings
) -> Evaluation:
    """mean and worst probability of a summary's sentences (None without any), whole and good.

    good: 1 for a whole text without a sentence in doubt, else 0. The detail has the sentences.

    Raises:
        BridoError: the model cannot be loaded, or memory does not suffice.
    """
    checker = _load(settings, runtime.device, runtime.precision, runtime.batch_tokens)
    found = checker.sentences(inputs.documents, inputs.summaries, progress)
    details: list[Any] = [{"sentences": [list(one) for one in sentences]} for sentences in found]
    signature = {
        "implementation": "MiniCheck as released, ported: best chunk, sentence by sentence",
        "model": checker.name,
        "sentence_splitter": SPLITTER,
    }
    rows: list[dict[str, float | None]] = []
    for place, sentences in enumerate(found):
        values = [sentence.probability for sentence in sentences]
        mean, worst = (sum(values) / len(values), min(values)) if values else (None, None)
        whole = is_whole(
            inputs.summaries[place],
            next(iter(inputs.references[place]), None),
            None if inputs.facts is None else list(inputs.facts[place]),
            inputs.documents[place],
        )
        good = whole and worst is not None and worst >= DOUBT
        rows.append({"mean": mean, "worst": worst, "whole": float(whole), "good": float(good)})
    return Evaluation(rows, details, signature)


@lru_cache(maxsize=1)
def _load(settings: MiniCheckModel, device: str, precision: str, batch_tokens: int) -> Any:
    """The model, loaded once for all parts of a system."""
    from brido.checkers.minicheck import MiniCheck
    from brido.work.folder import answers_file

    how = (device, precision, batch_tokens, answers_file("minicheck"), "evaluation.minicheck")
    return MiniCheck.load(settings.model, settings.revision, *how)


METRIC = Metric(
    name="minicheck",
    label="MiniCheck",
    columns=(
        share("mean", "mean sentence", headline=True),
        share("worst", "worst sentence", headline=True),
        share("whole"),
        share("good", headline=True),
    ),
    evaluate=evaluate,
    settings=MiniCheckModel,
    computed_on="device",
    support=Support("worst", threshold=DOUBT, whole="whole"),
)
