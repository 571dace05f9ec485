"""The model card of the chosen system, and the weights that it is about."""

import hashlib
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from brido.report.numbers import Numbers
from brido.report.settings_text import run_order, settings_text
from brido.report.summary import Cell, headline_columns, result_table
from brido.report.verdict import verdict_text
from brido.settings.params import Params
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
    # A folder of the user's may be called like a repository, and has no commit.
    on_hub = _HUB_ID.fullmatch(checkpoint.source) is not None and "commit" in base
    world = params.data.source == "world"
    header = ModelCardData(
        library_name="transformers",
        pipeline_tag="summarization",
        base_model=checkpoint.source if on_hub else None,
        license=base.get("license"),
        language=base.get("language") or ("en" if world else None),
        tags=["summarization", "brido"],
    )
    variant = params.variant_of(system)
    guidance, checked = variant.guidance, variant.checked
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
        taught=trained and params.training_of(model).gamma > 0,
        shuffled=trained and scoring.shuffle,
        order="how much the others agree with it" if agreement else run_order(scoring),
        checkpoint=checkpoint,
        source=checkpoint.source if on_hub else Path(checkpoint.source).name,
        adapter=Path(getattr(checkpoint, "adapter", None) or "").name,
        learnt=getattr(checkpoint, "fine_tuning", None),
        base=base,
        data=params.data,
        corpus=corpus,
        voted_on=params.documents.train,
        weights=weights,
        settings=settings,
        reading=json_text(reading).rstrip(),
        seed=params.training_of(model).seed if trained else 0,
        warnings=numbers.warnings,
        verdict=choice["verdict"],
        verdict_table=choice["table"],
        documents=f"{len(numbers.scores[system].ids):,}",
        signatures=json_text(numbers.scores[system].signatures).rstrip(),
        **_measured(numbers, system),
    )
    return f"{str(card).rstrip()}\n"


def server_card(model: str, choice: Mapping[str, Any]) -> str:
    """The card of a chosen system that a server writes: the verdict; there are no weights."""
    return (
        f"# A summarizer behind a server: `{choice['chosen']}`\n\n"
        f"```\n{verdict_text(choice['table'], choice['verdict'])}\n```\n\n"
        f"The model `{model}` stands behind a server: there are no weights here.\n"
    )


def origin(params: Params, system: str) -> str:
    """The checkpoint whose model the system has or was trained from."""
    model = params.model_of(system)
    return "base" if model in params.tuned else model


def _measured(numbers: Numbers, system: str) -> dict[str, Any]:
    """The systems of the card's table of numbers, and its rows."""
    systems = {name: numbers.systems[name] for name in dict.fromkeys(["base", system])}
    gap = numbers.differences.get(f"{system} - base")
    found = result_table(headline_columns(systems), systems, {"difference": gap} if gap else {})
    labels = [name for name, count in found.groups for _ in range(count)]
    cells = zip(*(cells for _, cells in (*found.rows, *found.differences)), strict=True)
    table = [
        (f"{label}: {name} {arrow}".rstrip(), list(map(_cell, own)))
        for label, (name, arrow, _), own in zip(labels, found.heads, cells, strict=True)
    ]
    return {"table": table, "systems": list(systems)}


def _cell(cell: Cell) -> str:
    interval = f" [{cell.low}…{cell.high}]" if cell.low else ""
    return f"{cell.value}{'*' * cell.star}{interval}"
