"""The ranges of pyproject.toml: the wheel among the lowest and the newest packages that resolve.

uv resolves and installs; tests of the engines and of the stages run on the result. PyTorch is the
installed one: its wheel is hundreds of megabytes, and its processor builds are on no common index.
"""

import os
import subprocess
import sys
import sysconfig
from importlib.metadata import distribution
from pathlib import Path
from shutil import rmtree

import pytest
from dvc_project import copy_project
from packaging.requirements import Requirement
from test_wheel import built, requirements

pytestmark = pytest.mark.slow
UV = Path(sysconfig.get_path("scripts")) / "uv"
# What is tried of each extra: seconds of tests, in every room that calls other packages.
TESTS = {
    "": ["tests/vote/test_consensus.py", "tests/checkers/test_said_numbers.py"],
    "torch": ["tests/likelihood/test_likelihood.py", "tests/search/test_own_search.py"],
    "all": ["tests/tables/test_tables.py", "tests/stages/test_train.py"],
}
# The tests' own packages, as installed.
TOOLS = ("pytest", "hypothesis", "pytest-timeout")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A copy of the checkout without the library, and the library's wheel."""
    if not UV.is_file():
        pytest.skip("needs `pip install uv`")
    folder, wheels = (tmp_path_factory.mktemp(name) for name in ("checkout", "wheels"))
    copy_project(folder)
    wheel = built(folder, wheels)
    for name in ("brido", "brido.egg-info", "build"):
        rmtree(folder / name, ignore_errors=True)
    return folder, wheel


def uv(*arguments: str | Path) -> None:
    """Run uv, which reads the places that pip is told of; skip where no index answers."""
    places = {"UV_FIND_LINKS": "PIP_FIND_LINKS", "UV_DEFAULT_INDEX": "PIP_INDEX_URL"}
    told = {to: os.environ[of] for to, of in places.items() if os.environ.get(of)}
    done = subprocess.run(
        [UV, *map(str, arguments)], env=os.environ | told, capture_output=True, text=True
    )
    if done.returncode and any(word in done.stderr for word in ("fetch", "connect", "dns error")):
        pytest.skip(f"no package index here: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr


def of_torch() -> list[str]:
    """What PyTorch needs on a processor, each as installed."""
    asked = [Requirement(text) for text in distribution("torch").requires or []]
    names = {
        one.name
        for one in asked
        if (one.marker is None or one.marker.evaluate({"extra": ""}))
        and not one.name.startswith(("nvidia-", "cuda-", "triton"))
    }
    return [_pinned(name) for name in sorted(names)]


def _pinned(name: str) -> str:
    return f"{name}=={distribution(name).version}"


def link_torch(site: Path) -> None:
    """Let a Python with these site-packages import the installed PyTorch and nothing beside it."""
    links = site / "torch-of-the-tests"
    links.mkdir()
    found = distribution("torch")
    for top in {file.parts[0] for file in found.files or [] if file.parts[0] != ".."}:
        (links / top).symlink_to(found.locate_file(top))
    (site / "torch.pth").write_text(str(links))


@pytest.mark.parametrize("extra", TESTS)
@pytest.mark.parametrize("resolution", ["lowest-direct", "highest"])
def test_the_wheel_works_with(resolution: str, extra: str, checkout, tmp_path: Path):
    folder, wheel = checkout
    uv("venv", "--quiet", "--python", sys.executable, tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    asked = [str(one) for one in requirements(extra) if one.name != "torch"]
    (tmp_path / "asked.txt").write_text("\n".join([*asked, *map(_pinned, TOOLS)]))
    (tmp_path / "torch.txt").write_text("\n".join(of_torch()) if extra else "")
    # No package's wish for PyTorch is followed.
    (tmp_path / "override.txt").write_text('torch; python_version < "3"\n')
    install = ["pip", "install", "--quiet", "--python", python]
    files = ["-r", tmp_path / "asked.txt", "--override", tmp_path / "override.txt"]
    uv(*install, "--resolution", resolution, *files, "-r", tmp_path / "torch.txt")
    uv(*install, "--no-deps", wheel)
    if extra:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        link_torch(tmp_path / "env" / "lib" / f"python{version}" / "site-packages")
    listed = subprocess.run([UV, "pip", "freeze", "--python", python], capture_output=True)
    print(listed.stdout.decode())
    quick = ["-q", "-m", "not slow and not gpu", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [python, "-m", "pytest", *quick, "--basetemp", tmp_path / "tests", *TESTS[extra]],
        cwd=folder, capture_output=True, text=True,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "passed" in done.stdout
