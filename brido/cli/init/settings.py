"""The keys of params.yaml that data, model and machine decide; all others are the preset's."""

import math
from typing import Any

from brido.cli.init.data import MOST_BAD, Data
from brido.cli.init.model import Limits, Model
from brido.cli.init.plan import VALIDATED, Plan
from brido.corpus.settings import FilesSettings
from brido.settings.presets import merge, read_preset, render
from brido.settings.text import comments
from brido.utils.errors import BridoError
from brido.utils.paths import user_path
from brido.utils.text import seeing_tokenizer

# Of fewer updates in the preset's batches the batches are smaller.
_UPDATES = 25


def check_settings(named: str) -> dict[str, Any]:
    """The keys of params.yaml that make a check decide: mentions, minicheck or a model's folder.

    Raises:
        BridoError: there is no such check.
    """
    if named == "mentions":
        return {}
    own = {"model": str(user_path(named).absolute())} if named != "minicheck" else {}
    if own and not user_path(named).is_dir():
        raise BridoError(
            f"--check: {named} is neither mentions nor minicheck nor the folder of such a model"
        )
    return {"evaluation": {"minicheck": own}, "choice": {"by": "minicheck.good"}}


def params_text(
    data: Data, model: Model, limits: Limits, plan: Plan, changes: dict[str, Any],
    rival: tuple[str, str] | None = None,
) -> str:  # fmt: skip
    """Return the params.yaml: the preset of this kind of model with the computed keys.

    changes: keys of the check that decides, and those with which memory is enough. rival: the
    address of a server, and its model that writes summaries too.
    """
    preset = read_preset(model.preset)
    settings = merge(merge(preset, computed(preset, data, model, limits, plan)), changes)
    if "untuned" not in plan.variants:
        settings["checkpoints"].pop("pretrained", None)
    if rival:
        address, name = rival
        asked = {"endpoint": "chat", "model": name, "prompt": prompt_of(data, limits)}
        settings["variants"] |= {"chat": {"checkpoint": "none", "endpoint": asked}}
        settings["runtime"] |= {"endpoints": {"chat": {"base_url": address}}}
    settings["evaluation"]["metrics"] += changes.get("evaluation", {})
    counts = ", ".join(f"{split} {count:,}" for split, count in data.documents.items())
    heading = (
        f"Documents of your own ({counts}), summarized by\n{model.source}.\n"
        f"From presets/{model.preset}.yaml by brido init.\n"
        "`dvc repro` makes every system and ends in the verdict."
    )
    return render(settings, comments(settings), heading)


def computed(
    preset: dict[str, Any], data: Data, model: Model, limits: Limits, plan: Plan
) -> dict[str, Any]:
    """Return the settings that are laid over the preset: lengths, counts, limits and files."""
    most = limits.summary_tokens
    beams = preset["generation"]["base"]["method"] == "diverse_beam"
    updates = -(-plan.train // preset["training"]["batch_size"])
    # A model from scratch learns from all of train, so a large corpus is cut itself.
    cut = model.form == "embedded" and plan.references < data.documents["train"]
    changes: dict[str, Any] = {
        "data": {
            "source": "files",
            "files": FilesSettings(**data.files).model_dump(mode="json"),
            "lowercase": False,
            "max_documents": plan.references if cut else None,
            "max_evaluated": plan.evaluated,
            # Of a small split one bad row is a large share.
            "max_bad_fraction": max(MOST_BAD, math.ceil(100 * data.bad_share) / 100),
        },
        "checkpoints": {
            name: _base(of_preset, data, model, limits, plan)
            for name, of_preset in preset["checkpoints"].items()
        },
        "reading": {"default": reading_of(model, data, limits)},
        "documents": {"train": plan.train, "validation": plan.looked_at},
        "generation": {
            "base": {"num_candidates": plan.candidates, "max_length": most}
            # One beam a group: voters that do not share a guess.
            | (dict.fromkeys(("num_beams", "num_beam_groups"), plan.candidates) if beams else {})
        },
        "pairwise": {
            "combination": "mean_r1_r2_rlsum" if limits.sentences >= 1.5 else "harmonic_r1_r2"
        },
        # By a sum of log p the shortest of unlike lengths wins; only the world's are all alike.
        "scoring": {"length_penalty": 1.0},
        "training": {
            "max_candidate_tokens": most,
            "validation": {"every": max(1, updates), "documents": min(VALIDATED, plan.looked_at)},
        },
        "decoding": {"max_length": most},
        "tuned": {name: preset["tuned"][name] for name in plan.tuned},
        "variants": {name: preset["variants"][name] for name in plan.variants},
        # The world's metrics have no meaning here.
        "evaluation": {"metrics": ["rouge", "mentions", "extractiveness"]},
    }
    if (tokenizer := seeing_tokenizer(data.texts)) == "unicode":
        changes["pairwise"]["tokenizer"] = tokenizer
        changes["evaluation"]["rouge"] = {"tokenizer": tokenizer}
    if not data.summaries:
        changes["systems"] = ["base"]
        changes["training"]["cross_entropy"] = "elected"
    return changes


def _base(
    preset: dict[str, Any], data: Data, model: Model, limits: Limits, plan: Plan
) -> dict[str, Any]:
    """`checkpoints.base`, or base before it learns, in the form that the preset has."""
    if model.form == "embedded":
        read, written = limits.source_tokens, limits.summary_tokens
        lengths = {"max_source_tokens": read, "max_summary_tokens": written}
        return {**preset, "embedded": preset["embedded"] | lengths}
    base = {**preset, "source": model.source}
    if (learning := preset["fine_tuning"]) is not None:
        # Few references are still some updates: 16 of 64 taught SmolLM2 to end its texts.
        enough = plan.references * plan.epochs >= _UPDATES * learning["batch_size"]
        learned = {
            "batch_size": learning["batch_size"] if enough else 4,
            "world": None,
            "documents": None if plan.references >= data.documents["train"] else plan.references,
            "epochs": plan.epochs,
            "max_summary_tokens": limits.summary_tokens,
        }
        base["fine_tuning"] = learning | learned if plan.references else None
    return base


def reading_of(model: Model, data: Data, limits: Limits) -> dict[str, Any]:
    """Return `reading.default`: how much of a document is read, and what is asked for."""
    reading: dict[str, Any] = {"max_source_tokens": limits.source_tokens}
    if model.form != "decoder_only":
        return reading
    template = model.tokenizer.chat_template
    # Models that think first are told not to.
    reading["template"] = {"enable_thinking": False} if "enable_thinking" in str(template) else {}
    return reading | {"prompt": prompt_of(data, limits) if template else "{{ document }}\n\nTL;DR:"}


def prompt_of(data: Data, limits: Limits) -> str:
    """What a chat model is asked."""
    long = " in one or two sentences" if not data.summaries else ""
    if data.summaries and limits.words:
        long = f" in about {limits.words} words"
    return f"Summarize this text{long}. Write nothing but the summary.\n\n{{{{ document }}}}"
