"""The model card: what it says, whose it is, and the folder that can be pushed as it is."""

import json
import re
import shutil
from pathlib import Path

import pytest
import small_project
import synthetic_run
from ruamel.yaml import YAML

from brido.cli.export_model import command
from brido.report.card import weights_named, weights_of
from brido.settings.load import load_params
from brido.summarizer.usage import Usage, read_usage, write_usage
from brido.utils.commands import invoke
from brido.utils.errors import BridoError
from stages import report


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project after stage report."""
    folder = tmp_path_factory.mktemp("reported")
    synthetic_run.write_run(folder)
    synthetic_run.write_params(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        report.report(load_params())
    return folder


@pytest.fixture
def project(reported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(reported, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_card_says_base_data_settings_metrics_and_limits(project: Path) -> None:
    card = (project / "report/model_card.md").read_text()
    _, header, text = card.split("---\n", 2)
    assert YAML(typ="safe").load(header) == {
        "language": "en",
        "library_name": "transformers",
        "pipeline_tag": "summarization",
        "tags": ["summarization", "brido"],
    }
    assert re.findall("^## (.*)$", text, re.MULTILINE) == ["Settings", "Metrics", "Limits"]
    assert "Base: a small model, trained from scratch" in text
    assert "embedded synthetic news; documents: validation 12, test 12;" in text
    assert "| scoring.alpha | 0 |" in text
    assert all(line in text for line in synthetic_run.VERDICT)
    assert "| tuned.vote | no changes |\n| tuned.control.scoring.shuffle | true |" in text
    # Each headline number that base or the chosen system has, with intervals and a difference.
    rows = re.findall(
        r"^\| (\w+): .* \| .* \[.*\] \| .* \[.*\] \| [+-]?[\d.]+\*? \[.*\] \|$", text, re.M
    )
    assert rows.count("ROUGE") == 3
    assert "Mentions" in rows
    # Signatures as they are in metrics/intervals.json.
    assert '"implementation"' in text or '"signature"' in text or '"rouge": {' in text
    assert "of no use for real text" in text
    assert str(project) not in card
    assert weights_named(card) == weights_of(project / "data/chosen")


def test_a_hub_model_is_named_and_a_folder_by_its_last_part_alone(project: Path) -> None:
    for source, found, header, line in (
        (
            "some/model",
            '{"commit": "abc", "license": "mit", "language": "de"}',
            "base_model: some/model\nlanguage: de\nlibrary_name: transformers\nlicense: mit\n",
            "Base: `some/model`, commit",
        ),
        ("somebody/bart", "{}", None, "Base: `bart`"),
        ("models/embedded", "{}", None, "Base: `embedded`"),
        ("/home/somebody/bart", "{}", None, "Base: `bart`"),
    ):
        (project / "data/checkpoints/base/source.json").write_text(found)
        synthetic_run.write_params(project, checkpoints={"base": {"source": source}})
        report.report(load_params())
        card = (project / "report/model_card.md").read_text()
        assert line in card
        assert header in card if header else "base_model" not in card
        assert "somebody" not in card


def test_the_exported_folder_is_the_model_with_its_card(project: Path) -> None:
    chosen = project / "data/chosen"
    write_usage(chosen, Usage(system="vote", verdict="Keep vote."))
    before = {path.name: path.read_bytes() for path in chosen.iterdir()}
    stored = dict(before)
    invoke(command, ["--output", "my/model"])
    made = {path.name: path.read_bytes() for path in Path("my/model").iterdir()}
    assert made.pop("README.md") == (project / "report/model_card.md").read_bytes()
    # Other programs decode as the run did; they count new tokens, and no start token.
    told = json.loads(made.pop("generation_config.json"))
    assert (
        told["max_new_tokens"] == json.loads(before.pop("generation_config.json"))["max_length"] - 1
    )
    assert (told["num_beams"], told["do_sample"]) == (1, False)
    assert "max_length" not in told
    # The stage's own output stays what DVC knows.
    assert made == before
    assert stored == {path.name: path.read_bytes() for path in chosen.iterdir()}
    with pytest.raises(BridoError, match="my/model is there already"):
        invoke(command, ["--output", "my/model"])
    (chosen / "model.safetensors").write_text("newer")
    with pytest.raises(BridoError, match="does not describe .* `dvc repro report`"):
        invoke(command, ["--output", "my/other"])


def test_another_system_is_exported_without_a_card(project: Path) -> None:
    small_project.write_checkpoint(project / "data/checkpoints/base")
    invoke(command, ["base", "-o", "my/base"])
    usage = read_usage("my/base")
    assert usage is not None
    assert usage.system == "base"
    assert not Path("my/base/README.md").exists()
    with pytest.raises(BridoError, match="writes bas; did you mean base"):
        invoke(command, ["bas", "-o", "my/other"])
    shutil.rmtree("data/checkpoints/control")
    with pytest.raises(BridoError, match="checkpoints/control is missing: .* `dvc repro`"):
        invoke(command, ["control", "-o", "my/other"])
