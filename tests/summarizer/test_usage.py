"""brido.json: written, read, checked, and harmless to transformers."""

import json

import pytest
import small_project
from transformers import AutoModelForSeq2SeqLM, BertConfig, EncoderDecoderConfig

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


def test_a_model_without_the_file_has_defaults_that_options_change(folder):
    assert read_usage(folder) is None
    # The model has 40 positions.
    assert usage_in(folder).reading.max_source_tokens == 40
    usage = usage_in(folder, {"max_source_tokens": 12, "num_beams": 2, "prompt": None})
    assert (usage.reading.max_source_tokens, usage.decoding.num_beams) == (12, 2)
    search = writing_of(folder, usage).search
    assert (search.num_beams, search.max_length, search.returned) == (2, 15, 1)


def test_a_model_of_two_reads_what_its_encoder_can(tmp_path):
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    parts = [BertConfig(**sizes, max_position_embeddings=each) for each in (16, 12)]
    EncoderDecoderConfig.from_encoder_decoder_configs(*parts).save_pretrained(tmp_path)
    assert usage_in(tmp_path).reading.max_source_tokens == 16


def test_a_models_type_says_that_it_has_an_encoder(folder):
    """Behind a prompt, max_length would count the prompt too."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    del config["is_encoder_decoder"]
    path.write_text(json.dumps(config))
    search = writing_of(folder, Usage()).search
    assert (search.max_length, search.min_length) == (15, 0)


def test_guidance_is_the_models_unless_a_caller_says_otherwise(folder):
    own = GuidanceSettings(others=2)
    with_it, without = Usage(guidance=own), Usage()
    assert writing_of(folder, with_it).guidance == own
    assert writing_of(folder, with_it, guided=True).guidance == own
    assert writing_of(folder, with_it, guided=False).guidance is None
    assert writing_of(folder, without).guidance is None
    assert writing_of(folder, without, guided=True).guidance == GuidanceSettings()


def test_candidates_are_diverse_beams(folder):
    search = writing_of(folder, Usage(), candidates=6).search
    assert (search.num_beams, search.num_beam_groups, search.returned) == (6, 6, 6)
    assert (search.diversity_penalty, search.max_length) == (1.0, 15)


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


def test_a_decoder_only_model_without_a_length_asks_for_one(folder):
    (folder / "config.json").write_text('{"model_type": "llama", "max_position_embeddings": 64}')
    (folder / "generation_config.json").unlink()
    assert usage_in(folder).reading.max_source_tokens == 32
    with pytest.raises(BridoError, match="--max-length"):
        writing_of(folder, usage_in(folder))
    assert writing_of(folder, usage_in(folder, {"max_length": 9})).search.max_length == 9
