"""The arithmetic of `brido init` by hand: seconds of a run, memory, disk, minutes of MiniCheck."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import transformers

from brido.cli.init import checks, model, plan, room, speed
from brido.cli.init.data import Data
from brido.cli.init.found import Found


def found_of(documents: dict[str, int], recipe: Any, model: Any = None, **sizes: Any) -> Found:
    """What a plan rests on: so many documents of each split, and texts of these sizes."""
    usual = {"lengths": [8, 12], "written": 4.0, "source_tokens": 64, "more_tokens": 64,
             "summary_tokens": 24, "sentences": 1.0, "words": 3}  # fmt: skip
    return Found(Data({}, documents), model, recipe, **(usual | sizes))


def test_the_seconds_of_a_run_are_those_of_its_stages() -> None:
    """By hand: 10 tokens are read of a document, 4 are written of a summary, 8 by its batch."""
    documents = {"train": 100, "validation": 20, "test": 30}
    recipe = {
        "decoding": {"num_beams": 2},
        "likelihood": {"others": 3},
        "variants": {
            "guided": {"guidance": {"others": 3}},
            "checked": {"checked": {"candidates": 8}},
        },
    }
    how = speed.Speed(read=0.01, write=0.1, learn=0.3)
    made = plan.Plan(20, 6, 8, 5, 40, 2, ("vote", "information", "control"),
                     ("guided", "checked"))  # fmt: skip
    seconds = plan.seconds_of(made, found_of(documents, recipe), how)
    learned = 40 * 2 * (10 + 4) * 0.3
    candidates = (5 + 8) * (10 * 0.01 + 6 * 8 * 0.1)
    # With its own document and three others; a third of an update.
    scored = (5 + 8) * (10 + 4 * 6 * 4) * 0.3 / 3
    validated = 5 * (10 * 0.01 + 2 * 8 * 0.1) + 5 * (10 + 6 * 4) * 0.3 / 3
    tuned = 3 * (8 * (10 + 6 * 4) * 0.3 + 2 * validated)
    # Base, three tuned systems, and two that write four and three times as long.
    written = (1 + 3 + 4 + 3) * (20 + 20) * (10 * 0.01 + 2 * 8 * 0.1)
    started = 6 * (14 + 6 * 3 + 4 * (2 + 2))
    parts = (learned, candidates, scored, tuned, written, started)
    assert seconds == pytest.approx(sum(parts))


def test_memory_and_disk_by_hand_and_smaller_parts_where_there_is_less(monkeypatch) -> None:
    sizes = {"source_tokens": 400, "summary_tokens": 50}
    made = plan.Plan(candidates=7, tuned=("vote", "control"))
    preset = {
        "checkpoints": {"base": {"fine_tuning": {"batch_size": 8}}},
        "training": {"batch_size": 4},
        "runtime": {"batch_tokens": 4096},
    }
    small = found_of({}, preset, SimpleNamespace(parameters=100_000_000, small=True), **sizes)
    large = found_of({}, preset, SimpleNamespace(parameters=10**9, small=False), **sizes)
    # Base learns from 8 texts at once, systems from 4 documents with 8 texts each.
    assert room.most_tokens(small, made, 4096) == max(8 * 450, 4 * 800)
    assert room.most_tokens(small, made, 1) == 800
    how = speed.Speed(0.1, 0.1, 0.1, memory=1e6)

    def found_with(free: float, found: Found = small) -> room.Room:
        monkeypatch.setattr(room, "free_memory", lambda: free)
        return room.find_room(found, made, how, Path("no/such"))

    fixed, fits = 0.7e9 + 16 * 1e8, found_with(16e9)
    assert (fits.memory, fits.batch, fits.disk) == (fixed, 3600 * 1e6, 4 * 4e8)
    assert fits.runtime == {}
    (tokens,) = found_with(5e9).runtime.values()
    assert 800 <= tokens < 3600
    assert fixed + room.most_tokens(small, made, tokens) * 1e6 <= 0.9 * 5e9
    assert found_with(3.2e9).runtime == {"batch_tokens": 580, "candidate_micro_batch": 3}
    assert found_with(3e9).runtime == {"batch_tokens": 450, "gradient_checkpointing": True}
    adapted = found_with(3e9, large)
    assert (adapted.memory, adapted.batch) == (0.7e9 + 4e9, None)


def test_the_minutes_of_minicheck(monkeypatch) -> None:
    monkeypatch.setattr(checks, "seconds_a_pair", lambda tokens: 0.1)
    documents = {"train": 100, "validation": 40, "test": 60}
    found = found_of(documents, {}, lengths=[700, 1000], sentences=2.0)
    made = plan.Plan(evaluated=50, tuned=("vote", "control"), variants=("checked",))
    # 4 systems, 40 and 50 documents of 2 chunks, 2 sentences each, a tenth of a second.
    takes = checks.minutes_of_minicheck(found, made)
    assert takes == pytest.approx(4 * 90 * 2 * 2 * 0.1 / 60)


def test_minicheck_is_timed_by_layers_of_its_shape() -> None:
    assert checks.seconds_a_pair(8) > 0


@pytest.mark.parametrize("nested", [False, True])
def test_a_large_model_is_timed_with_fewer_layers(monkeypatch, nested) -> None:
    config: Any = transformers.Gemma3TextConfig(
        vocab_size=8, hidden_size=16, intermediate_size=16, num_hidden_layers=6,
        num_attention_heads=2, num_key_value_heads=1, head_dim=8,
    )  # fmt: skip
    if nested:
        sees = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1,
                "num_attention_heads": 2, "image_size": 28, "patch_size": 14}  # fmt: skip
        config = transformers.Gemma3Config(text_config=config, vision_config=sees)
    whole = model.Model("large", 10**9, 64, config, None)
    built, _ = speed._random_model(replace(whole, parameters=1))
    monkeypatch.setattr(speed, "_WEIGHTS", 0.5 * whole.parameters)
    fewer, _ = speed._random_model(whole)
    layers = [one.config.get_text_config().num_hidden_layers for one in (built, fewer)]
    assert layers == [6, 3]
    assert len(config.get_text_config().layer_types) == 6
