"""Stage generate: the table, what it counts, and what it refuses."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import small_project
import torch

from brido.candidates import local as generator
from brido.search import SearchSettings, diverse_beam_search
from brido.settings.load import load_params
from brido.tables import CANDIDATES, read_metadata, read_rows, write_table
from brido.utils.errors import BridoError
from stages import generate, pool

FILES = {"method": "files", "checkpoint": "none"}
TABLES = [Path("data/candidates/base") / f"{split}.parquet" for split in ("train", "validation")]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A small project as the present folder."""
    small_project.write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BRIDO_WORK", raising=False)
    return tmp_path


def run():
    generate.make(load_params(), "base")
    return [read_rows(path, CANDIDATES, "") for path in TABLES]


def test_candidates_are_every_second_of_the_search(project):
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    train, validation = run()
    assert [row["id"] for row in train] == [f"train-{n}" for n in range(18)]
    assert len(validation) == 7
    folder = project / "data/checkpoints/base"
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    settings = SearchSettings(
        num_beams=8,
        num_beam_groups=4,
        diversity_penalty=0.5,
        max_length=12,
        early_stopping=True,
    )
    for number in (0, 5, 11):
        text = small_project.document(number)
        source = tokenizer(text, truncation=True, max_length=20, return_tensors="pt")
        result = diverse_beam_search(model, source.input_ids, source.attention_mask, settings)
        texts = tokenizer.batch_decode(result.sequences[0, ::2], skip_special_tokens=True)
        assert train[number]["candidates"] == texts
        scores = np.float32(train[number]["search_scores"])
        np.testing.assert_allclose(scores, result.scores[0, ::2], rtol=1e-5)
        ends = [2 in sequence[1:] for sequence in result.sequences[0, ::2].tolist()]
        assert train[number]["ended"] == ends
        # Only the search knows who wrote what: it sorts the sequences of all groups together.
        assert train[number]["groups"] == result.groups[0, ::2].tolist()
        assert set(train[number]["groups"]) <= set(range(4))


def test_no_groups_are_told_where_there_are_none(project):
    small_project.write_params(project, generation={"num_beam_groups": 1, "diversity_penalty": 0.0})
    run()
    assert pq.read_schema(TABLES[0]).names == CANDIDATES.names


def test_counts_stand_in_the_table_and_are_said(project, capsys):
    train, _ = run()
    metadata = read_metadata(TABLES[0], "")
    distinct = [len(set(row["candidates"])) for row in train]
    long = sum(len(small_project.document(n).split()) > 18 for n in range(18))
    assert metadata["documents"] == 18
    assert metadata["distinct_candidates"] == pytest.approx(sum(distinct) / 18)
    assert metadata["not_ended"] == sum(row["ended"].count(False) for row in train)
    assert metadata["truncated_sources"] == long > 0
    assert metadata["unread_thousandths"] > 0
    assert metadata["halved_batches"] == 0
    assert metadata["generation"]["keep_every"] == 2
    said = capsys.readouterr().err
    assert f"{long} sources cut to 20 tokens" in said
    assert "of 4 candidates distinct" in said
    assert said.count("reference: 'w1 w2'") == 2
    assert said.count("candidate: ") == 6
    left = [path.name for path in Path(".brido").rglob("*") if path.is_file()]
    assert left == ["base.lock"]


def test_a_batch_that_does_not_fit_is_halved_and_recorded(project, monkeypatch, capsys):

    expected = run()
    original = generator.diverse_beam_search

    def small_memory(model, input_ids, *rest):
        if len(input_ids) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return original(model, input_ids, *rest)

    monkeypatch.setattr(generator, "diverse_beam_search", small_memory)
    found = run()
    assert [r["candidates"] for r in found[0]] == [r["candidates"] for r in expected[0]]
    assert read_metadata(TABLES[0], "")["halved_batches"] > 0
    assert "batches halved for memory" in capsys.readouterr().err


