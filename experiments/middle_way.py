"""The middle way to the paper: 1,000 documents at one alpha, and what that takes of a GPU."""

import shlex
from collections.abc import Mapping

from ruamel.yaml import YAML

from brido.settings.load import check_params
from brido.settings.params import Params
from brido.settings.presets import read_preset

NAME = "xsum"
# The preset's alpha, a thousand documents of each split, without brio. BRIO's schedule belongs to
# 25,000 updates; here the highest rate is reached within a tenth of them.
CHANGES = (
    "data.max_documents=1000",
    "documents.validation=200",
    "training.schedule=linear",
    "training.learning_rate=2e-5",
    "training.warmup_steps=0.1",
    "training.validation.every=25",
    "training.validation.documents=100",
    "systems=[reference,base,tuned]",
    "decoded_systems=[base,tuned]",
    "~checkpoints.brio",
)


def settings() -> Params:
    """The preset's settings with the changes."""
    raw = read_preset(NAME)
    for change in CHANGES:
        key, _, value = change.partition("=")
        *sections, name = key.lstrip("~").split(".")
        place = raw
        for section in sections:
            place = place[section]
        if value:
            place[name] = YAML(typ="safe").load(value)
        else:
            del place[name]
    return check_params(raw)


def documents(params: Params) -> dict[str, int]:
    """How many documents go through each stage of a large model."""
    training, count = params.training, params.data.max_documents
    updates = training.epochs * count // training.batch_size
    checks = updates // training.validation.every * training.validation.documents
    return {
        "generate": count + params.documents.validation,
        "train": training.epochs * count,
        "decode": 2 * len(params.decoded_systems) * count + checks,
    }


def first_screen(device: str | None, hours: Mapping[str, float | None]) -> list[str]:
    """What is reproduced here and what is not, then the middle way.

    hours: of each stage's documents on `device`, None where nobody measured it.
    """
    options = " ".join(f"-S {shlex.quote(change)}" for change in CHANGES)
    cost = ["#   not measured on this device"]
    minutes = {stage: 60 * value for stage, value in hours.items() if value is not None}
    if len(minutes) == len(hours):
        listed = ", ".join(f"{stage} {value:.0f}" for stage, value in minutes.items())
        cost = [
            f"#   {sum(minutes.values()):.0f} minutes of computing on one {device}",
            f"#   ({listed}; measured, every text as long as it may be), and 3 GB to fetch.",
        ]
    return [
        "# Reproduced here: the method, rule by rule (docs/method.md), and what it does in the",
        "# embedded world (docs/results.md). Not reproduced: the paper's Tables 1-4. Its weights",
        "# and data sets are on the hub; these are the commands for a machine that reaches it.",
        "",
        f"# The middle way, before any grid: {NAME}, 1,000 documents of each split, one alpha",
        f"make preset NAME={NAME}",
        f"dvc exp run -n middle {options}",
        *cost,
        "#   It shows a direction, not the table: 125 updates of the paper's 25,505, hence",
        "#   another schedule.",
        "",
        "# The whole grids",
        "",
    ]
