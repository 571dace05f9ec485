"""What presets lay over the default, their sources, and the paper's numbers."""

import os
import subprocess
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from brido.cli.preset import command
from brido.settings.load import load_params, read_yaml
from brido.settings.params import Params
from brido.settings.presets import (
    CHOOSERS,
    DEFAULT,
    NAMED,
    flatten,
    load_preset,
    merge,
    preset_names,
    preset_text,
    read_preset,
)
from brido.settings.text import that_matter
from brido.utils.commands import invoke

ROOT = Path(__file__).parents[2]
NAMES = ("xsum", "cnndm")

# The paper's and BRIO's numbers, written out once more: XSum, CNN/DM.
PUBLISHED = {
    "checkpoints.base.source": ("google/pegasus-xsum", "facebook/bart-large-cnn"),
    "checkpoints.published_brio.source": (
        "Yale-LILY/brio-xsum-cased",
        "Yale-LILY/brio-cnndm-uncased",
    ),
    "data.lowercase": (False, True),
    "generation.base.num_candidates": (32, 32),
    "generation.base.num_beams": (32, 32),
    "generation.base.num_beam_groups": (4, 32),
    "generation.base.diversity_penalty": (0.3, 3.0),
    "generation.base.length_penalty": (0.6, 2.0),
    "generation.base.min_length": (0, 56),
    "generation.base.max_length": (64, 142),
    "generation.base.no_repeat_ngram_size": (0, 3),
    "generation.base.early_stopping": (False, True),
    "reading.default.max_source_tokens": (512, 1024),
    "reading.default.decoder_prefix": ("generation", "brio"),
    "pairwise.combination": ("harmonic_r1_r2", "mean_r1_r2_rlsum"),
    "scoring.alpha": (31, 31),
    "training.epochs": (2, 2),
    "training.batch_size": (16, 24),
    "training.optimizer": ("adam", "adam"),
    "training.learning_rate": (2e-3, 2e-3),
    "training.schedule": ("noam", "noam"),
    "training.warmup_steps": (10000, 10000),
    "training.gamma": (50.0, 20.0),
    "training.length_penalty": (0.6, 2.0),
    "training.likelihood_scale": (0.01, 1.0),
    "training.margin": (0.01, 0.1),
    "training.margin_kind": ("difference", "difference"),
    "training.label_smoothing": (0.1, 0.1),
    "training.max_candidate_tokens": (80, 120),
    "decoding.num_beams": (8, 4),
    "decoding.length_penalty": (0.6, 2.0),
    "decoding.min_length": (12, 56),
    "decoding.max_length": (64, 142),
    "decoding.no_repeat_ngram_size": (3, 3),
    "decoding.early_stopping": (True, True),
    "training.max_gradient_norm": (None, None),
}


PRESETS = ROOT / "presets"
OWN = [name for name in preset_names(PRESETS) if name != DEFAULT]


def raw(name: str) -> dict:
    """What the file of a preset holds."""
    return YAML(typ="safe").load((PRESETS / f"{name}.yaml").read_text())


@pytest.mark.parametrize(("index", "name"), list(enumerate(NAMES)))
def test_a_preset_passes_the_checks_and_has_the_published_numbers(index: int, name: str):
    leaves = flatten(load_preset(name, PRESETS).model_dump())
    assert {key: leaves[key] for key in PUBLISHED} == {
        key: values[index] for key, values in PUBLISHED.items()
    }


@pytest.mark.parametrize("name", OWN)
def test_a_preset_is_complete_and_holds_only_what_differs(name: str):
    complete = that_matter(load_preset(name, PRESETS))
    assert flatten(complete).keys() <= flatten(read_preset(name, PRESETS)).keys()
    repeated = list(same(read_preset(DEFAULT), raw(name)))
    assert repeated == []


def same(default: dict, changes: dict, prefix: str = ""):
    """Dotted keys of `changes` that say what the default says, outside of replaced sections."""
    for key, value in changes.items():
        if not isinstance(value, dict):
            if key in default and default[key] == value:
                yield f"{prefix}{key}"
        elif isinstance(default.get(key), dict) and not {*CHOOSERS} & {*value} and key not in NAMED:
            yield from same(default[key], value, f"{prefix}{key}.")


def test_the_default_is_what_the_fields_say_and_the_params_file_that_the_project_ships():
    assert load_preset(DEFAULT) == Params()
    assert load_params(ROOT / "params.yaml") == Params()
    assert read_yaml(ROOT / "params.yaml") == read_preset(DEFAULT)


def test_a_section_that_names_its_form_replaces_the_whole_section():
    default = {"a": {"source": "x", "of_x": {"k": 1}, "n": 1}, "b": {"c": [1, 2], "d": {"e": 1}}}
    merged = merge(default, {"a": {"source": "y"}, "b": {"c": [3], "d": {"f": None}}})
    assert merged == {"a": {"source": "y"}, "b": {"c": [3], "d": {"e": 1, "f": None}}}
    assert merge(default, {"a": {"n": 2}})["a"] == {"source": "x", "of_x": {"k": 1}, "n": 2}
    assert default["b"]["c"] == [1, 2]
    # A preset names all systems of its run.
    assert merge({"tuned": {"a": {}}}, {"tuned": {"b": {}}}) == {"tuned": {"b": {}}}


@pytest.mark.parametrize("name", OWN)
def test_the_text_of_a_preset_has_its_settings_and_their_comments(name: str):
    text = preset_text(name, PRESETS)
    assert YAML(typ="safe").load(text) == read_preset(name, PRESETS)
    assert text.startswith((PRESETS / f"{name}.yaml").read_text().splitlines()[0])
    assert "# Stage train: Eq. 1 and 3" in text


def test_a_preset_mends_a_params_file_that_is_not_yaml(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "presets").mkdir()
    for damaged in (b"data: {\n", b"- a list\n", b"", b"a: \xff\n"):
        (tmp_path / "params.yaml").write_bytes(damaged)
        invoke(command, ["default"])
        kept = sorted((tmp_path / ".brido").iterdir())
        assert damaged in [path.read_bytes() for path in kept]
        assert load_params() == Params()


@pytest.mark.parametrize(
    "name", ["x; touch y", "$(shell touch y)", "`touch y`", "$(touch y)", "a'b\"c", "--list", ""]
)
def test_make_gives_the_name_of_a_preset_to_no_shell(tmp_path, name):
    (tmp_path / "Makefile").write_bytes((ROOT / "Makefile").read_bytes())
    (tmp_path / "requirements.txt").touch()
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    python.chmod(0o755)
    (tmp_path / ".venv/.runtime").touch()
    # These tests run below `make test` too, which tells an inner make what it was told.
    outside = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    made = subprocess.run(
        ["make", "preset", f"NAME={name}"],
        cwd=tmp_path,
        env=outside,
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout == f"-m|brido|preset|--|{name}|"
    assert not (tmp_path / "y").exists()
