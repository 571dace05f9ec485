"""Sections with several forms (source, method) and `reading`: a key stands where it matters."""

import pytest
from test_load import BASE, problems

from brido.models.settings import ReadingSettings
from brido.search import SamplingSettings, SearchSettings
from brido.settings.load import check_params
from brido.work.settings import RuntimeSettings


def source(**keys):
    """`generation` with one source, `base`."""
    return {"generation": {"base": {"checkpoint": "base", **keys}}}


MISPLACED = [
    ({"data": {"hub": {}}}, "data.hub: unknown key where data.source is world"),
    (
        source(temperature=0.7),
        "generation.base.temperature: unknown key where generation.base.method is diverse_beam",
    ),
    (
        {"checkpoints": {"base": {"source": "some/model", "embedded": {}}}},
        "checkpoints.base.embedded: unknown key where checkpoints.base.source is a hub id or",
    ),
    (source(max_source_tokens=3), "generation.base.max_source_tokens: belongs to reading.default."),
]


@pytest.mark.parametrize(("sections", "sentence"), MISPLACED)
def test_a_key_of_another_form_is_unknown_where_it_stands(sections, sentence):
    assert problems(**sections).startswith(f"params.yaml has a problem:\n  - {sentence}")


@pytest.mark.parametrize("value", ["wrld", None])
def test_an_unknown_form_names_those_there_are(value):
    shown = "null" if value is None else repr(value)
    known = "'world', 'hub' or 'files'"
    assert f"data.source: must be {known}, not {shown}" in problems(data={"source": value})
    known = "'diverse_beam', 'sampling', 'endpoint' or 'files'"
    message = problems(**source(method=value))
    assert f"generation.base.method: must be {known}, not {shown}" in message


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
        "generation: must be a section with keys, not 3",
        "reading.default: must be a section with keys, not []",
        "checkpoints.base.source: this key is missing",
        "checkpoints.other: must be a section with keys, not 'some/model'",
        "decoding.early_stopping: must be true, false or 'never', not 3",
        "scoring.normalization: must be 'equation' or 'listing', not true",
    ):
        assert f"  - {line}\n" in f"{message}\n"


def test_the_section_of_the_chosen_form_may_be_left_out():
    base = {"source": "embedded", "embedded": {"world": None}}
    metrics = {"evaluation": {"metrics": ["rouge", "mentions"], "rouge": {}, "mentions": {}}}
    hub = {"checkpoints": {"base": base}, "data": {"source": "hub"}}
    data = check_params(metrics | hub).data
    assert data.hub.id == "EdinburghNLP/xsum"
    assert not hasattr(data, "world")
    sampling = check_params({**BASE, **source(method="sampling")}).generation["base"]
    assert (sampling.num_candidates, sampling.top_p, sampling.max_length) == (16, 0.95, 64)


def test_what_the_engine_is_asked_for():
    generation = source(
        num_candidates=4, keep_every=2, num_beams=8, num_beam_groups=2, length_penalty=0.5
    )
    assert check_params(BASE | generation).generation["base"].search() == SearchSettings(
        num_beams=8,
        num_beam_groups=2,
        diversity_penalty=1.0,
        length_penalty=0.5,
        max_length=64,
        early_stopping=True,
        num_return_sequences=8,
        count_prompt=False,
    )
    generation = source(method="sampling", num_candidates=4, temperature=0.7)
    assert check_params(BASE | generation).generation["base"].search() == SamplingSettings(
        temperature=0.7, top_p=0.95, max_length=64, num_return_sequences=4, count_prompt=False
    )


def test_reading_is_the_defaults_with_the_keys_of_a_checkpoint():
    checkpoints = {"base": {"source": "embedded"}, "brio": {"source": "some/model"}}
    reading = {"default": {"max_source_tokens": 512}, "base": {"decoder_prefix": "brio"}}
    params = check_params({"checkpoints": checkpoints, "reading": reading})
    base = ReadingSettings(max_source_tokens=512, decoder_prefix="brio")
    # A tuned system reads as base, a variant as its checkpoint.
    assert (
        params.reading_of("base") == params.reading_of("vote") == params.reading_of("short") == base
    )
    assert params.reading_of("brio") == ReadingSettings(max_source_tokens=512)
    alone = check_params({"checkpoints": checkpoints, "reading": {"brio": {}}})
    assert alone.reading_of("base") == alone.reading_of("brio") == ReadingSettings()


