"""The model card of the chosen system, and the weights that it is about."""

import hashlib
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from brido.models.settings import StoredCheckpoint
from brido.report.metrics import Estimates
from brido.report.numbers import Numbers
from brido.report.settings_text import run_order, settings_text
from brido.report.summary import headline_columns, result_table
from brido.settings.params import Params
from brido.training.settings import TrainingSettings
from brido.utils.errors import BridoError
from brido.utils.stored import json_text

_TEMPLATE = "model_card.md.jinja"
# The line of a card that says which weights it is about.
_WEIGHTS = re.compile(r"^Weights: SHA-256 `([0-9a-f]{64})`", re.MULTILINE)
# A repository's name on the hub, as `base_model` of a card wants it.
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


def weights_of(folder: Path) -> str:
    """The SHA-256 of a checkpoint's weights, all files of them in the order of their names.

    Raises:
        BridoError: the folder contains no weights.
    """
    digest = hashlib.sha256()
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise BridoError(f"{folder} contains no weights: make it with `dvc repro choose`")
    for path in files:
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def weights_named(card: str) -> str | None:
    """The weights that a card is about, as `weights_of` names them; None if it names none."""
    found = _WEIGHTS.search(card)
    return found[1] if found else None


def model_card(
    params: Params,
    numbers: Numbers,
    base: Mapping[str, Any],
    corpus: Mapping[str, Any],
    weights: str,
    choice: Mapping[str, Any],
) -> str:
    """Write the card as Markdown with the hub's YAML header.

    base: source.json of the checkpoint that `origin` names; corpus: that of the corpus; weights:
    `weights_of` the chosen folder; choice: the content of choice.json.
    """
    from huggingface_hub import ModelCard, ModelCardData

    system = choice["chosen"]
    model = params.model_of(system)
    checkpoint = params.checkpoints[origin(params, system)]
    source = checkpoint.source
    # A folder of the user's may be called like a repository, and has no commit.
    on_hub = _HUB_ID.fullmatch(source) is not None and "commit" in base
    world = params.data.source == "world"
    header = ModelCardData(
        library_name="transformers",
        pipeline_tag="summarization",
        base_model=source if on_hub else None,
        license=base.get("license"),
        language=base.get("language") or ("en" if world else None),
        tags=["summarization", "brido"],
    )
    pinned = "".join(f", {key} {base[key]}" for key in ("commit", "sha256") if base.get(key))
    guidance, checked = params.guidance_of(system), params.checked_of(system)
    reading = {
        "reading": params.reading_of(system).model_dump(mode="json"),
        "decoding": params.decoding_of(system).model_dump(mode="json", exclude_none=True),
        **({"guidance": guidance.model_dump(mode="json")} if guidance else {}),
        **({"checked": checked.model_dump(mode="json")} if checked else {}),
    }
    trained = model in params.tuned
    scoring = params.scoring_of(model) if trained else params.scoring
    agreement = scoring.shares == {"vote": 1.0} and not scoring.alpha
    hidden = {"data", "checkpoints.base"}  # named above the settings
    settings = [row for row in settings_text(params) if row[0] not in hidden]
    if not trained:  # by no vote and no training: the others' settings did not make it
        settings = [row for row in settings if row[0].startswith(f"variants.{system}.")]
    card = ModelCard.from_template(
        header,
        template_str=resources.files(__package__).joinpath(_TEMPLATE).read_text("utf-8"),
        system=system,
        model=model,
        trained=trained,
        taught=trained and teaches_an_order(params.training_of(model)),
        shuffled=trained and scoring.shuffle,
        order="how much the others agree with it" if agreement else run_order(scoring),
        base=_base_name(source, on_hub) + pinned + _changed_first(checkpoint),
        data=_data(params, corpus),
        weights=weights,
        settings=settings,
        reading=json_text(reading).rstrip(),
        world=world,
        seed=params.training_of(model).seed if trained else 0,
        warnings=numbers.warnings,
        verdict=choice["verdict"],
        verdict_table=choice["table"],
        **_measured(numbers, system),
    )
    return f"{str(card).rstrip()}\n"


def server_card(model: str, choice: Mapping[str, Any]) -> str:
    """The card of a chosen system that a server writes: the verdict; there are no weights."""
    first, *rows = (f"| {' | '.join(row)} |" for row in choice["table"])
    rule = f"|{'---|' * len(choice['table'][0])}"
    verdict = [f"* {line}" for line in choice["verdict"]]
    about = f"The model `{model}` stands behind a server: there are no weights here."
    title = f"# A summarizer behind a server: `{choice['chosen']}`"
    return "\n".join([title, "", first, rule, *rows, "", *verdict, "", about, ""])


def origin(params: Params, system: str) -> str:
    """The checkpoint whose model the system has or was trained from."""
    model = params.model_of(system)
    return "base" if model in params.tuned else model


def _base_name(source: str, on_hub: bool) -> str:
    """The base; of a folder the last part alone, which says nothing of the user's machine."""
    if source == "embedded":
        return "a small model, trained from scratch for this"
    return f"`{source}`" if on_hub else f"`{Path(source).name}`"


def _changed_first(checkpoint: Any) -> str:
    """What was done to the base's weights before any candidate was written."""
    if not isinstance(checkpoint, StoredCheckpoint):
        return ""
    adapter, learnt = checkpoint.adapter, checkpoint.fine_tuning
    parts = [f"with the adapter `{Path(adapter).name}`"] if adapter else []
    if learnt and learnt.world:
        parts.append("fine-tuned on other articles of the embedded world")
    elif learnt:
        count = "the" if learnt.documents is None else f"at most {learnt.documents:,}"
        parts.append(f"fine-tuned on {count} references of the data")
    return "".join(f", {part}" for part in parts)


def teaches_an_order(training: TrainingSettings) -> bool:
    """Whether a training asks for an order of the candidates."""
    return training.gamma > 0


def _data(params: Params, corpus: Mapping[str, Any]) -> str:
    if params.data.source == "hub":
        name = f"`{params.data.hub.id}`"
    elif params.data.source == "world":
        name = "BRIDO's embedded synthetic news"
    else:
        name = "the makers' own files"
    commit = f" (commit {corpus['commit']})" if corpus.get("commit") else ""
    counts = [f"{split} {of['documents']:,}" for split, of in corpus.get("splits", {}).items()]
    tuned = params.documents.train
    there = corpus.get("splits", {}).get("train", {}).get("documents", tuned)
    used = "all" if tuned is None or tuned > there else f"the first {tuned:,}"
    return f"{name}{commit}; documents: {', '.join(counts)}; {used} of train were voted on"


def _measured(numbers: Numbers, system: str) -> dict[str, Any]:
    shown = list(dict.fromkeys(["base", system]))
    systems: dict[str, Estimates] = {name: numbers.systems[name] for name in shown}
    gap = numbers.differences.get(f"{system} - base")
    gaps = {"difference": gap} if gap else {}
    found = result_table(headline_columns(systems), systems, gaps)
    rows = [cells for _, cells in [*found.rows, *found.differences]]
    texts = [
        [f"{one.value}{'*' * one.star}" + f" [{one.interval}]" * bool(one.low) for one in cells]
        for cells in zip(*rows, strict=True)
    ]
    labels = [": ".join(names) for names in zip(found.labels, found.headings, strict=True)]
    return {
        "table": list(zip(labels, texts, strict=True)),
        "systems": shown,
        "documents": f"{len(numbers.scores[system].ids):,}",
        "signatures": json_text(numbers.scores[system].signatures).rstrip(),
    }
