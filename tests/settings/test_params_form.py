"""params.yaml, and what the presets make of it, stand in the form in which DVC writes them back."""

import difflib
import shutil
from functools import cache
from pathlib import Path

import pytest
from dvc.utils.hydra import apply_overrides

from brido.settings.presets import preset_names, preset_text

ROOT = Path(__file__).parents[2]
PRESETS = ROOT / "presets"
NAMES = preset_names(PRESETS)


@cache
def text_of(name: str) -> str:
    """The params.yaml that the preset makes; the default is the project's own."""
    return preset_text(name, PRESETS)


def changed(source: Path, folder: Path, *overrides: str) -> list[str]:
    """The lines of a diff after `dvc exp run -S OVERRIDE ...` has written `source`."""
    copy = folder / f"copy-{source.name}"
    shutil.copy(source, copy)
    apply_overrides(copy, list(overrides))
    before, after = (path.read_text().splitlines() for path in (source, copy))
    lines = list(difflib.unified_diff(before, after, lineterm="", n=0))[2:]
    return [line for line in lines if not line.startswith("@@")]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "override",
    ["scoring.alpha=3", "scoring.alpha=inf", "decoding.num_beams=7", "runtime.precision=x"],
)
def test_one_changed_value_is_one_line_of_a_diff(name: str, override: str, tmp_path: Path):
    """So all other lines are written back as they are."""
    (tmp_path / "params.yaml").write_text(text_of(name))
    old, new = changed(tmp_path / "params.yaml", tmp_path, override)
    key = override.partition("=")[0].rpartition(".")[2]
    for line in (old, new):
        assert line[1:].strip().startswith(f"{key}:")
    # The comment stays where it was.
    assert old.partition("#")[1:] == new.partition("#")[1:]
