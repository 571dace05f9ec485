"""The model card of `tuned`: what a stranger has to know who finds the weights on a hub."""

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brido.report.display import arrow, display, metric_label
from brido.report.metrics import Estimate
from brido.report.numbers import Numbers
from brido.report.settings_text import settings_text
from brido.report.summary import excludes_zero, headline_columns, interval
from brido.settings.params import Params
from brido.utils.atomic import atomic_folder
from brido.utils.errors import BridoError, first_line
from brido.utils.progress import say

# The line of a card that says which weights it is about.
_WEIGHTS = re.compile(r"^Weights: SHA-256 `([0-9a-f]{64})`", re.MULTILINE)
# A repository's name on the hub, as `base_model` of a card wants it.
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


def weights_of(folder: Path) -> str:
    """The SHA-256 of a checkpoint's weights, all files of them in the order of their names.

    Raises:
        BridoError: the folder holds no weights.
    """
    digest = hashlib.sha256()
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise BridoError(f"{folder} holds no weights: make it with `dvc repro train`")
    for path in files:
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def weights_named(card: str) -> str | None:
    """Which weights a card is about, as `weights_of` tells them; None where it does not say."""
    found = _WEIGHTS.search(card)
    return found[1] if found else None


def export_model(tuned: Path, card: Path, folder: Path) -> None:
    """Copy the tuned model with its card as README.md into `folder`, which must be new.

    The stage's own output stays as DVC knows it.

    Raises:
        BridoError: the model or its card is missing, they do not belong together, or the folder is
            there already.
    """
    if folder.exists():
        raise BridoError(f"--output must be a new folder, and {folder} is there already")
    weights = weights_of(tuned)
    if not card.is_file():
        raise BridoError(f"{card} is missing: make it with `dvc repro report`")
    text = card.read_text(encoding="utf-8")
    if weights_named(text) != weights:
        raise BridoError(f"{card} is about other weights than {tuned}: `dvc repro report`")
    with atomic_folder(folder) as temporary:
        shutil.copytree(tuned, temporary, dirs_exist_ok=True)
        (temporary / "README.md").write_text(text, encoding="utf-8")
    say(f"export: {tuned} with its card to {folder}")


def source_of(folder: Path) -> dict[str, Any]:
    """What `source.json` of a corpus or checkpoint says, nothing where there is none.

    Raises:
        BridoError: it cannot be read.
    """
    path = folder / "source.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BridoError(f"{path} cannot be read ({first_line(error)}): `dvc repro`") from None


