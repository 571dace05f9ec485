"""params.yaml: what is accepted, and that every problem is named in one message."""

import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from brido.cli.config import command
from brido.settings.load import check_params, load_params, read_yaml
from brido.settings.presets import flatten
from brido.settings.text import that_matter
from brido.utils.errors import BridoError
from brido.utils.paths import user_path

FILES = {
    "checkpoints": {"base": {"source": "a/model"}},
    "data": {"source": "files", "files": {"train": "a.jsonl"}},
}
UNLABELLED = FILES | {
    "data": {"source": "files", "files": {"train": "a.jsonl", "summary_column": None}},
    "systems": ["base", "elected"],
}
BASE = {"checkpoints": {"base": {"source": "embedded"}}}


def measured(*metrics: str) -> dict:
    """Section evaluation with these metrics."""
    return {"evaluation": {"metrics": list(metrics)} | {name: {} for name in metrics}}


def problems(**sections) -> str:
    with pytest.raises(BridoError) as caught:
        check_params({**BASE, **sections})
    return str(caught.value)


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
    for infinity in (".inf", "inf", "'.inf'", "+inf"):
        path.write_text(
            "checkpoints: {base: {source: embedded}}\ntraining: {learning_rate: 1e-05}\n"
            f"scoring: {{alpha: {infinity}}}\n"
        )
        params = load_params(path)
        assert params.training.learning_rate == 1e-5
        assert params.scoring.alpha == math.inf


def test_all_problems_in_one_message_with_suggestions():
    message = problems(
        scoring={"alhpa": 1},
        trianing={},
        generation={"base": {"checkpoint": "base", "num_beams": "16"}},
        pairwise={"combination": "mean"},
    )
    assert "4 problems" in message
    assert "scoring.alhpa: unknown key; did you mean scoring.alpha?" in message
    assert "did you mean training?" in message
    assert "generation.base.num_beams: must be a valid integer, not '16'" in message
    assert "'harmonic_r1_r2' or 'mean_r1_r2_rlsum'" in message


def test_the_command_warns_of_equal_systems(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text("tuned: {vote: {}, again: {}}\n", encoding="utf-8")
    done = CliRunner().invoke(command, [])
    assert done.exit_code == 0
    first, fine = done.output.splitlines()
    assert "tuned.again" in first
    assert "tuned.vote" in first
    assert fine.startswith("params.yaml is fine")


@pytest.mark.parametrize("name", ["presets/default.yaml", "presets/none.yaml", "none.yaml"])
def test_the_command_says_that_a_file_is_missing(name):
    assert f"{name} is missing" in str(CliRunner().invoke(command, [name]).exception)


def test_the_command_checks_a_whole_file(tmp_path):
    done = CliRunner().invoke(command, [])
    fine = "params.yaml is fine: every key is known and every value fits\n"
    assert (done.exit_code, done.stdout) == (0, fine)
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("checkpoints: {base: {source: embedded}}\nscoring: {alhpa: 1}\n")
    said = str(CliRunner().invoke(command, [str(wrong)]).exception)
    assert said.startswith(f"{wrong} has a problem:")
    assert "did you mean scoring.alpha?" in said
    assert "Usage" in CliRunner().invoke(command, ["a", "b"]).output


@pytest.mark.parametrize(
    ("sections", "key"),
    [
        ({"systems": ["reference", "base", "brio"]}, "zero_shot: {checkpoint: brio}"),
        ({"systems": ["reference"]}, "systems: [base, reference]`"),
        ({"tuned": {}}, "tuned: "),
        ({"tuned": {"base": {}}}, "tuned: `base`"),
        ({"tuned": {"elected": {}}}, "tuned: `elected`"),
        ({"tuned": {"reference": {}}}, "tuned: `reference`"),
        ({"tuned": {"guided": {}}}, "variants: `guided`"),
        ({"tuned": {"a b": {}}}, "tuned: 'a b'"),
        ({"variants": {"vote": {"checkpoint": "base"}}}, "variants: `vote`"),
        ({"variants": {"x": {"checkpoint": "y"}}}, "variants.x.checkpoint: 'y'"),
        ({"tuned": {"x": {"scoring": {"alfa": 1}}}}, "did you mean tuned.x.scoring.alpha?"),
        ({"tuned": {"x": {"scoring": {"unit": "sentence"}}}}, "tuned.x.scoring.unit: "),
        ({"tuned": {"x": {"training": {"epochs": 0}}}}, "tuned.x.training.epochs: "),
        (
            {"scoring": {"information": 0.7}, "tuned": {"x": {"scoring": {"support": 0.5}}}},
            "tuned.x: support (0.5) and information (0.7)",
        ),
        (
            {
                "likelihood": {"others": 0},
                "tuned": {"x": {"scoring": {"information": 1.0, "prior_weight": 0.1}}},
            },
            "tuned.x.scoring.prior_weight",
        ),
        # Stages needs, check and elect read the shared section, whatever the systems change.
        (
            {
                "likelihood": {"others": 0},
                "scoring": {"information": 0.5, "prior_weight": 0.1},
                "tuned": {"x": {"scoring": {"information": 0.0}}},
            },
            "set scoring.prior_weight to 0",
        ),
        (
            {"tuned": {"x": {"scoring": {"alpha": 2.5, "normalization": "listing"}}}},
            "tuned.x.scoring.alpha: ",
        ),
        ({"choice": {"among": ["vote", "voted"]}}, "choice.among: 'voted'"),
        ({"choice": {"among": ["elected"]}}, "choice.among: 'elected'"),
        ({"choice": {"among": []}}, "choice.among: "),
        (
            {
                "decoding": {"max_length": 20},
                "variants": {"short": {"checkpoint": "base", "min_length": 30}},
            },
            "variants.short over section decoding: min_length (30) is more than max_length (20)",
        ),
        (
            {
                "evaluation": {
                    "metrics": ["world_judge", "rouge", "geval"],
                    "geval": {"model": "judge", "prompt": "nowhere.jinja"},
                    **{name: {} for name in ("world_judge", "rouge")},
                }
            },
            "evaluation.geval.prompt: the file nowhere.jinja does not exist",
        ),
        ({"choice": {"by": "rogue.r1"}}, "did you mean rouge.r1?"),
        ({"choice": {"by": "geval.average"}}, "add geval to it"),
        ({"choice": {"by": "geval.averages"}}, "choice.by: 'geval.averages'"),
        ({"choice": {"by": "extractiveness.length"}}, "choice.by: extractiveness.length has no"),
        ({"choice": {"by": "mentions.checked"}}, "choice.by: mentions.checked has no"),
        (
            UNLABELLED | measured("rouge", "mentions") | {"choice": {"by": "rouge.r1"}},
            "choice.by: rouge.r1 compares with references, and there are none (data.files.",
        ),
        (
            {"training": {"gold_weight": 1.0, "cross_entropy": "elected"}},
            "the reference is not scored where cross_entropy is elected",
        ),
        (FILES | measured("mentions"), "choice.rouge_loss: rouge"),
        (measured("rouge"), "add world_judge to"),
        (measured("rouge", "mentions"), "add world_judge to"),
        (FILES | measured("rouge"), "add mentions to"),
        (
            FILES | measured("rouge", "mentions", "world_qa", "world_judge"),
            "evaluation.metrics: remove world_qa, world_judge",
        ),
    ],
)
def test_systems_that_are_wrong(sections, key):
    message = problems(**sections)
    assert "a problem:" in message
    assert key in message


def test_what_needs_references_is_refused_where_there_are_none():
    message = problems(**UNLABELLED, training={"keep": "best_generator"})
    assert "training.keep best_generator compares with references, and there are none" in message
    message = problems(**UNLABELLED, training={"gold_weight": 1.0, "cross_entropy": "reference"})
    assert "training.gold_weight needs references, and there are none" in message


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
        *("reference", "base", "elected", "guided", "short", "plain", "brio", "control"),
    ]
    assert params.choosable == ["base", "guided", "short", "plain", "brio", "control"]
    assert params.decoding_of("short").length_penalty == -4
    assert params.decoding_of("plain") == params.decoding
    assert params.guidance_of("guided").weight == 0.2
    assert params.guidance_of("plain") is None
    assert (params.model_of("short"), params.model_of("brio")) == ("base", "brio")
    assert list(params.warnings()) == []


