"""Stage decode: settings in use, a row a document, and what is recorded."""

import shutil

import pytest
import small_project
from small_project import assert_decoded

from brido.candidates.decoding import search_settings
from brido.candidates.local import Generator
from brido.search.settings import DecodingSettings
from brido.settings.load import load_params
from brido.tables import DECODED, read_rows
from brido.utils.errors import BridoError
from stages import decode, paths


def run():
    decode.decode(load_params(), "base")
    return [read_rows(paths.decoded("base", split), DECODED, "") for split in decode.SPLITS]


def test_summaries_are_the_best_of_a_beam_search_with_the_checkpoints_settings(project):
    validation, test = run()
    assert [row["id"] for row in validation] == [f"validation-{n}" for n in range(7)]
    assert [row["id"] for row in test] == [f"test-{n}" for n in range(6)]
    assert_decoded(test)


def test_a_decoder_only_checkpoint_says_how_many_tokens_it_writes_or_is_refused(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "llama"}', encoding="utf-8")
    settings = tmp_path / "generation_config.json"
    settings.write_text('{"max_length": 2048, "min_new_tokens": 3}', encoding="utf-8")
    with pytest.raises(BridoError, match=r"decoding\.max_length: set it"):
        search_settings(tmp_path, DecodingSettings())
    given = search_settings(tmp_path, DecodingSettings(max_length=40))
    assert (given["min_length"], given["max_length"]) == (3, 40)
    settings.write_text('{"max_length": 2048, "max_new_tokens": 30}', encoding="utf-8")
    assert search_settings(tmp_path, DecodingSettings())["max_length"] == 30
    settings.write_text("", encoding="utf-8")
    with pytest.raises(BridoError, match=r"generation_config\.json is damaged .* checkpoint@"):
        search_settings(tmp_path, DecodingSettings())


def test_a_checkpoint_that_writes_nothing_stops_with_a_sentence(project, monkeypatch):
    """An empty document's empty summary is nobody's fault, and one that says something enough."""
    small_project.write_corpus(project, "validation", [" ", "w1 w2", "w3 w4 w5"])
    generate = Generator.generate

    def silent(self, documents, settings, guidance):
        found = generate(self, documents, settings)
        quiet = [i for i, name in enumerate(documents) if name not in speaking]
        for index in quiet:
            found.written[index].texts[0] = ""
        return found

    monkeypatch.setattr(Generator, "generate", silent)
    speaking = {f"test-{n}" for n in range(6)}
    with pytest.raises(BridoError, match=r"base validation: all 2 summaries are empty.*special"):
        run()
    assert not paths.decoded("base", "validation").exists()
    shutil.rmtree(".brido")
    speaking.add("validation-1")
    assert [bool(row["summary"]) for row in run()[0]] == [False, True, False]
