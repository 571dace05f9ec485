"""Imports run one way, and dvc.yaml's deps name exactly the rooms that a stage imports."""

import ast
from functools import cache
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from brido.evaluation.registry import BUILT_IN

ROOT = Path(__file__).parent.parent

# What every stage uses to read, write and speak. Results do not depend on it, so a changed error
# message does not retrain a model: dvc.yaml leaves it out.
PLUMBING = {
    "section", "settings", "config", "errors", "atomic", "tables", "work", "progress",
    "device", "hub", "store",
}  # fmt: skip
BASIC = {"errors", "section", "atomic"}
MIDDLE = {"tables", "work", "text", "progress", "device", "store", "bootstrap"}
# The metrics are imported by name: by whoever measures, for their code, and by whoever shows
# numbers, for their declarations alone.
METRICS = [f"brido.evaluation.{name}" for name in BUILT_IN]
PURE = {"brido/consensus.py", "brido/rouge", "brido/training/loss.py"}


def modules(folder):
    return sorted((ROOT / folder).rglob("*.py"))


@cache
def imports(path: Path) -> frozenset[str]:
    """The dotted brido and stages modules that a file imports, lazily or not."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
            found.add(node.module)
    return frozenset(name for name in found if name.split(".")[0] in {"brido", "stages"})


def file_of(name: str) -> Path | None:
    """The file of a dotted module, None where the name is no module but something inside one."""
    base = ROOT.joinpath(*name.split("."))
    if base.with_suffix(".py").is_file():
        return base.with_suffix(".py")
    return base / "__init__.py" if (base / "__init__.py").is_file() else None


def room(path: Path) -> str:
    """The first level of brido that a file belongs to."""
    return path.relative_to(ROOT / "brido").parts[0].removesuffix(".py")


def test_nothing_in_brido_imports_a_stage():
    for path in modules("brido"):
        assert not {name for name in imports(path) if name.startswith("stages")}, path


@pytest.mark.parametrize(("rooms", "allowed"), [(BASIC, BASIC), (MIDDLE, BASIC | MIDDLE)])
def test_basic_modules_import_only_more_basic_ones(rooms, allowed):
    for path in modules("brido"):
        if room(path) in rooms:
            used = {room(file) for i in imports(path) if (file := file_of(i))} - {"__init__"}
            assert used <= allowed, f"{path} imports {used - allowed}"


def test_pure_rooms_know_no_files_and_no_hugging_face():
    for pure in PURE:
        target = ROOT / pure
        for path in [target] if target.suffix else sorted(target.rglob("*.py")):
            text = path.read_text()
            for word in ("import pathlib", "from pathlib", "transformers", "datasets", "pyarrow"):
                assert f"import {word}" not in text, (path, word)
                assert not text.startswith(word), (path, word)
            used = {room(file) for i in imports(path) if (file := file_of(i))}
            assert not used & {"tables", "work", "progress"}, path


def reached_files(stage: str) -> set[Path]:
    """Every file of brido that a stage reaches through its imports, plumbing left out."""
    waiting = [ROOT / "stages" / f"{stage}.py"]
    if stage == "evaluate":
        waiting += [file_of(name) for name in METRICS]
    seen: set[Path] = set()
    while waiting:
        path = waiting.pop()
        inside = path.is_relative_to(ROOT / "brido")
        if path not in seen and not (inside and room(path) in PLUMBING | {"__init__"}):
            seen.add(path)
            waiting += [file for name in imports(path) if (file := file_of(name))]
    if file_of("brido.evaluation.registry") in seen:
        seen |= {file_of(name) for name in METRICS}
    return {path for path in seen if path.is_relative_to(ROOT / "brido")}


def stage_deps():
    stages = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())["stages"]
    for name, stage in stages.items():
        yield pytest.param(name, stage["deps"], id=name)


@pytest.mark.parametrize(("name", "deps"), stage_deps())
def test_deps_are_what_the_stage_imports(name, deps):
    assert f"stages/{name}.py" in deps
    listed = [ROOT / dep for dep in deps if dep.startswith("brido/")]
    reached = reached_files(name)
    missing = [path for path in reached if not any(path.is_relative_to(dep) for dep in listed)]
    assert not missing, f"{name} imports what its deps do not name"
    idle = [dep for dep in listed if not any(path.is_relative_to(dep) for path in reached)]
    assert not idle, f"{name} does not import what its deps name"
