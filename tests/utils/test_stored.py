"""JSON that the project wrote itself, and that somebody has changed since."""

import pytest

from brido.utils.errors import BridoError
from brido.utils.stored import read_json


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "3", '{"chosen": 5}', '{"chosen": null}', "{}", "[" * 100_000, "\xff"],
)
def test_another_form_is_damage_and_names_the_stage(tmp_path, text):
    path = tmp_path / "choice.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(BridoError, match="choice.json is damaged .*`dvc repro -sf choose`"):
        read_json(path, "choose", chosen=str)
    path.write_text('{"chosen": "base", "more": 1}')
    assert read_json(path, "choose", chosen=str)["chosen"] == "base"
