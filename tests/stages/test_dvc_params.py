"""Every key that a stage's settings hold is among its `params` in dvc.yaml.

A key that is not there leaves the stage up to date when it changes. What a stage reads is computed
from its code: every `params.SECTION...` in it and in the functions that it hands `params` to; a
section that is used as a whole counts with all its keys.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, get_args, get_origin

import pytest
from pydantic import BaseModel
from ruamel.yaml import YAML

from brido.settings.params import Params
from brido.utils.sections import Section

ROOT = Path(__file__).parents[2]
STAGES = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())["stages"]

# What a stage reads and DVC need not know of, with the reason.
_SHOWN = (
    *("checkpoints", "data", "decoding", "documents", "generation", "pairwise", "scoring"),
    "training",
)
_NAMED = dict.fromkeys(("tuned", "variants"), "dvc.yaml names the system, and its checkpoint a dep")
EXEMPT = {
    "elect": {"scoring.alpha": "this vote has no reference: it is always 0"},
    **dict.fromkeys(("decode", "decode_base"), _NAMED),
    **dict.fromkeys(("checkpoint", "generate", "likelihood", "train"), _NAMED),
    "vary": _NAMED,
    "choose": dict.fromkeys(("report.length_warning", "report.page_documents"), "it uses neither"),
    **dict.fromkeys(
        ("evaluate", "evaluate_tuned", "evaluate_variants"),
        dict.fromkeys(
            ("systems", "tuned", "variants"),
            "the matrix of dvc.yaml names them",
        ),
    ),
    # Page and model card show them; a change also changes a table that the report depends on.
    "report": dict.fromkeys(_SHOWN, "it is shown"),
}


def sections(annotation: Any) -> list[type[Section]]:
    """The forms of a section that an annotation allows."""
    if isinstance(annotation, type):
        return [annotation] if issubclass(annotation, Section) else []
    if get_origin(annotation) is dict:
        return []
    return [found for part in get_args(annotation) for found in sections(part)]


def keys(owner: Any, parts: tuple[str, ...]) -> set[tuple[str, ...]]:
    """The keys that `OWNER.part.part` reads: all keys of a section that is read as a whole."""
    forms = sections(owner)
    if get_origin(owner) is dict:
        return {("*",)}
    if not forms:
        return {()}
    if not parts or all(hasattr(BaseModel, parts[0]) for _ in forms):
        return {
            (name, *rest)
            for form in forms
            for name, field in form.model_fields.items()
            for rest in keys(field.annotation, ())
        }
    found: set[tuple[str, ...]] = set()
    for form in forms:
        if parts[0] in form.model_fields:
            rests = keys(form.model_fields[parts[0]].annotation, parts[1:])
            found |= {(parts[0], *rest) for rest in rests}
        elif (method := inspect.getattr_static(form, parts[0], None)) is not None:
            function = method.fget if isinstance(method, property) else method
            if not isinstance(function, FunctionType):
                continue  # a constant of the form
            for chain in chains(tree_of(function), "self"):
                found |= keys(form, chain)
    return found


def tree_of(function: Any) -> ast.AST:
    return ast.parse(textwrap.dedent(inspect.getsource(function)))


def chains(tree: ast.AST, root: str) -> Iterator[tuple[str, ...]]:
    """`root.a.b` as (a, b), the longest of each; getattr(root.a, NAME) as (a, *)."""
    inner: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node not in inner:
            parts: list[str] = []
            place: ast.AST = node
            while isinstance(place, ast.Attribute):
                inner.add(place)
                parts.insert(0, place.attr)
                place = place.value
            if isinstance(place, ast.Name) and place.id == root:
                yield tuple(parts)


def getattrs(tree: ast.AST) -> dict[tuple[str, ...], None]:
    """The sections of which one that a variable names is read: getattr(params.a, NAME)."""
    return {
        chain: None
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        for chain in chains(node.args[0], "params")
    }


def read_by(function: FunctionType, seen: set[FunctionType]) -> set[str]:
    """The keys that a function reads of `params`, and all functions that it hands `params` to."""
    if function in seen:
        return set()
    seen.add(function)
    tree = tree_of(function)
    any_of = getattrs(tree)
    found = {".".join((*chain, "*")) for chain in any_of}
    for chain in chains(tree, "params"):
        if chain not in any_of:
            found |= {".".join(key) for key in keys(Params, chain)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and any(
            isinstance(argument, ast.Name) and argument.id == "params"
            for argument in [*node.args, *(word.value for word in node.keywords)]
        ):
            assert isinstance(node.func, ast.Name), f"{function}: {ast.unparse(node.func)}"
            called = function.__globals__[node.func.id]
            found |= read_by(called, seen)
    return found


def read_by_stage(name: str) -> set[str]:
    """The keys that a stage reads, but for those of `runtime`, which no stage depends on."""
    module = import_module(STAGES[name].get("do", STAGES[name])["cmd"].split()[2])
    own = [
        one
        for one in vars(module).values()
        if isinstance(one, FunctionType) and one.__module__ == module.__name__
    ]
    seen: set[FunctionType] = set()
    found = set().union(*(read_by(function, seen) for function in own))
    return {key for key in found if not key.startswith("runtime.")}


def listed(name: str) -> list[str]:
    """The params of a stage in dvc.yaml, `*` where a template names one."""
    stage = STAGES[name].get("do", STAGES[name])
    return [re.sub(r"\$\{.*?\}", "*", key) for key in stage.get("params", [])]


def missing(name: str) -> list[str]:
    """What a stage reads and dvc.yaml does not list."""
    known = [*listed(name), *EXEMPT.get(name, {})]
    return sorted(
        key
        for key in read_by_stage(name)
        if not any(key == one or key.startswith(f"{one}.") for one in known)
    )


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_lists_every_key_that_it_reads(name):
    assert missing(name) == []
