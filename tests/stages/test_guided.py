"""Guidance in the pipeline: a guided system, and a guided source of candidates."""

import sys

import pytest
import small_project
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from brido.candidates.blocks import blocks
from brido.search import SearchSettings, beam_search
from brido.search.guidance import Guidance
from brido.settings.load import load_params
from brido.tables import CANDIDATES, DECODED, read_metadata, read_rows
from brido.utils.errors import BridoError
from stages import generate, guide, paths

GUIDED = {"weight": 0.4, "floor": 0.02, "others": 2, "seed": 3}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Makes a small project the present folder, with a system `guided` and changed sections."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BRIDO_WORK", raising=False)

    def make(**sections):
        guided = {"guided": {"checkpoint": "base", **GUIDED}}
        small_project.write_project(tmp_path, guidance=guided, **sections)
        return tmp_path

    return make


def summaries(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["stages.guide", "guided"])
    guide.main()
    return read_rows(paths.decoded("guided", "test"), DECODED, "")


def expected(number, others):
    """What a guided search alone writes of a document, of as many others."""
    folder = paths.checkpoint("base")
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)

    def read(numbers):
        texts = [small_project.document(n) for n in numbers]
        made = tokenizer(texts, truncation=True, max_length=20, padding=True, return_tensors="pt")
        return made.input_ids, made.attention_mask

    own, rest = read([number]), read(others)
    guidance = Guidance(*(part[None] for part in rest), GUIDED["weight"], GUIDED["floor"])
    settings = SearchSettings(num_beams=3, length_penalty=2.0, max_length=15, early_stopping=True)
    with torch.no_grad():
        result = beam_search(model, *own, settings, guidance)
    text = tokenizer.decode(result.sequences[0, 0], skip_special_tokens=True)
    return text, float(result.scores[0, 0])


def test_a_guided_system_is_the_guided_search_with_the_rest_of_a_block(project, monkeypatch):
    project()
    rows = summaries(monkeypatch)
    names = [f"test-{n}" for n in range(6)]
    texts = [small_project.document(n) for n in range(6)]
    for block in blocks(names, texts, GUIDED["others"], GUIDED["seed"]):
        for place in block.members[: block.scored]:
            text, score = expected(place, [n for n in block.members if n != place])
            assert rows[place]["summary"] == text
            assert rows[place]["score"] == pytest.approx(score, rel=1e-4)
    used = read_metadata(paths.decoded("guided", "test"), "")["guidance"]
    assert used == {"checkpoint": "base", **GUIDED}


def test_shards_change_nothing(project, monkeypatch):
    project()
    first = summaries(monkeypatch)
    project(runtime={"shard_documents": 2, "batch_tokens": 100})
    again = summaries(monkeypatch)
    assert [row["summary"] for row in again] == [row["summary"] for row in first]


@pytest.mark.parametrize("method", ["diverse_beam", "sampling"])
def test_guided_candidates_differ_from_unguided_ones(project, monkeypatch, method):
    found = []
    for guidance in (None, GUIDED):
        project(generation={"method": method, "guidance": guidance})
        monkeypatch.setattr(sys, "argv", ["stages.generate", "base"])
        generate.main()
        table = paths.candidates("base", "validation")
        found.append([row["candidates"] for row in read_rows(table, CANDIDATES, "")])
        assert read_metadata(table, "")["generation"]["guidance"] == guidance
    assert found[0] != found[1]
    assert {len(candidates) for rows in found for candidates in rows} == {4}


def test_too_few_documents_are_named(project, monkeypatch):
    guided = {"guided": {"checkpoint": "base", "others": 9}}
    small_project.write_params(project(), guidance=guided)
    with pytest.raises(BridoError, match="needs 9 other documents"):
        summaries(monkeypatch)


@pytest.mark.parametrize(
    ("guidance", "named"),
    [
        ({"guided": {"checkpoint": "other"}}, "guidance.guided.checkpoint"),
        ({"tuned": {}, "guided": {}}, "guidance: `tuned`"),
        ({"guided": {}, "a b": {}}, "guidance"),
    ],
)
def test_bad_guidance_is_named(project, guidance, named):
    folder = project()
    small_project.write_params(folder, guidance=guidance)
    with pytest.raises(BridoError, match=named):
        load_params()
