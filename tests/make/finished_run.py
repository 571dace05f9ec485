"""A finished run: a project of a few articles of the world, after all stages, in this process."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import params_file
import pytest
import torch
from small_project import write_checkpoint

from brido.corpus.settings import WorldSettings
from brido.settings.load import load_params
from brido.world import documents

# Validation documents are enough to choose by.
SPLITS = {"train": 16, "validation": 24, "test": 16}
CHANGES: dict[str, Any] = {
    "data": {"source": "world", "world": SPLITS},
    "checkpoints": {"base": {"source": "my/base"}},
    "reading": {"default": {"max_source_tokens": 20}},
    "documents": {"train": 16, "validation": 24, "test": None},
    "pool": {"too_few": "leave_out"},
    "likelihood": {"others": 2},
    "report": {"bootstrap_samples": 50, "page_documents": 5},
    "runtime": {"device": "cpu", "threads": 1, "shard_documents": 8},
}
GENERATION = {
    "num_candidates": 4, "num_beams": 8, "num_beam_groups": 4, "keep_every": 2, "max_length": 12,
    "diversity_penalty": 0.5,
}  # fmt: skip
TRAINING = {"max_candidate_tokens": 12, "validation": {"every": 2, "documents": 4}}


# A change of one of these says all of it.
_WHOLE = ("data", "systems", "tuned", "variants")


def make(folder: Path, **changes: Any) -> None:
    """Make the whole run in a folder; `changes` are those of `write_params`."""
    write_params(folder, **changes)
    # Names, places and numbers of the articles are among its words.
    summaries = [row["summary"] for row in documents(WorldSettings(**SPLITS), "test", 16)]
    words = sorted({word for text in summaries for word in text.split()})
    write_checkpoint(folder / "my/base", words=words[:70])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.delenv("BRIDO_WORK", raising=False)
        torch.set_num_threads(1)
        for stage, *names in stages():
            run(patch, stage, *names)


def write_params(folder: Path, **changes: Any) -> None:
    """The project's own params.yaml made small; `changes` are further keys of sections."""
    raw = params_file.default()
    raw["generation"]["base"] |= GENERATION
    raw["training"] |= TRAINING
    for section, keys in (*CHANGES.items(), *changes.items()):
        raw[section] = keys if section in _WHOLE else raw[section] | keys
    params_file.write(folder, raw)


def stages() -> Iterator[tuple[str, ...]]:
    """Every stage of the run in the present folder with its names, in an order that works."""
    params = load_params()
    yield ("download",)
    yield ("sensitivity",)
    yield "checkpoint", "base"
    yield "generate", "base"
    yield from ((name,) for name in ("pool", "pairwise", "needs", "support", "likelihood"))
    for name in params.tuned:
        yield "score", name
        yield "train", name
    yield ("elect",)
    yield from (("decode", name) for name in ("base", *params.tuned))
    yield from (("vary", name) for name in params.variants)
    yield from (("evaluate", name) for name in params.all_systems)
    yield ("sensitivity",)
    yield ("choose",)
    yield ("report",)


def run(patch: pytest.MonkeyPatch, stage: str, *names: str) -> None:
    """Run `python -m stages.STAGE NAMES` in this process."""
    patch.setattr("sys.argv", [f"stages/{stage}.py", *names])
    importlib.import_module(f"stages.{stage}").main()
