"""The settings of a run as the page and the card show them: the keys of params.yaml."""

import math
from collections.abc import Mapping
from typing import Any

from brido.settings.params import Params
from brido.vote.settings import ScoringSettings

# The keys of a section that tell one experiment from another; of scoring all do.
_TRAINING = (
    *("margin_kind", "margin", "gamma", "length_penalty", "reduction"),
    *("learning_rate", "schedule", "epochs", "batch_size", "seed"),
)
# The same of each source of candidates, as far as it has them.
_SOURCE = ("method", "model", "num_candidates", "num_beam_groups", "diversity_penalty",
           "temperature")  # fmt: skip


def run_order(scoring: ScoringSettings) -> str:
    """What the run's order of candidates (data/scores) is, in a few words."""
    if scoring.shuffle:
        return "the same scores, shuffled within each document"
    weights = scoring.shares
    signals = "".join(f", {name} {weights[name]:g}" for name in weights if name != "vote")
    alpha = "∞" if math.isinf(scoring.alpha) else f"{scoring.alpha:g}"
    return f"the run's vote (α = {alpha}{signals})"


def settings_text(params: Params) -> list[tuple[str, str]]:
    """(key, value) pairs of the settings that tell one experiment from another."""
    data = params.data.hub.id if params.data.source == "hub" else params.data.source
    tree: dict[str, Any] = {"data": data, "checkpoints.base": params.checkpoints["base"].source}
    for name, source in params.generation.items():
        made = {key: getattr(source, key, None) for key in _SOURCE}
        tree[f"generation.{name}"] = {key: own for key, own in made.items() if own is not None}
    tree["pairwise.combination"] = params.pairwise.combination
    tree["scoring"] = dict(params.scoring)
    tree["training"] = {key: getattr(params.training, key) for key in _TRAINING}
    for name, system in params.tuned.items():
        # Sections scoring and training of a system change nothing where they are empty.
        own = {key: value for key, value in system.model_dump(exclude_unset=True).items() if value}
        tree[f"tuned.{name}"] = own or "no changes"
    for name, variant in params.variants.items():
        tree[f"variants.{name}"] = variant.model_dump(exclude_unset=True) or "no changes"
    return _leaves(tree)


def _leaves(tree: Mapping[str, Any], above: str = "") -> list[tuple[str, str]]:
    """The values of nested sections, each with its dotted key; `{}` is a section's defaults."""
    rows = []
    for key, value in tree.items():
        inside = isinstance(value, dict) and value
        rows += _leaves(value, f"{above}{key}.") if inside else [(above + key, _text(value))]
    return rows


def _text(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)
