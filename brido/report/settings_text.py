"""The settings of a run as a reader of the page wants them: the paper's words and symbols."""

import math

from brido.settings.params import Params
from brido.vote.settings import ScoringSettings


def alpha_text(alpha: float) -> str:
    """Alpha as text, infinity as its sign."""
    return "∞" if math.isinf(alpha) else f"{alpha:g}"


def run_order(scoring: ScoringSettings) -> str:
    """What the run's order of candidates (data/scores) is, in a few words."""
    if scoring.shuffle:
        return "the same scores, shuffled within each document"
    weights = {"support": scoring.support, "information": scoring.information}
    signals = "".join(f", {name} {weight:g}" for name, weight in weights.items() if weight)
    return f"the run's vote (α = {alpha_text(scoring.alpha)}{signals})"


def settings_text(params: Params) -> list[tuple[str, str]]:
    """(name, value) pairs of the settings that tell one experiment from another."""
    training = params.training
    names = {"world": "embedded world", "files": "own files"}
    source = params.data.hub.id if params.data.source == "hub" else names[params.data.source]
    return [
        ("data", source),
        ("base model", params.checkpoints["base"].source),
        ("candidates", f"N = {params.num_candidates}, {_sources(params)}"),
        ("similarity", params.pairwise.combination),
        *_score(params.scoring),
        ("weight of the reference", f"α = {alpha_text(params.scoring.alpha)}"),
        ("contrastive weight", f"γ = {training.gamma:g}"),
        ("margin", f"{training.margin_kind}, λ = {training.margin:g}"),
        ("length exponent", f"β = {training.length_penalty:g}"),
        ("reduction", training.reduction),
        ("learning rate", f"{training.learning_rate:g}, {training.schedule}"),
        ("epochs, batch", f"{training.epochs}, {training.batch_size}"),
        ("seed", str(training.seed)),
    ]


def _score(scoring: ScoringSettings) -> list[tuple[str, str]]:
    """What the score is made of beside Eq. 2, where there is something."""
    rows = []
    if scoring.support:
        rows.append(("weight of the support check", f"{scoring.support:g}"))
    if scoring.information:
        value = f"{scoring.information:g}, less {scoring.prior:g} of the prior"
        rows.append(("weight of information", value))
    if scoring.shuffle:
        rows.append(("scores", "shuffled within each document (the control)"))
    return rows


def _sources(params: Params) -> str:
    """How the candidates of each source are made; a single source needs no name."""
    texts = []
    for name, source in params.generation.items():
        text: str = source.method
        if source.method == "diverse_beam":
            text += f", {source.num_beam_groups} groups, η = {source.diversity_penalty:g}"
        if len(params.generation) > 1:
            text = f"{source.num_candidates} of {name} ({text})"
        texts.append(text)
    return ", ".join(texts)
