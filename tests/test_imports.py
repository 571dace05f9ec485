"""The rooms of brido and who may import whom; dvc.yaml's deps name the rooms that a stage imports.

The table below is checked against the code and printed into docs/architecture.md:

    PYTHONPATH=. python tests/test_imports.py
"""

import ast
import sys
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from brido.evaluation.registry import BUILT_IN

ROOT = Path(__file__).parent.parent
ARCHITECTURE = ROOT / "docs" / "architecture.md"

# Every room, its job, and the rooms that it imports. A row names rows above it alone, so imports
# run one way. `sections` are the files settings.py of all rooms and what they are made of.
ROOMS = {
    "text": ("words and sentences, control tokens, thoughts", ""),
    "utils": ("errors, files, progress, devices: what every room uses", ""),
    "sections": ("ROOM/settings.py and utils/sections.py: params.yaml as types", "utils"),
    "stats": ("bootstrap intervals over documents", "utils"),
    "tables": ("Parquet tables: schemas, reading, writing, the one walk by id", "utils"),
    "work": ("shards and workers: killed at any moment", "sections tables utils"),
    "rouge": ("exact ROUGE of all pairs", "text utils"),
    "endpoint": ("an OpenAI-compatible server, paid once", "sections utils"),
    "world": ("the embedded world: articles whose every detail can be checked", ""),
    "corpus": ("documents and references: world, hub, files", "sections tables text utils world"),
    "models": ("what a language model is: families, checkpoints, prompts", "sections utils"),
    "vote": ("Eq. 2 and its signals", "rouge sections tables text utils work"),
    "checkers": ("does the source support a text?",
                 "models sections tables text utils work world"),
    "search": ("token by token over logits", "models sections utils"),
    "likelihood": ("f(S) of candidates", "models utils"),
    "evaluation": ("metrics, each declared once",
                   "checkers endpoint models sections tables text utils work world"),
    "candidates": ("where the N texts of a document come from",
                   "endpoint likelihood models search sections tables text utils work"),
    "rewards": ("the vote and metrics as rewards for other trainers",
                "candidates evaluation rouge sections utils vote"),
    "summarizer": ("summaries of new documents, as a run decodes them",
                   "candidates checkers models rouge search sections text utils vote work"),
    "training": ("Eq. 1 and 3, batches, loop",
                 "evaluation likelihood models search sections tables text utils work"),
    "settings": ("params.yaml, all sections together, read strictly",
                 "evaluation models sections utils"),
    "report": ("means, intervals, the verdict, the page",
               "checkers evaluation sections settings stats tables utils"),
}  # fmt: skip
# Command lines over the library; they may import any room.
COMMANDS = {"cli", "__main__"}
# What every stage uses to read, write and speak. Results do not depend on it, so a changed error
# message does not retrain a model: dvc.yaml leaves it out. Sections too: their values are params.
PLUMBING = {"utils", "sections", "tables", "work", "settings"}


def modules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]


def imported(source: str, types: bool = True) -> set[str]:
    """The dotted names that a file imports, lazily or at once; with `types` for types alone too."""
    tree = ast.parse(source)
    typing_only = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if node in typing_only and not types:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


@cache
def imports(path: Path, types: bool = True) -> frozenset[str]:
    """The modules of this project that a file imports; with `types` for types alone too."""
    names = imported(path.read_text(encoding="utf-8"), types)
    ours = {name for name in names if name.split(".")[0] in {"brido", "stages"}}
    return frozenset(ours | {module for name in ours if (module := lazy_module(name))})


def lazy_module(name: str) -> str | None:
    """The module that a package loads when it is asked for this public name, if it is one."""
    package, _, public = name.rpartition(".")
    path = file_of(package) if package else None
    if path is None or path.name != "__init__.py" or "lazy(" not in path.read_text("utf-8"):
        return None
    module = import_module(package)._PUBLIC.get(public)
    return module and f"{package}.{module}"


def file_of(name: str) -> Path | None:
    """The file of a dotted module, None where the name is no module but something inside one."""
    base = ROOT.joinpath(*name.split("."))
    if base.with_suffix(".py").is_file():
        return base.with_suffix(".py")
    return base / "__init__.py" if (base / "__init__.py").is_file() else None


def room(path: Path) -> str:
    """The room that a file of brido belongs to."""
    place = path.relative_to(ROOT / "brido")
    if place.as_posix() == "utils/sections.py":
        return "sections"
    # evaluation/settings.py asks the registry of metrics.
    if len(place.parts) == 2 and path.name == "settings.py" and place.parts[0] != "evaluation":
        return "sections"
    return place.parts[0].removesuffix(".py")


