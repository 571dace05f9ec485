"""Every command of the README is run, as it stands there, on a small world.

What is long is made short from outside (PYTEST_ADDOPTS, a small params.yaml), and what needs
weights or a judge that only the internet has must end in a clear sentence.
"""

import re

import pytest
from dvc.utils.hydra import apply_overrides
from dvc_project import ROOT, clone_with_environment, commit, overrides, run
from engine_examples import put_on_path
from own_articles import abstracts, write_jsonl
from tiny_chat import chat_tokenizer, tiny_llama

from brido.models.checkpoint import save

# Commands that cannot succeed without internet, or before a run is committed: what they must say.
CANNOT = {
    "brido diff": "in DVC's cache",
    "qafacteval]'": "spacy_model: the spaCy pipeline 'en_core_web_sm'",
    "evaluation.geval.model=MODEL": "evaluation.geval: the server has not answered for",
}
NOWHERE = {
    "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "http://127.0.0.1:9",
}  # fmt: skip
# Other files of tests are not even read: that takes a minute of a processor.
SHORT = {"PYTEST_ADDOPTS": "-k test_no_circle --ignore-glob=tests/*/*"}


def readme_commands() -> list[str]:
    """The lines of the README's console blocks, comments taken off."""
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    lines = [line.split("   #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]


def test_the_readme_names_the_two_commands_first():
    assert [line.split("  ")[0] for line in readme_commands()[:2]] == ["make repro", "make test"]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A clone with an environment that is there already, and a params.yaml made small."""
    folder = clone_with_environment(tmp_path_factory.mktemp("readme"))
    rows = [row | {"document": row["abstract"], "summary": row["tldr"]} for row in abstracts(40)]
    write_jsonl(folder / "my/articles.jsonl", rows)
    # All systems and metrics of the default: tests/test_pipeline.py.
    fewer = ["systems=[base]", "~variants.guided", "~tuned.information"]
    quick = ["evaluation.metrics=[rouge,world_judge]", "+runtime.endpoint.patience_seconds=2"]
    apply_overrides(folder / "params.yaml", [*overrides(), *fewer, *quick])
    commit(folder, "small")
    return folder


@pytest.mark.slow
def test_every_command_of_the_readme(project, tmp_path):
    text = (project / "params.yaml").read_text()
    # `pip install .` would bring `brido`: here it is the checkout's.
    path = {"PATH": put_on_path(tmp_path)["PATH"]}
    for command in readme_commands():
        wanted = next((say for part, say in CANNOT.items() if part in command), None)
        # An hour, with a package of its own: what it runs is tested with the presets and SmolLM2.
        # A run of one's own takes its hour too: its first stage reads the texts.
        short = command.replace("make llm", "make --dry-run llm")
        short = short.replace("dvc repro", "dvc repro download")
        # Workers that go on behind the test: tests/cli/test_own_place.py runs a queue.
        short = short.replace("dvc queue start", "dvc queue status")
        shell = ["bash", "-c", short]
        if "brido init" in command:  # SmolLM2 has a test of its own: tests/cli/test_own_data.py
            save(tiny_llama(max_position_embeddings=2048), chat_tokenizer(), tmp_path / "chat")
            shell[2] += f" --model {tmp_path / 'chat'}"
        if wanted is None:
            run(project, *shell, **SHORT, **path)
        else:
            said = run(project, *shell, code=None, **NOWHERE, **path)
            assert wanted in said
            assert "Traceback" not in said
        if "dvc repro" in command:
            mine = project.parent / "mine"
            assert "articles.jsonl" in (mine / "params.yaml").read_text()
            assert (mine / "data/corpus/train.parquet").is_file()
        if "make preset" in command:  # the preset's data and models are on the internet
            assert "google/pegasus-xsum" in (project / "params.yaml").read_text()
            (project / "params.yaml").write_text(text)