def model_card(
    params: Params,
    numbers: Numbers,
    base: Mapping[str, Any],
    corpus: Mapping[str, Any],
    weights: str,
    verdict: str,
) -> str:
    """The card as Markdown with the hub's YAML header.

    base, corpus: their source.json; weights: `weights_of` the tuned folder; verdict: what the vote
    check said, "" where it said nothing.
    """
    source = params.checkpoints["base"].source
    pinned = "".join(f", {key} {base[key]}" for key in ("commit", "sha256") if base.get(key))
    order, scored = (
        ("scores dealt out at random", "their scores were dealt out at random (the control)")
        if params.scoring.shuffle
        else (
            "the vote of its own candidates",
            "each was scored by how much the others agree with it",
        )
    )
    lines = [
        *_header(source),
        f"# A summarizer tuned on {order}",
        "",
        f"Made with BRIDO: the base model wrote several candidates a document, {scored}, and a "
        "contrastive loss taught the model that order "
        "(*Bringing Democratic Order to Abstractive Summarization*, Lee, Goka and Ko).",
        "",
        f"* Base: {_base_name(source)}{pinned}",
        f"* Data: {_data(params, corpus)}",
        "",
        f"Weights: SHA-256 `{weights}`",
        "",
        "## Settings",
        "",
        "| | |\n|---|---|",
        *(
            f"| {name} | {value} |"
            for name, value in settings_text(params)
            if name not in {"data", "base model"}  # said above
        ),
        "",
        "It reads and writes as here, and was measured so:",
        "",
        _json({"reading": params.reading_of("base").model_dump(mode="json"),
               "decoding": params.decoding.model_dump(mode="json", exclude_none=True)}),
        "",
        *_metrics(numbers),
        "## Limits",
        "",
        *_limits(params, numbers, verdict),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _header(source: str) -> list[str]:
    named = [f"base_model: {source}"] if _HUB_ID.fullmatch(source) else []
    return ["---", "library_name: transformers", *named, "tags: [summarization, brido]", "---", ""]


def _base_name(source: str) -> str:
    """The base without a path of somebody's machine."""
    if source == "embedded":
        return "a small model, trained from scratch for this"
    return f"`{source}`" if _HUB_ID.fullmatch(source) else f"`{Path(source).name}`"


def _data(params: Params, corpus: Mapping[str, Any]) -> str:
    names = {"world": "BRIDO's embedded synthetic news", "files": "files of its makers"}
    kind = params.data.source
    name = f"`{params.data.hub.id}`" if kind == "hub" else names[kind]
    commit = f" (commit {corpus['commit']})" if corpus.get("commit") else ""
    counts = [f"{split} {of['documents']:,}" for split, of in corpus.get("splits", {}).items()]
    tuned = params.documents.train
    used = "all" if tuned is None else f"the first {tuned:,}"
    return f"{name}{commit}; documents: {', '.join(counts)}; {used} of train were voted on"


def _metrics(numbers: Numbers) -> list[str]:
    """The headline numbers of base and tuned, and how each metric was computed."""
    if "tuned" not in numbers.systems:
        return ["## Metrics", "", "It was not measured (`systems` does not name it).", ""]
    shown = {name: numbers.systems[name] for name in ("base", "tuned") if name in numbers.systems}
    gaps = numbers.differences.get("tuned - base", {})
    rows = []
    for metric, name in headline_columns(shown):
        column = display(metric, name)
        cells = [
            _cell(estimates.get(metric, {}).get(name), metric, name) for estimates in shown.values()
        ]
        gap = _cell(gaps.get(metric, {}).get(name), metric, name, signed=True)
        label = f"{metric_label(metric)}: {column.heading} {arrow(column)}".rstrip()
        rows.append(f"| {label} | {' | '.join([*cells, gap])} |")
    count = len(numbers.scores["tuned"].ids)
    return [
        "## Metrics",
        "",
        f"{count:,} test documents; in brackets bootstrap intervals over documents; * the interval "
        "of the paired difference leaves out 0.",
        "",
        f"| | {' | '.join(shown)} | difference |\n|---|{'---|' * (len(shown) + 1)}",
        *rows,
        "",
        "How each was computed:",
        "",
        _json(numbers.scores["tuned"].signatures),
        "",
    ]


def _cell(item: Estimate | None, metric: str, name: str, signed: bool = False) -> str:
    if item is None:
        return "-"
    star = "*" if signed and excludes_zero(item, metric, name) else ""
    mean = display(metric, name).text(item.mean, signed)
    return f"{mean}{star} [{interval(item, metric, name, signed)}]"


def _limits(params: Params, numbers: Numbers, verdict: str) -> list[str]:
    world = (
        "* It learned synthetic news of a small invented world and is of no use for real text."
        if params.data.source == "world"
        else "* Nothing is known about texts unlike those that it was tuned and measured on."
    )
    return [
        "* It still makes things up: the numbers above say how often, by automatic checks that "
        "make mistakes themselves. Nobody should act on a summary without its document.",
        world,
        f"* One training run (seed {params.training.seed}) of one base: others differ by more than "
        "these intervals, which are over documents alone.",
        *(f"* {text}" for text in numbers.warnings),
        *([f"* What the vote knew before tuning: {verdict}"] if verdict else []),
        "* The licences of the base model and of the data hold for it.",
    ]


def _json(value: Any) -> str:
    return f"```json\n{json.dumps(value, indent=2, ensure_ascii=False)}\n```"
