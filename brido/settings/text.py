"""The text of every setting, read from its field's description: comments, docs and help."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from brido.settings.params import Params
from brido.utils.sections import Section, forms

# Keys that a params file lacks where they have their defaults: few change them. One experiment adds
# one by `dvc exp run -S '+KEY=VALUE'`. A key that dvc.yaml names is never among them: DVC needs it.
SELDOM = frozenset(
    f"{section}.{key}"
    for section, keys in {
        "data": "max_bad_fraction max_evaluated",
        "data.files": "rename",
        "data.world": "counties_from_towns formulaic_extras bare_references",
        "checkpoints.*.embedded": "encoder_layers attention_heads batch_size label_smoothing "
        "num_beams dropout length_penalty tokenizer ffn_dim decoder_layers",
        "reading.*": "template system decoder_prefix prompt",
        "generation.*": "keep_every min_length no_repeat_ngram_size early_stopping guidance "
        "length_penalty",
        "pool": "eligible minimum clean too_few",
        "pairwise": "implementation use_stemmer tokenizer",
        "support": "checker case_sensitive",
        "likelihood": "seed",
        "training": "weight_decay margin_kind reduction gold_weight gold_margin lora optimizer "
        "max_gradient_norm label_smoothing cross_entropy keep schedule warmup_steps",
        "decoding": "min_length early_stopping",
        "evaluation.rouge": "use_stemmer tokenizer",
        "evaluation.mentions": "case_sensitive facts",
        "choice": "rouge_loss length_change standard_errors",
        "report": "bootstrap_samples length_warning page_documents",
        "runtime": "device engine checkpoint_minutes candidate_micro_batch fsdp log_seconds "
        "trackers shard_documents gradient_checkpointing",
    }.items()
    for key in keys.split()
)
# Sections whose keys are names of the user's.
_NAMED = ("checkpoints", "generation", "reading", "tuned", "variants")
_SENTENCE = re.compile(r"\.\s+(?=[A-Z])")


class Setting(NamedTuple):
    """A key: its dotted name (`*` for a name of the user's), its default as YAML, its text."""

    key: str
    default: str
    text: str
    # The forms of its section that have it, such as "method sampling"; empty if all of them do.
    form: str = ""


def settings(annotation: Any = Params, prefix: str = "") -> Iterator[Setting]:
    """Yield every key of params.yaml, those of all forms of a section included.

    A key that means something else in another form of its section comes once for each text.
    """
    if get_origin(annotation) is dict and forms(get_args(annotation)[1]):
        yield from settings(get_args(annotation)[1], f"{prefix}*.")
        return
    variants = forms(annotation)
    owners: dict[tuple[str, str | None], list[Any]] = {}
    for section in variants:
        for name, field in section.model_fields.items():
            owners.setdefault((name, field.description), []).append(section)
    for (name, _), sections in owners.items():
        some = len(sections) < len(variants)
        choices = " or ".join(section.choice() for section in sections) if some else ""
        form = f"{sections[0].chooser} {choices}" if some else ""
        yield from _keys(f"{prefix}{name}", sections[0].model_fields[name], form)


def _keys(key: str, field: FieldInfo, form: str) -> Iterator[Setting]:
    """The key of a field, unless it must be a section, and the keys in it."""
    inner = list(settings(field.annotation, f"{key}."))
    if not inner or type(None) in get_args(field.annotation):
        yield Setting(key, _default(field), field.description or "", form)
    yield from inner


def _default(field: FieldInfo) -> str:
    """The default as params.yaml would have it; empty if the key is required."""
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return ""
    if isinstance(value, Section):
        return "a section"
    return yaml_text(value)


def yaml_text(value: Any) -> str:
    """Return a value in one line, with null, true and false as YAML writes them."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(yaml_text, value))}]"
    return str(value)


def comments(raw: Mapping[str, Any], annotation: Any = Params, prefix: str = "") -> dict[str, str]:
    """Return the comment of every key of a params file: the first sentence of its text."""
    found: dict[str, str] = {}
    is_dict = get_origin(annotation) is dict
    section = None if is_dict else _chosen(annotation, raw)
    for name, value in raw.items():
        if is_dict:
            inside = get_args(annotation)[1]
        elif section and name in section.model_fields:
            field = section.model_fields[name]
            inside = field.annotation
            if field.description:
                found[f"{prefix}{name}"] = first_sentence(field.description)
        else:
            continue
        if isinstance(value, Mapping) and (forms(inside) or get_origin(inside) is dict):
            found |= comments(value, inside, f"{prefix}{name}.")
    return found


def _chosen(annotation: Any, raw: Mapping[str, Any]) -> type[Section] | None:
    """The form of a section that the values in it choose."""
    variants = forms(annotation)
    for form in variants:
        if len(variants) > 1 and raw.get(form.chooser) in (form.choice(), None):
            return form
    return variants[-1] if variants else None


def that_matter(params: Params) -> dict[str, Any]:
    """Return the settings as a params file holds them, without the sections that cannot matter.

    These are metrics that are not measured, servers that are not asked, and Ray's if there is none.
    """
    raw: dict[str, Any] = params.model_dump(mode="json")
    measured = params.evaluation.metrics
    raw["evaluation"] = {
        key: value
        for key, value in raw["evaluation"].items()
        if key == "metrics" or key in measured
    }
    # What these set is meant, and what they leave out is another section's.
    for section, how in (("tuned", {"exclude_unset": True}), ("variants", {"exclude_none": True})):
        systems = getattr(params, section).items()
        raw[section] = {name: system.model_dump(mode="json", **how) for name, system in systems}
    asks = any(source.method == "endpoint" for source in params.generation.values())
    asks = asks or any(one.endpoint for one in params.variants.values())
    idle = [] if asks else ["endpoints"]
    idle += [] if asks or "geval" in measured else ["endpoint"]
    idle += [] if params.runtime.engine == "ray" else ["ray"]
    raw["runtime"] = {key: value for key, value in raw["runtime"].items() if key not in idle}
    defaults = {one.key: one.default for one in settings() if one.key in SELDOM}
    return _without_seldom(raw, defaults)


def _without_seldom(raw: dict[str, Any], defaults: Mapping[str, str]) -> dict[str, Any]:
    """The settings without the keys of `defaults` that have these values."""

    def kept(section: Mapping[str, Any], prefix: str, named: bool = False) -> dict[str, Any]:
        found = {}
        for name, value in section.items():
            key = f"{prefix}*" if named else f"{prefix}{name}"
            if isinstance(value, dict) and key not in defaults:
                found[name] = kept(value, f"{key}.", key in _NAMED)
            elif key not in defaults or yaml_text(value) != defaults[key]:
                found[name] = value
        return found

    return kept(raw, "")


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, without its full stop."""
    first = _SENTENCE.split(text, maxsplit=1)[0]
    return first if first.endswith("...") else first.removesuffix(".")
