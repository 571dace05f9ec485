"""The presets are whole params files, with the paper's numbers."""

from itertools import pairwise
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from brido.settings.load import load_params
from experiments import preset

ROOT = Path(__file__).parents[2]
NAMES = ("xsum", "cnndm")

# The paper's and BRIO's numbers, written out once more: XSum, CNN/DM.
PUBLISHED = {
    "checkpoints.base.source": ("google/pegasus-xsum", "facebook/bart-large-cnn"),
    "checkpoints.brio.source": ("Yale-LILY/brio-xsum-cased", "Yale-LILY/brio-cnndm-uncased"),
    "data.lowercase": (False, True),
    "generation.base.num_candidates": (32, 32),
    "generation.base.num_beams": (32, 32),
    "generation.base.num_beam_groups": (4, 32),
    "generation.base.diversity_penalty": (0.3, 3.0),
    "generation.base.length_penalty": (0.6, 2.0),
    "generation.base.min_length": (0, 56),
    "generation.base.max_length": (64, 142),
    "generation.base.no_repeat_ngram_size": (0, 3),
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
}


def raw(path: Path) -> dict:
    return YAML(typ="safe").load(path.read_text())


@pytest.mark.parametrize(("index", "name"), list(enumerate(NAMES)))
def test_a_preset_passes_the_checks_and_has_the_published_numbers(index: int, name: str):
    load_params(ROOT / "presets" / f"{name}.yaml")
    leaves = preset.flatten(raw(ROOT / "presets" / f"{name}.yaml"))
    assert {key: leaves[key] for key in PUBLISHED} == {
        key: values[index] for key, values in PUBLISHED.items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_has_every_key_of_its_sections(name: str):
    path = ROOT / "presets" / f"{name}.yaml"
    complete = load_params(path).model_dump()
    assert preset.flatten(raw(path)).keys() == preset.flatten(complete).keys()


@pytest.mark.parametrize("name", NAMES)
def test_every_value_that_the_paper_could_have_set_says_where_it_comes_from(name: str):
    lines = (ROOT / "presets" / f"{name}.yaml").read_text().splitlines()
    section = ""
    for line, below in pairwise(lines):
        if line and not line.startswith((" ", "#")):
            section = line.split(":")[0]
        value = line.split("#")[0].rstrip()
        sourced = {"reading", "generation", "pairwise", "scoring", "training", "decoding"}
        # A key without a value is one of its own, unless keys of it follow.
        indent = len(value) - len(value.lstrip())
        opens = value.endswith(":") and len(below) - len(below.lstrip()) > indent
        if section in sourced and value.startswith("  ") and not opens:
            assert "[" in line.partition("#")[2], line


def test_the_other_presets_pass_the_checks_and_have_every_key():
    for name in ("smollm2", "llm", "own"):
        path = ROOT / "presets" / f"{name}.yaml"
        complete = load_params(path).model_dump()
        assert preset.flatten(raw(path)).keys() == preset.flatten(complete).keys(), name


def test_the_small_language_models_recipe_is_the_one_that_was_tried():
    found = preset.flatten(raw(ROOT / "presets" / "smollm2.yaml"))
    recipe = {
        "data.world.stock_phrases": 0.6,
        "data.world.support_rate": 0.35,
        "checkpoints.base.fine_tuning.world.documents": 800,
        "checkpoints.base.fine_tuning.world.support_rate": 0.35,
        "checkpoints.base.fine_tuning.learning_rate": 1e-4,
        "documents.train": 128,
        "generation.base.num_candidates": 12,
        "generation.base.temperature": 0.7,
        "scoring.alpha": 0,
        "training.epochs": 1,
        "training.batch_size": 4,
        "training.learning_rate": 3e-5,
        "training.gamma": 80.0,
        "training.margin": 0.0245,
        "training.margin_kind": "difference",
        "training.length_penalty": 1.5,
        "training.cross_entropy": "elected",
        "decoding.num_beams": 4,
    }
    assert {key: found[key] for key in recipe} == recipe
