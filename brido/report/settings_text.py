"""The settings of a run as a reader of the page wants them: the paper's words and symbols."""

import math

from brido.settings import Params


def alpha_text(alpha: float) -> str:
    """Alpha as people write it."""
    return "∞" if math.isinf(alpha) else f"{alpha:g}"


def settings_text(params: Params) -> list[tuple[str, str]]:
    """(name, value) pairs of the settings that tell one experiment from another."""
    generation, training = params.generation, params.training
    groups = ""
    if generation.method == "diverse_beam":
        groups = f", {generation.num_beam_groups} groups, η = {generation.diversity_penalty:g}"
    names = {"world": "embedded world", "files": "own files"}
    source = params.data.hub.id if params.data.source == "hub" else names[params.data.source]
    return [
        ("data", source),
        ("base model", params.checkpoints["base"].source),
        ("candidates", f"N = {generation.num_candidates}, {generation.method}{groups}"),
        ("similarity", f"{params.pairwise.combination}, {params.pairwise.value}"),
        ("weight of the reference", f"α = {alpha_text(params.scoring.alpha)}"),
        ("contrastive weight", f"γ = {training.gamma:g}"),
        ("margin", f"{training.margin_kind}, λ = {training.margin:g}"),
        ("length exponent", f"β = {training.length_penalty:g}"),
        ("reduction", training.reduction),
        ("learning rate", f"{training.learning_rate:g}, {training.schedule}"),
        ("epochs, batch", f"{training.epochs}, {training.batch_size}"),
        ("seed", str(training.seed)),
    ]