def used_rooms(path: Path) -> set[str]:
    """The rooms that a file imports, its own left out."""
    files = (file_of(name) for name in imports(path))
    return {room(file) for file in files if file} - {"__init__", room(path)}


def test_a_room_imports_what_its_row_says_and_nothing_else():
    found: dict[str, set[str]] = {name: set() for name in ROOMS}
    for path in modules(ROOT / "brido"):
        name = room(path)
        if name in COMMANDS or name == "__init__":
            continue
        assert name in ROOMS, f"{path} is in no room of the table"
        assert used_rooms(path) <= set(ROOMS[name][1].split()), path
        found[name] |= used_rooms(path)
    assert found == {name: set(row[1].split()) for name, row in ROOMS.items()}


def test_imports_run_one_way():
    above: set[str] = set()
    for name, (_, imported_rooms) in ROOMS.items():
        assert set(imported_rooms.split()) <= above, name
        above.add(name)


def test_no_circle_of_files():
    graph = {
        path: {file for name in imports(path) if (file := file_of(name))} - {path}
        for path in modules(ROOT / "brido")
        if path.name != "__init__.py"
    }
    # Raises CycleError with the files of a circle.
    TopologicalSorter(graph).prepare()


def test_nothing_in_brido_imports_a_stage():
    for path in modules(ROOT / "brido"):
        assert not {name for name in imports(path) if name.startswith("stages")}, path


def metric_files() -> set[Path]:
    """The declarations of the metrics: whoever measures or shows numbers imports them by name."""
    names = [f"brido.evaluation.{name}" for name in BUILT_IN]
    return {file_of(lazy_module(f"{name}.METRIC") or name) for name in names}


def reached_files(stage: str) -> set[Path]:
    """Every file of brido that a stage reaches through its imports, plumbing left out."""
    waiting = [ROOT / "stages" / f"{stage}.py"]
    if stage == "evaluate":
        waiting += metric_files()
    seen: set[Path] = set()
    while waiting:
        path = waiting.pop()
        inside = path.is_relative_to(ROOT / "brido")
        plumbing = inside and room(path) in PLUMBING | {"__init__"}
        if path not in seen and not plumbing:
            seen.add(path)
            waiting += [file for name in imports(path, types=False) if (file := file_of(name))]
    if file_of("brido.evaluation.registry") in seen:
        seen |= metric_files()
    return {path for path in seen if path.is_relative_to(ROOT / "brido")}


def dvc_stages() -> dict[str, dict]:
    stages = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    return {name: {**stage, **stage.get("do", {})} for name, stage in stages.items()}


@pytest.mark.parametrize(("name", "stage"), dvc_stages().items(), ids=list(dvc_stages()))
def test_deps_are_what_the_stage_imports(name, stage):
    deps = stage["deps"]
    # Some stages of dvc.yaml are one file, run for systems of several sections.
    file = stage["cmd"].split()[2].removeprefix("stages.")
    assert f"stages/{file}.py" in deps
    listed = [ROOT / dep for dep in deps if dep.startswith("brido/")]
    reached = reached_files(file)
    missing = [path for path in reached if not any(path.is_relative_to(dep) for dep in listed)]
    assert not missing, f"{name} imports what its deps do not name"
    idle = [dep for dep in listed if not any(path.is_relative_to(dep) for path in reached)]
    assert not idle, f"{name} does not import what its deps name"


def table_of_rooms() -> str:
    """The table as it stands in docs/architecture.md."""
    rows = [
        f"| `brido/{name}` | {job} | {imported_rooms.replace(' ', ', ') or '-'} |"
        for name, (job, imported_rooms) in ROOMS.items()
    ]
    return "\n".join(["| room | job | imports |", "|---|---|---|", *rows])


def with_table(page: str) -> str:
    """The page with the present table between its markers."""
    start, rest = page.split("<!-- rooms -->\n", 1)
    end = rest.split("<!-- /rooms -->", 1)[1]
    return f"{start}<!-- rooms -->\n{table_of_rooms()}\n<!-- /rooms -->{end}"


def test_the_docs_show_this_table():
    page = ARCHITECTURE.read_text(encoding="utf-8")
    assert page == with_table(page), "PYTHONPATH=. python tests/test_imports.py writes it"


if __name__ == "__main__":
    ARCHITECTURE.write_text(with_table(ARCHITECTURE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"the table of rooms is written into {ARCHITECTURE.relative_to(ROOT)}", file=sys.stderr)
