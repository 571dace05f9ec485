"""Votes as training data: the columns that TRL names, the right pairs, nothing dropped silently."""

import json
import shutil
from pathlib import Path

import pytest
import synthetic_run
from datasets import load_dataset
from tiny_chat import CHATML, chat_tokenizer, tiny_llama

from brido import tables
from brido.cli import export_pairs, score
from brido.models.checkpoint import save
from brido.models.prompt import Prompt
from brido.settings.load import load_params
from brido.utils.commands import invoke
from brido.utils.errors import BridoError


def main(arguments):
    invoke(export_pairs.command, arguments)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    synthetic_run.write_run(folder, documents=9, count=6)
    return folder / "data"


@pytest.fixture
def project(made, tmp_path, monkeypatch):
    """The working directory with the tables of a run."""
    shutil.copytree(made, tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def export(*options):
    main(["--split", "validation", "--output", "out.jsonl", "--force", *options])
    return Path("out.jsonl")


def load(path):
    return load_dataset("json", data_files=str(path), split="train", cache_dir="cache")


def votes():
    read = [
        tables.read_rows(Path("data") / name / "validation.parquet", None, "")
        for name in ("corpus", "pool", "scores/vote")
    ]
    return {
        corpus["id"]: (corpus["document"], candidates["candidates"], scores["scores"])
        for corpus, candidates, scores in zip(*read, strict=True)
    }


@pytest.mark.parametrize("chosen", ["best-worst", "all"])
def test_pairs_load_with_the_columns_of_trl(project, chosen):
    found = load(export("--pairs", chosen))
    kinds = dict.fromkeys(("prompt", "chosen", "rejected"), "string") | {"margin": "float64"}
    assert {key: str(found.features[key].dtype) for key in kinds} == kinds
    known = votes()
    for row in found:
        document, candidates, scores = known[row["id"]]
        assert row["prompt"] == f"{document}\n\nTL;DR:"
        order = sorted(range(len(scores)), key=lambda index: -scores[index])
        better, worse = order[row["rank_chosen"] - 1], order[row["rank_rejected"] - 1]
        assert row["chosen"] == f" {candidates[better]}"
        assert row["rejected"] == f" {candidates[worse]}"
        assert (row["score_chosen"], row["score_rejected"]) == (scores[better], scores[worse])
        assert row["margin"] == scores[better] - scores[worse] > 0
        assert row["chosen"] != row["rejected"]
        if chosen == "best-worst":
            assert (row["score_chosen"], row["score_rejected"]) == (max(scores), min(scores))


def test_all_pairs_of_unlike_texts_and_scores(project):
    found = told(export("--pairs", "all").read_text())
    expected = 0
    for _, candidates, scores in votes().values():
        for first, better in zip(candidates, scores, strict=True):
            for second, worse in zip(candidates, scores, strict=True):
                expected += better > worse and first.split() != second.split()
    assert len(found) == expected > 9


SCORED = [
    {"id": 7, "document": "A cat {sat}.", "candidates": ["a cat sat", "a dog ran", "the cat sat"]},
    {"document": "Two dogs.", "candidates": ["two dogs", "cats", "two dogs ran", "dogs"],
     "sources": ["p", "q", "p", "q"]},
]  # fmt: skip


@pytest.fixture
def scored(tmp_path):
    """What `brido score` writes of SCORED."""
    given, found = tmp_path / "candidates.jsonl", tmp_path / "scored.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in SCORED))
    invoke(score.command, [str(given), "--output", str(found)])
    return found


def told(text):
    return [json.loads(line) for line in text.split("\n") if line]


def test_scores_of_a_file_become_pairs_on_stdout(scored, capsys):
    main([str(scored), "--prompt", "{{ document }} In short:"])
    first, second = told(capsys.readouterr().out)
    votes = told(scored.read_text())
    assert first["id"] == "7"
    assert first["prompt"] == "A cat {sat}. In short:"
    assert {first["chosen"], first["rejected"]} == {" a cat sat", " a dog ran"}
    assert first["score_chosen"] == max(votes[0]["scores"])
    assert first["source_chosen"] is None
    assert second["id"] == "2"
    assert second["source_chosen"] == "p"


def test_scores_alone_give_the_order(tmp_path, capsys):
    row = {"document": "A cat.", "candidates": ["a", "b", "c"], "scores": [0.5, None, 2]}
    (tmp_path / "own.jsonl").write_text(json.dumps(row))
    main([str(tmp_path / "own.jsonl"), "--pairs", "all"])
    out, err = capsys.readouterr()
    (pair,) = told(out)
    assert (pair["chosen"], pair["rank_chosen"], pair["rejected"]) == (" c", 1, " a")
    assert "left out 1 candidates that could not be elected" in err


def test_a_bad_row_is_told_before_a_folder_is_made(tmp_path):
    (tmp_path / "own.jsonl").write_text(
        json.dumps({"document": "A cat.", "candidates": ["a", "b"]})
    )
    with pytest.raises(BridoError, match="`scores`"):
        main([str(tmp_path / "own.jsonl"), "-o", str(tmp_path / "new/pairs.jsonl")])
    assert not (tmp_path / "new").exists()


def test_scores_as_messages(scored, capsys):
    main([str(scored), "--chat", "--prompt", "Shorten: {{ document }}"])
    row = told(capsys.readouterr().out)[0]
    assert row["prompt"] == [{"role": "user", "content": "Shorten: A cat {sat}."}]
    assert row["chosen"][0]["role"] == "assistant"
    assert not row["chosen"][0]["content"].startswith(" ")


@pytest.fixture
def several(project):
    """A run with the scores of two systems and a file that says which one is kept."""
    shutil.copytree("data/scores/vote", "data/scores/other")
    path = Path("data/scores/other/validation.parquet")
    rows = tables.read_rows(path, None, "")
    for row in rows:
        row["scores"] = [-score for score in row["scores"]]
        row["order"] = row["order"][::-1]
    tables.write_table(path, [rows], tables.SCORES)

    def keep(chosen):
        Path("metrics").mkdir(exist_ok=True)
        Path("metrics/choice.json").write_text(json.dumps({"chosen": chosen}))

    return keep


def first_chosen(*options):
    return told(export(*options).read_text())[0]["chosen"]


def test_the_scores_of_the_chosen_system_are_exported_unless_told_otherwise(several):
    with pytest.raises(BridoError, match="no system is chosen: other, vote"):
        first_chosen()
    vote, other = (first_chosen("--system", name) for name in ("vote", "other"))
    assert vote != other
    several("other")
    assert first_chosen() == other
    several("vote")
    assert first_chosen() == vote
    assert first_chosen("--system", "other") == other
    with pytest.raises(BridoError, match="did you mean vote"):
        first_chosen("--system", "vot")
    several("base")
    with pytest.raises(BridoError, match="other, vote"):
        first_chosen()


def test_shuffled_scores_are_told(several, capsys):
    path = Path("data/scores/other/validation.parquet")
    rows = tables.read_rows(path, None, "")
    for shuffle in (False, True):
        tables.write_table(path, [rows], tables.SCORES, {"scoring": {"shuffle": shuffle}})
        first_chosen("--system", "other")
        assert ("warning: these scores are shuffled" in capsys.readouterr().err) == shuffle


PARAMS = """
checkpoints: {base: {source: somewhere}}
reading: {default: {max_source_tokens: 60, system: Be brief., prompt: "Summarise {{ document }}"}}
"""


@pytest.fixture
def chat(project):
    """A run whose base is a chat model that reads few tokens."""
    save(tiny_llama(), chat_tokenizer(CHATML), project / "data/checkpoints/base")
    (project / "params.yaml").write_text(PARAMS)
    return project


def test_messages_of_a_run_are_what_base_gets(chat):
    known, reading = votes(), load_params().reading_of("base")
    prompt = Prompt.of(chat_tokenizer(CHATML), reading)
    for row in load(export("--chat")):
        document, candidates, scores = known[row["id"]]
        system, user = row["prompt"]
        assert system == {"role": "system", "content": "Be brief."}
        kept = user["content"].removeprefix("Summarise ")
        assert document.startswith(kept)
        assert len(kept) < len(document)
        # What a trainer makes of the messages is what the model reads.
        tokens = chat_tokenizer(CHATML).apply_chat_template(
            row["prompt"], add_generation_prompt=True
        )["input_ids"]
        assert tokens == prompt.fit(document, 60)[0]
        best = candidates[scores.index(max(scores))]
        assert row["chosen"] == [{"role": "assistant", "content": best}]


def test_messages_of_a_run_need_a_template(chat):
    shutil.rmtree(chat / "data/checkpoints")
    save(tiny_llama(), chat_tokenizer(None), chat / "data/checkpoints/base")
    with pytest.raises(BridoError, match="^--chat: the base model"):
        export("--chat")
