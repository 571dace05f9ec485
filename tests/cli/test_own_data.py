"""Own data as docs/tutorial.md has it, with a smaller model."""

import json
import re
from pathlib import Path

import pytest
from dvc.utils.hydra import apply_overrides
from dvc_project import ROOT, clone_with_environment, run
from own_articles import abstracts, write_jsonl
from tiny_chat import chat_tokenizer, tiny_llama

from brido.models.checkpoint import save

# What only a machine with a network and time can run: the environment of the tests has the first
# two done already.
LEFT_OUT = ("make setup", "source ", "pip install", "dvc exp run -n ", "brido summarize")


def blocks(name: str) -> list[str]:
    """The console blocks of a document, without the commands that are left out."""
    text = (ROOT / name).read_text(encoding="utf-8")
    found = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    kept = (
        "\n".join(line for line in block.splitlines() if not line.startswith(LEFT_OUT))
        for block in found
    )
    return [block for block in kept if block.strip()]


@pytest.mark.slow
def test_papers_in_one_file_from_init_to_a_report(tmp_path: Path):
    project = clone_with_environment(tmp_path)
    rows = [
        {"id": row["paper_id"], "document": row["abstract"], "summary": row["tldr"]}
        for row in abstracts(60)
    ]
    write_jsonl(project / "my/articles.jsonl", rows)
    (first,) = [block for block in blocks("docs/tutorial.md") if "brido init" in block]
    # Without a word about the model it would be SmolLM2; this one takes no time.
    save(tiny_llama(max_position_embeddings=1024), chat_tokenizer(), tmp_path / "chat")
    said = run(project, "bash", "-c", f"{first.strip()} --model {tmp_path / 'chat'}")
    assert "my/run && dvc repro" in said
    tracked = run(project, "git", "status", "--short")
    own = project / "my/run"
    # Fewer stages: tests/test_pipeline.py runs such systems.
    left_out = ("tuned.information", "tuned.likelihood", "tuned.brio", "variants.guided")
    apply_overrides(own / "params.yaml", [f"~{key}" for key in left_out])
    verdict = run(own, "dvc", "repro")
    choice = json.loads((own / "metrics/choice.json").read_text())
    assert choice["documents"] >= 20
    for line in choice["verdict"]:
        assert line in " ".join(verdict.split())  # its lines are folded
    assert {"control", "vote", "short", "base"} <= set(choice["systems"])
    assert (own / "data/chosen/config.json").is_file()
    assert (own / "report/index.html").is_file()
    assert "the makers' own files" in (own / "report/model_card.md").read_text()
    assert "Running stage" not in run(own, "dvc", "repro")
    # The clone is as it was.
    assert run(project, "git", "status", "--short") == tracked
    # Nothing of the user's is Git's.
    assert "my/" not in run(project, "git", "status", "--short")
