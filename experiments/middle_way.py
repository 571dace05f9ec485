"""The middle way to the paper: 1,000 documents at one alpha, and what that takes of a GPU."""

import shlex

from ruamel.yaml import YAML

from brido.config import check_params, read_yaml
from brido.settings import Params
from experiments.preset import PRESETS

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
# Nobody measured a GPU here: PEGASUS-large's weights that a token passes (16 layers, d_model 1,024,
# vocabulary 96,103), two operations each, against useful operations a second.
GPU = "NVIDIA A100 (312 TFLOP/s in bfloat16)"
TRAINING_RATE = 0.3 * 312e12
WRITING_RATE = 0.05 * 312e12  # token by token a GPU waits for its memory
_ENCODER, _DECODER = 201e6, 367e6


def settings() -> Params:
    """The preset's settings with the changes."""
    raw = read_yaml(PRESETS / f"{NAME}.yaml")
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


def minutes(params: Params) -> dict[str, float]:
    """Minutes of each stage on GPU, every text as long as it may be."""
    training, documents = params.training, params.data.max_documents
    updates = training.epochs * documents // training.batch_size
    checks = updates // training.validation.every * training.validation.documents
    work = {
        "generate": documents + params.documents.validation,
        "train": training.epochs * documents,
        "decode": 2 * len(params.decoded_systems) * documents + checks,
    }
    each = seconds_a_document(params)
    return {stage: count * each[stage] / 60 for stage, count in work.items()}


def seconds_a_document(params: Params) -> dict[str, float]:
    """Seconds of GPU that a document takes in each stage, every text as long as it may be.

    BART-large (12 layers, 50,265 entries) takes less than the weights that are counted here.
    """
    source, training = params.generation["base"], params.training
    read = 2 * _ENCODER * params.reading_of("base").max_source_tokens
    written = 2 * _DECODER * source.max_length * source.num_beams
    decoded = 2 * _DECODER * params.decoding.max_length * params.decoding.num_beams
    scored = 2 * _DECODER * training.max_candidate_tokens * (source.num_candidates + 1)
    return {
        "generate": (read + written) / WRITING_RATE,
        "train": 3 * (read + scored) / TRAINING_RATE,
        "decode": (read + decoded) / WRITING_RATE,
    }


def first_screen() -> list[str]:
    """What is reproduced here and what is not, then the middle way."""
    options = " ".join(f"-S {shlex.quote(change)}" for change in CHANGES)
    taken = minutes(settings())
    listed = ", ".join(f"{stage} {value:.0f}" for stage, value in taken.items())
    return [
        "# Reproduced here: the method, rule by rule (docs/method.md), and what it does in the",
        "# embedded world (docs/results.md). Not reproduced: the paper's Tables 1-4. Its weights",
        "# and data sets are on the hub; these are the commands for a machine that reaches it.",
        "",
        f"# The middle way, before any grid: {NAME}, 1,000 documents of each split, one alpha",
        f"make preset NAME={NAME}",
        f"dvc exp run -n middle {options}",
        f"#   {sum(taken.values()):.0f} minutes of computing on one {GPU}:",
        f"#   {listed}. Reckoned from operations, at 30 % of that when training and 5 % when",
        "#   writing, not measured: up to ten times as long, and 3 GB to fetch. It shows a",
        "#   direction, not the table: 125 updates of the paper's 25,505, hence another schedule.",
        "",
        "# The whole grids",
        "",
    ]
