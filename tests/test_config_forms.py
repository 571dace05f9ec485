"""Sections with several forms (source, method) and `reading`: a key stands where it matters."""

import pytest
from test_config import BASE, problems

from brido.config import check_params
from brido.search import SamplingSettings, SearchSettings
from brido.settings import ReadingSettings

FILES = {"train": "train.jsonl", "validation": "validation.jsonl"}
WORLD_OR_HUB = (
    "data.hub: belongs to source hub, and data.source is world: remove it, or set data.source to "
    "hub"
)
MISPLACED = [
    ({"data": {"hub": {}}}, WORLD_OR_HUB),
    ({"data": {"source": "world", "hub": None}}, WORLD_OR_HUB),
    (
        {"generation": {"temperature": 0.7}},
        "generation.temperature: belongs to method sampling, and generation.method is "
        "diverse_beam: remove it, or set generation.method to sampling",
    ),
    (
        {"generation": {"method": "files", "files": FILES, "max_length": 9}},
        "generation.max_length: belongs to method diverse_beam or sampling, and generation.method "
        "is files: remove it, or set generation.method to diverse_beam or sampling",
    ),
    (
        {"checkpoints": {"base": {"source": "some/model", "embedded": {}}}},
        "checkpoints.base.embedded: belongs to source embedded, and checkpoints.base.source is a "
        "hub id or folder: remove it, or set checkpoints.base.source to embedded",
    ),
    (
        {"checkpoints": {"base": {"source": "embedded", "revision": None}}},
        "checkpoints.base.revision: belongs to a hub id or folder, and checkpoints.base.source is "
        "embedded: remove it, or set checkpoints.base.source to a hub id or folder",
    ),
    *(
        ({section: {key: None}}, f"{section}.{key}: belongs to reading.default.{key}")
        for section, key in (
            ("generation", "max_source_tokens"),
            ("training", "max_source_tokens"),
            ("decoding", "max_source_tokens"),
            ("training", "decoder_prefix"),
            ("reading", "max_source_tokens"),
        )
    ),
]


@pytest.mark.parametrize(("sections", "sentence"), MISPLACED)
def test_a_key_that_cannot_matter_says_where_it_belongs(sections, sentence):
    assert problems(**sections) == f"params.yaml has a problem:\n  - {sentence}"


@pytest.mark.parametrize(
    ("section", "key"), [("data", "source"), ("generation", "method")], ids=str
)
@pytest.mark.parametrize("value", ["wrld", None, 3, ["hub"]])
def test_an_unknown_form_names_those_there_are(section, key, value):
    known = {"data": "'world', 'hub' or 'files'"}.get(
        section, "'diverse_beam', 'sampling' or 'files'"
    )
    shown = "null" if value is None else repr(value)
    assert f"{section}.{key}: must be {known}, not {shown}" in problems(**{section: {key: value}})


def test_no_word_of_the_library_reaches_the_user():
    message = problems(
        data={"source": "x"},
        generation=3,
        reading={"default": []},
        checkpoints={"base": {}, "other": "some/model"},
        decoding={"early_stopping": 3},
        scoring={"normalization": True},
    )
    for word in ("tag", "discriminator", "dictionary", "instance", "Settings", "Input", "True"):
        assert word not in message
    for line in (
        "generation: must hold keys of its own, not 3",
        "reading.default: must hold keys of its own, not []",
        "checkpoints.base.source: this key is missing",
        "checkpoints.other: must hold keys of its own, not 'some/model'",
        "decoding.early_stopping: must be true, false or 'never', not 3",
        "scoring.normalization: must be 'equation' or 'listing', not true",
    ):
        assert f"  - {line}\n" in f"{message}\n"


def test_suggestions_inside_a_form():
    assert "did you mean data.files.train?" in problems(
        data={"source": "files", "files": {"trian": "a.csv"}}
    )
    assert "did you mean generation.num_beams?" in problems(generation={"num_beam": 3})
    assert "generation.files.validation: this key is missing" in problems(
        generation={"method": "files", "files": {"train": "a.jsonl"}}
    )


def test_the_section_of_the_chosen_form_may_be_left_out():
    data = check_params({**BASE, "data": {"source": "hub"}}).data
    assert data.hub.id == "EdinburghNLP/xsum"
    assert not hasattr(data, "world")
    sampling = check_params({**BASE, "generation": {"method": "sampling"}}).generation
    assert (sampling.num_candidates, sampling.top_p, sampling.max_length) == (16, 0.95, 64)


def test_what_the_engine_is_asked_for():
    generation = {"num_candidates": 4, "keep_every": 2, "num_beams": 8, "length_penalty": 0.5}
    assert check_params({**BASE, "generation": generation}).generation.search() == SearchSettings(
        num_beams=8,
        num_beam_groups=2,
        diversity_penalty=0.1,
        length_penalty=0.5,
        max_length=64,
        early_stopping=True,
        num_return_sequences=8,
    )
    generation = {"method": "sampling", "num_candidates": 4, "temperature": 0.7}
    assert check_params({**BASE, "generation": generation}).generation.search() == SamplingSettings(
        temperature=0.7, top_p=0.95, max_length=64, num_return_sequences=4
    )


def test_reading_is_the_defaults_with_the_keys_of_a_checkpoint():
    checkpoints = {"base": {"source": "embedded"}, "brio": {"source": "some/model"}}
    reading = {"default": {"max_source_tokens": 512}, "base": {"decoder_prefix": "brio"}}
    params = check_params({"checkpoints": checkpoints, "reading": reading})
    base = ReadingSettings(max_source_tokens=512, decoder_prefix="brio")
    assert params.reading_of("base") == params.reading_of("tuned") == base
    assert params.reading_of("brio") == ReadingSettings(max_source_tokens=512)
    alone = check_params({"checkpoints": checkpoints, "reading": {"brio": {}}})
    assert alone.reading_of("base") == alone.reading_of("brio") == ReadingSettings()


def test_reading_names_checkpoints():
    message = problems(reading={"tuned": {}, "brio": {}})
    assert "reading.tuned: tuned reads as base does: put its keys into reading.base" in message
    assert "reading.brio: no key of checkpoints; known here: default, base" in message
    message = problems(checkpoints={**BASE["checkpoints"], "default": {"source": "embedded"}})
    assert "`default` is no name" in message
