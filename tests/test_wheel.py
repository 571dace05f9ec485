"""The wheel: `brido` alone, with everything it reads, and what each of its extras lets it do.

The wheel itself is installed into an empty environment. Those of the extras would be gigabytes: pip
says that the installed packages are what they ask for, and their examples run where everything
beyond their requirements is hidden.
"""

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest
import small_project
from alone import environment
from dvc_project import copy_project
from engine_examples import check_command, examples, put_on_path
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from brido.models.settings import ReadingSettings
from brido.summarizer.usage import Usage, write_usage

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]

# Data that modules read beside their code.
DATA = (".jinja", ".css", ".js", ".yaml", "py.typed")
IMPORT_ALL = """
import importlib, pkgutil, brido, brido.utils.extras
print(brido.__file__)
for module in pkgutil.walk_packages(brido.__path__, "brido."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except brido.utils.extras.MissingExtra as error:
            assert error.name not in {"torch", "transformers", "pyarrow"}, module.name
            print(module.name)
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout: building leaves files behind."""
    return copy_project(tmp_path_factory.mktemp("checkout"))


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, checkout)
    (found,) = folder.glob("*.whl")
    return found


def pip(command: str, *arguments: str | Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", command, "--quiet", *map(str, arguments)], check=True
    )


def test_the_wheel_has_brido_alone_and_whole(checkout: Path, wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    here = [path for path in (checkout / "brido").rglob("*") if path.name.endswith((".py", *DATA))]
    assert names == {path.relative_to(checkout).as_posix() for path in here}
    assert {name for name in names if name.endswith(DATA)} > {"brido/py.typed"}


def run_examples(extra: str, folder: Path, python: Path | str, variables: dict[str, str]) -> None:
    """The Python of README and docs/engines.md that needs this extra, in one process."""
    code = {
        each.name: each.source
        for each in examples()
        if each.kind == "python" and each.extra == extra
    }
    assert code
    done = subprocess.run(
        [python, Path(__file__).parent / "make" / "alone.py"],
        input=json.dumps(code), cwd=folder, env=variables, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_wheel_alone_runs_what_needs_no_extra(wheel: Path, tmp_path: Path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "empty"], check=True)
    own = tmp_path / "empty" / "bin"
    subprocess.run([own / "python", "-m", "pip", "install", "--quiet", wheel], check=True)
    variables = {**put_on_path(tmp_path), "PATH": f"{own}{os.pathsep}{os.environ['PATH']}"}
    del variables["PYTHONPATH"]
    listed = subprocess.run(
        [own / "python", "-m", "pip", "list", "--format", "json"], capture_output=True, check=True
    )
    names = {canonicalize_name(each["name"]) for each in json.loads(listed.stdout)}
    assert names <= closure("") | {"brido", "pip", "setuptools"}
    assert len(names) < 20
    run_examples("", tmp_path, own / "python", variables)
    commands = [each for each in examples() if each.kind == "console" and not each.extra]
    assert len(commands) > 2
    for command in commands:
        check_command(command, tmp_path, variables)
    done = subprocess.run(
        [own / "brido", "summarize", "examples/summaries.jsonl"],
        cwd=tmp_path, env=variables, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.endswith('pip install ".[torch]"`\n')


def requirements(extra: str) -> list[Requirement]:
    """What pyproject.toml asks for the wheel with this extra."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    waiting = [extra] if extra else []
    found = [*project["dependencies"]]
    while waiting:
        for text in project["optional-dependencies"][waiting.pop()]:
            one = Requirement(text)
            waiting += one.extras if one.name == "brido" else ()
            found += [text] if one.name != "brido" else ()
    return [Requirement(text) for text in found]


@cache
def closure(extra: str) -> set[str]:
    """The packages that the wheel with this extra brings, those that they need included."""
    waiting = [(one, "") for one in requirements(extra)]
    seen: set[tuple[str, str]] = set()
    while waiting:
        one, of = waiting.pop()
        if one.marker is not None and not one.marker.evaluate({"extra": of}):
            continue
        for inner in ("", *one.extras):
            name = canonicalize_name(one.name)
            if (name, inner) not in seen:
                seen.add((name, inner))
                try:
                    texts = distribution(one.name).requires or []
                except PackageNotFoundError:  # of another platform
                    continue
                waiting += [(Requirement(text), inner) for text in texts]
    return {name for name, _ in seen}


@cache
def hidden(extra: str) -> list[str]:
    """The modules of installed packages that the wheel with this extra would not bring."""
    kept = closure(extra) | {"pip"}
    return [
        module
        for module, owners in packages_distributions().items()
        if not kept & {canonicalize_name(owner) for owner in owners}
    ]


def test_the_installed_packages_are_what_the_extras_ask_for(wheel: Path, tmp_path: Path):
    report = tmp_path / "report.json"
    pip("install", "--dry-run", "--no-index", "--report", report, f"{wheel}[all]")
    (only,) = json.loads(report.read_text())["install"]
    assert only["metadata"]["name"] == "brido"


@pytest.mark.parametrize("extra", ["torch", "all"])
def test_examples_run_with_their_extra_alone(extra: str, tmp_path: Path):
    variables = environment(tmp_path, hidden(extra))
    if extra == "torch":
        run_examples(extra, tmp_path, sys.executable, variables)
        loop = [sys.executable, ROOT / "examples/loop.py", "--help"]
        subprocess.run(loop, cwd=tmp_path, env=variables, check=True)
    for command in examples():
        if command.extra == extra and command.kind == "console":
            check_command(command, tmp_path, variables | {"PATH": put_on_path(tmp_path)["PATH"]})


@pytest.mark.parametrize("extra", ["torch", "all"])
def test_every_module_imports_or_says_what_is_missing(extra: str, wheel: Path, tmp_path: Path):
    """Outside the checkout: from what the wheel holds."""
    pip("install", "--no-deps", "--no-index", "--target", tmp_path / "installed", wheel)
    done = subprocess.run(
        [sys.executable, "-P", "-c", IMPORT_ALL], cwd=tmp_path, capture_output=True, text=True,
        env=environment(tmp_path, hidden(extra), tmp_path / "installed"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    place, *without = done.stdout.splitlines()
    assert place == str(tmp_path / "installed/brido/__init__.py")
    assert bool(without) == (extra == "torch")


def test_summaries_are_written_with_torch_alone_and_no_dvc(tmp_path: Path):
    """No package under the GPL (pygit2, which DVC brings) comes with serving."""
    assert not {"dvc", "pygit2", "datasets", "openai", "spacy", "ray"} & closure("torch")
    small_project.write_checkpoint(tmp_path / "model")
    write_usage(tmp_path / "model", Usage(reading=ReadingSettings(max_source_tokens=20)))
    command = [sys.executable, "-m", "brido", "summarize", "--model", "model", "-"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment(tmp_path, hidden("torch")),
        input=small_project.document(0),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["summary"]
