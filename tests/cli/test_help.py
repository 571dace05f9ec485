"""`help()` of every public function: shapes, and a call that runs as it stands there."""

import doctest
import inspect
import math
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_models import tiny_bart, word_tokenizer

from brido.models.settings import ReadingSettings

ROOT = Path(__file__).parents[2]
# What a stage or a judge is made of, not what anybody calls by itself.
MACHINERY = ("brido.work", "brido.endpoint", "brido.tables")
# They need weights or a server: tests/evaluation runs their examples on stand-ins.
ELSEWHERE = {"QAFactEval", "GEval"}
# Not named in an `__all__`.
ALSO = [
    "brido.training.loss.contrastive_loss",
    "brido.training.loss.smoothed_cross_entropy",
    "brido.training.loss.combined_loss",
    "brido.vote.check.pair_accuracy",
    "brido.checkers.texts.check_texts",
    "brido.cli.vote_check.check_rows",
    "brido.cli.score.score_row",
]
ARRAYS = ("brido.rouge", "brido.vote", "brido.search", "brido.likelihood", "brido.training")
SHAPE = r"\[[A-Z1][^]]*\]|\[\.\.\.|\[documents|scalar|transformers' `generate`"


def public_names() -> Iterator[str]:
    """Everything that an `__all__` of brido names, and ALSO."""
    for path in sorted((ROOT / "brido").rglob("*.py")):
        if "__all__" not in path.read_text(encoding="utf-8"):
            continue
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        # The names of `brido` itself are those of its rooms.
        if module != "brido" and not module.startswith(MACHINERY):
            yield from (f"{module}.{name}" for name in import_module(module).__all__)
    yield from ALSO


def found(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


def engines() -> list[str]:
    """The public functions, and the classes of the engines."""
    names = [name for name in public_names() if callable(found(name))]
    return [
        name
        for name in names
        if inspect.isfunction(found(name))
        or name.startswith((*ARRAYS, "brido.rewards"))
        or name.rpartition(".")[2] in {"LanguageModel", *ELSEWHERE}
    ]


@pytest.mark.parametrize("name", engines())
def test_help_shows_shapes_and_a_call(name: str):
    text = inspect.getdoc(found(name)) or ""
    assert "Example:\n    >>> " in text, f"{name} shows no call"
    if name.startswith(ARRAYS):
        assert re.search(SHAPE, text), f"{name} says no shape"


@pytest.mark.parametrize("name", [n for n in engines() if n.rpartition(".")[2] not in ELSEWHERE])
def test_the_call_gives_what_help_says(name: str):
    words = ["A", "document.", "Another", "one.", "One", "candidate.", "Another."]
    tokenizer = word_tokenizer(words=words)
    names = {"torch": torch, "np": np, "math": math, "ReadingSettings": ReadingSettings}
    module = import_module(name.rpartition(".")[0])
    public = {key: found(f"{module.__name__}.{key}") for key in getattr(module, "__all__", ())}
    names |= vars(module) | public | {"model": tiny_bart().eval(), "tokenizer": tokenizer}
    (test,) = doctest.DocTestFinder(recurse=False).find(found(name), name, globs=names)
    said: list[str] = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert test.examples
    assert not said, "".join(said)
