"""Every setting has one text, and files repeat it."""

import re
from pathlib import Path

from click.testing import CliRunner
from ruamel.yaml import YAML

from brido.cli.options import PAGE, REPEATED, command, generated
from brido.settings.load import PREVIOUS, load_params
from brido.settings.params import Params
from brido.settings.presets import flatten
from brido.settings.text import settings

ROOT = Path(__file__).parents[2]
ALL = list(settings())


def test_what_repeats_the_texts_is_up_to_date():
    for path, text in generated().items():
        assert text == (ROOT / path).read_text(encoding="utf-8"), "python -m brido options --write"


def test_writing_keeps_the_params_file_that_was_there(tmp_path, monkeypatch):
    (tmp_path / "docs").mkdir()
    (tmp_path / PAGE).write_text("<!-- settings pool -->\n<!-- end -->\n", encoding="utf-8")
    (tmp_path / "params.yaml").write_text("pool: {minimum: 3}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(command, ["--write"]).exit_code == 0
    assert load_params() == Params()
    assert PREVIOUS.read_text(encoding="utf-8") == "pool: {minimum: 3}\n"


def test_every_key_stands_in_params_or_on_the_page():
    page = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    text = (ROOT / "params.yaml").read_text(encoding="utf-8")
    shown = {starred(key) for key in flatten(YAML(typ="safe").load(text))}
    for cell in re.findall(r"^\| (`[\w.*`, ]+`) \|", page, re.MULTILINE):
        shown |= set(re.findall(r"[\w.*]+", cell))
    missing = {one.key for one in ALL if not one.key.startswith(REPEATED)} - shown
    # A section that may be null is there with its keys.
    assert {key for key in missing if not any(k.startswith(f"{key}.") for k in shown)} == set()


def starred(key: str) -> str:
    """A key with `*` for a name of the user's."""
    key = re.sub(r"^(checkpoints|generation|reading|tuned|variants)\.\w+", r"\1.*", key)
    return re.sub(r"^runtime\.endpoints\.\w+", "runtime.endpoint", key)