def test_sources_that_draw_by_the_same_random_numbers_are_named():
    drawn = {"method": "sampling", "checkpoint": "base"}
    hot, cold = (drawn | {"temperature": value} for value in (1.0, 0.5))
    beams = {"method": "diverse_beam", "checkpoint": "base"}
    same = check_params(BASE | {"generation": {"hot": hot, "beams": beams, "cold": cold}})
    (warning,) = same.warnings()
    assert warning.startswith("generation.cold.seed is that of generation.hot")
    other = check_params(BASE | {"generation": {"hot": hot, "cold": cold | {"seed": 1}}})
    assert not list(other.warnings())


def test_what_a_late_stage_will_miss_is_told(monkeypatch):
    monkeypatch.setattr("brido.settings.params.find_spec", lambda name: None)
    params = check_params(
        BASE | {"runtime": {"trackers": ["wandb"]}} | measured("world_judge", "rouge", "geval")
    )
    tracker, judge = params.warnings()
    assert tracker.startswith("runtime.trackers: wandb is not installed")
    assert judge.startswith("evaluation.geval.model: null names no judge")


def test_missing_and_broken_files(tmp_path):
    with pytest.raises(BridoError, match="is missing"):
        load_params(tmp_path / "params.yaml")
    (tmp_path / "params.yaml").write_text("a: [")
    with pytest.raises(BridoError, match="cannot be read as YAML"):
        load_params(tmp_path / "params.yaml")
    (tmp_path / "params.yaml").write_text("- 1")
    with pytest.raises(BridoError, match=r"a list.* must hold sections"):
        load_params(tmp_path / "params.yaml")
    (tmp_path / "params.yaml").write_text("# nothing\n")
    with pytest.raises(BridoError, match="is empty.* must hold sections"):
        load_params(tmp_path / "params.yaml")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("scoring:\n  prior: 1\n   alpha: 0\n", 3),
        ("scoring:\n\talpha: 0\n", 2),
        ("systems: [base]]\n", 1),
        ("pool: {}\npool: {}\n", 2),
    ],
)
def test_a_line_that_is_not_yaml_is_shown(tmp_path, text, line):
    (tmp_path / "params.yaml").write_text(text)
    with pytest.raises(BridoError) as caught:
        load_params(tmp_path / "params.yaml")
    held = text.splitlines()[line - 1].strip()
    assert f'line {line} ("{held}"): ' in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "data: {source: 2024-99-99}",
        "data: {source: " + "9" * 5000 + "}",
        "data: " + "[" * 1000 + "]" * 1000,
    ],
    ids=["date", "digits", "nesting"],
)
def test_whatever_the_parser_says_becomes_a_sentence(tmp_path, text):
    (tmp_path / "params.yaml").write_text(text)
    with pytest.raises(BridoError, match=r"params\.yaml"):
        load_params(tmp_path / "params.yaml")


def test_a_home_that_nobody_has_is_a_sentence():
    with pytest.raises(BridoError, match="there is no such user"):
        user_path("~nosuchuser/articles.jsonl")
