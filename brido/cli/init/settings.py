"""The keys of params.yaml that data, model and machine decide; all others are the preset's."""

import math
from typing import Any

from brido.cli.init.data import MOST_BAD
from brido.cli.init.found import Found
from brido.cli.init.plan import VALIDATED, Plan
from brido.corpus.settings import FilesSettings
from brido.settings.presets import merge, render
from brido.settings.text import comments
from brido.text.words import seeing_tokenizer

# Of fewer updates in the preset's batches the batches are smaller.
_UPDATES = 25


def params_text(
    found: Found, plan: Plan, changes: dict[str, Any], rival: tuple[str, str] | None = None
) -> str:
    """Return the params.yaml: the preset of this kind of model with the computed keys.

    changes: keys of the check that decides, and those with which memory is enough. rival: the
    address of a server, and its model that writes summaries too.
    """
    settings = merge(merge(found.recipe, computed(found, plan)), changes)
    if "untuned" not in plan.variants:
        settings["checkpoints"].pop("pretrained", None)
    if rival:
        address, name = rival
        asked = {"endpoint": "chat", "model": name, "prompt": prompt_of(found)}
        settings["variants"] |= {"chat": {"checkpoint": "none", "endpoint": asked}}
        settings["runtime"] |= {"endpoints": {"chat": {"base_url": address}}}
    settings["evaluation"]["metrics"] += changes.get("evaluation", {})
    counts = ", ".join(f"{split} {count:,}" for split, count in found.data.documents.items())
    heading = (
        f"Documents of your own ({counts}), summarized by\n{found.model.source}.\n"
        f"From presets/{found.model.preset}.yaml by brido init.\n"
        "`dvc repro` makes every system and ends in the verdict."
    )
    return render(settings, comments(settings), heading)


def computed(found: Found, plan: Plan) -> dict[str, Any]:
    """Return the settings that are laid over the preset: lengths, counts, limits and files."""
    preset, data, most = found.recipe, found.data, found.summary_tokens
    beams = preset["generation"]["base"]["method"] == "diverse_beam"
    updates = -(-plan.train // preset["training"]["batch_size"])
    changes: dict[str, Any] = {
        "data": {
            "source": "files",
            "files": FilesSettings(**data.files).model_dump(mode="json"),
            "lowercase": False,
            "max_documents": None,
            "max_evaluated": plan.evaluated,
            # Of a small split one bad row is a large share.
            "max_bad_fraction": max(MOST_BAD, math.ceil(100 * data.bad_share) / 100),
        },
        "checkpoints": {
            name: _base(of_preset, found, plan) for name, of_preset in preset["checkpoints"].items()
        },
        "reading": {"default": reading_of(found)},
        "documents": {"train": plan.train, "validation": plan.looked_at},
        "generation": {
            "base": {"num_candidates": plan.candidates, "max_length": most}
            # One beam a group: voters that do not share a guess.
            | (dict.fromkeys(("num_beams", "num_beam_groups"), plan.candidates) if beams else {})
        },
        "pairwise": {
            "combination": "mean_r1_r2_rlsum" if found.sentences >= 1.5 else "harmonic_r1_r2"
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


def _base(preset: dict[str, Any], found: Found, plan: Plan) -> dict[str, Any]:
    """`checkpoints.base`, or base before it learns, in the form that the preset has."""
    base = {**preset, "source": found.model.source}
    if (learning := preset["fine_tuning"]) is not None:
        # Few references are still some updates: 16 of 64 taught SmolLM2 to end its texts.
        enough = plan.references * plan.epochs >= _UPDATES * learning["batch_size"]
        train = found.data.documents["train"]
        learned = {
            "batch_size": learning["batch_size"] if enough else 4,
            "world": None,
            "documents": None if plan.references >= train else plan.references,
            "epochs": plan.epochs,
            "max_summary_tokens": found.summary_tokens,
        }
        base["fine_tuning"] = learning | learned if plan.references else None
    return base


def reading_of(found: Found) -> dict[str, Any]:
    """Return `reading.default`: how much of a document is read, and what is asked for."""
    reading: dict[str, Any] = {"max_source_tokens": found.source_tokens}
    if found.model.encoder:
        return reading
    template = found.model.tokenizer.chat_template
    # Models that think first are told not to.
    reading["template"] = {"enable_thinking": False} if "enable_thinking" in str(template) else {}
    return reading | {"prompt": prompt_of(found) if template else "{{ document }}\n\nTL;DR:"}


def prompt_of(found: Found) -> str:
    """What a chat model is asked."""
    long = " in one or two sentences" if not found.data.summaries else ""
    if found.data.summaries and found.words:
        long = f" in about {found.words} words"
    return f"Summarize this text{long}. Write nothing but the summary.\n\n{{{{ document }}}}"
