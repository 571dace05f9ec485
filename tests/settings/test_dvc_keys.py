"""What dvc.yaml reads of params.yaml has to be in it."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from brido.settings.dvc_keys import check_dvc_keys
from brido.settings.load import load_params
from brido.settings.presets import preset_names, preset_text
from brido.utils.errors import BridoError

ROOT = Path(__file__).parents[2]


def without(tmp_path: Path, *names: str) -> Path:
    """params.yaml without some keys."""
    params = YAML().load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    for name in names:
        *sections, last = name.split(".")
        node = params
        for section in sections:
            node = node[section]
        del node[last]
    path = tmp_path / "params.yaml"
    with path.open("w", encoding="utf-8") as stream:
        YAML().dump(params, stream)
    return path


def check(path: Path) -> None:
    check_dvc_keys(path, load_params(path), ROOT / "dvc.yaml")


def test_a_whole_file_passes(tmp_path):
    check(without(tmp_path))
    # A key that no stage's entry in dvc.yaml names may be missing.
    check(without(tmp_path, "runtime.threads", "training.seed", "report.page_documents"))


@pytest.mark.parametrize("name", preset_names(ROOT / "presets"))
def test_presets_are_whole(name, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    path = tmp_path / "params.yaml"
    path.write_text(preset_text(name), encoding="utf-8")
    check(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scoring.remove_base", "false"),
        ("choice.among", "null"),
        ("documents.test", "null"),
        ("variants", '"guided"'),
        ("pairwise", '"harmonic_r1_r2"'),
    ],
)
def test_a_missing_key_is_named_with_its_value(tmp_path, name, value):
    with pytest.raises(BridoError) as caught:
        check(without(tmp_path, name))
    assert f"{name}: " in str(caught.value)
    assert value in str(caught.value)


def test_all_missing_keys_stand_in_one_message(tmp_path):
    with pytest.raises(BridoError) as caught:
        check(without(tmp_path, "scoring.unit", "choice.by"))
    assert "scoring.unit" in str(caught.value)
    assert "choice.by" in str(caught.value)
