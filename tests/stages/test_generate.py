"""Stage generate: the table, what it counts, and what it refuses."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import small_project
import torch

from brido.candidates import local as generator
from brido.search import SearchSettings, diverse_beam_search
from brido.settings.load import load_params
from brido.tables import CANDIDATES, read_metadata, read_rows, write_table
from stages import generate

FILES = {"method": "files", "checkpoint": "none"}
TABLES = [Path("data/candidates/base") / f"{split}.parquet" for split in ("train", "validation")]


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


@pytest.fixture
def written(monkeypatch):
    """The ids of the documents that a model writes about, as it does."""
    ids = []
    original = generator.Generator.generate

    def counting(self, documents, *rest, **others):
        ids.extend(documents)
        return original(self, documents, *rest, **others)

    monkeypatch.setattr(generator.Generator, "generate", counting)
    return ids


def test_more_training_documents_write_the_new_ones_alone(project, written):
    small_project.write_params(project, documents={"train": 8})
    run()
    shutil.rmtree("data/candidates")  # as DVC does
    written.clear()
    small_project.write_params(project, documents={"train": 18})
    run()
    assert written == [f"train-{number}" for number in range(8, 18)]
    more = [path.read_bytes() for path in TABLES]
    kept = list(Path(".brido/work/kept/generate/base").iterdir())
    assert len(kept) == 5 + 2, "the shards of this run alone"
    shutil.rmtree(".brido")
    written.clear()
    run()
    assert len(written) == 18 + 7
    assert [path.read_bytes() for path in TABLES] == more


@pytest.mark.parametrize("what", ["settings", "reading", "a document", "the model", "the code"])
def test_nothing_is_taken_over_that_something_else_decides_now(project, written, what, monkeypatch):
    run()
    written.clear()
    if what == "settings":
        small_project.write_params(project, generation={"max_length": 11})
    elif what == "reading":
        small_project.write_params(project, reading={"default": {"max_source_tokens": 19}})
    elif what == "a document":
        texts = [small_project.document(number) for number in range(20)]
        small_project.write_corpus(project, "train", [*texts[:5], "w1 w2", *texts[6:]])
    elif what == "the model":
        small_project.write_checkpoint(project / "data/checkpoints/base", seed=1)
    else:
        monkeypatch.setattr("brido.candidates.documents.code_key", lambda: "other")
    run()
    if what == "a document":
        assert written == [f"train-{number}" for number in range(4, 8)], "its shard alone"
    else:
        assert len(written) == 18 + 7


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
    assert not Path(".brido/work/kept").exists(), "a file is read anew"


def test_a_batch_that_does_not_fit_is_halved_and_recorded(project, monkeypatch):
    expected = run()
    original = generator.diverse_beam_search

    def small_memory(model, input_ids, *rest):
        if len(input_ids) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return original(model, input_ids, *rest)

    monkeypatch.setattr(generator, "diverse_beam_search", small_memory)
    shutil.rmtree(".brido")
    found = run()
    assert [r["candidates"] for r in found[0]] == [r["candidates"] for r in expected[0]]
    assert read_metadata(TABLES[0], "")["halved_batches"] > 0
