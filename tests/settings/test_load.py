"""params.yaml: what is accepted, what it means for each system, and what is warned about."""

import math
from pathlib import Path

from click.testing import CliRunner
from test_settings_refusals import BASE, BIG, measured

from brido.cli.config import command
from brido.models.settings import ReadingSettings
from brido.settings.load import check_params, load_params, read_yaml
from brido.settings.presets import flatten
from brido.settings.text import that_matter
from brido.work.settings import RuntimeSettings

EMBEDDED = {"source": "embedded"}


def test_the_shipped_file_names_every_key_that_matters():
    path = Path("params.yaml")
    params = load_params(path)
    assert params.scoring.alpha == 0
    raw = read_yaml(path)
    assert flatten(raw).keys() == flatten(that_matter(params)).keys()
    assert not {"geval", "qafacteval", "minicheck"} & raw["evaluation"].keys()
    assert not {"endpoint", "endpoints", "ray"} & raw["runtime"].keys()
    # A file without a key means the same as this one.
    assert check_params(BASE).model_dump() == params.model_dump()


def test_numbers_as_dvc_writes_them(tmp_path):
    path = tmp_path / "params.yaml"
    for infinity in (".inf", "inf", "'.inf'"):
        path.write_text(
            "checkpoints: {base: {source: embedded}}\ntraining: {learning_rate: 1e-05}\n"
            f"scoring: {{alpha: {infinity}}}\n"
        )
        params = load_params(path)
        assert params.training.learning_rate == 1e-5
        assert params.scoring.alpha == math.inf


def test_the_command_checks_a_whole_file_and_warns_of_equal_systems(tmp_path, monkeypatch):
    done = CliRunner().invoke(command, [])
    assert (done.exit_code, done.stdout.count("\n")) == (0, 1)
    assert "Usage" in CliRunner().invoke(command, ["a", "b"]).output
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text("tuned: {vote: {}, again: {}}\n", encoding="utf-8")
    done = CliRunner().invoke(command, [])
    assert done.exit_code == 0
    first, _ = done.output.splitlines()
    assert "tuned.again" in first
    assert "tuned.vote" in first


def test_reading_is_the_defaults_with_the_keys_of_a_checkpoint():
    checkpoints = {"base": EMBEDDED, "brio": {"source": "some/model"}}
    reading = {"default": {"max_source_tokens": 512}, "base": {"decoder_prefix": "brio"}}
    params = check_params({"checkpoints": checkpoints, "reading": reading})
    base = ReadingSettings(max_source_tokens=512, decoder_prefix="brio")
    # A tuned system reads as base, a variant as its checkpoint.
    for name in ("base", "vote", "short"):
        assert params.reading_of(name) == base
    # A source of candidates without a model names the checkpoint `none`.
    for name in ("brio", "none"):
        assert params.reading_of(name) == ReadingSettings(max_source_tokens=512)
    alone = check_params({"checkpoints": checkpoints, "reading": {"brio": {}}})
    assert alone.reading_of("base") == alone.reading_of("brio") == ReadingSettings()


def test_a_source_has_its_own_server_with_its_own_key_and_prices():
    servers = {"local": {"base_url": "http://localhost:8000/v1"}}
    params = check_params(
        {**BASE, "generation": {"big": BIG | {"endpoint": "local"}}}
        | {"reading": {"big": {"prompt": "Shorten:\n{{ document }}"}}}
        | {"runtime": {"endpoint": {"max_concurrency": 3}, "endpoints": servers}}
    )
    server = params.runtime.endpoint_of("local")
    assert (server.base_url, server.max_concurrency) == ("http://localhost:8000/v1", 3)
    assert params.runtime.endpoint_of("default") == params.runtime.endpoint
    assert params.reading_of("big").prompt == "Shorten:\n{{ document }}"
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


def test_what_a_tuned_system_changes_stands_over_the_shared_sections():
    params = check_params(
        BASE
        | {
            "scoring": {"alpha": 3},
            "training": {"validation": {"every": 7}, "lora": {"rank": 4}},
            "tuned": {
                "plain": {},
                "brio": {
                    "scoring": {"alpha": math.inf},
                    "training": {"validation": {"documents": 9}, "lora": {"rank": 8}},
                },
                "control": {"scoring": {"shuffle": True}},
            },
        }
    )
    assert params.scoring_of("plain") == params.scoring
    assert params.training_of("plain") == params.training
    assert params.scoring_of("brio") == params.scoring.model_copy(update={"alpha": math.inf})
    training = params.training_of("brio")
    assert (training.validation.every, training.validation.documents) == (7, 9)
    assert (training.lora.rank, training.lora.alpha) == (8, params.training.lora.alpha)
    assert params.control == "control"
    assert params.all_systems == [
        *("reference", "base", "elected", "guided", "short", "checked"),
        *("plain", "brio", "control"),
    ]
    others = ["guided", "short", "checked", "plain", "brio", "control"]
    assert params.choosable == ["base", *others]
    assert {params.picked_by(name) for name in others if name != "checked"} == {None}
    assert params.picked_by("checked") == "mentions"
    assert params.decoding_of("short").length_penalty == -4
    assert params.decoding_of("plain") == params.decoding
    assert params.variant_of("guided").guidance.weight == 0.2
    assert params.variant_of("plain").guidance is None
    assert (params.model_of("short"), params.model_of("brio")) == ("base", "brio")
    assert list(params.warnings()) == []


def test_what_is_probably_not_meant_is_told():
    (judge,) = check_params(BASE | measured("world_judge", "rouge", "geval")).warnings()
    assert judge.startswith("evaluation.geval.model: ")
    hot = {"method": "sampling", "checkpoint": "base", "max_length": 20}
    drawn = {"hot": hot, "cold": hot | {"temperature": 0.5}, "other": hot | {"seed": 1}}
    (alike,) = check_params(BASE | {"generation": drawn}).warnings()
    assert alike.startswith("generation.cold.seed: hot has it")
