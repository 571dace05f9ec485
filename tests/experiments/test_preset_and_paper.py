"""`make preset` puts a preset in place; `make paper` says what the paper's tables take."""

import math
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from dvc.utils.hydra import apply_overrides

from brido.cli.preset import command, put_in_place
from brido.settings.load import load_params, read_yaml
from brido.settings.presets import flatten, load_preset, read_preset
from brido.utils.errors import BridoError
from experiments import paper

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with params.yaml, the presets and the paper's grids."""
    for name in ("presets", "experiments", "benchmarks"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_make_preset_puts_one_in_place_and_says_what_changes(project: Path):
    before = (project / "params.yaml").read_text()
    found, kept = put_in_place("xsum")
    assert read_yaml(project / "params.yaml") == read_preset("xsum")
    assert kept == Path(".brido/params.previous.yaml")
    assert kept.read_text() == before
    assert ("data.source", "world", "hub") in found
    assert ("checkpoints.published_brio.source", "", "Yale-LILY/brio-xsum-cased") in found
    old, new = (flatten(read_yaml(path / "params.yaml")) for path in (ROOT, project))
    keys = {key for key, _, _ in found}
    assert {key for key in old.keys() & new.keys() if old[key] != new[key]} <= keys
    gone = {key for key, _, value in found if value == "(gone)"}
    assert "checkpoints.base.embedded.d_model" in gone
    # A second time nothing changes, and the file that was replaced is still there.
    assert put_in_place("xsum") == ([], None)
    assert kept.read_text() == before


def test_a_preset_means_the_same_whatever_params_yaml_holds(project: Path):
    (project / "params.yaml").write_text("scoring:\n  alpha: 7\n")
    put_in_place("smollm2")
    assert load_params() == load_preset("smollm2")
    put_in_place("default")
    assert (project / "params.yaml").read_text() == (ROOT / "params.yaml").read_text()


def test_the_command_prints_a_table_of_what_changes(project: Path):
    done = CliRunner().invoke(command, ["llm"])
    assert done.exit_code == 0
    (line,) = [line for line in done.output.splitlines() if line.startswith("training.batch_size")]
    assert line.split() == ["training.batch_size", "8", "16"]
    assert ".brido/params.previous.yaml" in done.output
    assert ", ".join(load_params().all_systems) in done.output
    assert "already has" in CliRunner().invoke(command, ["llm"]).output


def test_make_preset_names_the_presets_there_are(project: Path):
    with pytest.raises(BridoError, match="did you mean xsum"):
        put_in_place("xsun")
    with pytest.raises(BridoError, match="known here: .*cnndm.*xsum"):
        put_in_place("?")
    assert (project / "params.yaml").read_text() == (ROOT / "params.yaml").read_text()


def test_the_paper_takes_the_documents_counted_by_hand(project: Path):
    work = paper.work_of("xsum", load_preset("xsum"))
    # Three etas; six tuned models, two epochs each, base and brio beside them.
    assert work["generate"] == 3 * (204_045 + 2_000)
    assert work["train"] == 6 * 2 * 204_045
    # 25,505 updates are 25 validations of 1,000 documents in each training.
    assert work["decode"] == (6 + 2) * (11_332 + 11_334) + 6 * 25 * 1_000


def test_the_cost_is_documents_by_rate_and_says_what_was_not_measured(project: Path):
    throughput = {
        "device": "Test GPU",
        "source": "a test",
        "xsum": {"generate": 100.0, "train": 50.0, "decode": 200.0},
        "cnndm": {"generate": None, "train": None, "decode": None},
    }
    text = paper.report(throughput)
    hours = 618_135 / 100 / 3600 + 2_448_540 / 50 / 3600 + 331_328 / 200 / 3600
    assert math.isclose(hours, 15.78, abs_tol=0.01)
    assert f"together {hours:.1f} hours" in text
    assert text.count("documents  not measured") == 3
    assert text.splitlines()[0].startswith("# The device: Test GPU; rates from a test")
    assert "dvc exp run -n cnndm-alpha-inf -S generation.base.diversity_penalty=3" in text


def test_the_first_screen_has_the_device_what_is_reproduced_and_a_middle_way(project: Path):
    lines = paper.report(read_yaml(ROOT / "benchmarks/throughput.yaml")).splitlines()
    screen = "\n".join(lines[:14])
    assert lines[0].startswith("# The device: ")
    assert "Not reproduced: the paper's Tables 1-4" in screen
    # Its options, as DVC takes them, make settings that pass, of 125 updates.
    put_in_place("xsum")
    (command,) = [line for line in lines if line.startswith("dvc exp run -n middle")]
    apply_overrides(
        project / "params.yaml",
        [change for change in shlex.split(command) if "=" in change or "~" in change],
    )
    params = load_params()
    assert params == paper.middle_settings()
    assert params.systems == ["reference", "base"]
    assert list(params.tuned) == ["vote"]
    assert params.training.epochs * params.data.max_documents // params.training.batch_size == 125
    # By hand: candidates of 1,000 + 200 documents; two epochs; three systems decode two splits, and
    # five validations decode 100 documents each.
    counted = {"generate": 1_200, "train": 2_000, "decode": 6_000 + 500}
    assert paper.middle_work(params) == counted
    rates = read_yaml(ROOT / "benchmarks/throughput.yaml")
    hours = sum(counted[stage] / rates["xsum"][stage] / 3600 for stage in counted)
    assert f"together {hours:.1f} hours" in screen
