"""What is not installed: which extra brings it, and one sentence that says so."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from alone import environment

from brido.utils import extras
from brido.utils.errors import BridoError
from brido.utils.extras import EXTRAS, MissingExtra, extra

ROOT = Path(__file__).parents[2]
# Of requirements whose module has another name.
MODULES = {"protobuf": "google", "ruamel-yaml": "ruamel", "rouge-score": "rouge_score"}
MODULES |= {"inspect-ai": "inspect_ai", "ruamel-yaml-clib": "ruamel"}
# The tests run in a checkout.
SENTENCE = r"\w+ is not installed, and this part of brido needs it\. .*pip install \"\.\[{}\]\""
BEYOND = sorted(set().union(*EXTRAS.values()))


def declared(name: str) -> set[str]:
    """The modules that the extra brings, by pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    modules = set()
    for requirement in project["optional-dependencies"][name]:
        package = re.match(r"[\w.-]+", requirement).group().replace(".", "-")
        if package == "brido":
            for inner in re.search(r"\[(.*)\]", requirement).group(1).split(","):
                modules |= declared(inner)
        else:
            modules.add(MODULES.get(package, package))
    return modules


@pytest.mark.parametrize("name", EXTRAS)
def test_the_table_is_that_of_pyproject(name):
    assert EXTRAS[name] == declared(name)


def test_all_is_all_of_them_but_programs_of_others():
    assert declared("all") == set(BEYOND) - {"trl", "inspect_ai"}


@pytest.mark.parametrize(
    ("wanted", "module", "named"),
    [
        ("torch", "torch", "torch"),
        ("torch", "pydantic", "torch"),
        ("judge", "pydantic", "judge"),
        ("trl", "trl", "trl"),
        ("pipeline", "ray", "ray"),
        ("qafacteval", "spacy.tokens", "qafacteval"),
    ],
)
def test_the_extra_that_brings_a_module_is_named(wanted, module, named):
    with pytest.raises(MissingExtra) as caught, extra(wanted):
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)
    assert isinstance(caught.value, ImportError)
    assert isinstance(caught.value, BridoError)
    assert str(caught.value).endswith(f'pip install ".[{named}]"')


def test_outside_of_a_checkout_the_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(extras, "_CHECKOUT", tmp_path)
    with pytest.raises(MissingExtra) as caught, extra("judge"):
        raise ModuleNotFoundError("No module named 'openai'", name="openai")
    assert str(caught.value).endswith(' pip install "brido[judge]"')


def test_what_no_extra_brings_passes_as_it_is():
    with pytest.raises(ModuleNotFoundError, match="brido_no_such"), extra("torch"):
        import brido_no_such  # noqa: F401


# What is imported, and the extra that it needs.
IMPORTS = {
    "from brido.search import diverse_beam_search": "torch",
    "from brido.search import SearchSettings": "torch",
    "from brido.likelihood import candidate_log_likelihood": "torch",
    "from brido.training.loss import contrastive_loss": "torch",
    "from brido.models import LanguageModel": "torch",
    "from brido.evaluation.qafacteval import QAFactEval; QAFactEval.load()": "qafacteval",
    "from brido.evaluation.geval import GEval": "judge",
    "from brido.evaluation.geval import GEvalSettings": "judge",
    "from brido.endpoint import Client": "judge",
    "from brido.evaluation import Metric": "pipeline",
}
# What is called, and the extra that it needs.
CALLS = {
    "brido geval lines.jsonl": "judge",
    "brido qafacteval lines.jsonl": "qafacteval",
    "brido config": "pipeline",
    "brido export preferences": "pipeline",
    "brido export preferences --scores scored.jsonl --output pairs.parquet": "pipeline",
    "brido vote-check lines.jsonl.gz": "pipeline",
}


@pytest.fixture
def alone(tmp_path):
    """The environment of a Python with what the wheel itself needs, nothing else."""
    row = {"document": "a", "summary": "b"}
    (tmp_path / "lines.jsonl").write_text(json.dumps(row) + "\n")
    voted = {"document": "a", "candidates": ["a", "b"], "scores": [2, 1], "order": [0, 1]}
    (tmp_path / "scored.jsonl").write_text(json.dumps(voted) + "\n")
    return environment(tmp_path, BEYOND)


def test_public_names_say_what_is_missing(alone):
    code = "".join(
        f"try:\n    {line}\nexcept ImportError as error:\n    print(error)\n" for line in IMPORTS
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=alone, capture_output=True, text=True, check=True)
    for line, (name, wanted) in zip(done.stdout.splitlines(), IMPORTS.items(), strict=True):
        assert re.fullmatch(SENTENCE.format(wanted), line), name


@pytest.mark.parametrize("call", CALLS)
def test_commands_say_what_is_missing(alone, tmp_path, call):
    command = [sys.executable, "-m", *call.split()]
    done = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, text=True)
    assert done.returncode != 0
    assert re.fullmatch(f"error: {SENTENCE.format(CALLS[call])}\n", done.stderr), done.stderr
    assert not (tmp_path / "pairs.parquet").exists()


def test_what_needs_no_extra_runs_without_one(alone, tmp_path):
    for call in ("brido score lines.jsonl", "brido --help", "brido geval --help"):
        (tmp_path / "lines.jsonl").write_text('{"candidates": ["a b.", "a c.", "d"]}\n')
        command = [sys.executable, "-m", *call.split()]
        subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, check=True)
    command = [sys.executable, "-m", "brido", "export", "preferences", "--scores", "scored.jsonl"]
    done = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, text=True)
    assert json.loads(done.stdout)["chosen"] == " a"