def test_empty_documents_are_refused_or_left_out(project):
    small_project.write_corpus(project, "train", ["w1 w2", " ", "w3", ""])
    with pytest.raises(BridoError, match=r"2 documents are empty: train-1, train-3.*leave_out"):
        run()
    assert not TABLES[0].exists()
    small_project.write_params(project, documents={"empty": "leave_out"})
    train, _ = run()
    assert [row["id"] for row in train] == ["train-0", "train-2"]
    assert read_metadata(TABLES[0], "")["left_out_empty"] == ["train-1", "train-3"]


def test_a_missing_checkpoint_and_sources_longer_than_it_can_read_are_refused(project):
    small_project.write_params(project, reading={"default": {"max_source_tokens": 41}})
    with pytest.raises(BridoError, match=r"max_source_tokens \(41\) is more than the model's 40"):
        run()
    shutil.rmtree("data/checkpoints/base")
    with pytest.raises(BridoError, match="data/checkpoints/base is missing"):
        run()


def test_candidates_that_are_no_basis_for_a_vote_are_warned_about(project, capsys):
    small_project.write_params(project, generation={"max_length": 4}, pool={"too_few": "leave_out"})
    run()
    (said,) = [line for line in capsys.readouterr().err.splitlines()
               if "warning" in line and "longer than" not in line]  # fmt: skip
    assert said.startswith("generate base train")
    pool.main()
    found = json.loads(Path("data/pool/counts.json").read_text())["warnings"]
    # Six validation documents are too few to tell.
    assert found["validation"] == []
    (sentence,) = found["train"]
    assert said.endswith(sentence)
    assert "base" in sentence
    assert "generation.base.diversity_penalty" in sentence


def candidates_for(split, count):
    return [
        {"id": f"{split}-{n}", "candidates": ["a b", "a c", f"d {n}", "a b"], "search_scores": []}
        for n in reversed(range(count))
    ]


def test_candidates_from_files(project):
    for split, count in (("train", 20), ("validation", 7)):
        rows = [row | {"ended": [True] * 4} for row in candidates_for(split, count)]
        write_table(Path(f"{split}.parquet"), [rows], CANDIDATES)
    files = {"train": "train.parquet", "validation": "validation.parquet"}
    small_project.write_params(project, generation=FILES | {"files": files})
    train, validation = run()
    assert [row["id"] for row in train] == [f"train-{n}" for n in range(18)]
    assert train[3]["candidates"] == ["a b", "a c", "d 3", "a b"]
    assert np.isnan(train[3]["search_scores"]).all()
    assert len(validation) == 7
    assert read_metadata(TABLES[0], "")["distinct_candidates"] == 3


def test_all_problems_of_a_candidates_file_are_named(project):
    rows = candidates_for("train", 17)
    rows[0]["candidates"] = ["only one"]
    rows.append(rows[3])
    text = "\n".join(json.dumps(row) for row in rows)
    Path("train.jsonl").write_text(text)
    files = dict.fromkeys(("train", "validation"), "train.jsonl")
    small_project.write_params(project, generation=FILES | {"files": files})
    with pytest.raises(BridoError) as error:
        run()
    for part in (
        "1 ids occur more than once: train-13",
        "1 documents have no candidates: train-17",
        "1 rows: `candidates` must be a list of 4 texts (generation.base.num_candidates): train-16",
    ):
        assert part in str(error.value)


def test_two_processes_make_the_same_bytes(project, capsys):
    generate.make(load_params(), "base")
    expected = [path.read_bytes() for path in TABLES]
    said = capsys.readouterr().err.splitlines()
    shutil.rmtree("data/candidates")
    small_project.write_params(project, runtime={"workers": 2})
    generate.make(load_params(), "base")
    assert [path.read_bytes() for path in TABLES] == expected
    # Progress depends on the machine's speed.
    progress = re.compile(r"\d+/\d+ documents|/s\b")
    assert [line for line in capsys.readouterr().err.splitlines() if not progress.search(line)] == [
        line for line in said if not progress.search(line)
    ]
