"""Keys of earlier versions are errors that say what to write instead."""

import pytest

from brido.settings.load import REMOVED_KEYS, check_params
from brido.utils.errors import BridoError


@pytest.mark.parametrize(
    ("key", "remedy"), [pytest.param(key, remedy, id=key) for key, remedy in REMOVED_KEYS.items()]
)
def test_a_removed_key_says_what_to_write_instead(key, remedy):
    *outer, name = key.replace("*", "base").split(".")
    raw: dict = {"checkpoints": {"base": {"source": "somewhere"}}}
    section = raw
    for part in outer:
        section = section.setdefault(part, {})
    if "generation" in outer:
        section |= {"checkpoint": "base", "method": "sampling"}
    section[name] = None
    with pytest.raises(BridoError) as error:
        check_params(raw)
    assert remedy in str(error.value)


def test_a_removed_section_is_one_problem():
    raw = {"checkpoints": {"base": {"source": "somewhere"}}, "text": {"sentence_splitter": "punkt"}}
    with pytest.raises(BridoError, match=r"a problem:\n  - `text` was removed"):
        check_params(raw)
