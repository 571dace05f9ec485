"""Settings that every stage would choke on later are refused when params.yaml is read."""

import math

import pytest
from test_load import BASE, problems

from brido.search import SamplingSettings, SearchSettings
from brido.settings.load import check_params

FILES = {"source": "files"}


def embedded(**changes) -> dict:
    return {"checkpoints": {"base": {"source": "embedded", "embedded": changes}}}


def source(**changes) -> dict:
    return {"generation": {"base": {"checkpoint": "base", **changes}}}


@pytest.mark.parametrize(
    ("sections", "sentence"),
    [
        (embedded(tokenizer="bpe", vocabulary_size=259), "vocabulary_size (259) must be at least"),
        (embedded(attention_heads=3), "d_model (128) must be a multiple of attention_heads (3)"),
        ({"reading": {"default": {"max_source_tokens": 1}}}, "max_source_tokens: must be greater"),
        ({"training": {"length_penalty": math.nan}}, "length_penalty: must be a finite number"),
        *(
            ({"scoring": {"alpha": value}}, "scoring.alpha")
            for value in ("None", "31", -1, math.nan, True)
        ),
        ({"scoring": {"alpha": 2.5, "normalization": "listing"}}, "15 (N-1)"),
        (
            {"decoding": {"min_length": 9, "max_length": 8}},
            "min_length (9) is more than max_length (8)",
        ),
        ({"decoding": {"num_beams": 0}}, "decoding.num_beams: "),
        ({"decoding": {"num_beams": "None"}}, "written null"),
        ({"decoding": {"num_beam_groups": 1}}, "decoding.num_beam_groups: unknown key"),
        ({"pool": None}, "pool: must be a section with keys, not null"),
        ({"reading": {"default": {"prompt": "{{ document[:5] }}"}}}, "reading.default"),
        # DVC reads the section of every metric.
        (
            {"evaluation": {"metrics": ["rouge", "geval"], "rouge": {}}},
            "'+evaluation.geval.KEY=VALUE'",
        ),
        (source(num_beams=15, num_beam_groups=2), "num_beam_groups (2) must divide num_beams (15)"),
        (source(num_beams=15, num_candidates=16), "more than num_beams (15)"),
        ({"training": {"seed": 2**64}}, "training.seed: must be less than"),
        ({"training": {"learning_rate": 1e300}}, "training.learning_rate: must be less than"),
        *(
            ({"training": {"warmup_steps": value}}, f"a share of them below 1, not {value!r}")
            for value in (-1, 1.5, math.nan, True, 2**63)
        ),
        (source(max_length=2**40), "generation.base.max_length: must be less than"),
        (source(method="sampling", temperature=1e-300), "temperature: must be greater than"),
        ({"data": {"world": {"extras_per_reference": [2, 5]}}}, "data.world.extras_per_reference"),
        ({"data": {"world": {"extras_per_reference": [2, 1]}}}, "fewest first"),
        ({"data": {"lowercase": True}}, "data: lowercase: names"),
        (source(num_candidates=1), "generation: num_candidates must be at least 2"),
        ({"data": FILES}, "data.files: this key is missing"),
        ({"data": {**FILES, "files": {"trian": "a.csv"}}}, "did you mean data.files.train?"),
        (source(num_beam=3), "did you mean generation.base.num_beams?"),
        (
            source(method="files", checkpoint="none", files={"train": "a.jsonl"}),
            "generation.base.files.validation: this key is missing",
        ),
        ({"reading": {"tuned": {}}}, "reading: 'tuned' is not a key of checkpoints"),
        (
            {"checkpoints": {**BASE["checkpoints"], "default": {"source": "embedded"}}},
            "`default` cannot be a name",
        ),
        # Names that differ in capitals alone would share a folder on some disks.
        ({"tuned": {"vote": {}, "Vote": {}}}, "tuned: `Vote` cannot be a name"),
        ({"tuned": {"vote": {}, "Base": {}}}, "tuned: `Base` cannot be a name"),
        ({"data": {**FILES, "files": {"train": []}}}, "data.files.train"),
        (
            {"data": {**FILES, "files": {"train": "a", "test_fraction": 0.0}}},
            "data.files: test_fraction: 0 leaves test empty",
        ),
        (
            {"data": {**FILES, "files": {"train": "a", "validation_fraction": 0.95}}},
            "of the rows leave nothing for train",
        ),
        ({"data": {"source": "hub", "hub": {"id": "a\0b"}}}, "holds characters that no name has"),
        ({"checkpoints": {"base": {"source": " "}}}, "source: must not be empty"),
        ({"checkpoints": {1: 2}}, "checkpoints.1: "),
        ({"evaluation": {"metrics": []}}, "metrics: nothing would be measured"),
        ({"evaluation": {"metrics": ["rogue"]}}, "unknown ['rogue']"),
        ({"runtime": {"threads": 100_000}}, "runtime.threads: must be less than or equal to 1024"),
        ({"runtime": {"device": "cuda:x"}}, "runtime.device"),
    ],
)
def test_what_would_fail_later_is_refused_at_once(sections, sentence):
    assert sentence in problems(**sections)


def test_a_length_that_the_checkpoint_alone_knows_is_compared_with_nothing():
    assert check_params({**BASE, "decoding": {"min_length": 90}}).decoding.min_length == 90


def test_a_warm_up_is_kept_as_it_is_written():
    base = {"checkpoints": {"base": {"source": "some/model"}}}
    for value in (0, 10_000, 0.0, 0.1):
        found = check_params({**base, "training": {"warmup_steps": value}}).training.warmup_steps
        assert (found, type(found)) == (value, type(value))


def test_values_are_shown_escaped_and_cut():
    message = problems(scoring={"normalization": "\x1b[2J" + "x" * 100_000, "\x1b" * 9: 1})
    assert "\x1b" not in message
    assert len(message) < 500


def test_a_glob_or_a_list_of_files_is_fine():
    for train in ("a.csv", ["a.csv", "b/*.jsonl"]):
        base = {"checkpoints": {"base": {"source": "some/model"}}}
        metrics = {"evaluation": {"metrics": ["rouge", "mentions"], "rouge": {}, "mentions": {}}}
        check_params({**base, **metrics, "data": {**FILES, "files": {"train": train}}})


@pytest.mark.parametrize("penalty", [math.nan, math.inf])
def test_the_engines_refuse_the_same(penalty):
    for kind in (SearchSettings, SamplingSettings):
        with pytest.raises(ValueError, match="length_penalty"):
            kind(length_penalty=penalty)
