"""brido.json: written, read, checked, and harmless to transformers."""

import json

import pytest
import small_project
from transformers import AutoModelForSeq2SeqLM

from brido.models.settings import ReadingSettings
from brido.search.settings import DecodingSettings, GuidanceSettings
from brido.summarizer.model import usage_in, writing_of
from brido.summarizer.settings import VariantSystem
from brido.summarizer.usage import USAGE_FILE, Usage, read_usage, usage_of, write_model, write_usage
from brido.utils.errors import BridoError


@pytest.fixture
def folder(tmp_path):
    small_project.write_checkpoint(tmp_path / "model")
    return tmp_path / "model"


def test_what_is_written_is_read_and_transformers_does_not_mind(folder):
    reading = ReadingSettings(max_source_tokens=20)
    variant = VariantSystem(checkpoint="base", num_beams=2, guidance=GuidanceSettings(others=3))
    usage = usage_of(
        str(folder),
        reading,
        variant.decoding(DecodingSettings()),
        variant.guidance,
        "short",
        base="a" * 64,
        verdict="Keep short.",
        lowercase=True,
    )
    write_usage(str(folder), usage)
    assert read_usage(str(folder)) == usage
    # The decoding is complete: the checkpoint's keys stand in it too.
    assert usage.decoding.model_dump() == {
        "num_beams": 2,
        "length_penalty": 2.0,
        "min_length": 0,
        "max_length": 15,
        "no_repeat_ngram_size": 0,
        "early_stopping": True,
    }
    assert (usage.system, usage.base, usage.verdict) == ("short", "a" * 64, "Keep short.")
    assert usage.lowercase
    assert usage.guidance == GuidanceSettings(others=3)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder)
    assert model.generation_config.num_beams == 3


def test_the_record_of_a_local_path_does_not_leave_with_the_model(folder, tmp_path):
    (folder / "source.json").write_text('{"source": "/home/ann/secret"}')
    write_model(folder, tmp_path / "others", Usage(reading=ReadingSettings()))
    found = {path.name for path in (tmp_path / "others").iterdir()}
    assert found == {path.name for path in folder.iterdir()} - {"source.json"} | {USAGE_FILE}


def test_all_wrong_keys_are_named(folder):
    raw = {"format": 2, "reading": {"max_source_tokens": "many"}, "temperature": 1}
    (folder / USAGE_FILE).write_text(json.dumps(raw))
    with pytest.raises(BridoError) as error:
        read_usage(folder)
    for key in (USAGE_FILE, "format", "reading.max_source_tokens", "'many'", "temperature"):
        assert key in str(error.value)
    (folder / USAGE_FILE).write_text("[1]")
    with pytest.raises(BridoError, match=r"brido\.json is damaged .* choose"):
        read_usage(folder)


@pytest.mark.parametrize("name", ["generation_config.json", "tokenizer_config.json"])
def test_a_folder_that_was_copied_in_part_is_refused(folder, name):
    """Without it the model writes other texts, or none."""
    write_usage(folder, Usage())
    (folder / name).unlink()
    with pytest.raises(BridoError, match=f"brido.json stands without {name}"):
        usage_in(folder)


@pytest.mark.parametrize("prompt", ["{{ 'x' * 10**11 }}{{ document }}", "{{ nothing.at.all }}"])
def test_a_strangers_prompt_has_nothing_of_a_template_but_the_document(folder, prompt):
    write_usage(folder, Usage(reading=ReadingSettings(prompt=prompt)))
    with pytest.raises(BridoError, match=r"reading\.prompt"):
        read_usage(folder)


REFUSED = [
    (lambda folder: writing_of(folder, Usage(), guided="no"), "guided"),
    (lambda folder: usage_in(folder / "nowhere"), "no such folder"),
    (lambda folder: usage_in(folder / "config.json"), "a model is a folder"),
    (lambda folder: usage_in(folder.parent), r"no config\.json"),
    (
        lambda folder: usage_in(folder, {"max_source_tokens": 2}),
        r"max_source_tokens: .* 2",
    ),
    (lambda folder: usage_in(folder, {"num_beams": 0}), r"decoding\.num_beams: .* 0"),
    (lambda folder: usage_in(folder, {"num_beam": 2}), "num_beam .* did you mean num_beams"),
]


@pytest.mark.parametrize(("call", "named"), REFUSED)
def test_what_is_refused(folder, call, named):
    with pytest.raises(BridoError, match=named):
        call(folder)