def test_sources_and_the_pool_must_fit():
    base = {"checkpoint": "base"}
    message = problems(
        generation={
            "base": base,
            "a b": base,
            "big": {"checkpoint": "bgi"},
            "theirs": {"checkpoint": "none"},
        },
        pool={"eligible": ["bse"]},
    )
    for line in (
        "generation: 'a b' must consist of letters, digits and _ only",
        "generation.big.checkpoint: 'bgi' is not a key of checkpoints; known here: base",
        "generation.theirs.checkpoint: 'none' is not a key of checkpoints; known here: base",
        "pool.eligible: ['bse'] must be keys of generation (base, a b, big, theirs), each once; "
        "null: all of them",
    ):
        assert f"  - {line}" in message
    one = base | {"num_candidates": 1}
    assert "pool.minimum: 2 is more than the 1 candidates" in problems(
        generation={"base": base, "one": one}, pool={"eligible": ["one"]}
    )
    assert check_params({**BASE, "generation": {"base": base, "one": one}}).num_candidates == 17
    assert "generation.base.checkpoint: this key is missing" in problems(generation={"base": {}})
    assert "`none` cannot be a name" in problems(checkpoints={"none": {"source": "embedded"}})


def test_an_endpoint_must_fit_its_server_and_its_prompt():
    big = {"checkpoint": "none", "method": "endpoint", "model": "m", "num_candidates": 2}
    reading = {"default": {}, "big": {"prompt": "Shorten:\n{{ document }}"}}

    def said(settings, reading=reading, name="big", **runtime):
        base = {"checkpoint": "base"}
        generation = {"base": base, name: big | settings}
        return problems(generation=generation, reading=reading, runtime=runtime)

    servers = {"local": {"base_url": "http://localhost:8000/v1"}}
    assert (
        "generation.big.endpoint: 'locl' is not a key of runtime.endpoints; known here: default, "
        "local"
    ) in said({"endpoint": "locl"}, endpoints=servers)
    assert "reading.big.prompt: this key is missing" in said({}, {"default": {}})
    for name in ("base", "vote", "short"):
        message = said({}, {"default": {}, name: {"prompt": "A {{ document }}"}}, name)
        assert f"generation.{name}: a checkpoint or a system has the same name" in message
    assert "temperature: at 0 every sample is the same answer" in said({"temperature": 0})
    assert "extra_parameters: n, seed cannot be set here" in said(
        {"extra_parameters": {"seed": 1, "n": 2}}
    )
    assert "generation.big.checkpoint: must be 'none', not 'base'" in said({"checkpoint": "base"})
    assert "generation.big.model: this key is missing" in problems(
        generation={"big": {"checkpoint": "none", "method": "endpoint"}}
    )
    params = check_params(
        {**BASE, "generation": {"big": big | {"endpoint": "local"}}, "reading": reading}
        | {"runtime": {"endpoint": {"max_concurrency": 3}, "endpoints": servers}}
    )
    server = params.runtime.endpoint_of("local")
    assert (server.base_url, server.max_concurrency) == ("http://localhost:8000/v1", 3)
    assert params.runtime.endpoint_of("default") == params.runtime.endpoint
    # The secret of one server is not sent to another, and its prices are not another's.
    default = {"base_url": "http://big.example/v1", "api_key_env": "BIG_KEY", "input_price": 2.0}
    own = {"free": servers["local"], "keyed": servers["local"] | {"api_key_env": "KEY"}, "same": {}}
    runtime = RuntimeSettings(endpoint=default, endpoints=own)
    found = [runtime.endpoint_of(name) for name in ("default", *own)]
    assert [one.api_key_env for one in found] == ["BIG_KEY", None, "KEY", "BIG_KEY"]
    assert [one.input_price for one in found] == [2.0, None, None, 2.0]
    # What is wrong with a server is said of its own section.
    places = ["runtime.endpoint", *(f"runtime.endpoints.{name}" for name in own)]
    assert [one.section for one in found] == places
    assert params.reading_of("big").prompt == "Shorten:\n{{ document }}"


def test_two_sources_that_ask_the_same_questions_are_refused():
    """Answers are kept by model and text: the second server would never be asked."""
    big = {"checkpoint": "none", "method": "endpoint", "model": "m", "num_candidates": 2}
    servers = {"local": {"base_url": "http://localhost:8000/v1"}}
    readings = {name: {"prompt": "Shorten:\n{{ document }}"} for name in ("big", "other")}

    def two(endpoints=servers, reading=readings, **other):
        generation = {"big": big, "other": big | {"endpoint": "local"} | other}
        return {"generation": generation, "reading": reading, "runtime": {"endpoints": endpoints}}

    assert "generation.other asks what generation.big asks" in problems(**two())
    assert "generation.other asks" in problems(**two(num_candidates=4))
    apart = {"local": servers["local"] | {"store": "apart.sqlite"}}
    for sections in (
        *(two(seed=7), two(revision="other"), two(temperature=0.5), two(endpoints=apart)),
        two(reading=readings | {"other": {"prompt": "Sum up:\n{{ document }}"}}),
    ):
        assert not list(check_params(BASE | sections).warnings())
    (warning,) = check_params(BASE | two(seed=1)).warnings()
    assert warning.startswith("generation.other.seed: 1 of its 2 samples are sent with seeds of")
    assert not list(check_params(BASE | two(seed=2)).warnings())
