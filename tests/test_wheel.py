"""The wheel: `brido` alone, with everything it reads, at home outside the checkout."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from dvc_project import copy_project
from test_readme import readme_python

pytestmark = pytest.mark.slow

# Data that modules read beside their code.
DATA = (".jinja", ".css", ".js", "py.typed")
IMPORT_ALL = """
import importlib, pkgutil, brido
for module in pkgutil.walk_packages(brido.__path__, "brido."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
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


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's content alone; its requirements are those of the environment."""
    folder = tmp_path_factory.mktemp("installed")
    pip("install", "--no-deps", "--no-index", "--target", folder, wheel)
    return folder


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


@pytest.mark.parametrize("code", [IMPORT_ALL, *readme_python()])
def test_what_the_readme_imports_is_there_outside_the_checkout(installed: Path, code: str):
    check = "\nimport brido, importlib.util, pathlib\nprint(pathlib.Path(brido.__file__).parent)"
    for name in ("stages", "experiments", "tests"):
        check += f"\nassert importlib.util.find_spec({name!r}) is None"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code + check],
        cwd=installed.parent,
        env=os.environ | {"PYTHONPATH": str(installed), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(installed / "brido")]
