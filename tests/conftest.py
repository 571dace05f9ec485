"""What tests of several rooms share."""

import os

# Before torch is imported: tests fork, and the fork of a process with OpenMP threads can wait for
# ever.
os.environ["OMP_NUM_THREADS"] = "1"

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest
from loopback_hub import LoopbackHub

from brido.utils.progress import show_messages

ROOT = Path(__file__).parent.parent
# They have tests of minutes, and begin first: at the end no process is left alone with one.
LONG = (
    "cli/test_own_data.py", "test_readme.py", "test_pipeline.py", "stages/test_hub_end_to_end.py",
    "experiments/test_study.py", "test_kills.py", "test_wheel.py",
    "tables/test_fuzz_readers.py", "test_bad_inputs.py",
)  # fmt: skip
# How long an example takes says something of the machine, and nothing of the code.
hypothesis.settings.register_profile("any machine", deadline=None)
hypothesis.settings.load_profile("any machine")

# Waiting between attempts proves nothing in a test.
_IMPATIENT = """
import runpy, sys, time
time.sleep = lambda seconds: None
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


def pytest_configure(config: pytest.Config) -> None:
    """Let pytest-xdist hand out files in their order, not those with the most tests first.

    Tests call stages and commands in this process: what they say is on stderr, as users have it.
    """
    config.option.loadscopereorder = False
    show_messages()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {ROOT / "tests" / name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.fixture(scope="session")
def hub_folder(tmp_path_factory: pytest.TempPathFactory) -> tuple[LoopbackHub, Path]:
    """The repositories of `tiny_hub`, written once, three that cannot be read, and a script."""
    import tiny_hub

    folder = tmp_path_factory.mktemp("repositories")
    hub = LoopbackHub()
    tiny_hub.fill(hub, folder)
    for kind in ("models", "datasets"):
        for fault in ("private", "gated", "broken"):
            hub.add(kind, f"some/{fault}", folder / "xsum").fault = fault
    script = folder / "scripted"
    script.mkdir()
    (script / "scripted.py").write_text("raise SystemExit('a script of the hub was run')\n")
    (script / "README.md").write_text("A data set of former days.\n")
    hub.add("datasets", "some/scripted", script)
    return hub, folder


@pytest.fixture
def hub(hub_folder: tuple[LoopbackHub, Path]) -> Iterator[tuple[LoopbackHub, str]]:
    """A running loopback hub and its address."""
    hub = hub_folder[0]
    hub.requests.clear()
    with hub.running() as address:
        yield hub, address


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small run after all stages, to be read; `finished` is a copy to change."""
    import finished_run

    folder = tmp_path_factory.mktemp("finished")
    finished_run.make(folder)
    return folder


@pytest.fixture
def finished(finished_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the finished run as the present folder."""
    shutil.copytree(finished_run, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BRIDO_WORK", raising=False)
    return tmp_path


@pytest.fixture
def run_stage(tmp_path: Path) -> Run:
    """Runs `python -m MODULE ARGUMENTS` in tmp_path as users do, in a process of its own.

    huggingface_hub reads HF_ENDPOINT and HF_HOME when it is imported, so no other way is real.
    Keyword arguments are environment variables.
    """

    def run(module: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("HF_")},
            "HF_HOME": str(tmp_path / "cache"),
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(ROOT),
            **variables,
        }
        return subprocess.run(
            [sys.executable, "-c", _IMPATIENT, module, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run
