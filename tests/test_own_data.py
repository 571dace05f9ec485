"""examples/own_data.md as written: its three lines and its `-S` options give settings that pass."""

import re
from pathlib import Path

import pytest
from dvc.utils.hydra import apply_overrides
from ruamel.yaml import YAML

from brido.config import check_params, load_params

ROOT = Path(__file__).parent.parent
EXAMPLE = (ROOT / "examples/own_data.md").read_text()


def merge(target: dict, changes: dict) -> None:
    for key, value in changes.items():
        if isinstance(value, dict):
            merge(target.setdefault(key, {}), value)
        else:
            target[key] = value


@pytest.mark.parametrize("text", [EXAMPLE, (ROOT / "README.md").read_text()])
@pytest.mark.parametrize("name", ["xsum", "cnndm"])
def test_three_lines_on_a_preset(text: str, name: str) -> None:
    yaml = YAML(typ="safe")
    lines = yaml.load(
        next(b for b in re.findall(r"```yaml\n(.*?)```", text, re.S) if "files:" in b)
    )
    raw = yaml.load((ROOT / f"presets/{name}.yaml").read_text())
    del raw["data"]["hub"]
    merge(raw, lines)
    params = check_params(raw)
    assert params.data.files.train == "my/articles.jsonl"
    assert params.checkpoints["base"].source == "facebook/bart-large-cnn"


def test_options_on_the_default_settings(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    (block,) = re.findall(r"```console\n(dvc exp run -n own-alpha-0.*?)\n```", EXAMPLE, re.S)
    options = re.findall(r"-S (?:'([^']+)'|(\S+))", block)
    apply_overrides(tmp_path / "params.yaml", [quoted or plain for quoted, plain in options])
    params = load_params(tmp_path / "params.yaml")
    assert params.data.files.train == "my/articles.jsonl"
    assert params.checkpoints["base"].embedded.tokenizer == "bpe"
